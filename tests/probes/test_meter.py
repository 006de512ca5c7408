"""All probes around one test."""

from __future__ import annotations

import sys

import pytest

from pytest_membudget.core.measurement import Measurement, Reading, Resource, Unavailable
from pytest_membudget.core.region import Region
from pytest_membudget.probes.heap_meter import HeapPlan
from pytest_membudget.probes.meter import Meter, depth_below
from pytest_membudget.probes.resident_meter import ResidentMeter
from tests.fakes import MIB, ScriptedHighWater
from tests.probes.conftest import NewHeapMeter

SIZE = 10 * MIB
NO_HEAP = Unavailable("memray cannot be imported")


@pytest.fixture
def resident_set() -> ScriptedHighWater:
    """A resident set that grows to 300, and to 500 after that."""
    resident_set = ScriptedHighWater([100, 300, 500])
    resident_set.advance()
    return resident_set


def test_resident_set_alone(resident_set: ScriptedHighWater) -> None:
    """Nobody asked for the heap, so nothing is said of it."""
    meter = Meter(None, ResidentMeter(resident_set))
    prepared = resident_set.prepared
    meter.start(0)
    running = meter.running
    resident_set.advance()
    measurement = meter.stop()

    assert measurement.figures == {Resource.RSS: Reading(200, "script")}
    assert measurement.sites == ()
    assert measurement.seconds > 0
    assert (running, meter.running, meter.measures_heap) == (True, False, False)
    assert (prepared, resident_set.prepared) == (False, True)


def test_heap_that_cannot_be_measured(resident_set: ScriptedHighWater) -> None:
    """The reason stands in the place of both figures."""
    meter = Meter(NO_HEAP, ResidentMeter(resident_set))
    meter.start(0)

    assert meter.measures_heap
    assert meter.stop().figures == {
        Resource.RAM: NO_HEAP,
        Resource.RETAINED: NO_HEAP,
        Resource.RSS: Reading(0, "script"),
    }


def test_regions(resident_set: ScriptedHighWater) -> None:
    """Each has the resident growth of its own stretch, and the reason that it has no heap."""
    meter, region = Meter(NO_HEAP, ResidentMeter(resident_set)), Region()
    meter.start(0)
    resident_set.advance()
    meter.open_region(region)
    was_open = meter.has_open_regions
    resident_set.advance()
    meter.close_region(region)
    measurement = meter.stop()

    assert (was_open, meter.has_open_regions) == (True, False)
    assert region.rss_peak_bytes == 200
    assert region.vram_peak_bytes is None
    assert region.vram_reason == "this test has no budget of GPU memory and does not use the membudget fixture"
    assert measurement.figures[Resource.RSS] == Reading(400, "script")
    with pytest.raises(Exception, match=r"^not measured: memray cannot be imported$"):
        _ = region.ram_peak_bytes


def test_region_of_a_test_whose_heap_nobody_measures(resident_set: ScriptedHighWater) -> None:
    """It says so, rather than read zero."""
    meter, region = Meter(None, ResidentMeter(resident_set)), Region()
    meter.start(0)
    meter.open_region(region)
    meter.close_region(region)
    meter.stop()

    with pytest.raises(Exception, match=r"^not measured: the heap of this test is not measured$"):
        _ = region.ram_peak_bytes


def test_regions_that_are_left_open(resident_set: ScriptedHighWater) -> None:
    """An outer one takes the inner ones with it, and the test's end takes all."""
    meter, outer, inner, last = Meter(NO_HEAP, ResidentMeter(resident_set)), Region(), Region(), Region()
    meter.start(0)
    meter.open_region(outer)
    meter.open_region(inner)
    meter.close_region(outer)
    inner_bytes = inner.rss_peak_bytes
    meter.close_region(inner)
    meter.open_region(last)
    meter.stop()

    assert (outer.rss_peak_bytes, inner_bytes, last.rss_peak_bytes) == (0, 0, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="memray does not exist for Windows")
def test_heap_and_resident_set(new_heap_meter: NewHeapMeter, resident_set: ScriptedHighWater) -> None:
    """Both at once, and the region's heap beside the test's."""
    meter, region = Meter(new_heap_meter(HeapPlan(regions=True)), ResidentMeter(resident_set)), Region()
    meter.start(depth_below(0))
    first = bytearray(SIZE)
    meter.open_region(region)
    second = bytearray(SIZE // 2)
    meter.close_region(region)
    measurement = meter.stop()
    ram = measurement.figure(Resource.RAM)

    assert abs(region.ram_peak_bytes - len(second)) < 2048
    assert abs(region.ram_left_bytes - len(second)) < 2048
    assert isinstance(ram, Reading)
    assert abs(ram.bytes - len(first) - len(second)) < 4096
    assert measurement.sites[0].source == "first = bytearray(SIZE)"


def test_figure_that_nothing_measured() -> None:
    """A resource without a probe says so in words."""
    assert Measurement().figure(Resource.VRAM) == Unavailable("vram is not measured yet by this version")


def test_depth_below() -> None:
    """Counts the frames that a frame stands on."""

    def inner() -> tuple[int, int]:
        return depth_below(0), depth_below(1)

    own = depth_below(0)

    assert inner() == (own + 1, own)
