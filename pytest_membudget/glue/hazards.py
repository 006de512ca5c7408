"""Whether a process can be forked at all, and safely; where it cannot, a fresh interpreter is started instead."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

# Their threads only wait for a pipe or a socket that a forked process never touches.
_HARMLESS = ("execnet.", "pytest_rerunfailures")
_CUDA_DEVICE = "nvidia-uvm"
_OPEN_FILES = Path("/proc/self/fd")


def fork_hazard(open_files: Path = _OPEN_FILES) -> str | None:
    """Return why this process is not to be forked, None if it may be."""
    if sys.platform != "linux":
        return f"forking is not safe on {sys.platform}"
    if not _has_pidfd():
        return "the kernel has no pidfd (Linux 5.3 or later has)"
    if threads := _other_threads():
        return f"{threads} other threads are running" if threads > 1 else "another thread is running"
    if _has_cuda(open_files):
        return "CUDA is initialised already"
    return None


def _has_pidfd() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


def _other_threads() -> int:
    """Count this interpreter's other threads; libraries' native ones (of BLAS, say) look after forks themselves."""
    own = threading.get_ident()
    return sum(not _is_harmless(frame) for ident, frame in sys._current_frames().items() if ident != own)


def _is_harmless(frame: FrameType) -> bool:
    names = [str(below.f_globals.get("__name__", "")) for below in _upwards(frame)]
    return any(name.startswith(_HARMLESS) for name in names)


def _upwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _has_cuda(open_files: Path) -> bool:
    """Whether the driver's memory manager is open in this process: CUDA alone does that, not merely asking NVML."""
    try:
        links = [os.readlink(link) for link in open_files.iterdir()]
    except OSError:
        return False
    return any(_CUDA_DEVICE in link for link in links)
