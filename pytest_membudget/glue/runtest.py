"""Measuring and judging each test, in the process that runs it."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import TypeVar

import pytest

from pytest_membudget.core.budget import Budget
from pytest_membudget.core.errors import MarkerError
from pytest_membudget.core.measurement import Measurement, Resource, Unavailable
from pytest_membudget.core.record import record_of, to_plain
from pytest_membudget.core.resolution import ResolvedLimits, resolve
from pytest_membudget.core.verdict import Verdict, judge
from pytest_membudget.core.wording import failure_text
from pytest_membudget.glue.markers import MARKER, arguments_of, has_budget, read_budget
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.properties import set_properties
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.probes.machine import total_ram_bytes
from pytest_membudget.probes.meter import Meter, depth_below

RECORD = "membudget"
Read = TypeVar("Read")
Wrapper = Generator[None, object, object]


@dataclass
class TestState:
    """What is known of a test between the phases of its protocol."""

    __test__ = False

    meter: Meter
    budget: Budget = field(default_factory=Budget)
    limits: ResolvedLimits = field(default_factory=dict)
    measurement: Measurement = field(default_factory=Measurement)
    verdict: Verdict | None = None
    test_outcome: str = "passed"

    @property
    def counts_fixtures(self) -> bool:
        """Whether setup and teardown are part of what is measured."""
        return self.budget.scope == "test"


STATE = pytest.StashKey[TestState]()
EARLIER_FAILURE = pytest.StashKey[str]()


class MeasurePlugin:
    """Wraps the phases of each test's protocol."""

    def __init__(self, settings: Settings, toolbox: Toolbox, worker: str | None) -> None:
        self._settings = settings
        self._toolbox = toolbox
        self._worker = worker

    # Innermost: a wrapper that raises before the others have begun would leave them half set up.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Wrapper:
        """Read the budget before anything is set up, and work it out once the fixtures are there."""
        self.plan(item)
        state = item.stash[STATE]
        if state.counts_fixtures:
            state.meter.start(depth_below(0))
        result = yield
        self.work_out_limits(item)
        return result

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Measure the call phase, and fail it when it is over budget."""
        state = item.stash.get(STATE, None)
        if state is None or state.counts_fixtures:
            return (yield)
        if not _is_plain_function(item):
            state.meter.start(depth_below(0))
        try:
            result = yield
        finally:
            self._settle(item)
        self._fail_if_over(item)
        return result

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Wrapper:
        """Begin as close to a test function as can be, so that the runner's own bookkeeping stays out of its figure."""
        state = pyfuncitem.stash.get(STATE, None)
        if state is None or state.counts_fixtures or not _is_plain_function(pyfuncitem):
            return (yield)
        state.meter.start(depth_below(0))
        try:
            return (yield)
        finally:
            self._settle(pyfuncitem)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Wrapper:
        """End a measurement that counts the fixtures, and judge it."""
        state = item.stash.get(STATE, None)
        if state is None or not state.counts_fixtures:
            return (yield)
        try:
            result = yield
        finally:
            self._settle(item)
        if state.test_outcome == "passed":
            self._fail_if_over(item)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the record on the last report of the test, as JSON's own types."""
        report = yield
        state = item.stash.get(STATE, None)
        if state is None:
            return report
        state.test_outcome = outcome_after(state.test_outcome, report)
        if report.when == "teardown":
            verdict = None if state.test_outcome == "skipped" else state.verdict
            record = record_of(item.nodeid, state.test_outcome, state.measurement, verdict, self._worker)
            setattr(report, RECORD, to_plain(record))
        return report

    def plan(self, item: pytest.Item) -> None:
        """Read what applies to the test and choose its meters; a budget that cannot be read fails the test."""
        # Stays if the budget cannot be read: the rest of the protocol then finds a test without one.
        item.stash[STATE] = TestState(meter=self._toolbox.new_meter(item, Budget(), measure_all=False))
        if has_budget(item, self._settings) or self._settings.measure_all:
            budget = _or_fail(lambda: read_budget(item, self._settings))
            meter = self._toolbox.new_meter(item, budget, self._settings.measure_all)
            item.stash[STATE] = TestState(meter=meter, budget=budget)

    def work_out_limits(self, item: pytest.Item) -> None:
        """Resolve computed budgets and percentages; markers that a fixture added count as well."""
        state = item.stash[STATE]
        if not state.budget and has_budget(item, self._settings):
            self.plan(item)
            state = item.stash[STATE]
        state.limits = _or_fail(lambda: resolve(state.budget, arguments_of(item), _total_bytes))

    def _settle(self, item: pytest.Item) -> None:
        """Stop what is running, judge, and leave the figures where JUnit looks for them."""
        state = item.stash[STATE]
        if not state.meter.running:
            return
        state.measurement = _without_promises(state.meter.stop(), state.budget)
        state.verdict = judge(state.limits, state.measurement)
        set_properties(item, record_of(item.nodeid, state.test_outcome, state.measurement, state.verdict))

    def _fail_if_over(self, item: pytest.Item) -> None:
        state = item.stash[STATE]
        if state.verdict is None:
            return
        text = failure_text(state.verdict, state.measurement, self._settings.missing_fails)
        if earlier := item.stash.get(EARLIER_FAILURE, None):
            text = text or f"over budget in an earlier attempt, and a rerun does not undo that:\n{earlier}"
        if text:
            item.stash.setdefault(EARLIER_FAILURE, text)
            pytest.fail(text, pytrace=False)


class WatchPlugin:
    """Stands by while no test is known to have a budget, for a marker that a fixture adds.

    A single cheap hook: a suite that budgets nothing pays for nothing else.
    """

    def __init__(self, start_measuring: Callable[[], MeasurePlugin]) -> None:
        self._start_measuring = start_measuring

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Start measuring with this very test if it has come by a marker."""
        if MARKER not in item.keywords or item.get_closest_marker(MARKER) is None or STATE in item.stash:
            return (yield)
        measuring = self._start_measuring()
        measuring.plan(item)
        measuring.work_out_limits(item)
        return (yield from measuring.pytest_runtest_call(item))


def _or_fail(read: Callable[[], Read]) -> Read:
    try:
        return read()
    except MarkerError as error:
        text = str(error)
    # Outside the except block, or the report would show the error twice, once "during handling" of the other.
    pytest.fail(text, pytrace=False)


def _is_plain_function(item: pytest.Item) -> bool:
    """Whether pytest runs the item through ``pytest_pyfunc_call``."""
    cls = getattr(item, "cls", None)
    return isinstance(item, pytest.Function) and not (cls and issubclass(cls, unittest.TestCase))


def _total_bytes(resource: Resource) -> int | None:
    return None if resource is Resource.VRAM else total_ram_bytes()


def _without_promises(measurement: Measurement, budget: Budget) -> Measurement:
    """Take back the figures of settings that cannot be honoured, rather than judge something else."""
    asked = [name for name in ("isolate", "children") if getattr(budget, name)]
    if not asked:
        return measurement
    refused = Unavailable(f"{asked[0]}=True is not measured yet by this version")
    return replace(measurement, figures={**measurement.figures, **dict.fromkeys(budget.limits, refused)})


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
