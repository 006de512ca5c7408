"""Other processes: descendants count, strangers do not, workers are told apart where that is possible."""

from __future__ import annotations

from tests.nvml.conftest import GpuProject
from tests.nvml.fake_gpu import GIB, MIB


def test_descendants_count(gpu_project: GpuProject) -> None:
    """A child and a grandchild are summed, also when they are gone before the end (pitfall 17)."""
    gpu_project.write(
        """
        import subprocess, sys

        CHILD = '''
        import subprocess, sys, time
        from tests.nvml.fake_gpu import MIB, attached
        gpu = attached()
        grandchild = sys.argv[1:] and subprocess.Popen([sys.executable, "-c", sys.argv[1]])
        gpu.take(100 * MIB)
        time.sleep(1.0)
        gpu.leave()
        grandchild and grandchild.wait()
        '''.replace(chr(10) + " " * 8, chr(10))

        @pytest.mark.membudget(vram="250MiB")
        def test_family():
            gpu.take(100 * MIB)
            subprocess.run([sys.executable, "-c", CHILD, CHILD], check=True)
        """
    )
    run = gpu_project.run()

    vram = run.tests["test_family"]["vram"]
    assert (vram["source"], vram["peak_bytes"]) == ("nvml-process", 300 * MIB)


def test_strangers_do_not(gpu_project: GpuProject) -> None:
    """Somebody else's growth leaves the process's figure alone, and keeps the device's from deciding (pitfall 19)."""
    gpu_project.write(
        """
        gpu.take(MIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_noisy_neighbour():
            gpu.take(5 * GIB, pid=1)
            gpu.take(MIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_invisible_beside_a_neighbour():
            gpu.list_process(os.getpid(), 0)
            gpu.take(5 * GIB, pid=1)
        """
    )
    run = gpu_project.run()

    process, device = run.tests["test_noisy_neighbour"], run.tests["test_invisible_beside_a_neighbour"]
    assert (process["outcome"], process["vram"]["source"], process["vram"]["peak_bytes"]) == (
        "WITHIN",
        "nvml-process",
        MIB,
    )
    assert (device["outcome"], device["vram"]["source"], device["vram"]["peak_bytes"]) == (
        "NOT_MEASURED",
        "nvml-device",
        5 * GIB,
    )


def test_workers(gpu_project: GpuProject) -> None:
    """Two workers on one GPU have figures of their own by process; the device's decides nothing (pitfall 18)."""
    gpu_project.write(
        """
        @pytest.fixture(autouse=True)
        def together():
            worker = os.environ["PYTEST_XDIST_WORKER"]
            open(f"here-{worker}", "w").close()
            deadline = time.monotonic() + 20
            while not (os.path.exists("here-gw0") and os.path.exists("here-gw1")) and time.monotonic() < deadline:
                time.sleep(0.01)

        @pytest.mark.membudget(vram="1GiB")
        def test_a():
            gpu.take(600 * MIB)
            time.sleep(0.3)

        @pytest.mark.membudget(vram="1GiB")
        def test_b():
            gpu.take(600 * MIB)
            time.sleep(0.3)
        """
    )
    seen = list(gpu_project.run("-n2", plugins=("xdist",)).tests.values())
    for worker in ("gw0", "gw1"):
        (gpu_project.project.path / f"here-{worker}").unlink()
    gpu_project.gpus.device().processes_count = gpu_project.gpus.device().used = 0
    gpu_project.gpus.device().list_v3_code = 3
    blind = list(gpu_project.run("-n2", plugins=("xdist",)).tests.values())

    assert [(test["outcome"], test["vram"]["peak_bytes"]) for test in seen] == [("WITHIN", 600 * MIB)] * 2
    assert [test["outcome"] for test in blind] == ["NOT_MEASURED"] * 2
    assert {test["reason"] for test in blind} == {
        "the GPU is shared by 2 xdist workers, and the figure is that of the whole device: membudget_vram_source = "
        "nvml-device judges it all the same"
    }


def test_fork_in_a_test(gpu_project: GpuProject) -> None:
    """A forked child neither samples nor disturbs its parent's figure (pitfall 23)."""
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_forks():
            gpu.take(MIB)
            time.sleep(0.03)
            pid = os.fork()
            if pid == 0:
                import threading
                names = [thread.name for thread in threading.enumerate()]
                os._exit(0 if names == ["MainThread"] else 1)
            assert os.waitpid(pid, 0)[1] == 0

        @pytest.mark.membudget(vram="1GiB")
        def test_next():
            gpu.take(MIB)
        """
    )
    run = gpu_project.run()

    assert [test["vram"]["peak_bytes"] for test in run.tests.values()] == [MIB, MIB]
    assert run.last_line == "2 passed"
