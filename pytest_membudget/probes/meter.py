"""All probes around one test, started and stopped in the order in which they disturb each other least."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_membudget.core.ledger import Span
from pytest_membudget.core.measurement import Figure, Measurement, Resource, Unavailable
from pytest_membudget.core.region import Region
from pytest_membudget.probes.children_meter import ChildrenMeter
from pytest_membudget.probes.heap_meter import HeapFigures, HeapMeter
from pytest_membudget.probes.resident_meter import ResidentMeter
from pytest_membudget.probes.vram_plan import VramPlan

NO_VRAM = "this test has no budget of GPU memory and does not use the membudget fixture"


class Meter:
    """Measures from ``start`` to ``stop``.

    Parameters
    ----------
    heap
        A meter, or the reason that the heap is not measured; None when nobody asked.
    resident
        A meter of the resident peak. It runs inside the heap's tracking, so that what the tracker sets up is left out.
    vram
        What to measure of GPU memory, if anything. It comes first, so that the driver's own memory is not charged to
        the test's heap, and takes its last sample while all that the test made is still there.
    children
        Counts the test's child processes as well, if they are to be counted.
    """

    def __init__(
        self,
        heap: HeapMeter | Unavailable | None,
        resident: ResidentMeter,
        vram: VramPlan | None = None,
        children: ChildrenMeter | None = None,
    ) -> None:
        self._heap = heap
        self._resident = resident
        self._vram = vram
        self._children = children
        self._started_at = 0.0
        self._regions: list[OpenRegion] = []
        self.running = False

    @property
    def has_open_regions(self) -> bool:
        """Whether a region has begun and not ended."""
        return bool(self._regions)

    @property
    def measures_heap(self) -> bool:
        """Whether there is a heap meter, or a reason in its place."""
        return self._heap is not None

    @property
    def kept_capture(self) -> Path | None:
        """The capture that holds the heap's peak, when the plan was to keep it."""
        return self._heap.kept_capture if isinstance(self._heap, HeapMeter) else None

    def drop_kept_capture(self) -> None:
        """Remove the capture that was kept, if any."""
        if isinstance(self._heap, HeapMeter):
            self._heap.drop_kept_capture()

    def start(self, base_depth: int) -> None:
        """Begin; ``base_depth`` counts the outermost frames of this thread that are no part of what is measured."""
        if self._vram:
            self._vram.start()
        self._resident.prepare()
        if isinstance(self._heap, HeapMeter):
            self._heap.start(base_depth)
        if self._vram:
            self._vram.begin_sampling()
        if self._children:
            self._children.start()
        self._resident.start()
        self._started_at = time.perf_counter()
        self.running = True

    def take_sample(self) -> None:
        """Look at what has to be sampled now, because something is about to be released."""
        if self.running and self._vram:
            self._vram.take_sample()

    def stop(self) -> Measurement:
        """End, with all regions that are still open, and return all figures."""
        while self._regions:
            self._settle(self._regions.pop())
        seconds = time.perf_counter() - self._started_at
        self.running = False
        if self._vram:
            self._vram.end_sampling()
        figures: dict[Resource, Figure] = {Resource.RSS: self._resident_figure()}
        heap = self._heap_figures(self._heap) if isinstance(self._heap, HeapMeter) else None
        if self._vram and (vram := self._vram.stop()):
            figures[Resource.VRAM] = vram
        if self._heap is None:
            return Measurement(figures, (), seconds)
        if heap is None:
            assert isinstance(self._heap, Unavailable)
            heap = HeapFigures(self._heap, self._heap)
        figures = {Resource.RAM: heap.peak, Resource.RETAINED: heap.retained, **figures}
        return Measurement(figures, heap.sites, seconds, heap.held, heap.timeline)

    def _resident_figure(self) -> Figure:
        own = self._resident.stop()
        if self._children is None:
            return own
        self._children.stop()
        return self._children.add_to_resident(own)

    def _heap_figures(self, heap: HeapMeter) -> HeapFigures:
        own = heap.stop()
        return own if self._children is None else self._children.add_to_heap(own, heap.take_forked())

    def open_region(self, region: Region) -> None:
        """Begin a region inside the measured stretch."""
        heap = self._heap if self._heap is not None else Unavailable("the heap of this test is not measured")
        span = heap.open_region() if isinstance(heap, HeapMeter) else heap
        if self._vram:
            self._vram.open_region()
        self._resident.start()
        self._regions.append(OpenRegion(region, span, time.perf_counter()))

    def close_region(self, region: Region) -> None:
        """End a region, and those inside it that are still open; nothing happens if it has ended already."""
        while any(opened.region is region for opened in self._regions):
            self._settle(self._regions.pop())

    def _settle(self, opened: OpenRegion) -> None:
        seconds = time.perf_counter() - opened.started_at
        vram = self._vram.close_region() if self._vram else Unavailable(NO_VRAM)
        rss = self._resident.stop()
        if isinstance(self._heap, HeapMeter) and isinstance(opened.span, Span):
            heap = self._heap.close_region(opened.span)
        else:
            assert isinstance(opened.span, Unavailable)
            heap = HeapFigures(opened.span, opened.span)
        opened.region.settle(heap.peak, heap.retained, rss, vram, heap.sites, seconds)


@dataclass(frozen=True)
class OpenRegion:
    """A region that has begun."""

    region: Region
    span: Span | Unavailable
    started_at: float


def depth_below(levels: int) -> int:
    """Return how many frames are on this thread's stack below the one that is ``levels`` above the caller.

    ``depth_below(0)`` counts the frames that the caller's own frame stands on.
    """
    frame = sys._getframe(levels + 1).f_back
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth
