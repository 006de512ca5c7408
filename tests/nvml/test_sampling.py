"""What sampling sees, what it says of itself, and what it costs."""

from __future__ import annotations

from tests.nvml.conftest import GpuProject
from tests.nvml.fake_gpu import GIB, MIB

HOLDS_THE_GIL = """
        import ctypes
        spike_holding_the_gil = ctypes.PyDLL("libnvidia-ml.so.1").fakeSpike

        @pytest.mark.membudget(vram="4GiB")
        def test_spike_behind_the_gil():
            gpu.take(MIB)
            spike_holding_the_gil(0, os.getpid(), ctypes.c_ulonglong(GIB), 200_000)
            gpu.take(256 * MIB)
        """


def test_what_is_kept_is_seen(gpu_project: GpuProject) -> None:
    """However short the test, what it still holds at its end counts; count and gap of the samples are told."""
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_kept():
            gpu.take(2 * GIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_slow():
            time.sleep(0.2)
        """
    )
    run = gpu_project.run("--override-ini=membudget_vram_interval=5")

    assert run.tests["test_kept"]["vram"]["peak_bytes"] == 2 * GIB
    assert run.tests["test_kept"]["vram"]["samples"] >= 2
    slow = run.tests["test_slow"]["vram"]
    assert slow["samples"] >= 10
    assert 0.001 < slow["longest_gap_seconds"] < 0.2
    assert not slow["exact"]


def test_thread_is_blind_behind_the_gil(gpu_project: GpuProject) -> None:
    """A spike while the test holds the GIL goes unseen by a thread, and the gap says so (pitfalls 15 and 16)."""
    gpu_project.write(HOLDS_THE_GIL)
    run = gpu_project.run()

    vram = run.tests["test_spike_behind_the_gil"]["vram"]
    assert vram["peak_bytes"] == 257 * MIB
    assert vram["longest_gap_seconds"] >= 0.2


def test_process_sees_behind_the_gil(gpu_project: GpuProject) -> None:
    """A sampler in a process of its own sees the spike (pitfall 16), and is gone when the run has ended."""
    gpu_project.write(
        HOLDS_THE_GIL
        + """
        @pytest.mark.membudget(vram="4GiB")
        def test_next():
            import psutil
            samplers = [child for child in psutil.Process().children() if "vram_sampler" in " ".join(child.cmdline())]
            with open("pids", "w") as file:
                file.write(" ".join(str(child.pid) for child in samplers))
            assert len(samplers) == 1
        """
    )
    run = gpu_project.run("--override-ini=membudget_vram_sampler=process")

    vram = run.tests["test_spike_behind_the_gil"]["vram"]
    assert (vram["source"], vram["peak_bytes"]) == ("nvml-process", GIB + MIB)
    assert vram["samples"] >= 5
    assert run.last_line == "2 passed"
    pid = (gpu_project.project.path / "pids").read_text()
    assert pid
    import psutil

    assert not psutil.pid_exists(int(pid))


def test_sampling_process_that_dies(gpu_project: GpuProject) -> None:
    """Its end is the reason for that test, and the next one gets a new process."""
    gpu_project.write(
        """
        import psutil

        @pytest.mark.membudget(vram="4GiB")
        def test_killed():
            gpu.take(MIB)
            for child in psutil.Process().children():
                child.kill()
                child.wait()

        @pytest.mark.membudget(vram="4GiB")
        def test_next():
            gpu.take(MIB)
        """
    )
    run = gpu_project.run("--override-ini=membudget_vram_sampler=process")

    assert [test["reason"] for test in run.tests.values()] == [
        "no GPU figure: the process that samples GPU memory has ended",
        None,
    ]


def test_process_list_only_when_something_moved(gpu_project: GpuProject) -> None:
    """The dear list is read at both ends and once per change, the cheap counter each time (pitfall 28)."""
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="4GiB")
        def test_quiet():
            before = gpu.state.list_calls, gpu.state.memory_calls
            time.sleep(0.3)
            assert gpu.state.list_calls == before[0]
            assert gpu.state.memory_calls - before[1] >= 10

        @pytest.mark.membudget(vram="4GiB")
        def test_three_changes():
            before = gpu.state.list_calls
            for _ in range(3):
                gpu.take(MIB)
                time.sleep(0.1)
            assert gpu.state.list_calls - before == 3

        @pytest.mark.membudget(vram="4GiB")
        def test_restless():
            before, end = gpu.state.list_calls, time.monotonic() + 0.3
            while time.monotonic() < end:
                gpu.take(MIB)
                time.sleep(0.002)
            assert gpu.state.list_calls - before <= 0.3 / 0.020 + 1
        """
    )
    run = gpu_project.run("--override-ini=membudget_vram_interval=5")

    assert run.last_line == "3 passed"
