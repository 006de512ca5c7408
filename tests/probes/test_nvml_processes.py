"""NVML's list of processes, and its many ways of not knowing."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pytest_membudget.probes.nvml_devices import NvmlDevice, NvmlDevices
from pytest_membudget.probes.nvml_errors import NvmlError
from pytest_membudget.probes.nvml_processes import NvmlProcesses
from pytest_membudget.probes.nvml_session import NvmlSession
from tests.nvml.fake_library import GIB, FakeDevice, FakeLibrary, loaded

ME = os.getpid()
NEWEST, OLDER = "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"


@pytest.fixture
def fake() -> FakeDevice:
    """The GPU behind NVML."""
    return FakeDevice("GPU-0")


@pytest.fixture
def library(fake: FakeDevice, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLibrary]:
    """A library with one GPU."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with loaded(FakeLibrary(fake)) as found:
        yield found


@pytest.fixture
def device(library: FakeLibrary) -> Iterator[NvmlDevice]:
    """The GPU as the plugin sees it."""
    assert library.opened == 0
    session = NvmlSession()
    (found,) = NvmlDevices(session).visible()
    yield found
    session.close()


def test_own_and_strangers(fake: FakeDevice, device: NvmlDevice) -> None:
    """Strangers are noted and not counted (pitfall 19)."""
    fake.processes = {ME: 7, 1: 100}
    processes = NvmlProcesses()

    assert processes.own_bytes(device, GIB) == 7
    assert (processes.family, processes.strangers) == ({ME}, {1})


def test_nobody(device: NvmlDevice) -> None:
    """Not being listed is not 0 bytes (pitfall 1)."""
    assert NvmlProcesses().own_bytes(device, GIB) is None


@pytest.mark.parametrize(
    ("listed_bytes", "reason"),
    [
        (2**64 - 1, "NVML lists this process without a figure (N/A), as under WSL2 and Windows"),
        (0, "NVML lists this process with 0 bytes, as in some containers"),
        (GIB + 1, f"NVML lists this process with {GIB + 1} bytes, more than the GPU has"),
    ],
)
def test_no_figure(fake: FakeDevice, device: NvmlDevice, listed_bytes: int, reason: str) -> None:
    """N/A, 0 and garbage are reasons, and strangers are noted all the same (pitfalls 1 and 26)."""
    fake.processes = {ME: listed_bytes, 1: 5}
    processes = NvmlProcesses()

    with pytest.raises(NvmlError, match=f"^{reason.replace('(', '[(]').replace(')', '[)]')}$"):
        processes.own_bytes(device, GIB)
    assert processes.strangers == {1}


def test_unknown_size_of_the_gpu(fake: FakeDevice, device: NvmlDevice) -> None:
    """Where the GPU's size is not known nothing is too much."""
    fake.processes = {ME: 2 * GIB}

    assert NvmlProcesses().own_bytes(device, None) == 2 * GIB


@pytest.mark.parametrize("how", ["missing", "refused"])
def test_older_list(fake: FakeDevice, device: NvmlDevice, library: FakeLibrary, how: str) -> None:
    """Without the newest list the older one serves, from then on by itself (pitfall 4)."""
    fake.processes = {ME: 7}
    if how == "missing":
        library.missing = (NEWEST,)
    else:
        fake.codes[NEWEST] = 13
    processes = NvmlProcesses()

    assert [processes.own_bytes(device, GIB) for _ in range(3)] == [7, 7, 7]
    assert library.calls.count(NEWEST) == int(how == "refused")


def test_refused_list(fake: FakeDevice, device: NvmlDevice, library: FakeLibrary) -> None:
    """Another refusal is no question of versions, and is remembered for those who ask about neighbours."""
    fake.codes[NEWEST] = 4
    processes = NvmlProcesses()

    with pytest.raises(NvmlError):
        processes.own_bytes(device, GIB)
    assert processes.refusal is not None
    assert OLDER not in library.calls


def test_what_was_seen_is_forgotten(fake: FakeDevice, device: NvmlDevice) -> None:
    """The next test has its own neighbours."""
    fake.processes = {ME: 7, 1: 100}
    processes = NvmlProcesses()
    processes.own_bytes(device, GIB)
    processes.forget()

    assert (processes.family, processes.strangers, processes.refusal) == (set(), set(), None)
