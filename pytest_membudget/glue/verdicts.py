"""Judging what was measured, and failing the test that is over."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from pytest_membudget.core.budget import Budget
from pytest_membudget.core.measurement import Measurement, Unavailable
from pytest_membudget.core.verdict import judge
from pytest_membudget.core.wording import failure_text, vram_skip_text
from pytest_membudget.glue.properties import set_properties
from pytest_membudget.glue.test_state import EARLIER_FAILURE, TestState


@dataclass(frozen=True)
class Judge:
    """Knows what a missing figure means; the rest is in the test's state."""

    missing_fails: bool
    vram_missing: str | None = None

    def settle(self, item: pytest.Item, state: TestState) -> None:
        """Stop what is running, judge, and leave the figures where JUnit looks for them."""
        if not state.meter.running:
            return
        state.measurement = _without_promises(state.meter.stop(), state.budget)
        if state.budget:
            state.verdict = judge(state.limits, state.measurement)
            set_properties(item, state.verdict)

    def fail_if_over(self, item: pytest.Item, state: TestState) -> None:
        """Fail the phase that is running, if this attempt or an earlier one of the same test was over budget."""
        if state.verdict is None:
            return
        text = failure_text(state.verdict, state.measurement, self.missing_fails, self.vram_missing)
        if earlier := item.stash.get(EARLIER_FAILURE, None):
            text = text or f"over budget in an earlier attempt, and a rerun does not undo that:\n{earlier}"
        if text:
            item.stash.setdefault(EARLIER_FAILURE, text)
            pytest.fail(text, pytrace=False)
        if self.vram_missing == "skip" and (reason := vram_skip_text(state.verdict)):
            pytest.skip(reason)


def _without_promises(measurement: Measurement, budget: Budget) -> Measurement:
    """Take back the figures of settings that cannot be honoured, rather than judge something else."""
    asked = [name for name in ("isolate",) if getattr(budget, name)]
    if not asked:
        return measurement
    refused = Unavailable(f"{asked[0]}=True is not measured yet by this version")
    return replace(measurement, figures={**measurement.figures, **dict.fromkeys(budget.limits, refused)})
