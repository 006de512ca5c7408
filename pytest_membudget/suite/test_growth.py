"""Every lean form: what it needs beyond its result does not grow with the number of samples."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_membudget.suite.catalogue import PATHS
from pytest_membudget.suite.hotpath import BLAS_BYTES, KIB, HotPath, Sizes

FACTOR = 16


@pytest.mark.small
@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in PATHS])
def test_scratch_stays_flat(path: HotPath, membudget: Any) -> None:
    """Sixteen times the samples leave the peak beyond the output where it was, within 3 %, 64 KiB and one BLAS job."""
    few, many = (_scratch_bytes(path, sizes, membudget) for sizes in path.growth_sizes(FACTOR))

    assert many <= few + few * 3 // 100 + 64 * KIB + BLAS_BYTES


def _scratch_bytes(path: HotPath, sizes: Sizes, membudget: Any) -> int:
    inputs = path.inputs(**sizes)
    with membudget.track() as region:
        path.lean(**inputs)
    return int(region.ram_peak_bytes) - path.footprint(**sizes).output_bytes
