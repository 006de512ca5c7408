"""What one test wants of the GPU meter that all tests of a process share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_membudget.core.measurement import Figure, Reading
from pytest_membudget.probes.vram_meter import VramMeter


@dataclass(frozen=True)
class VramPlan:
    """Measures GPU memory for one test.

    Parameters
    ----------
    meter
        One for all, so that a region inside a test does not set back the mark that the test is measured by.
    total
        Whether all that is in use is judged rather than the growth.
    budgeted
        Whether the test has a budget of GPU memory, so that the reason for a missing figure matters.
    prepare
        Brings the GPU to rest before the measurement.
    """

    meter: VramMeter
    total: bool = False
    budgeted: bool = True
    prepare: Callable[[], object] | None = None

    def start(self) -> None:
        """Take the levels at the beginning."""
        self.meter.start(self.prepare)

    def begin_sampling(self) -> None:
        """Start to sample, if need be."""
        self.meter.begin_sampling()

    def take_sample(self) -> None:
        """Take a sample on this thread."""
        self.meter.take_sample()

    def end_sampling(self) -> None:
        """Take the last sample on this thread."""
        self.meter.end_sampling()

    def stop(self) -> Figure | None:
        """Return the figure; None if there is none and nobody asked for it."""
        figure = self.meter.stop(self.total)
        return figure if self.budgeted or isinstance(figure, Reading) else None

    def open_region(self) -> None:
        """Begin a region."""
        self.meter.start()

    def close_region(self) -> Figure:
        """End a region; return its figure."""
        self.meter.end_sampling()
        return self.meter.stop()
