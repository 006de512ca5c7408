"""The same on a real GPU, and the facts about it that no document knows: ``pytest -m gpu -s tests/nvml``.

No setting of the device is changed. Without a GPU or without torch these tests skip, with the reason that the plugin
itself would give.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_membudget.probes.nvml_devices import NvmlDevice, NvmlDevices
from pytest_membudget.probes.nvml_errors import NvmlError
from pytest_membudget.probes.nvml_processes import NvmlProcesses
from pytest_membudget.probes.nvml_session import NvmlSession
from tests.own_interpreter import in_own_interpreter
from tests.project import Project, Run
from tests.project import project as project  # a fixture

pytestmark = pytest.mark.gpu
MIB, GIB = 2**20, 2**30
CALLS = 200


@pytest.fixture(autouse=True)
def _needs_a_gpu() -> None:
    """Skip where there is nothing to measure."""
    session = NvmlSession()
    reason = NvmlDevices(session).unavailable()
    session.close()
    if reason:
        pytest.skip(reason)
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")


def measured(project: Project, source: str, *args: str) -> Run:
    """A run of tests that have torch."""
    project.write("import time, pytest, torch\nMIB, GIB = 2**20, 2**30\n" + source)
    return project.measure(*args)


def test_torch_is_exact(project: Project) -> None:
    """1 GiB taken and given back, then 256 MiB: 1 GiB to the byte, also out of the reserve that a fixture left."""
    run = measured(
        project,
        """
def taken():
    big = torch.empty(GIB, dtype=torch.uint8, device="cuda")
    del big
    return torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")

@pytest.mark.membudget("256MiB", vram="1GiB")
def test_first():
    held = taken()

@pytest.fixture
def reserve():
    torch.empty(2 * GIB, dtype=torch.uint8, device="cuda")

@pytest.mark.membudget(vram="1GiB")
def test_from_the_reserve(reserve):
    held = taken()

@pytest.mark.membudget(vram=GIB - 1)
def test_over():
    held = taken()

@pytest.mark.membudget(vram="1GiB")
def test_that_sets_the_mark_back():
    held = taken()
    torch.cuda.reset_peak_memory_stats()
""",
    )

    assert {test["vram"]["source"] for test in run.tests.values()} == {"torch"}
    assert {test["vram"]["peak_bytes"] for test in run.tests.values()} == {GIB}
    assert run.outcomes["test_over"] == "OVER_BUDGET"
    assert run.tests["test_first"]["ram"]["peak_bytes"] < 256 * MIB
    fact("beside torch", **{name: test["vram"]["beside"] for name, test in run.tests.items()})


def test_first_cuda_call_and_the_heap(project: Project) -> None:
    """With the warm-up, what CUDA reserves when it begins is not charged to the first test's heap."""
    source = """
@pytest.mark.membudget("256MiB", vram="8GiB")
def test_first():
    held = torch.zeros(MIB, device="cuda")
"""
    warm = measured(project, source)
    cold_run = measured(project, source, "--override-ini=membudget_vram_warmup=never")
    cold = cold_run.tests["test_first"]
    fact("heap peak of a first CUDA call", without_warm_up=cold["ram"]["peak_bytes"], beside=cold["vram"]["beside"])

    assert measured(project, source).tests["test_first"]["ram"]["peak_bytes"] < 256 * MIB
    assert warm.exit_code == 0


def test_facts() -> None:
    """Print what the documents leave open; nothing is asserted of them but that they can be read."""
    facts = in_own_interpreter(facts_of_this_machine)
    for name, value in facts.items():
        fact(name, value=value)

    assert facts["device"]


def fact(name: str, **values: object) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps({"fact": name, **values}) + "\n")


def facts_of_this_machine() -> dict[str, Any]:
    """Return call costs, page size, context size, visibility of process ids, and how soon NVML sees an allocation."""
    session = NvmlSession()
    device = NvmlDevices(session).visible()[0]
    processes = NvmlProcesses()
    facts: dict[str, Any] = {
        "device": str(device),
        "driver": session.call("nvmlSystemGetDriverVersion"),
        "memory": str(session.call("nvmlDeviceGetMemoryInfo", device.handle)),
        "accounting": _tried(lambda: session.call("nvmlDeviceGetAccountingMode", device.handle)),
    }
    facts["call costs before CUDA, microseconds"] = _costs(device, processes)
    before_bytes = device.used_bytes()
    torch: Any = __import__("torch")
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    time.sleep(0.2)
    facts["context, bytes"] = device.used_bytes() - before_bytes
    facts["own process, bytes"] = _tried(lambda: processes.own_bytes(device, device.total_bytes()))
    facts["process id is listed"] = os.getpid() in processes.family
    facts["strangers"] = sorted(processes.strangers)
    facts["call costs after CUDA, microseconds"] = _costs(device, processes)
    if runtime := _cuda_runtime():
        facts["what NVML shows of a cudaMalloc"] = {size: _seen(runtime, device, size) for size in (1, 3 * MIB, GIB)}
    session.close()
    return facts


def _costs(device: NvmlDevice, processes: NvmlProcesses) -> dict[str, object]:
    calls: dict[str, Callable[[], object]] = {
        "device counter": device.used_bytes,
        "process list": lambda: processes.own_bytes(device, None),
    }
    return {name: _tried(lambda call=call: _median_microseconds(call)) for name, call in calls.items()}  # type: ignore[misc]


def _median_microseconds(call: Callable[[], object]) -> float:
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return round(sorted(times)[CALLS // 2] * 1e6, 1)


def _cuda_runtime() -> ctypes.CDLL | None:
    """Return the runtime library that torch brought along, if it is where wheels put it."""
    found = (path for folder in sys.path for path in sorted(Path(folder).glob("nvidia/**/libcudart.so.*")))
    return next((ctypes.CDLL(str(path)) for path in found), None)


def _seen(runtime: ctypes.CDLL, device: NvmlDevice, size: int) -> dict[str, float]:
    """Return how many bytes NVML shows of a raw allocation, and after how many microseconds it shows any."""
    pointer = ctypes.c_void_p()
    before_bytes = device.used_bytes()
    if runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)):
        return {}
    allocated = time.perf_counter()
    while device.used_bytes() == before_bytes and time.perf_counter() - allocated < 0.5:
        pass
    seen_after = time.perf_counter() - allocated
    grown_bytes = device.used_bytes() - before_bytes
    runtime.cudaFree(pointer)
    return {"bytes": grown_bytes, "microseconds": round(seen_after * 1e6)}


def _tried(call: Callable[[], object]) -> object:
    try:
        return call()
    except NvmlError as error:
        return str(error)
