"""Resident peaks of the processes that a test starts, and those start: sampled, since nobody keeps them at the end."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

INTERVAL_SECONDS = 0.010
_FIELD = re.compile(r"^(VmHWM|VmRSS):\s*(\d+) kB$", re.MULTILINE)


@dataclass
class ChildProcess:
    """A descendant; ``is_fork`` says that it was last seen running the very program of its ancestor."""

    pid: int
    start_bytes: int = 0
    peak_bytes: int = 0
    is_fork: bool = True

    @property
    def grown_bytes(self) -> int:
        """The resident peak, less what it held when the test began."""
        return max(self.peak_bytes - self.start_bytes, 0)


class ChildProcesses:
    """Looks at all descendants in turn, from a thread.

    The kernel keeps a resident peak of each process until it ends, so only what happens between the last look and the
    end goes unseen, and processes that live shorter than the interval. One that was there before the test counts as
    far as it grew.

    Parameters
    ----------
    ignored
        Gives the ids of processes that are the measuring's own.
    """

    def __init__(self, ignored: Callable[[], set[int]] = set) -> None:
        self._ignored = ignored
        self._seen: dict[int, ChildProcess] = {}
        self._stopped = threading.Event()

    def start(self) -> None:
        """Note who is there already, and start the thread."""
        self._program = _program(os.getpid())
        for pid in self._descendants():
            level_bytes = _resident_bytes(pid).get("VmRSS", 0)
            self._seen[pid] = ChildProcess(pid, level_bytes, level_bytes, self._is_fork(pid))
        self._earlier = frozenset(self._seen)
        self._thread = threading.Thread(target=self._run, name="membudget child sampler", daemon=True)
        self._thread.start()

    def stop(self) -> list[ChildProcess]:
        """Look for a last time; return all that were seen."""
        self._stopped.set()
        self._thread.join()
        self._look()
        return list(self._seen.values())

    def _run(self) -> None:
        while not self._stopped.wait(INTERVAL_SECONDS):
            self._look()

    def _look(self) -> None:
        for pid in self._descendants():
            child = self._seen.setdefault(pid, ChildProcess(pid))
            sizes = _resident_bytes(pid)
            # The kernel's own peak is since the process began, which is too long ago for one that was there before.
            peak_bytes = sizes.get("VmRSS" if pid in self._earlier else "VmHWM", 0)
            child.peak_bytes = max(child.peak_bytes, peak_bytes)
            if sizes:
                child.is_fork = self._is_fork(pid)

    def _is_fork(self, pid: int) -> bool:
        return _program(pid) == self._program

    def _descendants(self) -> set[int]:
        found = _children(os.getpid())
        # A child whose parent has ended belongs to somebody else now, and is still the test's.
        pending = list(found | set(self._seen))
        while pending:
            fresh = _children(pending.pop()) - found
            found |= fresh
            pending += fresh
        return (found | {pid for pid in self._seen if _resident_bytes(pid)}) - self._ignored()


def _children(pid: int) -> set[int]:
    """Return the children of a process; none if it has ended."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        return {int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()}
    except OSError:
        return _children_elsewhere(pid) if not tasks.exists() else set()


def _children_elsewhere(pid: int) -> set[int]:
    """Ask where there is no ``/proc``; this looks at every process of the machine."""
    import psutil

    try:
        return {child.pid for child in psutil.Process(pid).children()}
    except psutil.Error:
        return set()


def _resident_bytes(pid: int) -> dict[str, int]:
    """Return the resident set and its peak; empty for a process that has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return _resident_bytes_elsewhere(pid)
    return {name: int(kilobytes) * 1024 for name, kilobytes in _FIELD.findall(text)}


def _resident_bytes_elsewhere(pid: int) -> dict[str, int]:
    import psutil

    try:
        memory = psutil.Process(pid).memory_info()
    except psutil.Error:
        return {}
    return {"VmRSS": int(memory.rss), "VmHWM": int(getattr(memory, "peak_wset", memory.rss))}


def _program(pid: int) -> object:
    """Return what tells a process from one that replaced itself by another program."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
