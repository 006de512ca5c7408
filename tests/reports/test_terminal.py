"""The table at the end of a run, as a reader sees it."""

from __future__ import annotations

import pytest

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.terminal import Line, Style, summary_lines, table_lines
from tests.fakes import GIB, KIB, MIB, a_record, a_run, ram, rss

NARROW, WIDE = Style(80), Style(160)
NO_VRAM = "GPU memory is not measured yet by this version"
NO_BASELINE = "there is no baseline yet"
LONG = (
    "tests/models/attention/test_multi_head_attention.py::TestMultiHead::test_forward_and_backward[float32-batch=128]"
)

JUDGED = (
    a_record("tests/test_pca.py::test_fit", Outcome.WITHIN, ram(60 * MIB, 64 * MIB, 61 * MIB)),
    a_record("tests/test_vq.py::test_assign", Outcome.OVER_BUDGET, ram(2_621_440_000, 512 * MIB, 2700 * MIB)),
    a_record("test_a.py::test_in_all", Outcome.OVER_BUDGET, ram(6 * GIB, 1, 7 * GIB)),
    a_record("test_a.py::test_roomy", Outcome.WITHIN, ram(100 * KIB, 64 * MIB, 0)),
    a_record(LONG, Outcome.WITHIN, ram(MIB, 4 * MIB, 0)),
    a_record(
        "test_gpu.py::test_fit",
        Outcome.NOT_MEASURED,
        {Resource.VRAM: Use(None, 4 * GIB), **rss(5 * MIB)},
        reason=NO_VRAM,
    ),
    a_record("test_io.py::test_read", Outcome.WITHIN, {**ram(MIB, 4 * MIB), **rss(15 * MIB, 16 * MIB)}),
    a_record("test_old.py::test_a", Outcome.NO_BASELINE, ram(MIB, None, 2 * MIB), reason=NO_BASELINE),
)
UNJUDGED = (
    a_record("tests/test_a.py::test_small", None, rss(3 * MIB)),
    a_record("tests/test_a.py::test_big", None, rss(300 * MIB)),
    a_record("tests/test_b.py::test_small", None, rss(3 * MIB)),
    a_record(LONG.replace("forward_and_backward", "gradient"), None, rss(0)),
)


def texts(lines: list[Line]) -> str:
    """The lines without their colours."""
    return "\n".join(line.text for line in lines)


def table(*records: TestRecord, style: Style = NARROW, top: int = 20) -> str:
    """The table of a run."""
    return texts(table_lines(a_run(*records), style, top))


def test_80_columns() -> None:
    """The least headroom first; what does not fit is cut on the left, where node ids are alike."""
    assert (
        table(*JUDGED, *UNJUDGED)
        == """\
    peak    budget  used         outcome         rss  test
   6 GiB       1 B  ██████ many  OVER          7 GiB  test_a.py::test_in_all
2.44 GiB   512 MiB  ██████ 488%  OVER       2.64 GiB  …s/test_vq.py::test_assign
  15 MiB    16 MiB  ██████  94%  within       15 MiB  …st_io.py::test_read (rss)
  60 MiB    64 MiB  ██████  94%  within       61 MiB  …sts/test_pca.py::test_fit
   1 MiB     4 MiB  ██░░░░  25%  within          0 B  …ckward[float32-batch=128]
 100 KiB    64 MiB  █░░░░░   0%  within          0 B  test_a.py::test_roomy
       -     4 GiB            -  no figure     5 MiB  …t_gpu.py::test_fit (vram)
   1 MiB         -            -  no entry      2 MiB  test_old.py::test_a
without a budget:
     rss  test
 300 MiB  tests/test_a.py::test_big
   3 MiB  tests/test_a.py::test_small
   3 MiB  tests/test_b.py::test_small
     0 B  …ti_head_attention.py::TestMultiHead::test_gradient[float32-batch=128]"""
    )


def test_160_columns() -> None:
    """A longer bar, and whole node ids."""
    assert (
        table(*JUDGED, *UNJUDGED, style=WIDE)
        == """\
    peak    budget  used               outcome         rss  test
   6 GiB       1 B  ████████████ many  OVER          7 GiB  test_a.py::test_in_all
2.44 GiB   512 MiB  ████████████ 488%  OVER       2.64 GiB  tests/test_vq.py::test_assign
  15 MiB    16 MiB  ████████████  94%  within       15 MiB  test_io.py::test_read (rss)
  60 MiB    64 MiB  ████████████  94%  within       61 MiB  tests/test_pca.py::test_fit
   1 MiB     4 MiB  ███░░░░░░░░░  25%  within          0 B  …attention/test_multi_head_attention.py::TestMultiHead::test_forward_and_backward[float32-batch=128]
 100 KiB    64 MiB  █░░░░░░░░░░░   0%  within          0 B  test_a.py::test_roomy
       -     4 GiB                  -  no figure     5 MiB  test_gpu.py::test_fit (vram)
   1 MiB         -                  -  no entry      2 MiB  test_old.py::test_a
without a budget:
     rss  test
 300 MiB  tests/test_a.py::test_big
   3 MiB  tests/test_a.py::test_small
   3 MiB  tests/test_b.py::test_small
     0 B  tests/models/attention/test_multi_head_attention.py::TestMultiHead::test_gradient[float32-batch=128]"""  # noqa: E501
    )


def test_without_unicode() -> None:
    """A terminal that has no blocks gets signs that every terminal has."""
    assert (
        table(*JUDGED[:2], JUDGED[4], UNJUDGED[3], style=Style(80, unicode=False))
        == """\
    peak    budget  used         outcome         rss  test
2.44 GiB   512 MiB  ###### 488%  OVER       2.64 GiB  ...test_vq.py::test_assign
  60 MiB    64 MiB  ######  94%  within       61 MiB  ...s/test_pca.py::test_fit
   1 MiB     4 MiB  ##....  25%  within          0 B  ...ward[float32-batch=128]
without a budget:
     rss  test
     0 B  ..._head_attention.py::TestMultiHead::test_gradient[float32-batch=128]"""
    )


@pytest.mark.parametrize("style", [NARROW, WIDE, Style(80, unicode=False), Style(100), Style(99)])
def test_no_line_is_wider_than_the_terminal(style: Style) -> None:
    """Wrapped lines make a table unreadable."""
    lines = table_lines(a_run(*JUDGED, *UNJUDGED), style, 0)

    assert max(len(line.text) for line in lines) <= style.width


def test_terminal_without_room() -> None:
    """A very narrow one gets the figures, and the last letter of each name."""
    assert table(JUDGED[0], style=Style(20)).splitlines()[1].endswith("  …t")


@pytest.mark.parametrize(
    ("used", "budget", "bar"),
    [
        (0, 100, "░░░░░░   0%"),
        (1, 1000, "█░░░░░   0%"),
        (50, 100, "███░░░  50%"),
        (99, 100, "██████  99%"),
        (100, 100, "██████ 100%"),
        (101, 100, "██████ 101%"),
        (999, 100, "██████ 999%"),
        (1000, 100, "██████  10x"),
        (99_900, 100, "██████ 999x"),
        (100_000, 100, "██████ many"),
        (0, 0, "██████ 100%"),
        (1, 0, "██████ many"),
    ],
)
def test_bar(used: int, budget: int, bar: str) -> None:
    """Any use at all shows; the share keeps to its five cells."""
    row = table(a_record("t", Outcome.WITHIN, ram(used, budget))).splitlines()[1]

    assert row[20:31] == bar


def test_colours() -> None:
    """Red for what failed, green for what passed, yellow for what nobody judged."""
    lines = table_lines(a_run(*JUDGED, UNJUDGED[0]), NARROW, 20)

    assert [line.colour for line in lines] == [
        None, "red", "red", "green", "green", "green", "green", "yellow", "yellow", None, None, None,
    ]  # fmt: skip
    assert (lines[1].markup, lines[0].markup) == ({"red": True}, {})


def test_top() -> None:
    """So many of the unbudgeted tests, the largest first; the heading says how many there are."""
    assert (
        table(*UNJUDGED, top=2)
        == """\
without a budget, the largest 2 of 4:
     rss  test
 300 MiB  tests/test_a.py::test_big
   3 MiB  tests/test_a.py::test_small"""
    )


def test_top_of_zero_is_all() -> None:
    """Nothing is left out, and the heading does not speak of it."""
    records = [a_record(f"test_a.py::test_{index}", None, rss(index)) for index in range(50)]
    lines = table(*records, top=0).splitlines()

    assert lines[0] == "without a budget:"
    assert len(lines) == 2 + 50


def test_heap_of_unbudgeted_tests() -> None:
    """Its column is there when any of the tests shown has a figure."""
    assert (
        table(
            a_record("test_a.py::test_a", None, ram(2 * MIB, None, 3 * MIB)),
            a_record("test_a.py::test_b", None, ram(None, None, 9 * MIB)),
        )
        == """\
without a budget:
     rss      heap  test
   9 MiB         -  test_a.py::test_b
   3 MiB     2 MiB  test_a.py::test_a"""
    )


def test_arenas_say_what_they_may_miss() -> None:
    """The bound stands beside the test whose figure it is of."""
    arenas = {Resource.RAM: Use(MIB, 4 * MIB, "memray, arenas", may_miss_bytes=300 * KIB), **rss(0)}

    assert (
        table(a_record("test_a.py::test_a", Outcome.WITHIN, arenas), style=WIDE)
        == """\
    peak    budget  used               outcome         rss  test
   1 MiB     4 MiB  ███░░░░░░░░░  25%  within          0 B  test_a.py::test_a (may miss 300 KiB)"""
    )


def test_sampled_resident_set() -> None:
    """One sentence for the whole table."""
    sampled = {Resource.RSS: Use(MIB, None, "psutil", exact=False)}

    assert (
        table(a_record("test_a.py::test_a", None, sampled), a_record("test_a.py::test_b", None, sampled))
        == """\
without a budget:
     rss  test
   1 MiB  test_a.py::test_a
   1 MiB  test_a.py::test_b
rss is sampled by psutil: a peak between two samples is not seen"""
    )


def test_same_test_on_two_workers() -> None:
    """As with --dist each: the worker tells the rows apart, and only there."""
    assert (
        table(
            a_record("t::a", None, rss(3 * MIB), worker="gw0"),
            a_record("t::a", None, rss(2 * MIB), worker="gw1"),
            a_record("t::b", None, rss(MIB), worker="gw1"),
            a_record("t::c", None, rss(MIB)),
            a_record("t::c", None, rss(MIB), worker="gw1"),
        )
        == """\
without a budget:
     rss  test
   3 MiB  t::a [gw0]
   2 MiB  t::a [gw1]
   1 MiB  t::b
   1 MiB  t::c
   1 MiB  t::c [gw1]"""
    )


def test_nothing_ran() -> None:
    """An empty table says why it is empty."""
    assert table() == "no test ran"


def summary(*records: TestRecord, lost: tuple[str, ...] = ()) -> list[Line]:
    """The sentences under the table."""
    return summary_lines(a_run(*records), lost)


def test_summary() -> None:
    """Counts by outcome, the worst first, then each reason with the tests it kept from being judged."""
    assert summary(*JUDGED, *UNJUDGED) == [
        Line("8 budgeted: 2 over budget, 1 no baseline, 1 not measured, 4 within", "red"),
        Line(f"not judged, {NO_VRAM}: test_gpu.py::test_fit", "yellow"),
        Line(f"not compared, {NO_BASELINE}: test_old.py::test_a", "yellow"),
    ]


def test_summary_of_a_good_run() -> None:
    """One line, and nothing to worry about."""
    assert summary(JUDGED[0], JUDGED[3], *UNJUDGED) == [Line("2 budgeted: 2 within")]


def test_summary_without_budgets() -> None:
    """There is nothing to sum up."""
    assert summary(*UNJUDGED) == []


def test_summary_names_three_tests_and_counts_the_rest() -> None:
    """A thousand tests without a GPU are one line."""
    records = [a_record(f"t::{name}", Outcome.NOT_MEASURED, ram(None, MIB), reason="no memray") for name in "abcde"]

    assert texts(summary(*records)) == (
        "5 budgeted: 5 not measured\nnot judged, no memray: t::a, t::b, t::c and 2 more"
    )


def test_summary_of_a_partly_judged_test() -> None:
    """Over in one resource and not measured in another: both are said."""
    both = {**ram(2 * MIB, MIB), Resource.VRAM: Use(None, MIB)}

    assert texts(summary(a_record("t::a", Outcome.OVER_BUDGET, both, reason=NO_VRAM))) == (
        f"1 budgeted: 1 over budget\nnot judged, {NO_VRAM}: t::a"
    )


def test_tests_whose_process_ended() -> None:
    """A crash is nobody's pass."""
    assert summary(lost=("t::a", "t::b")) == [
        Line("no figure, the process ended in the middle of the test: t::a, t::b", "red")
    ]
