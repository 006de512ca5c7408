"""One test as a line of a table, in the words that every table uses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_membudget.core.growth import Growth
from pytest_membudget.core.growth_wording import change, signed_size
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.sizes import format_size
from pytest_membudget.core.verdict import Outcome

WORDS = {
    Outcome.OVER_BUDGET: "over budget",
    Outcome.REGRESSED: "regressed",
    Outcome.NO_BASELINE: "no baseline",
    Outcome.NOT_MEASURED: "not measured",
    Outcome.WITHIN: "within",
}
LOST = "lost"
FAILING = (Outcome.OVER_BUDGET, Outcome.REGRESSED)
# A peak that moved by less is told apart from its baseline by the byte, but is nothing to read about.
NOTABLE_CHANGE = 0.01
NO_FIGURE = "-"
_MOST_TIMES = 1000
_LEAST_SHARE = 0.0005
# Control characters, and the marks, embeddings and isolates of the bidirectional algorithm.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Row:
    """What a table says of a test: the figures of the resource that it came closest to the limit of."""

    record: TestRecord
    aside: str = ""

    @property
    def name(self) -> str:
        """The node id, and where it ran if it did so more than once."""
        name = visible(self.record.nodeid)
        return f"{name} [{self.aside}]" if self.aside else name

    @property
    def resource(self) -> Resource:
        """The resource the figures are of: the one that the verdict is about."""
        return self.record.tightest

    @property
    def use(self) -> Use:
        """The figures."""
        return self.record.use(self.resource)

    @property
    def outcome(self) -> str:
        """The verdict in words, empty for a test without a budget."""
        if self.record.outcome is None:
            return LOST if self.record.reason else ""
        return WORDS[self.record.outcome]

    @property
    def fails(self) -> bool:
        """Whether it is the kind of outcome that stops a change."""
        return self.record.outcome in FAILING or self.outcome == LOST

    @property
    def peak(self) -> str:
        """The peak, with an approximate sign where it was sampled."""
        return size_text(self.use.peak_bytes, self.use.exact)

    @property
    def budget(self) -> str:
        """The budget."""
        return size_text(self.use.budget_bytes)

    @property
    def resident(self) -> str:
        """The growth of the resident peak."""
        resident = self.record.use(Resource.RSS)
        return size_text(resident.peak_bytes, resident.exact)

    @property
    def used(self) -> float | None:
        """The peak as a share of the budget; None where there is no such share."""
        headroom = self.use.headroom
        return None if headroom is None else 1 - headroom

    @property
    def used_text(self) -> str:
        """The peak as a share of the budget, in words."""
        return share_text(self.used)

    @property
    def change_bytes(self) -> int | None:
        """The change since the baseline, None where nothing was compared."""
        return self.use.growth.bytes if self.use.growth else None

    @property
    def change(self) -> str:
        """The change since the baseline, in words."""
        growth = self.use.growth
        if growth is None:
            return NO_FIGURE
        if abs(growth.bytes) < _LEAST_SHARE * growth.before_bytes:
            return signed_size(growth.bytes) if growth.bytes else "±0"
        return change(growth)

    @property
    def is_notable(self) -> bool:
        """Whether a reviewer should see the test without asking for it."""
        if self.outcome not in ("", WORDS[Outcome.WITHIN]):
            return True
        return any(use.growth and _is_notable(use.growth) for use in self.record.uses.values())


def _is_notable(growth: Growth) -> bool:
    return abs(growth.bytes) > NOTABLE_CHANGE * growth.before_bytes


def judged_rows(run: RunReport) -> list[Row]:
    """Return the tests that have a verdict or were lost on the way to one: the worst first, then by headroom."""
    worst_first = list(Outcome)
    judged = sorted(run.budgeted, key=lambda record: worst_first.index(record.outcome or Outcome.WITHIN))
    return _rows((*run.lost, *judged), run)


def unjudged_rows(run: RunReport) -> list[Row]:
    """Return the tests that no budget applies to, the largest resident peak first."""
    by_resident = sorted(
        run.unbudgeted, key=lambda record: (-(record.use(Resource.RSS).peak_bytes or 0), record.nodeid)
    )
    return _rows(by_resident, run)


def _rows(records: Iterable[TestRecord], run: RunReport) -> list[Row]:
    several = len({record.provenance.environment for record in run.records}) > 1
    repeated = run.repeated
    return [Row(record, _whereabouts(record, several) if record.nodeid in repeated else "") for record in records]


def _whereabouts(record: TestRecord, several_environments: bool) -> str:
    environment = record.provenance.environment if several_environments else None
    return ", ".join(filter(None, (environment, record.worker)))


def counts_in_words(run: RunReport, failing: bool) -> list[str]:
    """Return how many tests came to each outcome that occurred: those that stop a change, or the others."""
    counts = [(run.count(outcome), word) for outcome, word in WORDS.items() if (outcome in FAILING) is failing]
    if failing:
        counts.append((len(run.lost), LOST))
    return [f"{count:,} {word}" for count, word in counts if count]


def visible(text: str) -> str:
    """Return a text with escapes for what shows as nothing, or turns around what stands beside it."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def size_text(size_bytes: int | None, exact: bool = True) -> str:
    """Return a size for a cell: a dash where there is none, an approximate sign where it is not exact."""
    if size_bytes is None:
        return NO_FIGURE
    return format_size(size_bytes) if exact else f"≈ {format_size(size_bytes)}"


def share_text(share: float | None) -> str:
    """Return a share of a budget: in per cent, and as a factor where per cent would be hard to read."""
    if share is None:
        return NO_FIGURE
    if share >= _MOST_TIMES:
        return f"> {_MOST_TIMES:,}x"
    return f"{share:.0%}" if share < 10 else f"{share:.0f}x"
