"""Scripting the GPUs that the fake NVML library shows, from any process that shares its state file."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

STATE_VARIABLE = "FAKE_NVML_STATE"
MIB, GIB = 2**20, 2**30
NOT_AVAILABLE = 2**64 - 1
_DEVICES, _PROCESSES = 4, 16


class _Process(ctypes.Structure):
    pid: int
    used: int
    _fields_ = (("pid", ctypes.c_uint), ("padding", ctypes.c_uint), ("used", ctypes.c_ulonglong))


class Device(ctypes.Structure):
    """One GPU or MIG instance; the fields can be set at any time."""

    uuid: bytes
    name: bytes
    total: int
    reserved: int
    used: int
    memory_v1_code: int
    memory_v2_code: int
    list_v3_code: int
    list_v2_code: int
    accounting: int
    accounted_pid: int
    accounted: int
    parent: int
    processes_count: int
    processes: ctypes.Array[_Process]
    _fields_ = (
        ("uuid", ctypes.c_char * 64),
        ("name", ctypes.c_char * 64),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
        ("memory_v1_code", ctypes.c_int),
        ("memory_v2_code", ctypes.c_int),
        ("list_v3_code", ctypes.c_int),
        ("list_v2_code", ctypes.c_int),
        ("accounting", ctypes.c_uint),
        ("accounted_pid", ctypes.c_uint),
        ("accounted", ctypes.c_ulonglong),
        ("parent", ctypes.c_uint),
        ("processes_count", ctypes.c_uint),
        ("processes", _Process * _PROCESSES),
    )


class State(ctypes.Structure):
    """All that the library knows and counts."""

    init_code: int
    latency_us: int
    inits: int
    shutdowns: int
    memory_calls: int
    list_calls: int
    setting_calls: int
    devices_count: int
    devices: ctypes.Array[Device]
    _fields_ = (
        ("init_code", ctypes.c_int),
        ("latency_us", ctypes.c_uint),
        ("inits", ctypes.c_ulonglong),
        ("shutdowns", ctypes.c_ulonglong),
        ("memory_calls", ctypes.c_ulonglong),
        ("list_calls", ctypes.c_ulonglong),
        ("setting_calls", ctypes.c_ulonglong),
        ("devices_count", ctypes.c_uint),
        ("padding", ctypes.c_uint),
        ("devices", Device * _DEVICES),
    )


class FakeGpus:
    """The GPUs of one state file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR)
        self._memory = mmap.mmap(self._file, ctypes.sizeof(State))
        self.state = State.from_buffer(self._memory)

    @classmethod
    def create(cls, path: Path, count: int = 1) -> FakeGpus:
        """Write a state file of idle GPUs of 80 GiB each."""
        path.write_bytes(bytes(ctypes.sizeof(State)))
        gpus = cls(path)
        for index in range(count):
            gpus.add(f"GPU-{index}1111111-2222-3333-4444-555555555555")
        return gpus

    def add(self, uuid: str, name: str = "Fake H100", total: int = 80 * GIB, parent: int | None = None) -> Device:
        """Add a GPU, or a MIG instance of the GPU with the index ``parent``."""
        device = self.state.devices[self.state.devices_count]
        self.state.devices_count += 1
        device.uuid, device.name, device.total = uuid.encode(), name.encode(), total
        device.parent = 0 if parent is None else parent + 1
        return device

    def device(self, index: int = 0) -> Device:
        """Return a GPU."""
        return self.state.devices[index]

    def take(self, size: int, pid: int | None = None, index: int = 0) -> None:
        """Let a process, by default the calling one, take memory; from then on it is listed."""
        device = self.device(index)
        with self._locked():
            device.used += size
            self._entry(device, os.getpid() if pid is None else pid).used += size

    def give(self, size: int, pid: int | None = None, index: int = 0) -> None:
        """Let a process give memory back."""
        self.take(-size, pid, index)

    def list_process(self, pid: int, used: int, index: int = 0) -> None:
        """List a process with any figure, however untrue."""
        with self._locked():
            self._entry(self.device(index), pid).used = used

    def leave(self, pid: int | None = None, index: int = 0) -> None:
        """Let a process end: its memory goes, and so does its entry."""
        device, pid = self.device(index), os.getpid() if pid is None else pid
        with self._locked():
            kept = [(p.pid, p.used) for p in device.processes[: device.processes_count]]
            device.used -= sum(used for listed, used in kept if listed == pid)
            kept = [entry for entry in kept if entry[0] != pid]
            device.processes_count = len(kept)
            for place, (listed, used) in enumerate(kept):
                device.processes[place].pid, device.processes[place].used = listed, used

    def _entry(self, device: Device, pid: int) -> _Process:
        for process in device.processes[: device.processes_count]:
            if process.pid == pid:
                found: _Process = process
                return found
        process = device.processes[device.processes_count]
        process.pid, process.used = pid, 0
        device.processes_count += 1
        return process

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)


def attached() -> FakeGpus:
    """Return the GPUs that this process was started with."""
    return FakeGpus(Path(os.environ[STATE_VARIABLE]))
