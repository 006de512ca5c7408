"""The resident set's high-water mark as the Linux kernel keeps it: exact, and free while the test runs."""

from __future__ import annotations

import os
import re
from resource import RUSAGE_SELF, getrusage

_STATUS = "/proc/self/status"
_CLEAR_REFS = "/proc/self/clear_refs"
_RESET_PEAK = b"5"
_HIGH_WATER = re.compile(rb"^VmHWM:\s*(\d+) kB$", re.MULTILINE)


class KernelHighWater:
    """Resets ``VmHWM`` (proc(5), clear_refs) and reads it, through getrusage(2) where that tells the same.

    Making one raises OSError where the kernel does not let a process reset its mark.

    ``ru_maxrss`` costs a tenth of reading ``/proc/self/status``. It is the larger of ``VmHWM`` and of what the process
    had used before its last exec, a constant that is found out once: any value above it is ``VmHWM`` itself.
    """

    source = "vmhwm"
    exact = True

    def __init__(self) -> None:
        # Read into memory that is there already: a heap measurement may be running.
        self._buffers = (bytearray(8192),)
        self._before_exec_bytes: int | None = None
        self._owner = 0
        self._write_reset()

    def prepare(self) -> None:
        """Nothing needs to be set up."""

    def reset(self) -> int:
        """Set the high-water mark to the present resident set; return it in bytes.

        Raises
        ------
        OSError
            Where the kernel does not let a process reset its mark.
        """
        self._write_reset()
        return self.high_water_bytes()

    def high_water_bytes(self) -> int:
        """Return the highest resident set since the last reset, in bytes.

        Raises
        ------
        OSError
            Where the kernel does not tell.
        """
        usage_bytes = getrusage(RUSAGE_SELF).ru_maxrss * 1024
        if self._before_exec_bytes is not None and usage_bytes > self._before_exec_bytes and self._owner == os.getpid():
            return usage_bytes
        status_bytes = self._high_water_in_status()
        # At most the mark if the two agree, exactly ``usage_bytes`` if they do not. A fork starts a new account.
        self._before_exec_bytes, self._owner = usage_bytes, os.getpid()
        return status_bytes

    def _write_reset(self) -> None:
        descriptor = os.open(_CLEAR_REFS, os.O_WRONLY)
        try:
            os.write(descriptor, _RESET_PEAK)
        finally:
            os.close(descriptor)

    def _high_water_in_status(self) -> int:
        descriptor = os.open(_STATUS, os.O_RDONLY)
        try:
            length = os.readv(descriptor, self._buffers)
        finally:
            os.close(descriptor)
        if found := _HIGH_WATER.search(self._buffers[0], 0, length):
            return int(found[1]) * 1024
        raise OSError(f"{_STATUS} has no VmHWM")

    def close(self) -> None:
        """Nothing is held open."""
