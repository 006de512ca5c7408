"""GPU figures as JSON's own types, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from pytest_membudget.core.sizes import format_size
from pytest_membudget.core.vram import Cadence, DeviceUse, VramReading, model_of

Plain = dict[str, Any]


def vram_to_plain(reading: VramReading) -> Plain:
    """Return what stands behind the figure; the figure itself is the caller's."""
    return _behind(reading) | {
        "cannot_see": reading.cannot_see,
        "unjudged": reading.unjudged,
        "passed_over": [{"source": source, "reason": reason} for source, reason in reading.passed_over],
        "beside": [
            {"peak_bytes": other.bytes, "source": other.source, "exact": other.exact} | _behind(other)
            for other in reading.beside
        ],
    }


def _behind(reading: VramReading) -> Plain:
    cadence = reading.cadence
    return {
        "total": reading.total,
        "device": reading.worst.device,
        "devices": [asdict(use) for use in reading.devices],
        "samples": cadence.samples if cadence else None,
        "longest_gap_seconds": cadence.longest_gap_seconds if cadence else None,
    }


def vram_from_plain(plain: Plain) -> VramReading:
    """Return the reading that ``vram_to_plain`` and the figure beside it describe."""
    samples = plain["samples"]
    return VramReading(
        plain["peak_bytes"],
        plain["source"],
        plain["exact"],
        device=model_of(plain["device"]),
        unjudged=plain.get("unjudged"),
        devices=tuple(DeviceUse(**use) for use in plain["devices"]),
        cadence=None if samples is None else Cadence(samples, plain["longest_gap_seconds"]),
        cannot_see=plain.get("cannot_see", ""),
        total=plain["total"],
        passed_over=tuple((passed["source"], passed["reason"]) for passed in plain.get("passed_over", ())),
        beside=tuple(vram_from_plain(other) for other in plain.get("beside", ())),
    )


def device_lines(reading: VramReading | None) -> list[str]:
    """Return a line for each device of a figure, as it stands under its test in the table."""
    if reading is None:
        return []
    cadence = reading.cadence
    how = f"sampled {cadence.samples} times, at most {_gap(cadence)} apart" if cadence else "exact"
    return [
        f"{format_size(reading.judged_bytes(use)):>8}  vram of {use.device}, by {reading.source}, {how}"
        for use in reading.devices
    ]


def _gap(cadence: Cadence) -> str:
    seconds = cadence.longest_gap_seconds
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def device_names(readings: Iterable[VramReading]) -> list[str]:
    """Return the devices that any of the readings is of, sorted."""
    return sorted({use.device for reading in readings for use in reading.devices})
