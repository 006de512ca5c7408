"""Measuring each test, in the process that runs it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import pytest

from pytest_membudget.core.record import record_of, to_plain
from pytest_membudget.glue.markers import MARKER
from pytest_membudget.glue.test_state import STATE, TestState
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.glue.verdicts import Judge
from pytest_membudget.probes.meter import depth_below

if TYPE_CHECKING:
    from pytest_membudget.glue.planning import PlanPlugin

RECORD = "membudget"
Wrapper = Generator[None, object, object]


class MeasurePlugin:
    """Measures the call phase of every test, and puts the test's record on its last report."""

    def __init__(self, toolbox: Toolbox, judge: Judge, worker: str | None) -> None:
        self._toolbox = toolbox
        self._judge = judge
        self._worker = worker

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Measure the call phase, and fail it when it is over budget."""
        state = item.stash.get(STATE, None)
        if state is None:
            state = item.stash[STATE] = TestState(self._toolbox.resident_only)
        if state.counts_fixtures:
            return (yield)
        if not state.begins_at_function:
            state.meter.start(depth_below(0))
        try:
            result = yield
        finally:
            self._judge.settle(item, state)
        self._judge.fail_if_over(item, state)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Follow what the test comes to; the last report carries the record, as JSON's own types."""
        report = yield
        state = item.stash.get(STATE, None)
        if state is None:
            state = item.stash[STATE] = TestState(self._toolbox.resident_only)
        state.test_outcome = outcome_after(state.test_outcome, report)
        if report.when == "teardown":
            del item.stash[STATE]
            verdict = None if state.test_outcome == "skipped" else state.verdict
            record = record_of(item.nodeid, state.test_outcome, state.measurement, verdict, self._worker)
            setattr(report, RECORD, to_plain(record))
        return report


class WatchPlugin:
    """Stands by while no test is known to have a budget, for a marker that a fixture adds.

    A single cheap hook: a suite that budgets nothing pays for nothing else.
    """

    def __init__(self, start: Callable[[], tuple[PlanPlugin, MeasurePlugin | None]]) -> None:
        self._start = start

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Start judging with this very test if it has come by a marker."""
        if MARKER not in item.keywords or item.get_closest_marker(MARKER) is None:
            return (yield)
        planning, fresh = self._start()
        planning.plan(item)
        planning.work_out_limits(item)
        # Hooks that were registered just now are not called for a phase that has begun already.
        return (yield from fresh.pytest_runtest_call(item)) if fresh else (yield)


def outcome_after(before: str, report: pytest.TestReport) -> str:
    """Return what a test has come to after one more of its reports."""
    if report.when == "call":
        if hasattr(report, "wasxfail"):
            return "xpassed" if report.passed else "xfailed"
        return report.outcome
    if report.failed:
        return "error"
    if report.when == "setup" and report.skipped:
        return "xfailed" if hasattr(report, "wasxfail") else "skipped"
    return before
