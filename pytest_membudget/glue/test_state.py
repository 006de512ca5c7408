"""What is known of one test between the phases of its protocol."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from pytest_membudget.core.budget import Budget
from pytest_membudget.core.measurement import Measurement
from pytest_membudget.core.resolution import ResolvedLimits
from pytest_membudget.core.verdict import Verdict
from pytest_membudget.probes.meter import Meter

NOT_RUN = "not run"
NO_BUDGET = Budget()
NOTHING_MEASURED = Measurement()


@dataclass
class TestState:
    """The plan, then the figures, then the verdict of one test.

    ``begins_at_function`` says that measuring starts where pytest calls the test function, not where the phase begins.
    ``text`` is what fails the test, or what would have if it had not failed by itself.
    ``own_markers`` counts the markers that the test had when its budget was read: a fixture may add some.
    """

    __test__ = False  # the name would have pytest collect it

    meter: Meter
    budget: Budget = NO_BUDGET
    begins_at_function: bool = False
    limits: ResolvedLimits = field(default_factory=dict)
    measurement: Measurement = NOTHING_MEASURED
    verdict: Verdict | None = None
    text: str | None = None
    test_outcome: str = NOT_RUN
    own_markers: int = 0
    isolated: bool = False
    failed_by_baseline: bool = False

    @property
    def counts_fixtures(self) -> bool:
        """Whether setup and teardown are part of what is measured."""
        return self.budget.scope == "test"


STATE = pytest.StashKey[TestState]()
EARLIER_FAILURE = pytest.StashKey[str]()
"""Why an attempt at the test was over budget, for the attempts that a rerun plugin makes after it."""
