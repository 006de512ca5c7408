"""Memory regression testing for pytest: declare what a test may use, measure what it did use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_membudget.core.errors import MembudgetError, NotMeasuredError
    from pytest_membudget.core.measurement import Frame, Site
    from pytest_membudget.core.region import Region
    from pytest_membudget.glue.fixture import Membudget

__all__ = ["Frame", "Membudget", "MembudgetError", "NotMeasuredError", "Region", "Site", "__version__"]

_HOMES = {
    "Frame": "core.measurement",
    "Membudget": "glue.fixture",
    "MembudgetError": "core.errors",
    "NotMeasuredError": "core.errors",
    "Region": "core.region",
    "Site": "core.measurement",
}


def __getattr__(name: str) -> object:
    """Import a public name at its first use: pytest imports this package at every start, budgets or not."""
    if name == "__version__":
        from importlib.metadata import version

        return version("pytest-membudget")
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
