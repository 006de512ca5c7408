"""The table at the end of a run, and the sentences under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_membudget.core.growth_wording import share_of, signed_size
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.sizes import format_size
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.core.vram_record import device_lines

NARROW = 100
MOST_NAMED = 3
LOST = "the process ended in the middle of the test"
_WORDS = {
    Outcome.WITHIN: "within",
    Outcome.OVER_BUDGET: "OVER",
    Outcome.REGRESSED: "GREW",
    Outcome.NO_BASELINE: "no entry",
    Outcome.NOT_MEASURED: "no figure",
}
FAILING = (Outcome.OVER_BUDGET, Outcome.REGRESSED)
_COLOURS = {Outcome.WITHIN: "green", Outcome.OVER_BUDGET: "red", Outcome.REGRESSED: "red"}


@dataclass(frozen=True)
class Line:
    """A line of text and its colour."""

    text: str
    colour: str | None = None

    @property
    def markup(self) -> dict[str, bool]:
        """The colour as keyword arguments of a terminal writer."""
        return {self.colour: True} if self.colour else {}


@dataclass(frozen=True)
class Style:
    """The room there is, and whether block characters can be shown."""

    width: int
    unicode: bool = True
    bars: bool = True

    @property
    def bar_width(self) -> int:
        """Cells of the headroom bar."""
        if not self.bars:
            return 0
        return 6 if self.width < NARROW else 12

    @property
    def ellipsis(self) -> str:
        """What stands for text that was left out."""
        return "…" if self.unicode else "..."


def table_lines(run: RunReport, style: Style, top: int) -> list[Line]:
    """Return the table: budgeted tests by headroom, the others by resident peak, ``top`` of these (0: all)."""
    if not run.records:
        return [Line("no test ran")]
    return [
        *_budgeted_lines(run, style),
        *_unbudgeted_lines(run, style, top),
        *_sampled_lines(run),
        *_place_lines(run),
        *_isolated_lines(run),
    ]


def _budgeted_lines(run: RunReport, style: Style) -> Iterator[Line]:
    compared = any(use.growth for record in run.budgeted for use in record.uses.values())
    # With one column more in a narrow terminal, a name says more than a bar.
    style = replace(style, bars=not compared or style.width >= NARROW)
    if run.budgeted:
        heading = _row("peak", "budget", "used".ljust(style.bar_width + 5), "outcome", "rss")
        yield Line(heading + (f"{'change':>8}  " if compared else "") + "test")
    for record in run.budgeted:
        assert record.outcome is not None
        use, rss = record.use(record.tightest), record.use(Resource.RSS)
        name = _name(record, run) + _aside(record.tightest, use)
        row = _row(
            _size(use.peak_bytes),
            _size(use.budget_bytes),
            _bar(use, style),
            _WORDS[record.outcome],
            _size(rss.peak_bytes),
        ) + (f"{_change(use):>8}  " if compared else "")
        yield Line(row + _fit(name, style.width - len(row), style), _COLOURS.get(record.outcome, "yellow"))
        yield from map(Line, device_lines(record.use(Resource.VRAM).vram))


def _aside(resource: Resource, use: Use) -> str:
    """Return what a reader must know about the figure: which resource it is of, and what it may have missed."""
    notes = [] if resource is Resource.RAM else [resource.value]
    if use.may_miss_bytes:
        notes.append(f"may miss {format_size(use.may_miss_bytes)}")
    return f" ({', '.join(notes)})" if notes else ""


def _row(peak: str, budget: str, bar: str, outcome: str, rss: str) -> str:
    return f"{peak:>8}  {budget:>8}  {bar}  {outcome:<9}  {rss:>8}  "


def _change(use: Use) -> str:
    """Return the change since the baseline as a share of it."""
    if use.growth is None:
        return "-"
    if use.growth.bytes == 0:
        return "same"
    return share_of(use.growth) if use.growth.before_bytes else signed_size(use.growth.bytes)


def _size(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else format_size(size_bytes)


def _bar(use: Use, style: Style) -> str:
    full, empty = ("█", "░") if style.unicode else ("#", ".")
    if use.headroom is None:
        return " " * style.bar_width + "    -"
    used = 1 - use.headroom
    cells = min(style.bar_width, -(-int(used * style.bar_width * 1000) // 1000)) if used < 1000 else style.bar_width
    share = f"{used:.0%}" if used < 10 else f"{used:.0f}x" if used < 1000 else "many"
    return f"{full * cells}{empty * (style.bar_width - cells)}{share:>5}"


def _fit(name: str, room: int, style: Style) -> str:
    """Shorten from the left: the end of a node id is what tells tests apart."""
    if len(name) <= room:
        return name
    return style.ellipsis + name[len(name) - max(room - len(style.ellipsis), 1) :]


def _name(record: TestRecord, run: RunReport) -> str:
    """Return the node id, and where the test ran if that is not the same for all."""
    place = run.place_of(record)
    return f"{record.nodeid} [{place}]" if place else record.nodeid


def _place_lines(run: RunReport) -> Iterator[Line]:
    for worker, host, environment_key in run.places:
        yield Line(f"{worker} on {host}: {environment_key}")


def _unbudgeted_lines(run: RunReport, style: Style, top: int) -> Iterator[Line]:
    records = run.unbudgeted
    if not records:
        return
    largest = sorted(records, key=lambda record: (-(record.use(Resource.RSS).peak_bytes or 0), record.nodeid))
    shown = largest[:top] if top else largest
    heap = any(record.use(Resource.RAM).peak_bytes is not None for record in shown)
    of = "" if len(shown) == len(records) else f", the largest {len(shown)} of {len(records)}"
    yield Line(f"without a budget{of}:")
    yield Line(f"{'rss':>8}  {'heap':>8}  test" if heap else f"{'rss':>8}  test")
    for record in shown:
        row = f"{_size(record.use(Resource.RSS).peak_bytes):>8}  "
        row += f"{_size(record.use(Resource.RAM).peak_bytes):>8}  " if heap else ""
        yield Line(row + _fit(_name(record, run), style.width - len(row), style))


def _sampled_lines(run: RunReport) -> Iterator[Line]:
    uses = (record.use(Resource.RSS) for record in run.records)
    sources = {use.source for use in uses if not use.exact and not use.upper_bound}
    for source in sorted(filter(None, sources)):
        yield Line(f"rss is sampled by {source}: a peak between two samples is not seen", "yellow")


def _isolated_lines(run: RunReport) -> Iterator[Line]:
    for reason, names in _by_isolation(run, isolated=True).items():
        yield Line(f"isolated, {reason}: {named(names)}")


def _by_isolation(run: RunReport, isolated: bool) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for record in run.records:
        if record.isolation_reason and record.isolated is isolated:
            by_reason.setdefault(record.isolation_reason, []).append(record.nodeid)
    return by_reason


def summary_lines(run: RunReport, lost: Sequence[str]) -> list[Line]:
    """Return what nobody may miss, whether or not a table was asked for."""
    lines = [Line(_totals(run), "red" if any(map(run.count, FAILING)) else None)] if run.budgeted else []
    lines += [Line(f"{reason}: {named(names)}", "yellow") for reason, names in _reasons(run).items()]
    kept = _by_isolation(run, isolated=False)
    lines += [Line(f"not isolated, {reason}: {named(names)}", "yellow") for reason, names in kept.items()]
    if lost:
        lines.append(Line(f"no figure, {LOST}: {named(lost)}", "red"))
    return lines


def _totals(run: RunReport) -> str:
    counts = [(run.count(outcome), outcome.value.replace("_", " ").lower()) for outcome in Outcome]
    return f"{len(run.budgeted)} budgeted: " + ", ".join(f"{count} {word}" for count, word in counts if count)


def _reasons(run: RunReport) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for record in run.budgeted:
        if record.reason:
            verb = "not compared" if record.outcome is Outcome.NO_BASELINE else "not judged"
            by_reason.setdefault(f"{verb}, {record.reason}", []).append(record.nodeid)
    return by_reason


def named(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
