"""How much memory this process may use at most: the container's limit, or the machine's memory."""

from __future__ import annotations

import re
from pathlib import Path

_PROC = Path("/proc/self/cgroup")
_CGROUP_ROOT = Path("/sys/fs/cgroup")
_VM_STATISTICS = Path("/proc/vmstat")
_OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def total_ram_bytes(proc_cgroup: Path = _PROC, cgroup_root: Path = _CGROUP_ROOT) -> int:
    """Return the smallest of the cgroup limits that apply and the machine's memory, in bytes."""
    import psutil

    return min([int(psutil.virtual_memory().total), *_cgroup_limits(proc_cgroup, cgroup_root)])


def _cgroup_limits(proc_cgroup: Path, cgroup_root: Path) -> list[int]:
    """Return the memory limits of the cgroup and of all that enclose it, cgroup v2 and v1."""
    try:
        lines = proc_cgroup.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    files: list[Path] = []
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if not controllers:
            files += _upwards(cgroup_root, path, "memory.max")
        elif "memory" in controllers.split(","):
            files += _upwards(cgroup_root / "memory", path, "memory.limit_in_bytes")
    return [limit for file in files if (limit := _limit(file)) is not None]


def _upwards(root: Path, path: str, name: str) -> list[Path]:
    folder = root / path.strip("/")
    # In a container the path is the host's while the root is the container's own, so the root itself counts always.
    return [parent / name for parent in (folder, *folder.parents) if parent.is_relative_to(root)]


def _limit(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and int(text) > 0 else None


def out_of_memory_kills(statistics: Path = _VM_STATISTICS) -> int:
    """Return how many processes the kernel has killed since it started because memory had run out, 0 if unknown."""
    try:
        found = _OOM_KILLS.search(statistics.read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0
