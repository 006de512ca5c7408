"""What ``membudget.track()`` yields."""

from __future__ import annotations

import pytest

from pytest_membudget import MembudgetError, NotMeasuredError, Region
from pytest_membudget.core.measurement import Figure, Reading, Unavailable
from tests.fakes import a_site

NO_VRAM = Unavailable("no GPU")


def settled(ram: Figure, left: Figure, rss: Figure, vram: Figure = NO_VRAM) -> Region:
    """A region that has ended."""
    region = Region()
    region.settle(ram, left, rss, vram, (a_site(),), 1.5)
    return region


def test_figures_are_there_after_the_block() -> None:
    """Plain integers, in bytes."""
    region = settled(Reading(30, "memray"), Reading(-10, "memray"), Reading(20, "vmhwm"), Reading(40, "nvml"))

    assert (region.ram_peak_bytes, region.ram_left_bytes, region.rss_peak_bytes) == (30, -10, 20)
    assert (region.vram_peak_bytes, region.vram_reason) == (40, None)
    assert region.sites == (a_site(),)
    assert region.seconds == 1.5
    assert repr(region) == "<Region ram_peak_bytes=30 seconds=1.500>"


@pytest.mark.parametrize("name", ["ram_peak_bytes", "ram_left_bytes", "rss_peak_bytes"])
def test_open_region_has_no_figures(name: str) -> None:
    """Reading one too early is an error, not a zero."""
    with pytest.raises(NotMeasuredError) as refused:
        getattr(Region(), name)

    assert str(refused.value) == "not measured: the region is still open: read its figures after the with block"
    assert isinstance(refused.value, MembudgetError)


@pytest.mark.parametrize("name", ["ram_peak_bytes", "ram_left_bytes", "rss_peak_bytes"])
def test_figure_that_could_not_be_measured_raises(name: str) -> None:
    """An assertion on it cannot pass by accident."""
    none = Unavailable("memray cannot be imported")
    region = settled(none, none, none)

    with pytest.raises(NotMeasuredError, match=r"^not measured: memray cannot be imported$"):
        getattr(region, name)
    assert repr(region) == "<Region ram_peak_bytes='memray cannot be imported' seconds=1.500>"


def test_vram_without_a_figure_is_none_with_a_reason() -> None:
    """Most machines have no GPU, so asking is no error."""
    region = settled(Reading(1, "memray"), Reading(1, "memray"), Reading(1, "vmhwm"))

    assert region.vram_peak_bytes is None
    assert region.vram_reason == "no GPU"
