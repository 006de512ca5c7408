"""Judging: a measurement against resolved limits, and against what the baseline has recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from pytest_membudget.core.baseline import Entry, figure_key
from pytest_membudget.core.growth import Growth, SiteChange, site_changes
from pytest_membudget.core.measurement import Figure, Measurement, Reading, Resource, Unavailable
from pytest_membudget.core.provenance import UNKNOWN, Provenance
from pytest_membudget.core.resolution import ResolvedLimit, ResolvedLimits
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES, Tolerances

NO_BASELINE_FILE = "there is no baseline yet"


class Outcome(str, Enum):
    """What a budgeted test can come to: a closed set, worst first."""

    OVER_BUDGET = "OVER_BUDGET"
    REGRESSED = "REGRESSED"
    NO_BASELINE = "NO_BASELINE"
    NOT_MEASURED = "NOT_MEASURED"
    WITHIN = "WITHIN"


@dataclass(frozen=True)
class Yardstick:
    """What figures are held against beside their budget.

    Attributes
    ----------
    entry
        What is recorded of the test in this environment, if anything.
    provenance
        How this run measures.
    tolerances
        The growth that does not count.
    why_no_entry
        The reason to give where ``entry`` is None.
    wants_entry
        Whether a test with a budget in bytes needs an entry as well; one whose budget is ``"baseline"`` always does.
    accepts_growth
        Whether growth is being recorded rather than judged.
    """

    entry: Entry | None = None
    provenance: Provenance = UNKNOWN
    tolerances: Tolerances = field(default_factory=lambda: DEFAULT_TOLERANCES)
    why_no_entry: str = NO_BASELINE_FILE
    wants_entry: bool = False
    accepts_growth: bool = False

    def growth(self, resource: Resource, reading: Reading) -> Growth | None:
        """Return the change of a figure since it was recorded, or None where it was not."""
        before_bytes = self.entry.figures.get(_key(resource, reading)) if self.entry else None
        if before_bytes is None:
            return None
        return Growth(before_bytes, reading.bytes, self.tolerances[resource].band_bytes(before_bytes))

    def anchor_bytes(self, resource: Resource, reading: Reading) -> int | None:
        """Return where a figure began."""
        return self.entry.anchor_bytes(_key(resource, reading)) if self.entry else None

    def why_missing(self, resource: Resource, reading: Reading) -> str:
        """Return the reason why there is nothing to hold a figure against."""
        if self.entry is None:
            return self.why_no_entry
        return f"the test's baseline entry has no figure for {_key(resource, reading)}"

    def why_incomparable(self, resource: Resource, reading: Reading) -> str | None:
        """Return the reason why a figure and its entry cannot be compared, if they cannot."""
        if self.entry is None or self.entry.is_comparable(_key(resource, reading), self.provenance):
            return None
        return f"the baseline entry was measured by {self.entry.described()}, this run by {self.provenance}"


NO_YARDSTICK = Yardstick()


@dataclass(frozen=True)
class Finding:
    """One resource, judged; ``growth`` and ``anchor_bytes`` are there when the baseline has a figure for it."""

    resource: Resource
    outcome: Outcome
    figure: Figure
    budget_bytes: int | None
    reason: str | None = None
    growth: Growth | None = None
    anchor_bytes: int | None = None


@dataclass(frozen=True)
class Verdict:
    """All resources of one test, judged; ``changes`` are the call sites behind a change of the heap's peak."""

    findings: tuple[Finding, ...]
    changes: tuple[SiteChange, ...] = ()

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


def judge(limits: ResolvedLimits, measurement: Measurement, yardstick: Yardstick = NO_YARDSTICK) -> Verdict | None:
    """Return the verdict on ``measurement``, or None where nothing is limited. A peak equal to its budget is within."""
    findings = tuple(
        _finding(resource, limit, measurement.figure(resource), yardstick) for resource, limit in limits.items()
    )
    return Verdict(findings, _changes(findings, measurement, yardstick)) if findings else None


def _finding(resource: Resource, limit: ResolvedLimit, figure: Figure, yardstick: Yardstick) -> Finding:
    budget_bytes = limit if isinstance(limit, int) else None
    if isinstance(figure, Unavailable):
        return Finding(resource, Outcome.NOT_MEASURED, figure, budget_bytes, figure.reason)
    if isinstance(limit, Unavailable):
        return Finding(resource, Outcome.NOT_MEASURED, figure, None, f"{resource.value}: {limit.reason}")
    if figure.unjudged:
        return Finding(resource, Outcome.NOT_MEASURED, figure, budget_bytes, figure.unjudged)
    growth = yardstick.growth(resource, figure)
    outcome, reason = _outcome(resource, budget_bytes, figure, growth, yardstick)
    anchor_bytes = yardstick.anchor_bytes(resource, figure)
    return Finding(resource, outcome, figure, budget_bytes, reason, growth, anchor_bytes)


def _outcome(
    resource: Resource, budget_bytes: int | None, reading: Reading, growth: Growth | None, yardstick: Yardstick
) -> tuple[Outcome, str | None]:
    if budget_bytes is not None and reading.bytes > budget_bytes:
        return Outcome.OVER_BUDGET, None
    if growth is None:
        if budget_bytes is None or yardstick.wants_entry:
            return Outcome.NO_BASELINE, yardstick.why_missing(resource, reading)
        return Outcome.WITHIN, None
    if not growth.grew or yardstick.accepts_growth:
        return Outcome.WITHIN, None
    if reason := yardstick.why_incomparable(resource, reading):
        return Outcome.NO_BASELINE, reason
    return Outcome.REGRESSED, None


def _changes(findings: tuple[Finding, ...], measurement: Measurement, yardstick: Yardstick) -> tuple[SiteChange, ...]:
    """Return what changed at the peak where that explains something: a peak within its band explains itself."""
    ram = next((finding for finding in findings if finding.resource is Resource.RAM and finding.growth), None)
    if ram is None or ram.growth is None or yardstick.entry is None or not yardstick.entry.sites:
        return ()
    if not (ram.growth.grew or ram.growth.shrank):
        return ()
    return site_changes(yardstick.entry.sites, measurement.sites)


def _key(resource: Resource, reading: Reading) -> str:
    return figure_key(resource, reading.device, reading.source)
