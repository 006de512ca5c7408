"""The memory of a test's child processes, added to the test's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_membudget.core.children import merged, with_children
from pytest_membudget.core.measurement import Figure
from pytest_membudget.probes.child_processes import ChildProcess, ChildProcesses
from pytest_membudget.probes.forked_captures import ForkedCapture
from pytest_membudget.probes.heap_meter import MOST_SITES, HeapFigures


class ChildrenMeter:
    """Counts forked children by their own captures, and all others by their resident peak."""

    def __init__(self, processes: ChildProcesses) -> None:
        self._processes = processes
        self._seen: Sequence[ChildProcess] = ()

    def start(self) -> None:
        """Begin to look for children."""
        self._processes.start()

    def stop(self) -> None:
        """Look for the last time."""
        self._seen = self._processes.stop()

    def add_to_heap(self, own: HeapFigures, forked: Sequence[ForkedCapture]) -> HeapFigures:
        """Return the heap figures with the children's."""
        # A fork that went on to run another program has a capture too, of next to nothing.
        replaced = {child.pid for child in self._seen if not child.is_fork}
        forks = [capture for capture in forked if capture.pid not in replaced]
        forked_pids = {capture.pid for capture in forks}
        others = [child.grown_bytes for child in self._grown if child.pid not in forked_pids]
        sites = merged([*own.sites, *(site for capture in forks for site in capture.sites)]) if forks else own.sites
        peak = with_children(own.peak, [capture.peak_bytes for capture in forks], others)
        return replace(own, peak=peak, sites=sites[:MOST_SITES])

    def add_to_resident(self, own: Figure) -> Figure:
        """Return the resident figure with the children's, which counts twice what a fork shares with its parent."""
        return with_children(own, (), [child.grown_bytes for child in self._grown])

    @property
    def _grown(self) -> list[ChildProcess]:
        return [child for child in self._seen if child.grown_bytes]
