"""A run as Markdown for reviewers: what changed or failed in plain sight, the rest folded."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.row import NO_FIGURE, Row, counts_in_words, judged_rows, unjudged_rows

# What GitHub takes as the summary of one step; see its documentation of job summaries.
MOST_BYTES = 2**20
MOST_NAME = 300
# Room for the closing tags of what is open and for the sentence about what was left out.
_RESERVE_BYTES = 1024
# As entities none of these is markup, neither of a table or a code span nor a mention, an issue's number or a formula.
_TAME = re.compile(r"[\w./:\[\](),=<>&#*+-]+")
_MARKUP = str.maketrans({character: f"&#{ord(character)};" for character in "\\`*_{}[]<>()#+!|~$@&\"'\r\n\t"})


def render_markdown(run: RunReport, most_bytes: int = MOST_BYTES) -> str:
    """Return the run as GitHub-flavoured Markdown of at most ``most_bytes`` as UTF-8; it says what it leaves out."""
    if most_bytes <= _RESERVE_BYTES:
        return ""
    rows = judged_rows(run)
    notable, quiet = [row for row in rows if row.is_notable], [row for row in rows if not row.is_notable]
    page = _Page(most_bytes - _RESERVE_BYTES)
    page.add(f"## Memory budgets\n\n{_totals(run)}\n")
    page.table(_columns(run), notable)
    for row in notable:
        if row.record.text:
            page.add_failure(row.name, row.record.text)
    page.folded(f"{len(quiet)} more with a budget", _columns(run), quiet)
    others = unjudged_rows(run)
    page.folded(f"{len(others)} without a budget", _UNBUDGETED, others)
    return page.text()


def _totals(run: RunReport) -> str:
    assert run.environment is not None
    said = [f"**{words}**" for words in counts_in_words(run, failing=True)] + counts_in_words(run, failing=False)
    summed = f"{len(run.budgeted):,} budgeted of {len(run.records):,} tests on {_code(run.environment.key)}"
    return f"{', '.join(said)} ({summed})" if said else summed


def _name(row: Row) -> str:
    name = _code(row.name)
    return name if row.resource is Resource.RAM else f"{name} ({row.resource.value})"


def _outcome(row: Row) -> str:
    mark = "❌" if row.fails else "✅" if row.record.outcome is Outcome.WITHIN else "⚠️"
    reason = f": {_plain(row.record.reason)}" if row.record.reason else ""
    return f"{mark} {row.outcome}{reason}"


def _code(name: str) -> str:
    """Return a name as code: in backticks as people write it, and as HTML where these would not hold it."""
    shown = _shortened(name)
    return f"`{shown}`" if _TAME.fullmatch(shown) else f"<code>{_plain(shown)}</code>"


def _shortened(name: str) -> str:
    """Keep the end of a very long name, which is what tells tests apart."""
    return name if len(name) <= MOST_NAME else f"…{name[1 - MOST_NAME :]}"


def _plain(text: str) -> str:
    return text.translate(_MARKUP)


Columns = dict[str, Callable[[Row], str]]

_UNBUDGETED: Columns = {
    "Test": lambda row: _code(row.name),
    "Resident peak": lambda row: row.resident,
    "Heap peak": lambda row: row.peak if row.resource is Resource.RAM else NO_FIGURE,
}
_BUDGETED: Columns = {
    "Test": _name,
    "Outcome": _outcome,
    "Peak": lambda row: row.peak,
    "Budget": lambda row: row.budget,
    "Used": lambda row: row.used_text,
}
_CHANGE: Columns = {"Change": lambda row: row.change}
_LEFT_ALIGNED = ("Test", "Outcome")


def _columns(run: RunReport) -> Columns:
    compared = any(Row(record).change_bytes is not None for record in run.budgeted)
    return _BUDGETED | _CHANGE if compared else _BUDGETED


@dataclass
class _Page:
    """Text that grows until it is full, and that counts what found no room."""

    most_bytes: int
    parts: list[str] = field(default_factory=list)
    size_bytes: int = 0
    rows_left_out: int = 0
    texts_left_out: int = 0

    def add(self, part: str) -> bool:
        """Add a part and a line break, if there is room."""
        size_bytes = len(part.encode("utf-8", "backslashreplace")) + 1
        fits = self.size_bytes + size_bytes <= self.most_bytes
        if fits:
            self.parts.append(part)
            self.size_bytes += size_bytes
        return fits

    def add_failure(self, name: str, text: str) -> None:
        """Add what failed a test, folded under its name."""
        summary = html.escape(_shortened(name), quote=False).replace("\n", "&#10;").replace("\r", "&#13;")
        shown = f"<pre>{html.escape(text, quote=False)}</pre>"
        added = self.add(f"<details><summary><code>{summary}</code></summary>\n\n{shown}\n\n</details>\n")
        self.texts_left_out += not added

    def table(self, columns: Columns, rows: Sequence[Row]) -> None:
        """Add a table, as many rows as there is room for."""
        if not rows:
            return
        rule = "|".join("---" if name in _LEFT_ALIGNED else "--:" for name in columns)
        self.add(f"| {' | '.join(columns)} |\n|{rule}|")
        for row in rows:
            added = self.add(f"| {' | '.join(cell(row) for cell in columns.values())} |")
            self.rows_left_out += not added
        self.add("")

    def folded(self, summary: str, columns: Columns, rows: Sequence[Row]) -> None:
        """Add a table that a reader unfolds."""
        if rows and self.add(f"<details><summary>{summary}</summary>\n"):
            self.table(columns, rows)
            self.parts.append("</details>\n")
        else:
            self.rows_left_out += len(rows)

    def text(self) -> str:
        """Return the page, with a sentence about what it lacks."""
        counts = [(self.rows_left_out, "test", "tests"), (self.texts_left_out, "failure text", "failure texts")]
        said = [f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count]
        if said:
            mebibytes = (self.most_bytes + _RESERVE_BYTES) / 2**20
            self.parts.append(
                f"Left out, as this page may hold {mebibytes:.3g} MiB: {' and '.join(said)}. "
                "The JSON and HTML reports have them all."
            )
        return "\n".join(self.parts).rstrip("\n") + "\n"
