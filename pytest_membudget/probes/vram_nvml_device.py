"""What is in use on a whole GPU, whoever uses it."""

from __future__ import annotations

from pytest_membudget.core.vram import Levels
from pytest_membudget.probes.nvml_devices import NvmlDevices
from pytest_membudget.probes.vram_source import Scope


class NvmlDeviceSource:
    """Samples NVML's memory counter, the cheapest of its calls."""

    name = "nvml-device"
    exact = False
    scope: Scope = "device"
    cannot_see = "peaks between two samples, whose memory it is"

    def __init__(self, devices: NvmlDevices) -> None:
        self._devices = devices

    def unavailable(self) -> str | None:
        """Return why not."""
        return self._devices.unavailable()

    def reset(self) -> None:
        """NVML keeps no mark."""

    def in_use(self) -> Levels:
        """Return the bytes in use now."""
        return {str(device): device.used_bytes() for device in self._devices.visible()}

    def high_water(self) -> Levels:
        """Return the bytes in use now: NVML keeps no mark."""
        return self.in_use()

    def close(self) -> None:
        """Let the next test have other devices."""
        self._devices.release()
