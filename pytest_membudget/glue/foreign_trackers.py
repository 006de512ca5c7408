"""Other users of memray in the same process: it allows one tracker at a time, so they and the plugin collide."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType, ModuleType

import pytest

from pytest_membudget.core.measurement import Unavailable

PYTEST_MEMRAY = "memray_manager"
_PYTEST_MEMRAY_MARKERS = ("limit_memory", "limit_leaks", "limit_leaked_objects")
_AND_ONE_ONLY = "and memray allows one tracker at a time"
MOST_FUNCTIONS = 200


def foreign_tracker(item: pytest.Item) -> Unavailable | None:
    """Return why the heap of this test is left to somebody else, or None."""
    if _pytest_memray_measures(item):
        return Unavailable(f"pytest-memray measures this test, {_AND_ONE_ONLY}: switch it off with -p no:memray")
    if _opens_a_tracker(getattr(item, "function", None)):
        return Unavailable(f"the test opens a memray.Tracker of its own, {_AND_ONE_ONLY}")
    return None


def _pytest_memray_measures(item: pytest.Item) -> bool:
    if not item.config.pluginmanager.has_plugin(PYTEST_MEMRAY):
        return False
    return bool(item.config.getoption("memray", False)) or any(map(item.get_closest_marker, _PYTEST_MEMRAY_MARKERS))


def _opens_a_tracker(function: object) -> bool:
    """Whether the test's code, or code of the same project that it names, mentions memray's Tracker.

    The tracker cannot be asked to step aside once it runs, so this looks ahead: through the names that the function
    uses, as far as they lead to functions of the same top-level package or to modules of the same kind.
    """
    pending, seen = [function], set[int]()
    while pending and len(seen) < MOST_FUNCTIONS:
        current = pending.pop()
        current = getattr(current, "__wrapped__", current)
        if not isinstance(current, FunctionType) or id(current) in seen:
            continue
        seen.add(id(current))
        names = _names(current.__code__)
        if "memray" in names or any(_is_tracker(current.__globals__.get(name)) for name in names):
            return True
        pending += [value for name in names if _same_project(value := current.__globals__.get(name), current)]
    return False


def _names(code: CodeType) -> set[str]:
    nested = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, nested))


def _is_tracker(value: object) -> bool:
    memray = sys.modules.get("memray")
    if memray is None or value is None:
        return False
    return value is memray or value is getattr(memray, "Tracker", None)


def _same_project(value: object, user: FunctionType) -> bool:
    if isinstance(value, ModuleType) or not isinstance(value, FunctionType):
        return False
    return value.__module__.partition(".")[0] == user.__module__.partition(".")[0]
