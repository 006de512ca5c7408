"""A run as one page: a table that sorts and filters, and for each test what it did with its memory."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_membudget.core.growth import SiteChange
from pytest_membudget.core.measurement import Frame, Resource, Site
from pytest_membudget.core.record import TestRecord
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.sizes import format_size
from pytest_membudget.core.timeline import MOST_MOMENTS, Moment, thinned
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.core.vram_record import device_lines
from pytest_membudget.reports.row import LOST, WORDS, Row, counts_in_words, judged_rows, unjudged_rows

if TYPE_CHECKING:
    from jinja2 import Template

# What a page may weigh. One of few tests tells everything of each, one of thousands draws its timelines coarsely and
# names the largest call sites.
MOST_MOMENTS_OF_A_PAGE, LEAST_MOMENTS = 100_000, 12
MOST_SITES_OF_A_PAGE, LEAST_SITES = 20_000, 3
CLOSE_TO_BUDGET = 0.9
# Steps of a timeline's height: finer than the drawing is high.
_STEPS = 2000


def render_html(run: RunReport) -> str:
    """Return one self-contained page: no network, no storage, and no script but its own runs."""
    script = "\n".join(map(_part, ("table.js", "panel.js", "timeline.js")))
    rows = [_TableRow(row.record, row.aside) for row in (*judged_rows(run), *unjudged_rows(run))]
    return _template().render(
        run=run,
        verdict=_verdict(run),
        facts=_facts(run),
        rows=rows,
        filters=_filters(run),
        compared=any(row.change_bytes is not None for row in rows),
        details=_details([row.record for row in rows]),
        style=_part("page.css"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
    )


def _part(name: str) -> str:
    return (files("pytest_membudget.reports") / "page" / name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    templates = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    templates.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return templates.from_string(_part("page.html.jinja"))


@dataclass(frozen=True)
class _Verdict:
    """What a reader should know first."""

    tone: str
    headline: str
    sub: str


def _verdict(run: RunReport) -> _Verdict:
    tests, budgeted = len(run.records), len(run.budgeted)
    sub = f"{budgeted:,} of {tests:,} tests have a budget."
    failing, others = counts_in_words(run, failing=True), counts_in_words(run, failing=False)
    if failing:
        return _Verdict("bad", ", ".join(failing), " ".join([sub, *([f"{', '.join(others)}."] if others else [])]))
    if not budgeted:
        return _Verdict("open", "No test has a memory budget", f"{tests:,} tests ran.")
    if run.count(Outcome.WITHIN) < budgeted:
        return _Verdict("open", ", ".join(others), sub)
    return _Verdict("good", "Every budgeted test is within its budget", sub)


def _facts(run: RunReport) -> list[str]:
    environment = run.environment
    assert environment is not None
    commit = [f"commit {environment.commit[:12]}"] if environment.commit else []
    machine = f"{environment.cpu_count} CPUs, {format_size(environment.total_ram_bytes)} RAM"
    return [environment.key, machine, *commit]


@dataclass(frozen=True)
class _Filter:
    """One of the choices above the table."""

    value: str
    label: str
    count: int


def _filters(run: RunReport) -> list[_Filter]:
    outcomes = [_Filter(outcome.value, word, run.count(outcome)) for outcome, word in WORDS.items()]
    choices = [
        _Filter("budgeted", "budgeted", len(run.budgeted) + len(run.lost)),
        _Filter(LOST, LOST, len(run.lost)),
        *outcomes,
        _Filter("unbudgeted", "unbudgeted", len(run.unbudgeted)),
        _Filter("all", "all", len(run.budgeted) + len(run.lost) + len(run.unbudgeted)),
    ]
    return [choice for choice in choices if choice.count]


class _TableRow(Row):
    """What the page's table says of a test, beside the words that every table uses."""

    @property
    def parts(self) -> tuple[str, str]:
        """The name in two: the way to the test, and the test."""
        file, separator, rest = self.name.partition("::")
        return (f"{file}{separator}", rest) if rest else ("", file)

    @property
    def group(self) -> str:
        """What the filters tell tests apart by."""
        return self.record.outcome.value if self.record.outcome else self.outcome or "unbudgeted"

    @property
    def tone(self) -> str:
        """How the row is coloured."""
        if self.fails:
            return "over" if self.record.outcome is Outcome.OVER_BUDGET else "failed"
        if self.record.outcome in (Outcome.NO_BASELINE, Outcome.NOT_MEASURED):
            return "open"
        return "close" if (self.used or 0) >= CLOSE_TO_BUDGET else "good"

    @property
    def used_key(self) -> str | None:
        """The share of the budget as a script reads it."""
        return None if self.used is None else f"{self.used:.6g}".replace("inf", "Infinity")

    @property
    def bar_percent(self) -> float:
        """How far the bar reaches; a peak over its budget fills it."""
        return round(100 * min(self.used or 0, 1), 1)

    @property
    def mark_percent(self) -> float | None:
        """Where in a full bar the budget lies, when the peak is over it."""
        return round(100 / self.used, 1) if self.used and self.used > 1 else None

    @property
    def resident_bytes(self) -> int | None:
        """The growth of the resident peak."""
        return self.record.use(Resource.RSS).peak_bytes


@dataclass
class _Texts:
    """Texts that many tests share, each kept once."""

    texts: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def place(self, text: str) -> int:
        """Return where the text stands in the list."""
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
        return self._places[text]


def _details(records: Sequence[TestRecord]) -> dict[str, Any]:
    """Return what a row shows when it is opened, in the order of the rows."""
    texts = _Texts()
    measured = max(sum(bool(record.timeline or record.sites) for record in records), 1)
    moments = max(LEAST_MOMENTS, min(MOST_MOMENTS, MOST_MOMENTS_OF_A_PAGE // measured))
    sites = max(LEAST_SITES, MOST_SITES_OF_A_PAGE // measured)
    tests = [_detail(record, texts, moments, sites) for record in records]
    return {"tests": tests, "texts": texts.texts}


def _detail(record: TestRecord, texts: _Texts, most_moments: int, most_sites: int) -> dict[str, Any]:
    detail = {
        "text": record.text,
        "reason": record.reason,
        "place": f"{record.file}:{record.line}" if record.file and record.line else None,
        "seconds": round(record.seconds, 6),
        "worker": record.worker,
        "isolated": record.isolated,
        "test_outcome": record.test_outcome,
        "uses": _uses(record),
        "devices": _devices(record),
        "provenance": [text for text in astuple(record.provenance) if text],
        "changes": [_change(change, texts) for change in record.changes],
        "sites": [_site(site, texts) for site in record.sites[:most_sites]],
        "timeline": _timeline(thinned(record.timeline, len(record.timeline), most_moments)),
    }
    return {name: value for name, value in detail.items() if value}


def _uses(record: TestRecord) -> list[list[Any]]:
    return [
        [resource.value, use.peak_bytes, use.budget_bytes, use.baseline_bytes, use.anchor_bytes, use.source, use.exact]
        for resource, use in record.uses.items()
    ]


def _devices(record: TestRecord) -> list[str]:
    """Return a sentence for each GPU, then what their source cannot see and why the figures decided nothing."""
    vram = record.use(Resource.VRAM).vram
    if vram is None:
        return []
    notes = [f"not seen: {vram.cannot_see}" if vram.cannot_see else "", vram.unjudged or ""]
    return [*(line.strip() for line in device_lines(vram)), *filter(None, notes)]


def _site(site: Site, texts: _Texts) -> list[int]:
    frames = [_frame(site.frame), site.source, _frame(site.via) if site.via else ""]
    return [site.bytes, *map(texts.place, frames)]


def _change(change: SiteChange, texts: _Texts) -> list[Any]:
    line = f":{change.line}" if change.line else ""
    place = f"{change.file}{line} in {change.function}"
    return [change.kind.value, change.before_bytes, change.bytes, *map(texts.place, (place, change.source))]


def _frame(frame: Frame) -> str:
    return f"{frame.file}:{frame.line} in {frame.function}"


def _timeline(moments: Sequence[Moment]) -> list[Any]:
    """Return a unit in bytes, then milliseconds, heap and resident growth: figures as small as a screen can tell."""
    if len(moments) < 2:
        return []
    heap = [moment.heap_bytes for moment in moments]
    resident = [moment.resident_bytes - moments[0].resident_bytes for moment in moments]
    unit_bytes = max(*heap, *map(abs, resident)) // _STEPS or 1
    return [
        unit_bytes,
        [round(moment.seconds * 1000) for moment in moments],
        [size_bytes // unit_bytes for size_bytes in heap],
        [size_bytes // unit_bytes for size_bytes in resident],
    ]
