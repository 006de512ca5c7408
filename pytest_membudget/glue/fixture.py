"""The ``membudget`` fixture."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest

from pytest_membudget.core.measurement import Unavailable
from pytest_membudget.core.region import Region
from pytest_membudget.glue.test_state import STATE
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.probes.meter import Meter, depth_below


class Membudget:
    """Measures regions inside a test. What the ``membudget`` fixture gives."""

    def __init__(self, running_meter: Callable[[], Meter | None], new_meter: Callable[[], Meter]) -> None:
        self._running_meter = running_meter
        self._new_meter = new_meter
        self._own_meter: Meter | None = None

    def track(self) -> Tracked:
        """Measure a ``with`` block: ``with membudget.track() as region: ...``, then ``region.ram_peak_bytes``.

        Regions may stand inside one another, and inside a test that has a budget of its own.
        """
        return Tracked(self)

    def close(self) -> None:
        """End what a test has left open, or no later test could be measured."""
        if self._own_meter is not None:
            self._own_meter.stop()
            self._own_meter = None

    def _open(self, region: Region, base_depth: int) -> Meter:
        meter = self._running_meter() or self._own_meter
        if meter is None:
            meter = self._own_meter = self._new_meter()
            meter.start(base_depth)
        meter.open_region(region)
        return meter

    def _close(self, region: Region, meter: Meter) -> None:
        meter.close_region(region)
        if meter is self._own_meter and not meter.has_open_regions:
            self.close()


class Tracked:
    """The ``with`` block of a region. A class, not a generator: all its frames are then the plugin's own."""

    def __init__(self, membudget: Membudget) -> None:
        self._membudget = membudget
        self._region = Region()

    def __enter__(self) -> Region:
        # Below this frame stands the one with the block, which counts, so its own base is where the depth ends.
        self._meter = self._membudget._open(self._region, depth_below(1))
        return self._region

    def __exit__(self, *exc_info: object) -> None:
        self._membudget._close(self._region, self._meter)


class MembudgetOff:
    """What the fixture gives when the plugin is off: regions without figures, so that no assertion on one passes."""

    def track(self) -> AbstractContextManager[Region]:
        """Run the ``with`` block; reading a figure afterwards raises ``NotMeasuredError``."""
        region, off = Region(), Unavailable("membudget is off (--no-membudget, or membudget = false in the ini file)")
        region.settle(off, off, off, off, (), 0.0)
        return nullcontext(region)


def new_membudget(item: pytest.Item, toolbox: Toolbox) -> Membudget:
    """Return the fixture's value for one test."""

    def running_meter() -> Meter | None:
        state = item.stash.get(STATE, None)
        return state.meter if state and state.meter.running and state.meter.measures_heap else None

    return Membudget(running_meter, lambda: toolbox.new_region_meter(item))
