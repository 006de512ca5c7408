"""Finding the GPUs that a process sees, and reading their memory, through the real pynvml over a library in Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_membudget.probes.nvml_devices import NvmlDevices
from pytest_membudget.probes.nvml_session import NvmlSession
from tests.nvml.fake_library import FakeDevice, FakeLibrary, loaded

MIB = 2**20
FIRST, SECOND = FakeDevice("GPU-0aaa1111-2222"), FakeDevice("GPU-1bbb1111-2222")


@pytest.fixture(autouse=True)
def _nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with all devices visible."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)


@pytest.fixture
def session() -> Iterator[NvmlSession]:
    """A session that is closed after the test."""
    opened = NvmlSession()
    yield opened
    opened.close()


def uuids(session: NvmlSession) -> list[str]:
    """The visible devices."""
    return [device.uuid for device in NvmlDevices(session).visible()]


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        (None, [FIRST.uuid, SECOND.uuid]),
        ("1", [SECOND.uuid]),
        ("1,0", [SECOND.uuid, FIRST.uuid]),
        ("GPU-1b", [SECOND.uuid]),
        ("GPU-1bbb1111-2222,GPU-0a", [SECOND.uuid, FIRST.uuid]),
        ("", []),
        ("junk", []),
        ("0,0", []),
    ],
)
def test_visible(
    session: NvmlSession, monkeypatch: pytest.MonkeyPatch, variable: str | None, expected: list[str]
) -> None:
    """The variable decides (pitfall 20)."""
    if variable is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    with loaded(FakeLibrary(FIRST, SECOND)):
        assert uuids(session) == expected


def test_variable_that_changes(session: NvmlSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that sets the variable for each test is followed (pitfall 20)."""
    with loaded(FakeLibrary(FIRST, SECOND)):
        devices = NvmlDevices(session)
        seen = []
        for variable in ("0", "1", ""):
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
            devices.release()
            seen.append([device.uuid for device in devices.visible()])
        reason = devices.unavailable()

    assert seen == [[FIRST.uuid], [SECOND.uuid], []]
    assert reason == "CUDA_VISIBLE_DEVICES='' leaves no GPU visible"


def test_variable_that_the_test_changes(session: NvmlSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a test nothing changes: a device that came in late would have no beginning."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with loaded(FakeLibrary(FIRST, SECOND)):
        devices = NvmlDevices(session)
        before = devices.visible()
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")

        assert devices.visible() == before


def test_unequal_devices_by_number(session: NvmlSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA numbers unequal GPUs by speed and NVML by slot, so a number is certain only where both use the slot."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with loaded(FakeLibrary(FIRST, FakeDevice("GPU-2", "Fake T4"))):
        devices = NvmlDevices(session)
        uncertain = devices.selection()
        monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        devices.release()
        certain = devices.selection()

    assert len(uncertain.devices) == 2
    assert uncertain.ambiguous == (
        "which GPU CUDA_VISIBLE_DEVICES='1' means is uncertain among unequal ones: set CUDA_DEVICE_ORDER=PCI_BUS_ID"
    )
    assert ([device.uuid for device in certain.devices], certain.ambiguous) == (["GPU-2"], None)


def test_mig(session: NvmlSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that is cut up is seen as its instances, and one of them can be named (pitfall 20)."""
    parts = [FakeDevice("MIG-aaaa"), FakeDevice("MIG-bbbb", used=5 * MIB)]
    with loaded(FakeLibrary(FakeDevice("GPU-0", instances=parts))):
        devices = NvmlDevices(session)
        all_parts = [device.uuid for device in devices.visible()]
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-bb")
        devices.release()
        (named,) = devices.visible()
        used_bytes = named.used_bytes()

    assert all_parts == ["MIG-aaaa", "MIG-bbbb"]
    assert (str(named), used_bytes) == ("Fake H100 MIG (0: MIG-bbbb)", 5 * MIB)


@pytest.mark.parametrize("how", ["missing", "refused"])
def test_older_memory_counter(session: NvmlSession, how: str) -> None:
    """Without the newer counter the older serves, and keeps serving when the newer one comes back (pitfalls 4, 5)."""
    newer = "nvmlDeviceGetMemoryInfo_v2"
    device = FakeDevice("GPU-0", used=MIB, reserved=600 * MIB, codes={newer: 999} if how == "refused" else {})
    with loaded(FakeLibrary(device, missing=(newer,) if how == "missing" else ())) as library:
        (found,) = NvmlDevices(session).visible()
        first = found.used_bytes()
        device.codes.clear()
        library.missing = ()
        device.used += MIB
        second = found.used_bytes()

    assert (first, second - first) == (601 * MIB, MIB)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (9, "the NVIDIA driver is not loaded"),
        (12, "there is no NVIDIA driver on this machine (its library libnvidia-ml is missing)"),
        (15, "the GPU was lost: it fell off the bus or became unreachable"),
        (999, "NVML says: Unknown Error"),
    ],
)
def test_library_that_does_not_open(session: NvmlSession, code: int, reason: str) -> None:
    """The reason is worded once and remembered (pitfall 7)."""
    with loaded(FakeLibrary(init_code=code)) as library:
        devices = NvmlDevices(session)
        reasons = [devices.unavailable() for _ in range(3)]

    assert reasons == [reason] * 3
    assert library.calls.count("nvmlInitWithFlags") == 1


def test_session_is_closed_once(session: NvmlSession) -> None:
    """Opening and closing are paired, and a closed session opens again when it is asked (pitfall 22)."""
    with loaded(FakeLibrary(FIRST)) as library:
        for _ in range(2):
            assert session.unavailable() is None
            assert library.opened == 1
            session.close()
            session.close()
            assert library.opened == 0


def test_no_gpu(session: NvmlSession) -> None:
    """A driver without a GPU."""
    with loaded(FakeLibrary()):
        assert NvmlDevices(session).unavailable() == "NVML finds no GPU"
