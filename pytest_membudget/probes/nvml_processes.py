"""Which processes use a GPU, and how much: what NVML lists, with all the ways in which it does not know."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pytest_membudget.probes.nvml_devices import NvmlDevice
from pytest_membudget.probes.nvml_errors import NvmlError

# The newest first. A driver that lacks one says so by a code of its own, which pynvml may turn into another error.
_LISTS = ("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")


class NvmlProcesses:
    """Sums what a process and its descendants use, and notes who else is there.

    Parameters
    ----------
    pid
        Gives the process id to sum for; by default that of the calling process.
    """

    def __init__(self, pid: Callable[[], int] = os.getpid) -> None:
        self._pid = pid
        self._list: str | None = None
        self._relatives: dict[int, bool] = {}
        self.family: set[int] = set()
        self.strangers: set[int] = set()
        self.refusal: str | None = None

    def forget(self) -> None:
        """Forget who was seen; called when a test has ended."""
        self._relatives.clear()
        self.family.clear()
        self.strangers.clear()
        self.refusal = None

    def own_bytes(self, device: NvmlDevice, total_bytes: int | None) -> int | None:
        """Return the bytes that the process and its descendants use, or None if none of them is listed.

        Parameters
        ----------
        total_bytes
            The size of the device's memory, above which a figure is garbage; None if it is not known.

        Raises
        ------
        NvmlError
            The list is refused, or a figure in it is not one.
        """
        by_pid = dict(self._processes(device))
        family = set(filter(self._is_family, by_pid))
        self.strangers |= by_pid.keys() - family
        if not family:
            return None
        self.family |= family
        return sum(_plausible(by_pid[pid], total_bytes) for pid in family)

    def _processes(self, device: NvmlDevice) -> list[tuple[int, int | None]]:
        try:
            found = self._read(device)
        except NvmlError as error:
            self.refusal = str(error)
            raise
        return [(int(process.pid), process.usedGpuMemory) for process in found]

    def _read(self, device: NvmlDevice) -> list[Any]:
        if self._list is not None:
            return list(device.session.call(self._list, device.handle))
        newest, older = _LISTS
        try:
            processes, name = device.session.call(newest, device.handle), newest
        except NvmlError as error:
            if error.code not in (None, 13):
                raise
            processes, name = device.session.call(older, device.handle), older
        self._list = name
        return list(processes)

    def _is_family(self, pid: int) -> bool:
        """Whether it is the process or a descendant. A child that has lost its parent since stays what it was."""
        if pid not in self._relatives:
            self._relatives[pid] = pid == self._pid() or self._descends(pid)
        return self._relatives[pid]

    def _descends(self, pid: int) -> bool:
        import psutil

        try:
            return any(parent.pid == self._pid() for parent in psutil.Process(pid).parents())
        except psutil.Error:
            return False


def _plausible(used_bytes: int | None, total_bytes: int | None) -> int:
    if used_bytes is None:
        raise NvmlError("NVML lists this process without a figure (N/A), as under WSL2 and Windows")
    if used_bytes == 0:
        raise NvmlError("NVML lists this process with 0 bytes, as in some containers")
    if total_bytes is not None and used_bytes > total_bytes:
        raise NvmlError(f"NVML lists this process with {used_bytes} bytes, more than the GPU has")
    return used_bytes
