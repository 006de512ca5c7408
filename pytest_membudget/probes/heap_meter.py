"""The heap figures of one test: its peak, what it left behind, and the peaks of regions inside it."""

from __future__ import annotations

import contextlib
import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_membudget.core.attribution import CodeMap, Stack, sites_of
from pytest_membudget.core.ledger import Ledger, Span
from pytest_membudget.core.measurement import PythonAllocators, Reading, Site, Unavailable
from pytest_membudget.core.timeline import Moment, thinned
from pytest_membudget.probes.capture_folder import CaptureFolder
from pytest_membudget.probes.forked_captures import ForkedCapture, take_forked_captures
from pytest_membudget.probes.garbage import Collector
from pytest_membudget.probes.heap_capture import CaptureError, CaptureReading, HeapCapture
from pytest_membudget.probes.pymalloc import free_pymalloc_bytes

MOST_SITES = 10


@dataclass(frozen=True)
class HeapPlan:
    """How to measure one test's heap.

    ``regions`` allows regions inside the test; ``own_thread`` counts only what the test's own thread allocates;
    ``children`` follows forks. Each of them keeps every event of the capture instead of the state at the peak.
    ``holders`` asks for the lines that hold what is left at the end. ``keep_capture`` leaves the file of the capture
    that holds the peak, until ``drop_kept_capture``. ``timeline`` asks for one; tests that fork have none.
    """

    python_allocators: PythonAllocators = "exact"
    regions: bool = False
    own_thread: bool = False
    holders: bool = False
    keep_capture: bool = False
    children: bool = False
    timeline: bool = True

    @property
    def every_event(self) -> bool:
        """Whether the capture must keep each allocation in order."""
        return self.regions or self.own_thread or self.children

    @property
    def source(self) -> str:
        """The name that stands beside the figure."""
        return "memray" if self.python_allocators == "exact" else "memray, arenas"


@dataclass(frozen=True)
class HeapFigures:
    """What a heap meter gives; ``sites`` are the call sites at the peak, ``held`` those of what was left."""

    peak: Reading | Unavailable
    retained: Reading | Unavailable
    sites: tuple[Site, ...] = ()
    held: tuple[Site, ...] = ()
    timeline: tuple[Moment, ...] = ()


class HeapMeter:
    """Measures from ``start`` to ``stop``, with regions in between.

    Without regions it is a single capture that memray itself sums up. Each region border ends one capture and begins
    the next, and a ledger carries the live addresses across.
    """

    def __init__(self, plan: HeapPlan, folder: CaptureFolder, collector: Collector, code_map: CodeMap) -> None:
        self._plan = plan
        self._folder = folder
        self._collector = collector
        self._code_map = code_map
        self._ledger = Ledger()
        self._whole = self._ledger.open_span()
        self._rolled = plan.own_thread
        self._capture: HeapCapture | None = None
        self._paths: list[Path] = []
        self._failure: str | None = None
        self._may_miss_bytes = 0
        self._base_depth = 0
        self._moments: list[Moment] = []
        self.kept_capture: Path | None = None

    def start(self, base_depth: int) -> None:
        """Collect garbage and begin; a failure is kept as the reason that ``stop`` gives.

        ``base_depth`` counts the outermost frames of this thread that are no part of what is measured.
        """
        self._base_depth = base_depth
        self._begin_capture()

    def stop(self) -> HeapFigures:
        """Collect garbage, end, and return the figures or the reason that there are none."""
        if self._failure is None and self._capture is not None:
            self._collector.collect()
            self._capture.stop()
        return self._read()

    def drop_kept_capture(self) -> None:
        """Remove the capture that was kept, if any."""
        if self.kept_capture is not None:
            with contextlib.suppress(OSError):
                self.kept_capture.unlink()
            self.kept_capture = None

    def take_forked(self) -> list[ForkedCapture]:
        """Return what children wrote that were forked meanwhile; called after ``stop``."""
        paths, self._paths = self._paths if self._plan.children else [], []
        forked = [capture for path in paths for capture in take_forked_captures(path, self._code_map)]
        return [replace(capture, sites=self._shown(capture.sites)) for capture in forked]

    def open_region(self) -> Span | Unavailable:
        """Begin a region at the present level."""
        self._end_capture()
        span = self._ledger.open_span()
        self._begin_capture()
        return Unavailable(self._failure) if self._failure else span

    def close_region(self, span: Span) -> HeapFigures:
        """End a region; return its figures. What it released of earlier allocations counts against what it left."""
        self._end_capture()
        left_bytes = self._ledger.close_span(span)
        figures = self._figures(span.grown_bytes, left_bytes, span.live_at_peak)
        self._begin_capture()
        return self._unavailable(self._failure) if self._failure else figures

    def _begin_capture(self) -> None:
        if self._failure:
            return
        try:
            plan = self._plan
            path = self._folder.new_file()
            capture = HeapCapture(
                path,
                plan.python_allocators,
                plan.every_event,
                follow_fork=plan.children,
                snapshots=plan.timeline and not plan.children,
            )
            self._paths.append(path)
            self._collector.collect()
            if self._plan.python_allocators == "arenas":
                self._note_free_pymalloc()
            capture.start()
        except (CaptureError, OSError) as error:
            self._failure = str(error)
        else:
            self._capture = capture

    def _note_free_pymalloc(self) -> None:
        free_bytes = free_pymalloc_bytes()
        if isinstance(free_bytes, Unavailable):
            raise CaptureError(f"python_allocators='arenas' cannot state its error bound: {free_bytes.reason}")
        self._may_miss_bytes = max(self._may_miss_bytes, free_bytes)

    def _end_capture(self) -> None:
        """End the present capture and enter it in the ledger; between captures the meter's own work costs nobody."""
        self._rolled = True
        if self._capture is None or self._failure:
            return
        self._collector.collect()
        self._capture.stop()
        try:
            self._enter_in_ledger()
        except CaptureError as error:
            self._failure = str(error)
        self._discard_capture()

    def _enter_in_ledger(self) -> None:
        assert self._capture is not None
        before_bytes = self._whole.peak_bytes
        with self._capture.read(self._code_map, self._base_depth) as reading:
            self._note_timeline(reading)
            self._ledger.replay(lambda: reading.events(self._plan.own_thread))
        if self._whole.peak_bytes > before_bytes:
            self._keep_capture()

    # Apart from ``stop``: the frame that ends tracking counts as the test's, so it had better be small.
    def _read(self) -> HeapFigures:
        try:
            figures = self._read_ledger() if self._rolled else self._read_capture()
        except CaptureError as error:
            return self._unavailable(str(error))
        finally:
            self._discard_capture()
        return replace(figures, timeline=self._timeline(figures.peak))

    def _read_ledger(self) -> HeapFigures:
        if self._failure or self._capture is None:
            return self._unavailable(self._failure or "tracking never began")
        self._enter_in_ledger()
        figures = self._figures(self._whole.peak_bytes, self._ledger.level_bytes, self._whole.live_at_peak)
        return self._with_holders(figures, self._ledger.live())

    def _read_capture(self) -> HeapFigures:
        if self._failure or self._capture is None:
            return self._unavailable(self._failure or "tracking never began")
        with self._capture.read(self._code_map, self._base_depth) as reading:
            self._note_timeline(reading)
            at_peak, left = reading.at_peak(), reading.left()
        self._keep_capture()
        return self._with_holders(self._figures(at_peak.bytes, left.bytes, at_peak.groups), left.groups)

    def _figures(self, peak_bytes: int, retained_bytes: int, at_peak: Iterable[tuple[int, Stack]]) -> HeapFigures:
        reading = Reading(peak_bytes, self._plan.source, may_miss_bytes=self._may_miss_bytes)
        return HeapFigures(reading, replace(reading, bytes=retained_bytes), self._sites(at_peak))

    def _with_holders(self, figures: HeapFigures, left: Iterable[tuple[int, Stack]]) -> HeapFigures:
        return replace(figures, held=self._sites(left)) if self._plan.holders else figures

    def _sites(self, live: Iterable[tuple[int, Stack]]) -> tuple[Site, ...]:
        return self._shown(sites_of(live, self._code_map))

    def _shown(self, sites: Sequence[Site]) -> tuple[Site, ...]:
        return tuple(map(self._readable, sites[:MOST_SITES]))

    def _readable(self, site: Site) -> Site:
        """Add the source line, and write paths as a reader of the project would."""
        shorten = self._code_map.shorten
        return Site(
            site.bytes,
            replace(site.frame, file=shorten(site.file)),
            linecache.getline(site.file, site.line).strip(),
            site.via and replace(site.via, file=shorten(site.via.file)),
        )

    def _unavailable(self, reason: str) -> HeapFigures:
        return HeapFigures(Unavailable(reason), Unavailable(reason))

    def _note_timeline(self, reading: CaptureReading) -> None:
        """Remember how memory moved; a later capture counts from zero, so the level it began at is added."""
        level_bytes = self._ledger.level_bytes
        self._moments += [moment._replace(heap_bytes=moment.heap_bytes + level_bytes) for moment in reading.timeline()]

    def _timeline(self, peak: Reading | Unavailable) -> tuple[Moment, ...]:
        """Return the moments since the first. None lies above the peak: what does is the measuring's own."""
        if isinstance(peak, Unavailable) or not self._moments:
            return ()
        began_at = self._moments[0].seconds
        return tuple(
            Moment(round(at - began_at, 3), min(heap_bytes, peak.bytes), resident_bytes)
            for at, heap_bytes, resident_bytes in thinned(self._moments, len(self._moments))
        )

    def _keep_capture(self) -> None:
        if self._plan.keep_capture and self._capture is not None:
            self.drop_kept_capture()
            self.kept_capture, self._capture = self._capture.path, None

    def _discard_capture(self) -> None:
        if self._capture is not None:
            with contextlib.suppress(OSError):
                self._capture.path.unlink()
            self._capture = None
