"""A missing figure is never 0: each way in which NVML does not know leads to the next source, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.nvml.conftest import GpuProject
from tests.nvml.fake_gpu import GIB, MIB

NOT_LISTED = "nvml-process does not list this process: it uses no GPU, or it runs in a container that hides process ids"
REFUSED = "NVML does not offer this on this GPU"


def reason(test: dict[str, Any], source: str = "nvml-process") -> str:
    """Why a source was passed over."""
    return next(str(passed["reason"]) for passed in test["vram"]["passed_over"] if passed["source"] == source)


def test_process_without_a_figure(gpu_project: GpuProject) -> None:
    """N/A, 0 bytes and garbage for the own process lead to the device's figure (pitfalls 1 and 26)."""
    gpu_project.write(
        """
        @pytest.fixture(autouse=True)
        def alone():
            yield
            gpu.leave()
            gpu.device().used = 0

        @pytest.mark.membudget(vram="1GiB")
        @pytest.mark.parametrize("listed", [NOT_AVAILABLE, 0, 900 * GIB], ids=["na", "zero", "garbage"])
        def test_listed(listed):
            gpu.device().used = 2 * GIB
            gpu.list_process(os.getpid(), listed)
            time.sleep(0.03)
        """
    )
    run = gpu_project.run()

    assert set(run.outcomes.values()) == {"OVER_BUDGET"}
    figures = {test["vram"]["source"]: test["vram"]["peak_bytes"] for test in run.tests.values()}
    assert figures == {"nvml-device": 2 * GIB}
    assert reason(run.tests["test_listed[na]"]) == (
        "NVML lists this process without a figure (N/A), as under WSL2 and Windows"
    )
    assert reason(run.tests["test_listed[zero]"]) == "NVML lists this process with 0 bytes, as in some containers"
    assert reason(run.tests["test_listed[garbage]"]) == (
        f"NVML lists this process with {900 * GIB} bytes, more than the GPU has"
    )


def test_process_ids_of_the_host(gpu_project: GpuProject) -> None:
    """In a container the list holds the host's ids: ours is a stranger, so the figure is shown and not judged."""
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_container():
            gpu.take(2 * GIB, pid=4_000_000)
        """
    )
    test = gpu_project.run().tests["test_container"]
    pinned = gpu_project.run("--membudget-vram-source=nvml-device").tests["test_container"]

    assert test["outcome"] == "NOT_MEASURED"
    assert (test["vram"]["source"], test["vram"]["peak_bytes"], reason(test)) == ("nvml-device", 2 * GIB, NOT_LISTED)
    assert test["reason"] == (
        "the GPU is shared: NVML lists other processes (pid 4000000), and the figure is that of the whole device: "
        "membudget_vram_source = nvml-device judges it all the same"
    )
    assert pinned["outcome"] == "OVER_BUDGET"


def test_memory_counter_refused(gpu_project: GpuProject) -> None:
    """Unified memory has no device counter, and the list of processes serves alone (pitfall 2)."""
    gpu_project.gpus.device().memory_v1_code = gpu_project.gpus.device().memory_v2_code = 3
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_unified():
            gpu.take(2 * GIB)
            time.sleep(0.1)
            gpu.give(GIB)

        @pytest.mark.membudget(vram="50%")
        def test_share():
            gpu.take(MIB)
        """
    )
    run = gpu_project.run()

    vram = run.tests["test_unified"]["vram"]
    assert (vram["source"], vram["peak_bytes"]) == ("nvml-process", 2 * GIB)
    assert run.outcomes == {"test_unified": "OVER_BUDGET", "test_share": "NOT_MEASURED"}
    assert run.tests["test_share"]["reason"] == "vram: 50% of an unknown total"


@pytest.mark.parametrize(
    ("policy", "last_line"),
    [
        ((), "1 passed"),
        (("--membudget-vram-missing=warn", "--membudget-missing=fail"), "1 passed"),
        (("--membudget-missing=fail",), "1 failed"),
        (("--membudget-vram-missing=skip",), "1 skipped"),
        (("--membudget-vram-missing=fail",), "1 failed"),
    ],
    ids=["default", "warn", "general", "skip", "fail"],
)
def test_everything_refused(gpu_project: GpuProject, policy: tuple[str, ...], last_line: str) -> None:
    """Without any figure the policy decides, and the reason is said (pitfall 3)."""
    device = gpu_project.gpus.device()
    device.memory_v1_code = device.memory_v2_code = device.list_v3_code = 3
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_blind():
            gpu.take(MIB)
        """
    )
    run = gpu_project.run(*policy, "-rs")

    assert run.last_line == last_line
    assert f"no GPU figure: {REFUSED}" in " ".join(run.lines)


def test_refused_to_everybody_but_an_administrator(gpu_project: GpuProject) -> None:
    """A MIG GPU asked as a whole refuses, and the reason says what to set (pitfall 1)."""
    device = gpu_project.gpus.device()
    device.memory_v1_code = device.memory_v2_code = device.list_v3_code = 4
    gpu_project.write("@pytest.mark.membudget(vram='1GiB')\ndef test_mig(): pass")
    run = gpu_project.run()

    assert run.tests["test_mig"]["reason"] == (
        "no GPU figure: NVML refuses it without more privileges (on a MIG GPU name the MIG device in "
        "CUDA_VISIBLE_DEVICES)"
    )


def test_list_refused_means_unknown_neighbours(gpu_project: GpuProject) -> None:
    """Where NVML does not say who else is there, a device's figure decides nothing by itself."""
    gpu_project.gpus.device().list_v3_code = 3
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_unknown():
            gpu.take(2 * GIB)
        """
    )
    run = gpu_project.run()

    assert run.outcomes == {"test_unknown": "NOT_MEASURED"}
    assert run.tests["test_unknown"]["reason"].startswith("NVML does not tell who else uses the GPU, ")


@pytest.mark.parametrize("code", [13, 999])
def test_counter_of_an_old_driver(gpu_project: GpuProject, code: int) -> None:
    """Where the newer counter is missing the older serves, and reserved memory is not mixed in (pitfalls 4 and 5)."""
    device = gpu_project.gpus.device()
    device.memory_v2_code, device.list_v3_code, device.reserved = code, 13, 600 * MIB
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_old():
            gpu.take(100 * MIB)
            gpu.device().memory_v2_code = 0
            time.sleep(0.03)
        """
    )
    run = gpu_project.run()

    vram = run.tests["test_old"]["vram"]
    assert (vram["source"], vram["peak_bytes"]) == ("nvml-process", 100 * MIB)
    assert vram["beside"][0]["devices"][0]["start_bytes"] == 600 * MIB
    assert vram["beside"][0]["peak_bytes"] == 100 * MIB
