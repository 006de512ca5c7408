"""Measuring each test, in the process that runs it."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from pytest_membudget.core.record import TestRecord, record_of, to_plain
from pytest_membudget.core.run import one_per_test
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.glue.artifacts import keep_after_failure
from pytest_membudget.glue.isolation_wanted import isolation_of
from pytest_membudget.glue.place import place_of
from pytest_membudget.glue.test_state import NOT_RUN, STATE, TestState
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.glue.verdicts import Judge
from pytest_membudget.glue.whereabouts import whereabouts
from pytest_membudget.probes.meter import depth_below

RECORD = "membudget"
WORST_ATTEMPT = pytest.StashKey[TestRecord]()
Wrapper = Generator[None, object, object]


class MeasurePlugin:
    """Measures the call phase of every test, and puts the test's record on its last report."""

    def __init__(
        self, toolbox: Toolbox, judge: Judge, worker: str | None, plan_late: Callable[[pytest.Item], None]
    ) -> None:
        self._toolbox = toolbox
        self._judge = judge
        self._worker = worker
        self._plan_late = plan_late

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Measure the call phase, and fail it when it is over budget."""
        state = item.stash.get(STATE, None)
        if state is None:
            self._plan_late(item)
            state = item.stash.setdefault(STATE, TestState(self._toolbox.resident_only))
        if state.counts_fixtures:
            try:
                return (yield)
            finally:
                state.meter.take_sample()
        if not state.begins_at_function:
            state.meter.start(depth_below(0) if state.meter.measures_heap else 0)
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
        if state is None and report.when == "setup" and report.passed:
            return report
        if state is None:
            # Setup failed or was skipped before anything was planned.
            state = item.stash[STATE] = TestState(self._toolbox.resident_only)
        state.test_outcome = outcome_after(state.test_outcome, report)
        keep_after_failure(item.nodeid, state, report, self._toolbox.artifacts_folder)
        if report.when == "teardown":
            del item.stash[STATE]
        # With --setup-only there is nothing to tell.
        if report.when == "teardown" and state.test_outcome != NOT_RUN:
            setattr(report, RECORD, to_plain(_of_all_attempts(item, self._record(item, state))))
        return report

    def _record(self, item: pytest.Item, state: TestState) -> TestRecord:
        verdict = None if state.test_outcome == "skipped" else state.verdict
        failed_by_us = state.test_outcome == ("error" if state.counts_fixtures else "failed")
        return record_of(
            item.nodeid,
            state.test_outcome,
            state.measurement,
            verdict,
            self._worker,
            self._judge.comparer.provenance(state.budget, state.isolated),
            **place_of(item)._asdict(),
            **whereabouts(isolation_of(item, state.budget)),
            text=state.text if verdict else None,
            failed_by_baseline=state.failed_by_baseline and failed_by_us,
        )


def _of_all_attempts(item: pytest.Item, record: TestRecord) -> TestRecord:
    """Keep the worst attempt on the item: some rerun plugins log no report of the attempts before the last."""
    earlier = item.stash.get(WORST_ATTEMPT, None)
    (worst,) = one_per_test([earlier, record]) if earlier else (record,)
    if worst.outcome in (Outcome.OVER_BUDGET, Outcome.REGRESSED):
        item.stash[WORST_ATTEMPT] = worst
    return worst


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
