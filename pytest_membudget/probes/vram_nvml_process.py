"""What this process and its descendants use on each GPU, as the driver lists it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from pytest_membudget.core.vram import Levels, highest
from pytest_membudget.probes.nvml_accounting import AccountedPeaks
from pytest_membudget.probes.nvml_devices import NvmlDevice, NvmlDevices
from pytest_membudget.probes.nvml_errors import NvmlError
from pytest_membudget.probes.nvml_processes import NvmlProcesses
from pytest_membudget.probes.vram_source import Scope

LIST_INTERVAL_SECONDS = 0.020


@dataclass(frozen=True)
class _LastList:
    """What the list said, when, and where the device's own counter stood at that moment."""

    own_bytes: int | None
    device_bytes: int | None
    read_at: float


class NvmlProcessSource:
    """Samples NVML's list of processes, but only when the device's counter has moved.

    The list is some hundred times dearer than the counter and holds a lock of the driver, so between two lists at
    least 20 ms pass. The samples at the beginning and at the end of a stretch read it in any case.
    """

    name = "nvml-process"
    scope: Scope = "process"
    cannot_see = "peaks between two samples, steps finer than the driver's pages"

    def __init__(
        self, devices: NvmlDevices, processes: NvmlProcesses | None = None, pid: Callable[[], int] = os.getpid
    ) -> None:
        self._devices = devices
        self._processes = processes or NvmlProcesses(pid)
        self._pid = pid
        self._accounted = AccountedPeaks()
        self._last: dict[str, _LastList] = {}
        self.exact = False

    def unavailable(self) -> str | None:
        """Return why not."""
        return self._devices.unavailable()

    def reset(self) -> None:
        """Forget what was seen."""
        self._last, self.exact = {}, False
        if self._devices.unavailable() is None:
            self._accounted.begin(self._devices.visible(), self._pid())

    def in_use(self) -> Levels:
        """Return the bytes in use now; reads the list."""
        return self._levels(self._listed_now)

    def high_water(self) -> Levels:
        """Return the bytes in use now, or the driver's own peak where that has risen; reads the list if need be."""
        levels = self._levels(self._listed_if_moved)
        risen = self._accounted.risen(self._devices.visible(), self._pid())
        self.exact = bool(risen) and risen.keys() >= levels.keys() and self._processes.family <= {self._pid()}
        return highest(levels, risen)

    def close(self) -> None:
        """Forget who was seen, and let the next test have other devices."""
        self._last = {}
        self._processes.forget()
        self._devices.release()

    def _levels(self, read: Callable[[NvmlDevice], int | None]) -> Levels:
        found = {str(device): read(device) for device in self._devices.visible()}
        return {device: own_bytes for device, own_bytes in found.items() if own_bytes is not None}

    def _listed_if_moved(self, device: NvmlDevice) -> int | None:
        last = self._last.get(str(device))
        if last is None:
            return self._listed_now(device)
        if last.device_bytes is not None and _device_bytes(device) == last.device_bytes:
            return last.own_bytes
        recent = time.monotonic() - last.read_at < LIST_INTERVAL_SECONDS
        return last.own_bytes if recent else self._listed_now(device)

    def _listed_now(self, device: NvmlDevice) -> int | None:
        device_bytes = _device_bytes(device)
        own_bytes = self._processes.own_bytes(device, _total_bytes(device))
        self._last[str(device)] = _LastList(own_bytes, device_bytes, time.monotonic())
        return own_bytes


def _device_bytes(device: NvmlDevice) -> int | None:
    try:
        return device.used_bytes()
    except NvmlError:
        return None


def _total_bytes(device: NvmlDevice) -> int | None:
    try:
        return device.total_bytes()
    except NvmlError:
        return None
