"""NVML in pure Python: what pynvml calls, for tests of single functions on any machine.

pynvml takes any object for its library: it looks functions up by name, passes handles as they came, and references
behind which the structure to fill stands as ``_obj``. A function that is not here is one that the driver has not got.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pynvml

GIB = 2**30
SUCCESS, NOT_FOUND, INSUFFICIENT_SIZE = 0, 6, 7


@dataclass
class FakeDevice:
    """One GPU or MIG instance; ``codes`` lets functions fail, by name."""

    uuid: str
    name: str = "Fake H100"
    total: int = 80 * GIB
    used: int = 0
    reserved: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    processes: dict[int, int] = field(default_factory=dict)
    instances: list[FakeDevice] = field(default_factory=list)


class FakeLibrary:
    """Some GPUs; ``missing`` names functions that this driver lacks."""

    def __init__(self, *devices: FakeDevice, init_code: int = SUCCESS, missing: tuple[str, ...] = ()) -> None:
        self.devices = devices
        self.init_code = init_code
        self.missing = missing
        self.opened = 0
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., int]:
        function = _FUNCTIONS.get(name)
        if function is None or name in self.missing:
            raise AttributeError(name)

        def call(*arguments: Any) -> int:
            self.calls.append(name)
            device: FakeDevice | None = getattr(arguments[0], "fake", None) if arguments else None
            if device is None:
                return function(self, *arguments)
            return device.codes.get(name, SUCCESS) or function(device, *arguments[1:])

        return call


def _open(library: FakeLibrary, _flags: int) -> int:
    library.opened += library.init_code == SUCCESS
    return library.init_code


def _close(library: FakeLibrary) -> int:
    library.opened -= 1
    return SUCCESS


def _count(library: FakeLibrary, count: Any) -> int:
    count._obj.value = len(library.devices)
    return SUCCESS


def _handle(library: FakeLibrary, index: Any, handle: Any) -> int:
    handle._obj.fake = library.devices[index.value]
    return SUCCESS


def _uuid(device: FakeDevice, buffer: Any, _length: object) -> int:
    buffer.value = device.uuid.encode()
    return SUCCESS


def _name(device: FakeDevice, buffer: Any, _length: object) -> int:
    buffer.value = device.name.encode()
    return SUCCESS


def _memory(device: FakeDevice, memory: Any) -> int:
    memory._obj.total, memory._obj.used = device.total, device.used + device.reserved
    return SUCCESS


def _memory_v2(device: FakeDevice, memory: Any) -> int:
    memory._obj.total, memory._obj.used, memory._obj.reserved = device.total, device.used, device.reserved
    return SUCCESS


def _processes(device: FakeDevice, count: Any, entries: Any) -> int:
    count._obj.value = len(device.processes)
    if entries is None:
        return INSUFFICIENT_SIZE if device.processes else SUCCESS
    for entry, (pid, used) in zip(entries, device.processes.items(), strict=False):
        entry.pid, entry.usedGpuMemory = pid, used
    return SUCCESS


def _mig_mode(device: FakeDevice, current: Any, _pending: object) -> int:
    current._obj.value = int(bool(device.instances))
    return SUCCESS


def _mig_slots(_device: FakeDevice, count: Any) -> int:
    count._obj.value = 7
    return SUCCESS


def _mig_handle(device: FakeDevice, index: Any, handle: Any) -> int:
    if index.value >= len(device.instances):
        return NOT_FOUND
    handle._obj.fake = device.instances[index.value]
    return SUCCESS


_FUNCTIONS: dict[str, Callable[..., int]] = {
    "nvmlInitWithFlags": _open,
    "nvmlShutdown": _close,
    "nvmlDeviceGetCount_v2": _count,
    "nvmlDeviceGetHandleByIndex_v2": _handle,
    "nvmlDeviceGetUUID": _uuid,
    "nvmlDeviceGetName": _name,
    "nvmlDeviceGetMemoryInfo": _memory,
    "nvmlDeviceGetMemoryInfo_v2": _memory_v2,
    "nvmlDeviceGetComputeRunningProcesses_v2": _processes,
    "nvmlDeviceGetComputeRunningProcesses_v3": _processes,
    "nvmlDeviceGetMigMode": _mig_mode,
    "nvmlDeviceGetMaxMigDeviceCount": _mig_slots,
    "nvmlDeviceGetMigDeviceHandleByIndex": _mig_handle,
}


@contextmanager
def loaded(library: FakeLibrary) -> Iterator[FakeLibrary]:
    """Let pynvml use this library."""
    with (
        mock.patch.object(pynvml, "nvmlLib", library),
        mock.patch.object(pynvml, "_nvmlGetFunctionPointer_cache", {}),
    ):
        yield library
