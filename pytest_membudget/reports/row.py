"""One test as a line of a table, in the words that every table uses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
# Control characters, and the marks, embeddings and isolates of the bidirectional algorithm.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LEAST_SHARE = 0.0005


@dataclass(frozen=True)
class Row:
    """What a table says of a test: the figures of the resource that it came closest to the limit of."""

    record: TestRecord
    repeated: bool = False

    @property
    def name(self) -> str:
        """The node id, and the worker where several ran the same test."""
        name = visible(self.record.nodeid)
        return f"{name} [{self.record.worker}]" if self.repeated else name

    @property
    def resource(self) -> Resource:
        """The resource the figures are of: the one that the verdict is about."""
        uses = self.record.uses
        if self.record.outcome is Outcome.NOT_MEASURED:
            unknown = (resource for resource, use in uses.items() if use.budget_bytes and use.peak_bytes is None)
            return next(unknown, self.record.tightest)
        if self.record.outcome is Outcome.REGRESSED:
            return max(uses, key=lambda resource: growth(uses[resource]), default=self.record.tightest)
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
        """Growth of the peak over its baseline."""
        if self.use.peak_bytes is None or self.use.baseline_bytes is None:
            return None
        return self.use.peak_bytes - self.use.baseline_bytes

    @property
    def change(self) -> str:
        """Growth of the peak over its baseline, in words."""
        return change_text(self.change_bytes, self.use.baseline_bytes)

    @property
    def is_notable(self) -> bool:
        """Whether a reviewer should see the test without asking for it."""
        if self.outcome not in ("", WORDS[Outcome.WITHIN]):
            return True
        return any(abs(growth(use)) >= NOTABLE_CHANGE for use in self.record.uses.values())


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
    repeated = run.repeated
    return [Row(record, record.nodeid in repeated) for record in records]


def counts_in_words(run: RunReport, failing: bool) -> list[str]:
    """Return how many tests came to each outcome that occurred: those that stop a change, or the others."""
    counts = [(run.count(outcome), word) for outcome, word in WORDS.items() if (outcome in FAILING) is failing]
    if failing:
        counts.append((len(run.lost), LOST))
    return [f"{count:,} {word}" for count, word in counts if count]


def growth(use: Use) -> float:
    """Return the growth of a peak as a share of its baseline; zero where there is none to compare with."""
    if use.peak_bytes is None or use.baseline_bytes is None or use.peak_bytes == use.baseline_bytes:
        return 0.0
    return use.peak_bytes / use.baseline_bytes - 1 if use.baseline_bytes else float("inf")


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


def change_text(change_bytes: int | None, baseline_bytes: int | None) -> str:
    """Return a growth with its sign, and its share of where it began."""
    if change_bytes is None:
        return NO_FIGURE
    if change_bytes == 0:
        return "±0"
    sign = "+" if change_bytes > 0 else "-"
    return f"{sign}{format_size(abs(change_bytes))}{_share_of(change_bytes, baseline_bytes or 0, sign)}"


def _share_of(change_bytes: int, baseline_bytes: int, sign: str) -> str:
    share = abs(change_bytes) / baseline_bytes if baseline_bytes else 0
    if share < _LEAST_SHARE:
        return ""
    return f" ({sign}{share:.1%})" if share < 0.1 else f" ({sign}{share:.0%})"
