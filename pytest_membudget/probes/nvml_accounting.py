"""The driver's own peak per process: exact, kept only where an administrator has switched accounting on."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_membudget.probes.nvml_devices import NvmlDevice
from pytest_membudget.probes.nvml_errors import NvmlError


class AccountedPeaks:
    """Reads ``maxMemoryUsage``, which covers the life of a process and cannot be set back.

    If it rose during a stretch, the new value is that stretch's peak; if not, it says nothing. The mode itself is a
    setting of the machine, which a test plugin must leave alone.
    """

    def __init__(self) -> None:
        self._before: dict[str, int] = {}

    def begin(self, devices: Iterable[NvmlDevice], pid: int) -> None:
        """Remember the peaks so far, on the devices where accounting is on."""
        self._before = {str(device): peak for device in devices if (peak := _peak_bytes(device, pid)) is not None}

    def risen(self, devices: Iterable[NvmlDevice], pid: int) -> dict[str, int]:
        """Return the peaks in bytes, by device, that have risen since ``begin``."""
        if not self._before:
            return {}
        now = {str(device): _peak_bytes(device, pid) or 0 for device in devices if str(device) in self._before}
        return {device: peak for device, peak in now.items() if peak > self._before[device]}


def _peak_bytes(device: NvmlDevice, pid: int) -> int | None:
    """Return the process's peak, 0 if the driver has not seen it yet, None where accounting is off."""
    try:
        if not device.session.call("nvmlDeviceGetAccountingMode", device.handle):
            return None
    except NvmlError:
        return None
    try:
        return int(device.session.call("nvmlDeviceGetAccountingStats", device.handle, pid).maxMemoryUsage or 0)
    except NvmlError:
        return 0
