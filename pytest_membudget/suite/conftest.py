"""Marks for the two sizes, the arguments of the cases, and the state that every measurement starts from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_membudget.suite.hotpath import Case
from pytest_membudget.suite.warmup import start_blas

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks of the suite."""
    config.addinivalue_line("markers", "small: a hot path at a size that runs in about a second (the default)")
    config.addinivalue_line("markers", "seed_size: a hot path at the size of its document; runs with -m seed_size only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the big sizes of this suite unless ``-m`` speaks of them."""
    if "seed_size" in config.getoption("markexpr"):
        return
    big = [item for item in items if HERE in item.path.parents and item.get_closest_marker("seed_size")]
    if big:
        config.hook.pytest_deselected(items=big)
        items[:] = [item for item in items if item not in set(big)]


@pytest.fixture(scope="session", autouse=True)
def _blas_started() -> None:
    """Keep the one-time costs of BLAS out of the first measurement."""
    start_blas()


@pytest.fixture
def inputs(case: Case) -> dict[str, Any]:
    """Build the arguments of the case, here because only the call of a test is measured."""
    return case.inputs()
