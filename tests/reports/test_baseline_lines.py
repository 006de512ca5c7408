"""What the end of a run says about the baseline."""

from __future__ import annotations

from dataclasses import replace

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.recording import Recorded
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.baseline_lines import (
    drift_lines,
    improved_lines,
    loose_lines,
    pruned_line,
    recorded_lines,
    unrecorded_lines,
)
from pytest_membudget.reports.terminal import Line, Style, summary_lines, table_lines
from tests.fakes import KIB, MIB, a_record, a_run

COMMAND = "pytest --membudget-update=changed"
THREE = Baseline({"cpython": {name: Entry({"ram": 1}) for name in "abc"}})


def compared(
    nodeid: str, ram_bytes: int, baseline_bytes: int, anchor_bytes: int | None = None, outcome: Outcome = Outcome.WITHIN
) -> TestRecord:
    """A test with a heap peak and its entry."""
    anchor_bytes = baseline_bytes if anchor_bytes is None else anchor_bytes
    use = Use(
        ram_bytes,
        None,
        "memray",
        outcome=outcome,
        baseline_bytes=baseline_bytes,
        anchor_bytes=anchor_bytes,
        band_bytes=64 * KIB,
    )
    return a_record(nodeid, outcome, {Resource.RAM: use})


def test_recorded() -> None:
    """How many entries of each kind; those that rose by name, for they are what a reviewer asks about."""
    result = Recorded(THREE, added=("a", "b"), raised=("c",), lowered=("d",), renewed=("e",))

    assert recorded_lines("baseline.json", result, COMMAND) == [
        Line("baseline.json: 2 added, 1 raised, 1 lowered, 1 measured anew; it holds 3 entries", "green"),
        Line("raised: c", "yellow"),
    ]


def test_nothing_recorded() -> None:
    """Said as well: the user asked for something."""
    one = Baseline({"cpython": {"a": Entry({"ram": 1})}})

    assert recorded_lines("baseline.json", Recorded(one), COMMAND) == [
        Line("baseline.json: no entry changed; it holds 1 entry", "green")
    ]


def test_held_back() -> None:
    """Why, and what to do."""
    _, held = recorded_lines("baseline.json", Recorded(THREE, held=("a", "b", "c", "d")), COMMAND)

    assert held == Line(
        "not raised, because the run failed: a, b, c and 1 more: let it pass, or record these alone with "
        "pytest --membudget-update=changed and their names",
        "yellow",
    )


def test_pruned() -> None:
    """Which entries are gone, or that none is."""
    assert pruned_line([]) == Line("pruned: no entry, every test still exists")
    assert pruned_line(["a"]) == Line("pruned: 1 entry of tests that are gone: a", "yellow")


def test_improved() -> None:
    """By how much, and how to hold on to it; a change within the band is no news."""
    run = a_run(compared("a", MIB, 2 * MIB), compared("b", MIB, MIB + KIB))

    assert improved_lines(run, COMMAND) == [
        Line("improved: a (-50%): record it with pytest --membudget-update=changed", "green")
    ]
    assert improved_lines(a_run(compared("b", MIB, MIB)), COMMAND) == []


def test_slow_growth_is_visible() -> None:
    """Against where the test began, whatever was accepted since."""
    run = a_run(
        compared("ratchet", 148 * MIB, 142 * MIB, 100 * MIB),
        compared("steady", MIB, MIB),
        compared("little", MIB + KIB, MIB + KIB, MIB),
    )

    assert drift_lines(run) == [Line("grown since first recorded: ratchet (+48%)", "yellow")]
    assert drift_lines(a_run()) == []


def test_loose_budgets() -> None:
    """More than four times what was measured, and more than the grain of the resource."""

    def budgeted(nodeid: str, resource: Resource, peak_bytes: int, budget_bytes: int) -> TestRecord:
        return a_record(nodeid, uses={resource: Use(peak_bytes, budget_bytes, outcome=Outcome.WITHIN)})

    run = a_run(
        budgeted("loose", Resource.RAM, 12 * MIB, 2048 * MIB),
        budgeted("four times", Resource.RAM, 2 * MIB, 8 * MIB),
        budgeted("small", Resource.RAM, KIB, 256 * KIB),
        budgeted("nothing retained", Resource.RETAINED, 0, MIB),
        budgeted("resident", Resource.RSS, MIB, 64 * MIB),
    )

    assert loose_lines(run) == [Line("budgets more than 4x what was measured: loose (12 MiB of 2 GiB)")]


def test_how_to_record_what_was_not_compared() -> None:
    """One command for all of them."""
    missing = a_record("a", Outcome.NO_BASELINE, reason="no entry for cpython")
    run = a_run(missing, replace(missing, nodeid="b"))

    assert unrecorded_lines(run, COMMAND) == [Line(f"to record what was not compared: {COMMAND}", "yellow")]
    assert unrecorded_lines(a_run(), COMMAND) == []
    assert summary_lines(run, []) == [
        Line("2 budgeted: 2 no baseline"),
        Line("not compared, no entry for cpython: a, b", "yellow"),
    ]


def test_the_table_shows_the_change() -> None:
    """A column for it as soon as something was compared, in place of the bars where there is no room for both."""
    run = a_run(
        compared("a", 2 * MIB, MIB, outcome=Outcome.REGRESSED),
        compared("b", MIB, MIB),
        a_record("c", uses={Resource.RAM: Use(MIB, 2 * MIB, outcome=Outcome.WITHIN)}),
        compared("d", 5, 0),
    )

    assert [line.text for line in table_lines(run, Style(80), 0)] == [
        "    peak    budget  used   outcome         rss    change  test",
        "   1 MiB     2 MiB    50%  within            -         -  c",
        "   2 MiB         -      -  GREW              -     +100%  a",
        "   1 MiB         -      -  within            -      same  b",
        "     5 B         -      -  within            -      +5 B  d",
    ]
    assert "██████░░░░░░  50%" in table_lines(run, Style(120), 0)[1].text
