"""The table as a whole: its formulas hold, its entries are whole."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from pytest_membudget.suite import catalogue
from pytest_membudget.suite.catalogue import CASES, PATHS
from pytest_membudget.suite.hotpath import BLAS_BYTES, KIB, Case, HotPath

every_path = pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in PATHS])
every_small_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.path.name) for case in CASES if case.label == "small"]
)


def test_names_are_unique() -> None:
    """No two paths share a name."""
    assert len({path.name for path in PATHS}) == len(PATHS)


@every_path
def test_blamed_lines_exist(path: HotPath) -> None:
    """Each blamed line stands in a module of the suite, word for word."""
    sources = [source.read_text("utf-8") for source in Path(inspect.getfile(catalogue)).parent.glob("*.py")]
    lines = {line.strip() for source in sources for line in source.splitlines()}

    assert [line for line in path.blamed if line not in lines] == []


@every_small_case
def test_lean_formula_holds(case: Case, membudget: Any) -> None:
    """The lean form stays within 1.15 times its own formula, the job table of BLAS apart."""
    inputs = case.inputs()
    with membudget.track() as region:
        case.path.lean(**inputs)

    assert region.ram_peak_bytes <= 1.15 * case.footprint.peak_bytes + BLAS_BYTES + 16 * KIB


@every_small_case
def test_naive_formula_holds(case: Case, membudget: Any) -> None:
    """The naive form needs what its formula says, within 6 %: the suite does not exaggerate."""
    inputs = case.inputs()
    with membudget.track() as region:
        case.path.naive(**inputs)

    assert region.ram_peak_bytes - BLAS_BYTES <= 1.06 * case.footprint.naive_bytes
    assert region.ram_peak_bytes >= 0.94 * case.footprint.naive_bytes
