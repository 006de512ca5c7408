"""Judging a measurement against what the baseline has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_membudget.core.baseline import Entry
from pytest_membudget.core.growth import ChangeKind, Growth, SiteChange
from pytest_membudget.core.measurement import Figure, Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.provenance import Provenance
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES, parse_tolerance
from pytest_membudget.core.verdict import Finding, Outcome, Verdict, Yardstick, judge
from tests.fakes import KIB, MIB, PROVENANCE

ENTRY = Entry({"ram": 10 * MIB}, PROVENANCE.measured_by, PROVENANCE.mode, sites={"pkg/io.py:read": 10 * MIB})
AGAINST = Yardstick(ENTRY, PROVENANCE)
BASELINE_ALONE: dict[Resource, int | None] = {Resource.RAM: None}


def verdict(
    ram_bytes: int, limits: dict[Resource, int | None], yardstick: Yardstick, sites: tuple[Site, ...] = ()
) -> Verdict:
    """The verdict on a heap peak."""
    judged = judge(limits, Measurement({Resource.RAM: Reading(ram_bytes, "memray")}, sites), yardstick)
    assert judged is not None
    return judged


def finding(ram_bytes: int, limits: dict[Resource, int | None], yardstick: Yardstick) -> Finding:
    """What a heap peak came to."""
    return verdict(ram_bytes, limits, yardstick).findings[0]


@pytest.mark.parametrize(
    ("ram_bytes", "outcome"),
    [
        (10 * MIB, Outcome.WITHIN),
        (10 * MIB + 512 * KIB, Outcome.WITHIN),
        (10 * MIB + 512 * KIB + 1, Outcome.REGRESSED),
        (0, Outcome.WITHIN),
    ],
)
def test_growth_beyond_the_tolerance_regresses(ram_bytes: int, outcome: Outcome) -> None:
    """Growth of exactly the tolerance is fine; less than before always is."""
    assert verdict(ram_bytes, BASELINE_ALONE, AGAINST).outcome is outcome


def test_a_budget_in_bytes_is_judged_against_the_entry_as_well() -> None:
    """A test far below its budget may still have doubled."""
    assert verdict(20 * MIB, {Resource.RAM: 1024 * MIB}, AGAINST).outcome is Outcome.REGRESSED


def test_over_budget_goes_first() -> None:
    """It says more than that the test grew; the growth stays known."""
    over = finding(20 * MIB, {Resource.RAM: 15 * MIB}, AGAINST)

    assert over.outcome is Outcome.OVER_BUDGET
    assert over.growth == Growth(10 * MIB, 20 * MIB, 512 * KIB)


def test_tolerance_of_the_test() -> None:
    """A marker may allow more, or less."""
    lenient = replace(AGAINST, tolerances=parse_tolerance("100%").over(DEFAULT_TOLERANCES))
    strict = replace(AGAINST, tolerances=parse_tolerance("0%+0B").over(DEFAULT_TOLERANCES))

    assert verdict(20 * MIB, BASELINE_ALONE, lenient).outcome is Outcome.WITHIN
    assert verdict(10 * MIB + 1, BASELINE_ALONE, strict).outcome is Outcome.REGRESSED


def test_no_entry_is_never_a_pass_for_a_test_that_has_nothing_else() -> None:
    """Judged against its baseline alone, and there is none: the reason says so."""
    nothing = finding(1, BASELINE_ALONE, Yardstick(why_no_entry="no entry for cpython"))

    assert (nothing.outcome, nothing.reason) == (Outcome.NO_BASELINE, "no entry for cpython")


@pytest.mark.parametrize(("wanted", "outcome"), [(True, Outcome.NO_BASELINE), (False, Outcome.WITHIN)])
def test_no_entry_beside_a_budget_in_bytes(wanted: bool, outcome: Outcome) -> None:
    """It counts where a baseline is kept; before that the budget alone decides."""
    assert verdict(1, {Resource.RAM: 5}, Yardstick(wants_entry=wanted)).outcome is outcome


def test_an_entry_without_the_figure() -> None:
    """A resource that was budgeted after the entry was recorded."""
    figures: dict[Resource, Figure] = {Resource.RSS: Reading(5, "vmhwm")}
    judged = judge({Resource.RSS: None}, Measurement(figures), AGAINST)

    assert judged is not None
    assert judged.outcome is Outcome.NO_BASELINE
    assert judged.reasons == ("the test's baseline entry has no figure for rss",)


@pytest.mark.parametrize(
    ("provenance", "described"),
    [
        (Provenance(PROVENANCE.environment, "memray 1.21.0", PROVENANCE.mode), "memray 1.21.0 (exact, isolated)"),
        (
            Provenance(PROVENANCE.environment, "memray 1.20.0", "arenas, in process"),
            "memray 1.20.0 (arenas, in process)",
        ),
    ],
)
def test_another_tool_is_not_held_against_the_commit(provenance: Provenance, described: str) -> None:
    """Growth that may be the measuring's own asks for a new entry; a figure within the band is as good as ever."""
    yardstick = replace(AGAINST, provenance=provenance)
    grown = finding(20 * MIB, BASELINE_ALONE, yardstick)

    assert grown.outcome is Outcome.NO_BASELINE
    assert (
        grown.reason == f"the baseline entry was measured by memray 1.20.0 (exact, isolated), this run by {described}"
    )
    assert verdict(10 * MIB, BASELINE_ALONE, yardstick).outcome is Outcome.WITHIN


def test_growth_that_is_being_recorded() -> None:
    """With --membudget-update the change is what was asked for; a budget in bytes still holds."""
    accepting = replace(AGAINST, accepts_growth=True)

    assert verdict(20 * MIB, BASELINE_ALONE, accepting).outcome is Outcome.WITHIN
    assert verdict(20 * MIB, {Resource.RAM: 15 * MIB}, accepting).outcome is Outcome.OVER_BUDGET


def test_the_anchor_is_handed_on() -> None:
    """It is what the report shows the growth since."""
    crept = replace(AGAINST, entry=replace(ENTRY, anchors={"ram": 8 * MIB}))

    assert finding(10 * MIB, BASELINE_ALONE, crept).anchor_bytes == 8 * MIB
    assert finding(10 * MIB, BASELINE_ALONE, AGAINST).anchor_bytes == 10 * MIB


def test_the_call_sites_that_changed() -> None:
    """Where the peak left its band, either way."""
    site = Site(20 * MIB, Frame("pkg/io.py", 88, "read_all"), "return file.read()")

    assert verdict(20 * MIB, BASELINE_ALONE, AGAINST, (site,)).changes == (
        SiteChange(ChangeKind.NEW, 0, 20 * MIB, "pkg/io.py", "read_all", 88, "return file.read()"),
        SiteChange(ChangeKind.GONE, 10 * MIB, 0, "pkg/io.py", "read"),
    )
    assert verdict(10 * MIB, BASELINE_ALONE, AGAINST, (site,)).changes == ()


def test_vram_is_compared_with_the_same_gpu_alone() -> None:
    """Another model, or another source, is another figure."""
    entry = Entry({"vram (NVIDIA H200, torch)": 100 * MIB}, mode=PROVENANCE.mode)
    yardstick = Yardstick(entry, PROVENANCE)

    def judged(device: str, source: str) -> Verdict | None:
        reading = Reading(500 * MIB, source, device=device)
        return judge({Resource.VRAM: None}, Measurement({Resource.VRAM: reading}), yardstick)

    same, other = judged("NVIDIA H200", "torch"), judged("NVIDIA A100", "torch")
    assert same is not None
    assert same.outcome is Outcome.REGRESSED
    assert other is not None
    assert other.reasons == ("the test's baseline entry has no figure for vram (NVIDIA A100, torch)",)
