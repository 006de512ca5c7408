"""What tables say of a test, cell by cell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.provenance import Provenance
from pytest_membudget.core.record import Use
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.row import Row, judged_rows, share_text, size_text, visible
from tests.fakes import KIB, MIB, a_record, a_run, ram
from tests.reports.sample_run import SAMPLE


@pytest.mark.parametrize(
    ("now_bytes", "before_bytes", "expected"),
    [
        (MIB, None, "-"),
        (MIB, MIB, "±0"),
        (103 * KIB, 100 * KIB, "+3 KiB (+3.0%)"),
        (36 * MIB, 48 * MIB, "-12 MiB (-25%)"),
        (64 * MIB + 78, 64 * MIB, "+78 B"),
        (MIB, 0, "+1 MiB"),
    ],
)
def test_change_has_a_sign_and_a_share(now_bytes: int, before_bytes: int | None, expected: str) -> None:
    """A share is left out where it would say zero, or be of nothing."""
    use = Use(now_bytes, None, "memray", outcome=Outcome.WITHIN, baseline_bytes=before_bytes, band_bytes=KIB)

    assert Row(a_record(uses={Resource.RAM: use})).change == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (None, "-"),
        (0.0, "0%"),
        (0.949, "95%"),
        (4.88, "488%"),
        (12.4, "12x"),
        (1000.0, "> 1,000x"),
        (float("inf"), "> 1,000x"),
    ],
)
def test_share_is_readable_at_any_size(share: float | None, expected: str) -> None:
    """Per cent up to tenfold, then a factor, then only that it is large."""
    assert expected == share_text(share)


def test_sampled_figure_is_marked() -> None:
    """A figure that may be too low does not look like an exact one."""
    assert [size_text(4 * MIB), size_text(4 * MIB, exact=False), size_text(None)] == ["4 MiB", "≈ 4 MiB", "-"]


def test_what_turns_text_around_is_shown() -> None:
    """A name cannot pose as another one by characters that nobody sees."""
    assert visible("a\u202eb\x1b\n") == "a\\u202eb\\x1b\\n"


def test_emoji_stay_as_they_are() -> None:
    """Joined emoji are text like any other."""
    assert visible("👩‍🚒 é") == "👩‍🚒 é"


def test_row_of_what_was_not_measured_shows_the_resource_without_a_figure() -> None:
    """A heap well within its budget would hide that the other resource was not looked at."""
    uses = {
        Resource.RAM: Use(MIB, 64 * MIB, "memray", outcome=Outcome.WITHIN),
        Resource.VRAM: Use(None, MIB, outcome=Outcome.NOT_MEASURED),
    }

    assert Resource.VRAM is Row(a_record(outcome=Outcome.NOT_MEASURED, uses=uses)).resource


def test_small_change_is_not_notable() -> None:
    """Below one per cent a peak is as it was."""
    use = Use(1_009, 2_000, "memray", outcome=Outcome.WITHIN, baseline_bytes=1_000, band_bytes=50)

    assert not Row(a_record(uses={Resource.RAM: use})).is_notable


def test_change_of_a_resource_behind_the_first_is_notable() -> None:
    """The table shows one resource; a change of another one still brings the test to the top."""
    uses = {Resource.RAM: Use(90, 100), Resource.RSS: Use(30, 1000, baseline_bytes=20, band_bytes=50)}

    assert Row(a_record(uses=uses)).is_notable


def test_rows_begin_with_the_worst() -> None:
    """Failures first, then what was not judged, then the others by headroom."""
    outcomes = [row.outcome for row in judged_rows(SAMPLE)]

    assert outcomes == ["over budget", "regressed", "no baseline", "not measured", "within", "within", "within"]


def test_lost_test_comes_first() -> None:
    """A test in the middle of which the process ended has no figures, and is the first thing to know."""
    lost = a_record("a.py::test_crash", outcome=None, reason="the process ended", test_outcome="failed")
    rows = judged_rows(a_run(a_record("a.py::test_fine", uses=ram(1, 2)), lost))

    assert [(row.name, row.outcome, row.fails) for row in rows] == [
        ("a.py::test_crash", "lost", True),
        ("a.py::test_fine", "within", False),
    ]


def test_workers_are_told_apart_where_several_ran_a_test() -> None:
    """As with ``--dist each``."""
    records = [a_record("a.py::test", uses=ram(1, 2), worker=worker) for worker in ("gw0", "gw1")]

    assert [row.name for row in judged_rows(a_run(*records))] == ["a.py::test [gw0]", "a.py::test [gw1]"]


def test_environments_are_told_apart_where_several_ran_a_test() -> None:
    """As in a run that was merged of the jobs of a matrix."""
    records = [
        replace(a_record("a.py::test", uses=ram(1, 2)), provenance=Provenance(key)) for key in ("linux", "darwin")
    ]

    assert [row.name for row in judged_rows(a_run(*records))] == ["a.py::test [linux]", "a.py::test [darwin]"]
