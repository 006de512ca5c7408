"""GPU memory over a test and over regions inside it, by the first source that can answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pytest_membudget.core.measurement import Unavailable
from pytest_membudget.core.vram import Cadence, Levels, VramReading, highest, reading_of
from pytest_membudget.core.vram_choice import AUTO, choose
from pytest_membudget.probes.vram_attempt import attempt, reason_against
from pytest_membudget.probes.vram_sampler import NoSampler, Sampler, Samples
from pytest_membudget.probes.vram_source import Scope, VramSource

FORKED = "this process was forked from the one that is measured"
SILENCE: dict[Scope, str] = {
    "allocator": "named no GPU",
    "process": "does not list this process: it uses no GPU, or it runs in a container that hides process ids",
    "device": "named no GPU",
}

NewSampler = Callable[[Sequence[VramSource]], Sampler]


@dataclass
class _Track:
    """One source over one stretch."""

    starts: Levels = field(default_factory=dict)
    now: Levels = field(default_factory=dict)
    peaks: Levels = field(default_factory=dict)
    failure: str | None = None

    @property
    def idle(self) -> bool:
        return self.starts == self.now == self.peaks


@dataclass
class _Stretch:
    tracks: dict[str, _Track]
    samples: int = 1
    longest_gap_seconds: float = 0.0
    ended: bool = False

    def fold(self, seen: Samples) -> None:
        for name, levels in seen.peaks.items():
            track = self.tracks[name]
            track.peaks = highest(track.peaks, levels)
        for name, reason in seen.failures.items():
            self.tracks[name].failure = self.tracks[name].failure or reason
        self.samples += seen.cadence.samples
        self.longest_gap_seconds = max(self.longest_gap_seconds, seen.cadence.longest_gap_seconds)


class VramMeter:
    """Measures nested stretches: before a mark is set back, it is folded into every stretch that is open.

    The steps of a stretch are apart so that other meters can begin and end in between: ``start``, ``begin_sampling``,
    the test, ``end_sampling``, ``stop``.

    Parameters
    ----------
    sources
        The most trusted first.
    pinned
        The name of the only source that may answer, or ``"auto"``.
    new_sampler
        Gives a sampler of the sources that keep no mark themselves.
    doubt
        Says why a figure of a whole device should decide nothing, or None; asked when such a figure was chosen.
    """

    def __init__(
        self,
        sources: Sequence[VramSource],
        pinned: str,
        new_sampler: NewSampler,
        doubt: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._sources = [source for source in sources if pinned in (AUTO, source.name)]
        self._pinned = pinned
        self._new_sampler = new_sampler
        self._doubt = doubt
        self._sampler: Sampler | None = None
        self._open: list[_Stretch] = []
        self._owner = os.getpid()

    def start(self, prepare: Callable[[], object] | None = None) -> None:
        """Take the levels that the growth is counted from.

        ``prepare`` is called before that, when the sources have opened what they need.
        """
        if not self._open:
            self._owner = os.getpid()
        for source in self._sources:
            reason_against(source)
        if prepare:
            attempt(prepare)
        if self._open and self._is_owner:
            self._fold(self._seen_so_far())
        self._open.append(_Stretch({source.name: _begin(source) for source in self._sources}))

    def begin_sampling(self) -> None:
        """Start a sampler if no source keeps its own mark; inside another stretch there is one already."""
        if self._sampler is not None or not self._is_owner:
            return
        ready = [source for source in self._sources if reason_against(source) is None]
        sampled = [] if any(source.exact for source in ready) else ready
        self._sampler = self._new_sampler(sampled) if sampled else NoSampler()
        self._sampler.start()

    def take_sample(self) -> None:
        """Take a sample on the calling thread."""
        if self._open and self._is_owner:
            self._fold(self._seen_so_far())

    def end_sampling(self) -> None:
        """Take the last sample of the innermost stretch, on the calling thread."""
        if not self._is_owner:
            return
        if len(self._open) == 1 and self._sampler is not None:
            seen, self._sampler = self._sampler.stop(), None
        else:
            seen = self._seen_so_far()
        self._fold(seen)
        self._open[-1].ended = True

    def stop(self, total: bool = False) -> VramReading | Unavailable:
        """End the innermost stretch; return the figure of the worst device, or why there is none.

        ``total`` asks for all that was in use rather than the growth.
        """
        if not self._is_owner:
            self._open.pop()
            return Unavailable(FORKED)
        if not self._open[-1].ended:
            self.end_sampling()
        figure = self._figure(self._open.pop(), total)
        if not self._open:
            for source in self._sources:
                attempt(source.close)
        return figure

    @property
    def _is_owner(self) -> bool:
        return os.getpid() == self._owner

    def _seen_so_far(self) -> Samples:
        return self._sampler.drain() if self._sampler is not None else Samples()

    def _fold(self, seen: Samples) -> None:
        for stretch in self._open:
            stretch.fold(seen)
            stretch.samples += 1
        for source in self._sources:
            if reason_against(source) is None:
                self._fold_source(source)

    def _fold_source(self, source: VramSource) -> None:
        """Enter the present level and the mark: which of them says more can change from one moment to the next."""
        now = attempt(source.in_use)
        mark = attempt(source.high_water)
        for stretch in self._open:
            track = stretch.tracks[source.name]
            if isinstance(now, Unavailable) or isinstance(mark, Unavailable):
                track.failure = track.failure or next(f.reason for f in (now, mark) if isinstance(f, Unavailable))
            else:
                track.now, track.peaks = now, highest(highest(track.peaks, now), mark)

    def _figure(self, stretch: _Stretch, total: bool) -> VramReading | Unavailable:
        chosen = choose({source.name: self._outcome(source, stretch, total) for source in self._sources})
        scopes = {source.name: source.scope for source in self._sources}
        if isinstance(chosen, VramReading) and scopes[chosen.source] == "device" and self._pinned == AUTO:
            return replace(chosen, unjudged=self._doubt())
        return chosen

    def _outcome(self, source: VramSource, stretch: _Stretch, total: bool) -> VramReading | Unavailable:
        track = stretch.tracks[source.name]
        if track.failure:
            return Unavailable(track.failure)
        if not track.peaks:
            return Unavailable(reason_against(source) or f"{source.name} {SILENCE[source.scope]}")
        if source.exact and track.idle and self._pinned == AUTO and not total:
            return Unavailable(f"{source.name} allocated no GPU memory in this test")
        cadence = None if source.exact else Cadence(stretch.samples, stretch.longest_gap_seconds)
        return reading_of(
            source.name, track.starts, track.peaks, cadence=cadence, cannot_see=source.cannot_see, total=total
        )


def _begin(source: VramSource) -> _Track:
    reset = attempt(source.reset)
    levels = attempt(source.in_use) if reason_against(source) is None else {}
    if isinstance(reset, Unavailable):
        return _Track(failure=reset.reason)
    if isinstance(levels, Unavailable):
        return _Track(failure=levels.reason)
    return _Track(levels, levels, levels)
