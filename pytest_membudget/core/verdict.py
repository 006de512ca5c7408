"""Judging: a measurement against resolved limits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pytest_membudget.core.measurement import Figure, Measurement, Resource, Unavailable
from pytest_membudget.core.resolution import ResolvedLimit, ResolvedLimits

NO_BASELINE_YET = "comparing with a baseline is not measured yet by this version"


class Outcome(str, Enum):
    """What a budgeted test can come to: a closed set, worst first."""

    OVER_BUDGET = "OVER_BUDGET"
    REGRESSED = "REGRESSED"
    NO_BASELINE = "NO_BASELINE"
    NOT_MEASURED = "NOT_MEASURED"
    WITHIN = "WITHIN"


@dataclass(frozen=True)
class Finding:
    """One resource, judged."""

    resource: Resource
    outcome: Outcome
    figure: Figure
    budget_bytes: int | None
    reason: str | None = None


@dataclass(frozen=True)
class Verdict:
    """All resources of one test, judged."""

    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst of the findings."""
        found = {finding.outcome for finding in self.findings}
        return next(outcome for outcome in Outcome if outcome in found)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why something was not judged, one sentence each."""
        return tuple(dict.fromkeys(finding.reason for finding in self.findings if finding.reason))

    def of(self, outcome: Outcome) -> tuple[Finding, ...]:
        """Return the findings with that outcome."""
        return tuple(finding for finding in self.findings if finding.outcome is outcome)


def judge(limits: ResolvedLimits, measurement: Measurement) -> Verdict | None:
    """Return the verdict on ``measurement``, or None where nothing is limited. A peak equal to its budget is within."""
    findings = tuple(_finding(resource, limit, measurement.figure(resource)) for resource, limit in limits.items())
    return Verdict(findings) if findings else None


def _finding(resource: Resource, limit: ResolvedLimit, figure: Figure) -> Finding:
    budget_bytes = limit if isinstance(limit, int) else None
    if isinstance(figure, Unavailable):
        return Finding(resource, Outcome.NOT_MEASURED, figure, budget_bytes, figure.reason)
    if isinstance(limit, Unavailable):
        return Finding(resource, Outcome.NOT_MEASURED, figure, None, f"{resource.value}: {limit.reason}")
    if figure.unjudged:
        return Finding(resource, Outcome.NOT_MEASURED, figure, budget_bytes, figure.unjudged)
    if budget_bytes is None:
        return Finding(resource, Outcome.NO_BASELINE, figure, None, f"{resource.value}: {NO_BASELINE_YET}")
    within = figure.bytes <= budget_bytes
    return Finding(resource, Outcome.WITHIN if within else Outcome.OVER_BUDGET, figure, budget_bytes)
