"""Two runs side by side, as text."""

from __future__ import annotations

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.comparison import Comparison, compare
from pytest_membudget.reports.baseline_table import baseline_table
from pytest_membudget.reports.comparison_text import comparison_text
from tests.fakes import MIB

OLD = {
    "up": Entry({"ram": 10 * MIB}, sites={"pkg/io.py:parse": 10 * MIB}),
    "down": Entry({"ram": 10 * MIB}),
    "gone": Entry({"ram": 5}),
    "same": Entry({"ram": 5}),
}
NEW = {
    "up": Entry({"ram": 20 * MIB}, sites={"pkg/io.py:parse": 20 * MIB}),
    "down": Entry({"ram": 5 * MIB}),
    "fresh": Entry({"rss": 5}),
    "same": Entry({"ram": 5}),
}


def test_what_differs() -> None:
    """The worst first, with the lines that grew, and a count at the end."""
    text = comparison_text(compare(Baseline({"cpython": OLD}), Baseline({"cpython": NEW})))

    assert (
        text
        == """\
regressed:
  up ram: 10 MiB to 20 MiB, +10 MiB (+100%)
      +10 MiB  grew  pkg/io.py in parse  (from 10 MiB)
only in new:
  fresh rss
only in old:
  gone ram
improved:
  down ram: 10 MiB to 5 MiB, -5 MiB (-50%)
1 regressed, 1 only in new, 1 only in old, 1 improved, 1 same
"""
    )


def test_environments_are_named_where_there_are_several() -> None:
    """The same test of two interpreters is two rows."""
    both = Baseline({"cpython-3.11": {"a": Entry({"ram": 1})}, "cpython-3.12": {"a": Entry({"ram": 1})}})

    assert comparison_text(compare(both, Baseline({"cpython-3.11": {"a": Entry({"ram": 1})}}))) == (
        "only in old:\n  a ram [cpython-3.12]\n1 only in old, 1 same\n"
    )


def test_long_lists_are_cut_but_for_regressions() -> None:
    """A thousand new tests are one number; a thousand regressions are a thousand lines."""
    many = Baseline({"cpython": {f"t{number:02}": Entry({"ram": MIB}) for number in range(30)}})
    twice = Baseline({"cpython": {f"t{number:02}": Entry({"ram": 2 * MIB}) for number in range(30)}})

    fresh = comparison_text(compare(Baseline(), many)).splitlines()
    assert fresh[-2:] == ["  and 10 more", "30 only in new"]
    assert len(comparison_text(compare(many, twice)).splitlines()) == 32


def test_nothing() -> None:
    """Two empty sides are said to be empty."""
    assert comparison_text(Comparison(())) == "nothing to compare: neither side has a figure\n"


def test_a_baseline_as_a_table() -> None:
    """By environment; growth since an entry was first recorded stands beside it."""
    baseline = Baseline(
        {
            "cpython-3.12": {"z": Entry({"ram": 1})},
            "cpython-3.11": {
                "b": Entry({"ram": 3 * MIB, "rss": 5}, anchors={"ram": 2 * MIB}),
                "a": Entry({"ram": 5}, anchors={"ram": 0}),
            },
        }
    )

    assert (
        baseline_table(baseline)
        == """\
cpython-3.11: 2 tests
       5 B  ram       a  (+5 B since first recorded)
     3 MiB  ram       b  (+50% since first recorded)
       5 B  rss       b
cpython-3.12: 1 test
       1 B  ram       z
"""
    )
    assert baseline_table(baseline, "cpython-3.12") == "cpython-3.12: 1 test\n       1 B  ram       z\n"
