"""Two runs side by side, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_membudget.core.comparison import Comparison, Relation, Row
from pytest_membudget.core.growth_wording import change, site_change_lines
from pytest_membudget.core.sizes import format_against

MOST_LISTED = 20


def comparison_text(comparison: Comparison) -> str:
    """Return what differs, the worst first, and how many figures there are of each kind."""
    return "".join(f"{line}\n" for line in _lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    with_environment = len({row.environment for row in comparison.rows}) > 1
    for relation in Relation:
        rows = comparison.of(relation)
        if not rows or relation is Relation.SAME:
            continue
        # A regression is never left out; of the rest a few show what it is about.
        shown = rows if relation is Relation.REGRESSED else rows[:MOST_LISTED]
        yield f"{relation.value}:"
        for row in shown:
            yield f"  {_name(row, with_environment)}{_figures(row)}"
            yield from (f"  {line}" for line in site_change_lines(row.changes))
        if len(rows) > len(shown):
            yield f"  and {len(rows) - len(shown):,} more"
    counts = Counter(row.relation for row in comparison.rows)
    parts = [f"{counts[relation]:,} {relation.value}" for relation in Relation if counts[relation]]
    yield ", ".join(parts) if parts else "nothing to compare: neither side has a figure"


def _name(row: Row, with_environment: bool) -> str:
    return f"{row.nodeid} {row.figure}" + (f" [{row.environment}]" if with_environment else "")


def _figures(row: Row) -> str:
    if row.growth is None:
        return ""
    before_bytes, now_bytes = row.growth.before_bytes, row.growth.now_bytes
    before, now = format_against(before_bytes, now_bytes), format_against(now_bytes, before_bytes)
    return f": {before} to {now}, {change(row.growth)}"
