"""What changed from one peak to the next."""

from __future__ import annotations

import pytest

from pytest_membudget.core.growth import ChangeKind, Growth, SiteChange, places, site_changes
from pytest_membudget.core.measurement import Frame, Site
from tests.fakes import MIB


def a_site_in(function: str, size_bytes: int, line: int = 1, file: str = "pkg/io.py") -> Site:
    """Bytes at the peak that a function accounts for."""
    return Site(size_bytes, Frame(file, line, function), f"line {line}")


@pytest.mark.parametrize(
    ("now_bytes", "grew", "shrank"),
    [(110, False, False), (111, True, False), (100, False, False), (90, False, False), (89, False, True)],
)
def test_a_change_of_exactly_the_band_does_not_count(now_bytes: int, grew: bool, shrank: bool) -> None:
    """More than the band counts, in either direction."""
    growth = Growth(100, now_bytes, 10)

    assert (growth.grew, growth.shrank) == (grew, shrank)


def test_places_have_no_line_numbers() -> None:
    """Lines of one function are one place, so that an edit above it changes no entry."""
    sites = [a_site_in("read", 30, 4), a_site_in("parse", 50, 9), a_site_in("read", 40, 5)]

    assert places(sites, 120) == {"pkg/io.py:read": 70, "pkg/io.py:parse": 50}


def test_places_below_a_hundredth_of_the_peak_are_left_out() -> None:
    """They would change with every run, and explain nothing."""
    sites = [a_site_in("big", 990), a_site_in("edge", 10), a_site_in("small", 9)]

    assert list(places(sites, 1000)) == ["pkg/io.py:big", "pkg/io.py:edge"]


def test_eight_places_at_most_and_equal_ones_by_name() -> None:
    """The order does not depend on the order of the sites."""
    sites = [a_site_in(name, 10) for name in "jihgfedcba"]

    assert list(places(sites, 100)) == [f"pkg/io.py:{name}" for name in "abcdefgh"]


def test_new_grown_and_gone() -> None:
    """The largest growth first, what is gone last; what stayed or shrank is not told."""
    before = {"pkg/io.py:parse": 5 * MIB, "pkg/io.py:old": 2 * MIB, "pkg/io.py:same": MIB, "pkg/io.py:less": 9 * MIB}
    now = [
        a_site_in("read_all", 38 * MIB, 88),
        a_site_in("parse", 4 * MIB, 41),
        a_site_in("parse", 2 * MIB, 43),
        a_site_in("same", MIB),
        a_site_in("less", MIB),
    ]

    assert site_changes(before, now) == (
        SiteChange(ChangeKind.NEW, 0, 38 * MIB, "pkg/io.py", "read_all", 88, "line 88"),
        SiteChange(ChangeKind.GROWN, 5 * MIB, 6 * MIB, "pkg/io.py", "parse", 41, "line 41"),
        SiteChange(ChangeKind.GONE, 2 * MIB, 0, "pkg/io.py", "old"),
    )


def test_changes_are_signed() -> None:
    """What is gone counts against the growth."""
    assert SiteChange(ChangeKind.GONE, 7, 0, "a.py", "f").bytes == -7
    assert SiteChange(ChangeKind.GROWN, 7, 9, "a.py", "f").bytes == 2


def test_crumbs_beside_a_large_change_are_left_out() -> None:
    """A hundredth of the largest change tells nobody anything."""
    changes = site_changes({}, [a_site_in("big", 1000), a_site_in("crumb", 9), a_site_in("edge", 10)])

    assert [change.function for change in changes] == ["big", "edge"]


def test_a_path_with_colons_keeps_them() -> None:
    """Only the last colon parts the file from the function."""
    (gone,) = site_changes({"C:/pkg/io.py:read": 5}, [])

    assert (gone.file, gone.function) == ("C:/pkg/io.py", "read")


def test_nothing_changed() -> None:
    """No change, no line."""
    assert site_changes({"pkg/io.py:read": 5}, [a_site_in("read", 5)]) == ()
    assert site_changes({}, []) == ()
