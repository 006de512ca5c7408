"""pytest-memray in the same run: memray allows one tracker at a time, so the two plugins collide."""

from __future__ import annotations

import pytest

from pytest_membudget.core.measurement import Unavailable

PYTEST_MEMRAY = "memray_manager"
_PYTEST_MEMRAY_MARKERS = ("limit_memory", "limit_leaks", "limit_leaked_objects")


def foreign_tracker(item: pytest.Item) -> Unavailable | None:
    """Return why the heap of this test is left to somebody else, or None."""
    if _pytest_memray_measures(item):
        return Unavailable(
            "pytest-memray measures this test, and memray allows one tracker at a time: switch it off with -p no:memray"
        )
    return None


def _pytest_memray_measures(item: pytest.Item) -> bool:
    if not item.config.pluginmanager.has_plugin(PYTEST_MEMRAY):
        return False
    return bool(item.config.getoption("memray", False)) or any(map(item.get_closest_marker, _PYTEST_MEMRAY_MARKERS))
