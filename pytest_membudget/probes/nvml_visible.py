"""Which of the machine's GPUs a process sees: CUDA_VISIBLE_DEVICES, which NVML itself does not heed."""

from __future__ import annotations

import re
from collections.abc import Sequence

Entry = int | str
"""An ordinal, or the beginning of a UUID."""

_ORDINAL = re.compile(r"[+-]?\d+")
_PREFIXES = ("GPU-", "MIG-")


def visible_entries(variable: str | None) -> tuple[Entry, ...] | None:
    """Return what the variable names, as the CUDA runtime reads it; None if it is not set, so that all are visible.

    An entry counts as far as it is a number (``"1gpu2,2x"`` names 1 and 2); the first one that is none, or negative,
    ends the list; one that is named twice empties it. A list that begins with a UUID holds UUIDs of that kind only.
    """
    if variable is None:
        return None
    parts = variable.split(",")
    prefix = next((prefix for prefix in _PREFIXES if variable.startswith(prefix)), None)
    entries: list[Entry] = []
    for part in parts:
        entry = _ordinal(part) if prefix is None else part.strip() if part.startswith(prefix) else None
        if entry in entries:
            return ()
        if entry is None:
            break
        entries.append(entry)
    return tuple(entries)


def _ordinal(part: str) -> int | None:
    found = _ORDINAL.match(part.strip())
    value = int(found[0]) if found else -1
    return value if value >= 0 else None


def select(entries: tuple[Entry, ...], uuids: Sequence[str]) -> tuple[int, ...]:
    """Return the positions in ``uuids`` that the entries name; the first one that names no device ends the list."""
    positions: list[int] = []
    for entry in entries:
        if isinstance(entry, int):
            found = [entry] if entry < len(uuids) else []
        else:
            found = [position for position, uuid in enumerate(uuids) if uuid.startswith(entry)]
        if len(found) != 1:
            break
        positions.append(found[0])
    return tuple(positions)
