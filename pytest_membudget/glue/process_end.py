"""The end of a child process, and what the system knows of it then."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from pytest_membudget.core.isolation import Ending
from pytest_membudget.probes.machine import out_of_memory_kills

if TYPE_CHECKING:
    from resource import struct_rusage


class Watch:
    """Runs from before a process starts until it has ended."""

    def __init__(self) -> None:
        self._kills = out_of_memory_kills()
        self._began_at = time.monotonic()

    def ended(self, exit_code: int | None, usage: struct_rusage | None, overdue: bool) -> Ending:
        """Return how the process ended; ``usage`` is what the system accounted to it."""
        return Ending(
            exit_code=exit_code,
            seconds=time.monotonic() - self._began_at,
            resident_peak_bytes=None if usage is None else usage.ru_maxrss * _MAXRSS_UNIT_BYTES,
            out_of_memory_kills=out_of_memory_kills() - self._kills,
            overdue=overdue,
        )

    def reaped(self, pid: int, overdue: bool) -> Ending:
        """Wait for the process, which has ended or is about to, and return how it did."""
        _, status, usage = os.wait4(pid, 0)
        return self.ended(os.waitstatus_to_exitcode(status), usage, overdue)


def own_resident_peak_bytes() -> int:
    """Return the high-water mark of this process; in one that was just forked, what is resident of the other."""
    # Not on Windows, where no process is forked.
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT_BYTES


# getrusage(2): kilobytes, but for macOS.
_MAXRSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
