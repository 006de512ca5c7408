"""How much RAM this process may still take, so that a test that needs more is skipped and not killed."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_membudget.suite.hotpath import KIB, MIB

_GIB = 1024 * MIB

# Interpreter, numpy, thread buffers, the measuring itself and the pages that the kernel needs to breathe.
_HEADROOM_BYTES = 512 * MIB


def free_ram_bytes(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes left to allocate without swapping, within the container's limit; None where nothing tells."""
    known = [free for free in (_meminfo(proc / "meminfo"), _cgroup(cgroup)) if free is not None]
    return min(known) if known else _sysconf()


def shortage(needed_bytes: int) -> str | None:
    """Why ``needed_bytes`` do not fit, with the figures, or None if they do."""
    needed = needed_bytes + _HEADROOM_BYTES
    free = free_ram_bytes()
    if free is None:
        return f"needs {needed / _GIB:.1f} GiB of free RAM, and this system does not tell how much it has"
    if free < needed:
        return f"needs {needed / _GIB:.1f} GiB of free RAM, this machine has {free / _GIB:.1f} GiB"
    return None


def _meminfo(path: Path) -> int | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * KIB if found else None


def _cgroup(folder: Path) -> int | None:
    """The limit less what is used; cached file pages count as free, for the kernel gives them back."""
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    if limit == "max":
        return None
    return int(limit) - used + int(statistics.get("inactive_file", 0))


def _sysconf() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
