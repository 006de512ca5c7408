"""The GPUs that a process sees, as NVML knows them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from pytest_membudget.probes.nvml_errors import NvmlError
from pytest_membudget.probes.nvml_session import NvmlSession
from pytest_membudget.probes.nvml_visible import select, visible_entries

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_ORDER = "CUDA_DEVICE_ORDER"


@dataclass
class NvmlDevice:
    """One GPU, or one MIG instance of it."""

    session: NvmlSession
    handle: Any
    index: int
    uuid: str
    name: str
    _memory_version: int | None = field(default=None, init=False)
    _total_bytes: int | None = field(default=None, init=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.index}: {self.uuid[:12]})"

    def used_bytes(self) -> int:
        """Return the bytes in use on the whole device.

        Raises
        ------
        NvmlError
            NVML does not tell.
        """
        return int(self._memory().used)

    def total_bytes(self) -> int:
        """Return the size of the device's memory in bytes; raises as ``used_bytes`` does."""
        if self._total_bytes is None:
            self._total_bytes = int(self._memory().total)
        return self._total_bytes

    def _memory(self) -> Any:
        """Read with the version that worked first, and with that alone: the first one counts reserved bytes as used."""
        if self._memory_version is None:
            return self._first_memory()
        return self._read_memory(self._memory_version)

    def _first_memory(self) -> Any:
        newest = self.session.constant("nvmlMemory_v2")
        try:
            memory, version = self._read_memory(newest), newest
        except NvmlError:
            memory, version = self._read_memory(0), 0
        self._memory_version = version
        return memory

    def _read_memory(self, version: int) -> Any:
        return self.session.call("nvmlDeviceGetMemoryInfo", self.handle, version)


@dataclass(frozen=True)
class Selection:
    """The visible devices; ``ambiguous`` says so if they are all devices for want of a certain answer."""

    devices: tuple[NvmlDevice, ...]
    ambiguous: str | None = None


class NvmlDevices:
    """Finds the visible devices, which stay the same until ``release``, whatever a test does to the environment."""

    def __init__(self, session: NvmlSession) -> None:
        self.session = session
        self._found: dict[tuple[object, ...], Selection] = {}
        self._current: Selection | None = None
        self._generation = 0

    def unavailable(self) -> str | None:
        """Return why no device can be asked, or None."""
        if reason := self.session.unavailable():
            return reason
        try:
            if self.selection().devices:
                return None
        except NvmlError as error:
            return str(error)
        variable = os.environ.get(_VISIBLE)
        return "NVML finds no GPU" if variable is None else f"{_VISIBLE}={variable!r} leaves no GPU visible"

    def visible(self) -> tuple[NvmlDevice, ...]:
        """Return the visible devices; raises ``NvmlError`` where NVML does not list them."""
        return self.selection().devices

    def selection(self) -> Selection:
        """Return the visible devices, and whether they are known for certain."""
        if self._current is None or self._generation != self.session.generation:
            self._current = self._select_now()
            self._generation = self.session.generation
        return self._current

    def release(self) -> None:
        """Look at the environment again when next asked; handles of devices stay good as long as NVML is open."""
        self._current = None

    def _select_now(self) -> Selection:
        variable, order = os.environ.get(_VISIBLE), os.environ.get(_ORDER)
        key = (self.session.generation, variable, order)
        if key not in self._found:
            self._found = {key: self._select(variable, order)}
        return self._found[key]

    def _select(self, variable: str | None, order: str | None) -> Selection:
        devices = self._all()
        entries = visible_entries(variable)
        if entries is None:
            return Selection(tuple(found for device in devices for found in self._instances(device)))
        if any(str(entry).startswith("MIG-") for entry in entries):
            instances = [instance for device in devices for instance in self._instances(device) or (device,)]
            return Selection(tuple(instances[i] for i in select(entries, [found.uuid for found in instances])))
        by_number = any(isinstance(entry, int) for entry in entries)
        if by_number and order != "PCI_BUS_ID" and len({device.name for device in devices}) > 1:
            return Selection(
                tuple(devices),
                f"which GPU {_VISIBLE}={variable!r} means is uncertain among unequal ones: set {_ORDER}=PCI_BUS_ID",
            )
        return Selection(tuple(devices[i] for i in select(entries, [device.uuid for device in devices])))

    def _all(self) -> list[NvmlDevice]:
        count = int(self.session.call("nvmlDeviceGetCount"))
        return [self._device(self.session.call("nvmlDeviceGetHandleByIndex", i), i) for i in range(count)]

    def _device(self, handle: Any, index: int, name: str | None = None) -> NvmlDevice:
        uuid = str(self.session.call("nvmlDeviceGetUUID", handle))
        name = name or str(self.session.call("nvmlDeviceGetName", handle))
        return NvmlDevice(self.session, handle, index, uuid, name)

    def _instances(self, device: NvmlDevice) -> tuple[NvmlDevice, ...]:
        """Return the MIG instances of a device that is cut up, else the device."""
        try:
            current, _pending = self.session.call("nvmlDeviceGetMigMode", device.handle)
            if not current:
                return (device,)
            slots = int(self.session.call("nvmlDeviceGetMaxMigDeviceCount", device.handle))
        except NvmlError:
            return (device,)
        return tuple(found for slot in range(slots) if (found := self._instance(device, slot)))

    def _instance(self, device: NvmlDevice, slot: int) -> NvmlDevice | None:
        try:
            handle = self.session.call("nvmlDeviceGetMigDeviceHandleByIndex", device.handle, slot)
            return self._device(handle, device.index, f"{device.name} MIG")
        except NvmlError:
            return None
