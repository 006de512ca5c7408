"""Memory regression testing for pytest: declare what a test may use, measure what it did use."""

from __future__ import annotations

from pytest_membudget.core.errors import MembudgetError, NotMeasuredError
from pytest_membudget.core.measurement import Frame, Site
from pytest_membudget.core.region import Region

__all__ = ["Frame", "MembudgetError", "NotMeasuredError", "Region", "Site", "__version__"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("pytest-membudget")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
