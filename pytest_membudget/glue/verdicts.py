"""Judging what was measured, and failing the test that is over."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_membudget.core.verdict import Outcome, Verdict, judge
from pytest_membudget.core.wording import failure_text, vram_skip_text
from pytest_membudget.glue.comparing import Comparer
from pytest_membudget.glue.properties import set_properties
from pytest_membudget.glue.test_state import EARLIER_FAILURE, TestState


@dataclass(frozen=True)
class Judge:
    """Knows what the baseline says and what a missing figure means; the rest is in the test's state."""

    comparer: Comparer

    def settle(self, item: pytest.Item, state: TestState) -> None:
        """Stop what is running, judge, and leave the figures where JUnit looks for them."""
        if not state.meter.running:
            return
        state.measurement = state.meter.stop()
        if state.budget:
            yardstick = self.comparer.yardstick(item.nodeid, state.budget, state.isolated)
            state.verdict = judge(state.limits, state.measurement, yardstick)
            set_properties(item, state.verdict)
        if state.verdict:
            state.text = failure_text(
                state.verdict,
                state.measurement,
                self.comparer.strictness,
                lambda: self.comparer.reference(item.nodeid),
            )

    def fail_if_over(self, item: pytest.Item, state: TestState) -> None:
        """Fail the phase that is running, if this attempt or an earlier one of the same test was over budget."""
        if state.verdict is None:
            return
        if earlier := item.stash.get(EARLIER_FAILURE, None):
            reminder = f"over budget in an earlier attempt, and a rerun does not undo that:\n{earlier}"
            state.text = state.text or reminder
        if state.text:
            state.failed_by_baseline = not self._has_other_faults(state.verdict)
            item.stash.setdefault(EARLIER_FAILURE, state.text)
            pytest.fail(state.text, pytrace=False)
        skips = self.comparer.strictness.vram_missing == "skip"
        if skips and (reason := vram_skip_text(state.verdict)):
            pytest.skip(reason)

    def _has_other_faults(self, verdict: Verdict) -> bool:
        """Whether something else than the baseline fails the test."""
        unmeasured = any(map(self.comparer.strictness.setting_against, verdict.of(Outcome.NOT_MEASURED)))
        return bool(verdict.of(Outcome.OVER_BUDGET) or unmeasured)
