"""What a user reads when a test is over its budget."""

from __future__ import annotations

import pytest

from pytest_membudget.core.measurement import Figure, Frame, Measurement, Reading, Resource, Site, Unavailable
from pytest_membudget.core.verdict import judge
from pytest_membudget.core.wording import Strictness, failure_text, site_lines
from tests.fakes import GIB, KIB, MIB, a_site


def text(
    limits: dict[Resource, int | None],
    figures: dict[Resource, Figure],
    sites: tuple[Site, ...] = (),
    unmeasured_fails: bool = False,
) -> str | None:
    """The text that fails a test with these limits and figures."""
    measurement = Measurement(figures, sites)
    verdict = judge(limits, measurement)
    assert verdict is not None
    return failure_text(verdict, measurement, Strictness(unmeasured=unmeasured_fails))


def ram_text(peak_bytes: int, budget_bytes: int) -> str | None:
    """The text for a heap peak alone."""
    return text({Resource.RAM: budget_bytes}, {Resource.RAM: Reading(peak_bytes, "memray")})


def test_over_budget_with_its_call_sites() -> None:
    """The figure, what it was allowed, and the lines to look at, the biggest first."""
    broadcast = Site(
        1_310_720_000,
        Frame("hotpaths/vq.py", 101, "assign_clusters"),
        "diff = batch[:, None, :] - centroids[None, :, :]",
    )
    square = Site(
        1_310_720_000,
        Frame("hotpaths/vq.py", 103, "assign_clusters"),
        "sq = (diff**2).sum(axis=2)",
        Frame("numpy/_core/_methods.py", 52, "_sum"),
    )
    small = Site(1000, Frame("hotpaths/vq.py", 9, "<module>"), "x = 1")

    failure = text(
        {Resource.RAM: 512 * MIB}, {Resource.RAM: Reading(2_621_441_000, "memray")}, (broadcast, square, small)
    )

    assert (
        failure
        == """\
ram: peak 2.44 GiB, budget 512 MiB: over by 1.94 GiB (4.9x)
at the peak:
  1.22 GiB  50%  hotpaths/vq.py:101 in assign_clusters  diff = batch[:, None, :] - centroids[None, :, :]
  1.22 GiB  50%  hotpaths/vq.py:103 in assign_clusters  sq = (diff**2).sum(axis=2)
                  via numpy/_core/_methods.py:52 in _sum"""
    )


def test_every_resource_that_is_over_has_its_line() -> None:
    """Each with its own noun."""
    over: dict[Resource, Figure] = {
        Resource.RAM: Reading(2 * MIB, "memray"),
        Resource.RETAINED: Reading(2 * MIB, "memray"),
        Resource.RSS: Reading(2 * MIB, "vmhwm"),
        Resource.VRAM: Reading(2 * MIB, "nvml"),
    }

    assert (
        text(dict.fromkeys(over, MIB), over)
        == """\
ram: peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)
retained: still held at the end 2 MiB, budget 1 MiB: over by 1 MiB (2x)
rss: resident peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)
vram: peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)"""
    )


def test_sampled_figure_says_so() -> None:
    """A reader who doubts the figure learns where it came from."""
    failure = text({Resource.RSS: MIB}, {Resource.RSS: Reading(3 * MIB, "psutil", exact=False)})

    assert failure == "rss: resident peak 3 MiB, budget 1 MiB: over by 2 MiB (3x), sampled by psutil"


@pytest.mark.parametrize(
    ("peak_bytes", "budget_bytes", "expected"),
    [
        (MIB + 1, MIB, "ram: peak 1 MiB (1,048,577 B), budget 1 MiB (1,048,576 B): over by 1 B"),
        (104, 100, "ram: peak 104 B, budget 100 B: over by 4 B"),
        (105, 100, "ram: peak 105 B, budget 100 B: over by 5 B (1.1x)"),
        (5, 0, "ram: peak 5 B, budget 0 B: over by 5 B"),
        (123 * MIB, MIB, "ram: peak 123 MiB, budget 1 MiB: over by 122 MiB (123x)"),
        (10 * GIB, KIB, "ram: peak 10 GiB, budget 1 KiB: over by 10 GiB (10,485,760x)"),
    ],
)
def test_how_far_over(peak_bytes: int, budget_bytes: int, expected: str) -> None:
    """To the byte where rounding would hide the difference; as a factor where there is one worth saying."""
    assert ram_text(peak_bytes, budget_bytes) == expected


def test_within_budget_says_nothing() -> None:
    """There is nothing to fail the test with."""
    assert ram_text(MIB, MIB) is None


def test_no_figure_passes_unless_told_otherwise() -> None:
    """By default the summary says it; with membudget_missing = fail the test does."""
    limits: dict[Resource, int | None] = {Resource.RAM: MIB, Resource.RSS: None}
    figures: dict[Resource, Figure] = {
        Resource.RAM: Unavailable("memray cannot be imported (No module named 'memray')"),
        Resource.RSS: Reading(5, "vmhwm"),
    }

    assert text(limits, figures) is None
    assert (
        text(limits, figures, unmeasured_fails=True)
        == """\
ram: not judged: memray cannot be imported (No module named 'memray') (membudget_missing = fail)"""
    )


def test_call_sites_are_shares_of_the_heap_peak_even_where_only_rss_is_over() -> None:
    """They are lines of the heap; the resident peak only led there."""
    figures: dict[Resource, Figure] = {
        Resource.RAM: Reading(4 * MIB, "memray"),
        Resource.RSS: Reading(8 * MIB, "vmhwm"),
    }

    assert text({Resource.RSS: MIB}, figures, (a_site(MIB),)) == (
        "rss: resident peak 8 MiB, budget 1 MiB: over by 7 MiB (8x)\n"
        "at the peak:\n"
        "     1 MiB  25%  hotpaths/vq.py:7 in assign_clusters  rows = [*rows]"
    )


def test_what_is_still_held_has_lines_of_its_own() -> None:
    """A reader who looks for a leak is not sent to the peak; one who is over in both is sent to both."""
    figures: dict[Resource, Figure] = {
        Resource.RAM: Reading(4 * MIB, "memray"),
        Resource.RETAINED: Reading(2 * MIB, "memray"),
    }
    measurement = Measurement(figures, (a_site(4 * MIB, 7),), held=(a_site(MIB, 12, "CACHE[key] = rows"),))
    leaking, both = judge({Resource.RETAINED: MIB}, measurement), judge(dict.fromkeys(figures, MIB), measurement)
    assert leaking is not None
    assert both is not None

    assert (
        failure_text(leaking, measurement)
        == """\
retained: still held at the end 2 MiB, budget 1 MiB: over by 1 MiB (2x)
at the end:
     1 MiB  50%  hotpaths/vq.py:12 in assign_clusters  CACHE[key] = rows"""
    )
    assert (
        failure_text(both, measurement)
        == """\
ram: peak 4 MiB, budget 1 MiB: over by 3 MiB (4x)
retained: still held at the end 2 MiB, budget 1 MiB: over by 1 MiB (2x)
at the peak:
     4 MiB 100%  hotpaths/vq.py:7 in assign_clusters  rows = [*rows]
at the end:
     1 MiB  50%  hotpaths/vq.py:12 in assign_clusters  CACHE[key] = rows"""
    )


def test_small_sites_are_left_out_and_the_rest_is_five_at_most() -> None:
    """Enough to name the culprit, not an inventory."""
    sites = tuple(a_site(size_bytes, line) for line, size_bytes in enumerate((30, 20, 15, 12, 11, 10, 1), start=1))

    assert site_lines(sites, 1000) == [
        "      30 B   3%  hotpaths/vq.py:1 in assign_clusters  rows = [*rows]",
        "      20 B   2%  hotpaths/vq.py:2 in assign_clusters  rows = [*rows]",
        "      15 B   2%  hotpaths/vq.py:3 in assign_clusters  rows = [*rows]",
        "      12 B   1%  hotpaths/vq.py:4 in assign_clusters  rows = [*rows]",
        "      11 B   1%  hotpaths/vq.py:5 in assign_clusters  rows = [*rows]",
    ]


def test_the_biggest_site_is_shown_however_small() -> None:
    """A peak made of a thousand crumbs still names one of them."""
    assert site_lines((a_site(1, 1), a_site(1, 2)), 1000) == [
        "       1 B   0%  hotpaths/vq.py:1 in assign_clusters  rows = [*rows]"
    ]


def test_places_line_up_and_nothing_trails() -> None:
    """Source lines begin in one column; a line without source ends after its place."""
    sites = (a_site(50, 1234), a_site(60, 7), Site(40, Frame("<native code>", 0, "no Python frame")))

    assert site_lines(sites, 100) == [
        "      50 B  50%  hotpaths/vq.py:1234 in assign_clusters  rows = [*rows]",
        "      60 B  60%  hotpaths/vq.py:7 in assign_clusters     rows = [*rows]",
        "      40 B  40%  <native code> (no Python frame)",
    ]


def test_no_share_of_nothing() -> None:
    """A peak of no bytes has no shares, and no sites are no lines."""
    assert site_lines((a_site(5),), 0) == ["       5 B    -  hotpaths/vq.py:7 in assign_clusters  rows = [*rows]"]
    assert site_lines((), 0) == []
