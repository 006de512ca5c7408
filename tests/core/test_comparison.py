"""Two sets of figures side by side."""

from __future__ import annotations

from dataclasses import replace

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.comparison import Comparison, Relation, Row, compare, entries_of_run
from pytest_membudget.core.growth import ChangeKind, Growth, SiteChange
from pytest_membudget.core.measurement import Frame, Resource, Site
from pytest_membudget.core.record import Use
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES, parse_tolerance
from pytest_membudget.core.verdict import Outcome
from tests.fakes import KIB, MIB, PROVENANCE, a_record

KEY = PROVENANCE.environment


def an_entry(ram_bytes: int, **sites: int) -> Entry:
    """A heap figure; call sites by function."""
    by_place = {f"pkg/io.py:{function}": size_bytes for function, size_bytes in sites.items()}
    return Entry({"ram": ram_bytes}, PROVENANCE.measured_by, PROVENANCE.mode, sites=by_place)


def compared(old: dict[str, Entry], new: dict[str, Entry]) -> Comparison:
    """Tests of one environment side by side."""
    return compare(Baseline({KEY: old}), Baseline({KEY: new}))


def test_the_worst_first() -> None:
    """What grew, what one side lacks, what another tool measured, what improved, what stayed."""
    old = {
        "same": an_entry(10 * MIB),
        "down": an_entry(10 * MIB),
        "up": an_entry(10 * MIB),
        "gone": an_entry(1),
        "tool": an_entry(1),
    }
    new = {
        "up": an_entry(20 * MIB),
        "down": an_entry(5 * MIB),
        "same": an_entry(10 * MIB + 1),
        "fresh": an_entry(1),
        "tool": replace(an_entry(9 * MIB), measured_by="memray 2.0"),
    }

    assert [(row.nodeid, row.relation) for row in compared(old, new).rows] == [
        ("up", Relation.REGRESSED),
        ("fresh", Relation.MISSING_IN_OLD),
        ("gone", Relation.MISSING_IN_NEW),
        ("tool", Relation.INCOMPARABLE),
        ("down", Relation.IMPROVED),
        ("same", Relation.SAME),
    ]


def test_the_lines_that_grew() -> None:
    """By function: neither side knows the line."""
    (row,) = compared({"a": an_entry(10 * MIB, old=10 * MIB)}, {"a": an_entry(20 * MIB, read=20 * MIB)}).rows

    assert row == Row(
        KEY,
        "a",
        "ram",
        Relation.REGRESSED,
        Growth(10 * MIB, 20 * MIB, 512 * KIB),
        (
            SiteChange(ChangeKind.NEW, 0, 20 * MIB, "pkg/io.py", "read"),
            SiteChange(ChangeKind.GONE, 10 * MIB, 0, "pkg/io.py", "old"),
        ),
    )


def test_each_figure_counts_by_itself() -> None:
    """A resource that was budgeted since is missing in the old side, and no growth."""
    old, new = {"a": an_entry(5)}, {"a": replace(an_entry(5), figures={"ram": 5, "rss": 7})}

    assert [(row.figure, row.relation) for row in compared(old, new).rows] == [
        ("rss", Relation.MISSING_IN_OLD),
        ("ram", Relation.SAME),
    ]


def test_environments_are_kept_apart() -> None:
    """A figure of one interpreter is never held against that of another."""
    old, new = Baseline({"cpython-3.11": {"a": an_entry(1)}}), Baseline({"cpython-3.12": {"a": an_entry(9 * MIB)}})

    assert [row.relation for row in compare(old, new).rows] == [Relation.MISSING_IN_OLD, Relation.MISSING_IN_NEW]


def test_tolerance() -> None:
    """It decides here as it does in a run."""
    sides = Baseline({KEY: {"a": an_entry(10 * MIB)}}), Baseline({KEY: {"a": an_entry(11 * MIB)}})

    assert compare(*sides).rows[0].relation is Relation.REGRESSED
    assert compare(*sides, parse_tolerance("20%").over(DEFAULT_TOLERANCES)).rows[0].relation is Relation.SAME


def test_figures_of_a_run() -> None:
    """Judged figures of tests that passed or not; heaps of other tests only where both sides know them."""
    judged = {Resource.RAM: Use(5, 9, "memray", outcome=Outcome.WITHIN), Resource.RSS: Use(7, None, "vmhwm")}
    site = Site(5, Frame("pkg/io.py", 3, "read"), "x")
    records = [
        replace(a_record("a", uses=judged, sites=(site,), test_outcome="failed"), provenance=PROVENANCE),
        replace(a_record("b", None, {Resource.RAM: Use(6, None, "memray")}), provenance=PROVENANCE),
        replace(a_record("c", None, {Resource.RSS: Use(7, None, "vmhwm")}), provenance=PROVENANCE),
    ]

    assert entries_of_run(records, heap_of_all=False) == Baseline({KEY: {"a": an_entry(5, read=5)}})
    assert entries_of_run(records, heap_of_all=True) == Baseline({KEY: {"a": an_entry(5, read=5), "b": an_entry(6)}})
