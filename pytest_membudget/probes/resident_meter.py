"""Growth of the resident peak over a test and over regions inside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pytest_membudget.core.measurement import Figure, Reading, Unavailable
from pytest_membudget.probes.resident_sampled import SampledHighWater


class HighWater(Protocol):
    """A high-water mark of the resident set that can be set back."""

    source: str
    exact: bool

    def prepare(self) -> None:
        """Set up what sampling needs, before the heap is tracked."""

    def reset(self) -> int:
        """Set the mark to the present resident set; return it in bytes."""

    def high_water_bytes(self) -> int:
        """Return the mark in bytes."""

    def close(self) -> None:
        """Let go of what sampling needed."""


@dataclass
class _Stretch:
    start_bytes: int = 0
    peak_bytes: int = 0
    failure: str | None = None


class ResidentMeter:
    """Measures nested stretches with a single mark: before each reset the mark is folded into every open stretch."""

    def __init__(self, high_water: HighWater) -> None:
        self._high_water = high_water
        self._open: list[_Stretch] = []

    def prepare(self) -> None:
        """Set up what a stretch will need; to be called before the heap is tracked."""
        self._high_water.prepare()

    def start(self) -> None:
        """Begin a stretch; a failure is kept as the reason that ``stop`` gives."""
        if self._open:
            self._fold()
        stretch = _Stretch()
        self._open.append(stretch)
        try:
            stretch.start_bytes = stretch.peak_bytes = self._high_water.reset()
        except OSError as error:
            stretch.failure = str(error)

    def stop(self) -> Figure:
        """End the innermost stretch; return the growth of the peak above its start."""
        self._fold()
        stretch = self._open.pop()
        if not self._open:
            self._high_water.close()
        if stretch.failure:
            return Unavailable(f"the resident peak cannot be read ({stretch.failure})")
        return Reading(stretch.peak_bytes - stretch.start_bytes, self._high_water.source, self._high_water.exact)

    def _fold(self) -> None:
        try:
            mark_bytes = self._high_water.high_water_bytes()
        except OSError as error:
            for stretch in self._open:
                stretch.failure = str(error)
            return
        for stretch in self._open:
            stretch.peak_bytes = max(stretch.peak_bytes, mark_bytes)


def new_resident_meter() -> ResidentMeter:
    """Return a meter over the best mark there is: the kernel's own, else one that is sampled."""
    return ResidentMeter(_kernel_high_water() or SampledHighWater())


def _kernel_high_water() -> HighWater | None:
    try:
        from pytest_membudget.probes.resident_kernel import KernelHighWater

        return KernelHighWater()
    except (ImportError, OSError):
        return None
