"""Planning the measurement of tests that have a budget."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import TypeVar

import pytest

from pytest_membudget.core.errors import MarkerError
from pytest_membudget.core.resolution import resolve
from pytest_membudget.glue.isolation_wanted import isolation_of
from pytest_membudget.glue.marker_names import has_budget
from pytest_membudget.glue.markers import arguments_of, read_budget
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.runtest import Wrapper
from pytest_membudget.glue.test_state import NO_BUDGET, STATE, TestState
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.glue.verdicts import Judge
from pytest_membudget.probes.meter import depth_below

Read = TypeVar("Read")


class PlanPlugin:
    """Reads budgets before tests are set up, and places the beginning and the end of what counts."""

    def __init__(self, settings: Settings, toolbox: Toolbox, judge: Judge) -> None:
        self._settings = settings
        self._toolbox = toolbox
        self._judge = judge

    # Innermost: a wrapper that raises before the others have begun would leave them half set up.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Wrapper:
        """Read the budget before anything is set up, and work it out once the fixtures are there."""
        self.plan(item)
        if (state := item.stash.get(STATE, None)) and state.counts_fixtures:
            state.meter.start(depth_below(0))
        result = yield
        self.work_out_limits(item)
        return result

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Wrapper:
        """Begin as close to a test function as can be, so that the runner's own bookkeeping stays out of its figure."""
        state = pyfuncitem.stash.get(STATE, None)
        if state is None or not state.begins_at_function:
            return (yield)
        state.meter.start(depth_below(0))
        try:
            return (yield)
        finally:
            self._judge.settle(pyfuncitem, state)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Wrapper:
        """End a measurement that counts the fixtures, and judge it."""
        state = item.stash.get(STATE, None)
        if state is None or not state.counts_fixtures:
            return (yield)
        try:
            result = yield
        finally:
            # The item keeps the values of all fixtures until its last hook has run, which nobody would call a leak.
            getattr(item, "funcargs", {}).clear()
            self._judge.settle(item, state)
        if state.test_outcome == "passed":
            self._judge.fail_if_over(item, state)
        return result

    def plan(self, item: pytest.Item) -> None:
        """Read what applies to the test and choose its meters; a budget that cannot be read fails the test."""
        budgeted = has_budget(item, self._settings)
        if not budgeted and not self._settings.measure_all:
            return
        budget = _or_fail(lambda: read_budget(item, self._settings)) if budgeted else NO_BUDGET
        planned = item.stash.get(STATE, None)
        running = planned.meter if planned and planned.meter.running else None
        meter = running or self._toolbox.new_meter(item, budget, self._settings.measure_all)
        at_function = budget.scope == "call" and _is_plain_function(item)
        isolation = isolation_of(item, budget)
        item.stash[STATE] = TestState(
            meter,
            budget,
            at_function,
            own_markers=len(item.own_markers),
            isolated=isolation is not None and isolation.isolated,
        )

    def take_late(self, item: pytest.Item) -> None:
        """Plan for a test that has come by its marker while it was set up."""
        self.plan(item)
        self.work_out_limits(item)

    def work_out_limits(self, item: pytest.Item) -> None:
        """Resolve computed budgets and percentages; a marker that a fixture added counts as well."""
        state = item.stash.get(STATE, None)
        has_more_markers = len(item.own_markers) != (state.own_markers if state else 0)
        if has_more_markers and has_budget(item, self._settings):
            self.plan(item)
            state = item.stash[STATE]
        if state and state.budget:
            arguments = arguments_of(item)
            state.limits = _or_fail(lambda: resolve(state.budget, arguments, self._toolbox.total_bytes))


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
