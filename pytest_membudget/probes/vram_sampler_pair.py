"""Two samplers at once, for sources that only this process can read beside those that another one can."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_membudget.core.vram import Cadence
from pytest_membudget.probes.vram_sampler import Sampler, Samples


class SamplerPair:
    """Starts, asks and stops both; the cadence is that of the scarcer one."""

    def __init__(self, samplers: Sequence[Sampler]) -> None:
        self._samplers = samplers

    def start(self) -> None:
        """Begin."""
        for sampler in self._samplers:
            sampler.start()

    def drain(self) -> Samples:
        """Return what was seen since the last call."""
        return _joined([sampler.drain() for sampler in self._samplers])

    def stop(self) -> Samples:
        """End."""
        return _joined([sampler.stop() for sampler in self._samplers])


def _joined(parts: Sequence[Samples]) -> Samples:
    return Samples(
        {name: levels for part in parts for name, levels in part.peaks.items()},
        {name: reason for part in parts for name, reason in part.failures.items()},
        Cadence(min(part.cadence.samples for part in parts), max(part.cadence.longest_gap_seconds for part in parts)),
    )
