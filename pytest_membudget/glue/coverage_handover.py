"""Keeping what coverage.py saw in a test's own process, which would be lost with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from coverage import Coverage

PYTEST_COV = "_cov"
_OPTIONS = ("branch", "concurrency", "cover_pylib", "include", "omit", "source", "timid")


def current_coverage() -> Coverage | None:
    """Return what measures the coverage of this process, if anything does."""
    coverage = sys.modules.get("coverage")
    found: Coverage | None = coverage.Coverage.current() if coverage else None
    return found


def coverage_settings(data_file: Path) -> dict[str, Any] | None:
    """Return the arguments that make a ``Coverage`` like the one of this process, None where there is none."""
    current = current_coverage()
    if current is None:
        return None
    settings = {name: current.get_option(f"run:{name}") for name in _OPTIONS}
    config_file = current.config.config_file or False
    return settings | {"config_file": config_file, "data_file": str(data_file)}


def begin_coverage(config: pytest.Config, data_file: Path) -> None:
    """See to it, after a fork, that this process does not write to the data file of the other one.

    pytest-cov gives each process a file of its own, and switches contexts on the object that it knows; anything else
    is replaced.
    """
    current = current_coverage()
    settings = coverage_settings(data_file)
    if current is None or settings is None or config.pluginmanager.has_plugin(PYTEST_COV):
        return
    from coverage import Coverage

    current.stop()
    Coverage(**settings).start()


def end_coverage() -> bytes | None:
    """Stop, and return all that was seen, None where nothing looked."""
    current = current_coverage()
    if current is None:
        return None
    current.stop()
    data = current.get_data()
    seen = data.dumps()
    data.erase()
    return seen


def take_over(seen: list[bytes]) -> None:
    """Add what other processes saw to what this one did."""
    current = current_coverage()
    if current is None or not seen:
        return
    from coverage import CoverageData

    for dump in seen:
        data = CoverageData(no_disk=True)
        data.loads(dump)
        current.get_data().update(data)
