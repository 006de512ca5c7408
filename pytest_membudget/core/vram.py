"""GPU memory: levels by device, their growth over a stretch, and the device that grew the most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_membudget.core.measurement import Reading

Levels = Mapping[str, int]
"""Bytes in use by device; a device that is not named has none in use."""


@dataclass(frozen=True)
class DeviceUse:
    """One device over one stretch."""

    device: str
    start_bytes: int
    peak_bytes: int

    @property
    def grown_bytes(self) -> int:
        """How far the peak is above the level at the start."""
        return self.peak_bytes - self.start_bytes


@dataclass(frozen=True)
class Cadence:
    """How densely a sampled figure was sampled."""

    samples: int
    longest_gap_seconds: float


@dataclass(frozen=True)
class VramReading(Reading):
    """The figure of the device that used the most, and what stands behind it.

    ``cadence`` is None for a counter that an allocator keeps itself. ``passed_over`` names the sources that would have
    gone first, each with the reason why it could not; ``beside`` holds what other sources read, for comparison.
    """

    devices: tuple[DeviceUse, ...] = ()
    cadence: Cadence | None = None
    cannot_see: str = ""
    total: bool = False
    passed_over: tuple[tuple[str, str], ...] = ()
    beside: tuple[VramReading, ...] = ()

    @property
    def worst(self) -> DeviceUse:
        """The device that the figure is of."""
        return max(self.devices, key=self.judged_bytes)

    @property
    def by(self) -> str:
        """Who says so, and of which device."""
        return f"{'measured' if self.exact else 'sampled'} by {self.source} on {self.worst.device}"

    def judged_bytes(self, use: DeviceUse) -> int:
        """Return what a budget limits: the growth of a device, or all that is in use on it."""
        return use.peak_bytes if self.total else use.grown_bytes


def reading_of(
    source: str, starts: Levels, peaks: Levels, *, cadence: Cadence | None, cannot_see: str, total: bool = False
) -> VramReading:
    """Return the reading of a stretch; ``peaks`` names at least one device.

    Parameters
    ----------
    cadence
        None if the source keeps its peak itself, so that the figure is exact.
    total
        Judge all that was in use at the peak rather than the growth.
    """
    devices = tuple(_use(device, starts, peaks) for device in sorted({*starts, *peaks}))
    judged = max(use.peak_bytes if total else use.grown_bytes for use in devices)
    return VramReading(
        judged,
        source,
        cadence is None,
        device=model_of(max(devices, key=lambda use: use.peak_bytes if total else use.grown_bytes).device),
        devices=devices,
        cadence=cadence,
        cannot_see=cannot_see,
        total=total,
    )


def model_of(device: str) -> str:
    """Return the model of a device that is named such as ``cuda:0 (NVIDIA H200)``, the whole name if none is named."""
    return device.rpartition("(")[2].rstrip(")") if device.endswith(")") else device


def _use(device: str, starts: Levels, peaks: Levels) -> DeviceUse:
    start_bytes = starts.get(device, 0)
    return DeviceUse(device, start_bytes, max(start_bytes, peaks.get(device, 0)))


def highest(first: Levels, second: Levels) -> dict[str, int]:
    """Return the higher level of each device."""
    return {device: max(first.get(device, 0), second.get(device, 0)) for device in {**first, **second}}
