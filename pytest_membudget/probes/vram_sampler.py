"""Sampling GPU memory from a thread while a test runs: cheap, and blind while the test holds the GIL."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_membudget.core.vram import Cadence, Levels, highest
from pytest_membudget.probes.vram_source import VramSource


@dataclass
class Samples:
    """What was seen since the last time that somebody asked, by source; a source that failed is asked no more."""

    peaks: dict[str, Levels] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    cadence: Cadence = Cadence(0, 0.0)  # noqa: RUF009  # frozen


class Sampler(Protocol):
    """Takes samples between ``start`` and ``stop``."""

    def start(self) -> None:
        """Begin."""

    def drain(self) -> Samples:
        """Return what was seen since the last call, and go on."""

    def stop(self) -> Samples:
        """End; return what was seen since the last ``drain``."""


class Stopwatch:
    """Counts samples and keeps the longest time between two of them."""

    def __init__(self) -> None:
        self._count = 0
        self._longest = 0.0
        self._last = time.perf_counter()

    def tick(self) -> None:
        """Note a sample."""
        self._lap()
        self._count += 1

    def drain(self) -> Cadence:
        """Return what was counted since the last call; whoever asks has just taken a sample of their own."""
        self._lap()
        cadence = Cadence(self._count, self._longest)
        self._count, self._longest = 0, 0.0
        return cadence

    def _lap(self) -> None:
        now = time.perf_counter()
        self._longest, self._last = max(self._longest, now - self._last), now


class NoSampler:
    """Nothing between the samples that the test's own thread takes."""

    def start(self) -> None:
        """Begin to measure the gap."""
        self._stopwatch = Stopwatch()

    def drain(self) -> Samples:
        """Return the time since the last call as the gap."""
        return Samples(cadence=self._stopwatch.drain())

    def stop(self) -> Samples:
        """Return the time since the last call as the gap."""
        return self.drain()


class ThreadSampler:
    """Samples in a thread of this process."""

    def __init__(self, sources: Sequence[VramSource], interval_seconds: float) -> None:
        self._sources = {source.name: source for source in sources}
        self._interval_seconds = interval_seconds
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._samples = Samples()

    def start(self) -> None:
        """Start the thread."""
        self._stopwatch = Stopwatch()
        self._thread = threading.Thread(target=self._run, name="membudget GPU sampler", daemon=True)
        self._thread.start()

    def drain(self) -> Samples:
        """Return what was seen since the last call."""
        with self._lock:
            samples, self._samples = self._samples, Samples(failures=dict(self._samples.failures))
            samples.cadence = self._stopwatch.drain()
            return samples

    def stop(self) -> Samples:
        """End the thread."""
        self._stopped.set()
        self._thread.join()
        return self.drain()

    def _run(self) -> None:
        # A test that patches the interpreter's innards (SystemExit in every thread, say) must not print a traceback.
        try:
            while not self._stopped.wait(self._interval_seconds):
                with self._lock:
                    self._sample()
        except SystemExit:
            return

    def _sample(self) -> None:
        self._stopwatch.tick()
        samples = self._samples
        for name, source in self._sources.items():
            if name in samples.failures:
                continue
            try:
                samples.peaks[name] = highest(samples.peaks.get(name, {}), source.high_water())
            except Exception as error:  # noqa: BLE001  # a lost GPU must not end the sampling of the others
                samples.failures[name] = str(error)
