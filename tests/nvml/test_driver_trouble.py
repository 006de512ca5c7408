"""A driver that is missing, mismatched or lost: a reason, and never the test's failure (pitfalls 7 and 27)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nvml.conftest import GpuProject

SOURCE = """
        @pytest.mark.membudget("1MiB", vram="1GiB")
        def test_one():
            gpu.take(MIB)

        @pytest.mark.membudget(vram="50%")
        def test_two():
            gpu.take(MIB)
        """
MISMATCH = "the NVIDIA driver and its library are of different versions: a reboot after the driver's update cures this"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (9, "the NVIDIA driver is not loaded"),
        (18, MISMATCH),
        (999, "NVML says: Unknown Error"),
    ],
)
def test_driver_that_does_not_open(gpu_project: GpuProject, code: int, reason: str) -> None:
    """The tests pass, and one line of the summary gives the reason."""
    gpu_project.gpus.state.init_code = code
    gpu_project.write(SOURCE)
    run = gpu_project.run()

    assert run.last_line == "2 passed"
    assert list(filter(None, run.section)) == [
        "2 budgeted: 2 not measured",
        f"not judged, no GPU figure: {reason}: test_it.py::test_one, test_it.py::test_two",
    ]
    assert run.tests["test_one"]["ram"]["budget_bytes"] == 2**20


def test_no_driver(gpu_project: GpuProject, tmp_path: Path) -> None:
    """A laptop without a GPU: one line."""
    (tmp_path / "libnvidia-ml.so.1").touch()  # shadows a real one
    gpu_project.library_folder = tmp_path
    gpu_project.write(SOURCE)
    run = gpu_project.run()

    assert list(filter(None, run.section))[1:] == [
        "not judged, no GPU figure: there is no NVIDIA driver on this machine (its library libnvidia-ml is missing): "
        "test_it.py::test_one, test_it.py::test_two"
    ]


def test_gpu_lost_in_the_middle(gpu_project: GpuProject) -> None:
    """The sampler goes on, the test's own result stands, and the next test is measured again."""
    gpu_project.write(
        """
        def codes(code):
            device = gpu.device()
            device.memory_v1_code = device.memory_v2_code = device.list_v3_code = code

        @pytest.mark.membudget(vram="1GiB")
        def test_lost():
            gpu.take(MIB)
            codes(15)
            time.sleep(0.05)

        @pytest.mark.membudget(vram="1GiB")
        def test_lost_and_failing():
            assert False, "its own"

        @pytest.mark.membudget(vram="1GiB")
        def test_back():
            codes(0)

        @pytest.mark.membudget(vram="1GiB")
        def test_next():
            gpu.take(MIB)
        """
    )
    run = gpu_project.run()

    lost = "no GPU figure: the GPU was lost: it fell off the bus or became unreachable"
    assert [test["reason"] for test in run.tests.values()] == [lost, lost, lost, None]
    assert run.last_line == "1 failed, 3 passed"
    assert "its own" in run.out
