"""Bytes that are live, replayed allocation by allocation over several captures of one process.

A tracker that starts anew in the middle of a test does not know what was allocated before it. The ledger does: it
carries each live address from one capture to the next, so a region that frees what came before it is still exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pytest_membudget.core.attribution import Stack

Entry = tuple[int, Stack]
"""Size and stack of one live allocation; the same object for as long as it lives."""


class Event(NamedTuple):
    """One allocation, or one release of an address; ``mapped`` marks mmap and munmap, which work on address ranges."""

    address: int
    size_bytes: int
    stack: Stack
    release: bool = False
    mapped: bool = False


@dataclass(eq=False)  # two spans with the same figures are two spans
class Span:
    """A stretch of the test whose own peak is wanted."""

    start_bytes: int
    peak_bytes: int
    live_at_start: tuple[Entry, ...] = ()
    live_at_peak: tuple[Entry, ...] = ()

    @property
    def grown_bytes(self) -> int:
        """The span's high-water mark above the level it began at."""
        return self.peak_bytes - self.start_bytes

    def rise(self, peak_bytes: int, live: Iterable[Entry]) -> None:
        """Take a new peak, and what was live then and had not been there at the start."""
        there_before = set(map(id, self.live_at_start))
        self.peak_bytes = peak_bytes
        self.live_at_peak = tuple(entry for entry in live if id(entry) not in there_before)


@dataclass
class Ledger:
    """Live allocations by address, and the spans that are open."""

    level_bytes: int = 0
    spans: list[Span] = field(default_factory=list)
    _live: dict[int, Entry] = field(default_factory=dict)
    _mapped: dict[int, Entry] = field(default_factory=dict)

    def open_span(self) -> Span:
        """Begin a span at the present level."""
        span = Span(self.level_bytes, self.level_bytes, self.live())
        self.spans.append(span)
        return span

    def close_span(self, span: Span) -> int:
        """End a span; return the bytes it left behind."""
        self.spans.remove(span)
        return self.level_bytes - span.start_bytes

    def live(self) -> tuple[Entry, ...]:
        """Return size and stack of everything that is live now."""
        return (*self._live.values(), *self._mapped.values())

    def replay(self, events: Callable[[], Iterable[Event]]) -> None:
        """Apply one capture's events in order, raising the peak of every open span.

        ``events`` is called once more when a peak rose: a second pass is cheaper than a snapshot at each maximum.
        """
        before, best_bytes, best_after = self._copy(), self.level_bytes, 0
        for position, event in enumerate(events(), start=1):
            self._apply(event)
            if self.level_bytes > best_bytes:
                best_bytes, best_after = self.level_bytes, position
        risen = [span for span in self.spans if best_bytes > span.peak_bytes]
        if risen:
            for event in islice(events(), best_after):
                before._apply(event)
            for span in risen:
                span.rise(best_bytes, before.live())

    def _copy(self) -> Ledger:
        return Ledger(self.level_bytes, [], dict(self._live), dict(self._mapped))

    def _apply(self, event: Event) -> None:
        table = self._live
        if event.mapped:
            # A new mapping takes the place of what its range held, as the kernel has it with MAP_FIXED.
            self._unmap(event.address, event.address + event.size_bytes)
            table = self._mapped
        else:
            # An address that is allocated twice was released unseen: the newer block replaces the older.
            self.level_bytes -= table.pop(event.address, (0, ()))[0]
        if not event.release:
            self.level_bytes += event.size_bytes
            table[event.address] = (event.size_bytes, event.stack)

    def _unmap(self, start: int, end: int) -> None:
        """Release the part of every mapping that lies in the range; what sticks out on either side stays live."""
        for address, (size_bytes, stack) in list(self._mapped.items()):
            low, high = max(start, address), min(end, address + size_bytes)
            if low >= high:
                continue
            del self._mapped[address]
            self.level_bytes -= high - low
            if low > address:
                self._mapped[address] = (low - address, stack)
            if high < address + size_bytes:
                self._mapped[high] = (address + size_bytes - high, stack)
