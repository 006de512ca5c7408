"""Which tests are to have a process of their own, why, and what keeps them in the common one all the same."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_membudget.core.budget import Budget
from pytest_membudget.core.errors import MarkerError
from pytest_membudget.core.isolation import Isolation
from pytest_membudget.core.measurement import Resource
from pytest_membudget.glue.marker_names import MARKER, has_budget
from pytest_membudget.glue.markers import read_budget
from pytest_membudget.glue.options import Settings
from pytest_membudget.probes.memray_faults import tracker_fault

ISOLATION_PLUGIN = "membudget-isolation"
ISOLATION = pytest.StashKey[Isolation]()
"""Where a test runs that is to have a process of its own; absent for any other."""

_TOO_LATE = Isolation(False, "its marker came while the test was set up, too late for a process of its own")
_TYPICAL = Budget(limits={Resource.RAM: 0})
_HEAP = frozenset((Resource.RAM, Resource.RETAINED))


def needs_isolation(budget: Budget, settings: Settings) -> str | None:
    """Return why a test with this budget is to have a process of its own, None if it need not."""
    if budget.isolate:
        return "its marker says isolate=True"
    if settings.isolate == "always":
        return "membudget_isolate is always"
    if settings.isolate == "never" or not budget.limits:
        return None
    if settings.baseline.active:
        return "its figures are compared with a baseline or recorded in one"
    return tracker_fault() if _HEAP.intersection(budget.limits) else None


def anybody_wants_isolation(items: Iterable[pytest.Item], settings: Settings) -> bool:
    """Whether ``needs_isolation`` can have a reason for one of the tests, without reading their budgets."""
    if needs_isolation(_TYPICAL, settings):
        return settings.measure_all or any(has_budget(item, settings) for item in items)
    marked = (item for item in items if MARKER in item.keywords)
    return any(mark.kwargs.get("isolate") for item in marked for mark in item.iter_markers(MARKER))


def stays_because(config: pytest.Config, settings: Settings) -> str | None:
    """Return why no test of this run gets a process of its own, None if tests do."""
    if settings.isolate == "never":
        return "membudget_isolate is never"
    for option in ("usepdb", "trace"):
        if config.getoption(option, False):
            return f"--{option.removeprefix('use')} debugs in the process of the session"
    if config.getoption("capture", None) == "no":
        return "-s leaves the terminal to the tests"
    return None


def isolation_for(item: pytest.Item, settings: Settings, stays: str | None) -> Isolation | None:
    """Decide once where a test runs, None if it may run anywhere."""
    if ISOLATION in item.stash:
        return item.stash[ISOLATION]
    reason = _reason(item, settings)
    if reason is None:
        return None
    item.stash[ISOLATION] = Isolation(not stays, stays or reason)
    return item.stash[ISOLATION]


def _reason(item: pytest.Item, settings: Settings) -> str | None:
    if not settings.measure_all and not has_budget(item, settings):
        return None
    try:
        return needs_isolation(read_budget(item, settings), settings)
    except MarkerError:
        # Said where the test is set up.
        return None


def isolation_of(item: pytest.Item, budget: Budget) -> Isolation | None:
    """Return where a test ran that was to have a process of its own, None for any other."""
    return item.stash.get(ISOLATION, _TOO_LATE if budget.isolate else None)
