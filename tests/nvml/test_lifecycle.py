"""What is opened is closed, and nothing on the machine is changed."""

from __future__ import annotations

import pytest

from tests.nvml.conftest import GpuProject
from tests.nvml.fake_gpu import GIB, MIB


@pytest.mark.parametrize("sampler", ["thread", "process"])
def test_balanced(gpu_project: GpuProject, sampler: str) -> None:
    """NVML is closed as often as it is opened, whatever becomes of the tests; no thread is left (pitfall 22)."""
    gpu_project.write(
        """
        import threading

        @pytest.fixture
        def broken():
            raise RuntimeError

        @pytest.mark.membudget(vram="1GiB")
        def test_ok():
            time.sleep(0.03)

        @pytest.mark.membudget(vram="1GiB")
        def test_broken_setup(broken):
            pass

        @pytest.mark.membudget(vram="1GiB")
        def test_skip():
            pytest.skip()

        @pytest.mark.xfail
        @pytest.mark.membudget(vram="1GiB")
        def test_xfail():
            assert False

        def test_no_thread_is_left():
            assert threading.enumerate() == [threading.main_thread()]

        @pytest.mark.membudget(vram="1GiB")
        def test_interrupted():
            raise KeyboardInterrupt
        """
    )
    gpu_project.run(f"--override-ini=membudget_vram_sampler={sampler}")

    state = gpu_project.gpus.state
    assert state.inits == state.shutdowns == (1 if sampler == "thread" else 2)


def test_accounting_that_is_on_already(gpu_project: GpuProject) -> None:
    """The driver's own peak is exact when it rose; the mode is never touched (pitfall 29)."""
    gpu_project.write(
        """
        gpu.device().accounting, gpu.device().accounted_pid = 1, os.getpid()

        def account(size):
            gpu.device().accounted = size

        @pytest.mark.membudget(vram="1GiB")
        def test_spike_that_no_sample_saw():
            gpu.take(MIB)
            account(3 * GIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_below_the_earlier_peak():
            gpu.take(MIB)
        """
    )
    run = gpu_project.run()

    spike, below = (
        run.tests[name]["vram"] for name in ("test_spike_that_no_sample_saw", "test_below_the_earlier_peak")
    )
    assert (spike["peak_bytes"], spike["exact"], spike["samples"]) == (3 * GIB, True, None)
    assert (below["peak_bytes"], below["exact"]) == (MIB, False)
    assert gpu_project.gpus.state.setting_calls == 0


def test_unmarked_tests_pay_nothing(gpu_project: GpuProject) -> None:
    """Without a budget of GPU memory NVML is not even opened (pitfall 27)."""
    gpu_project.write(
        """
        @pytest.mark.membudget("1MiB")
        def test_heap_alone():
            import sys
            assert "pynvml" not in sys.modules
        """
    )
    run = gpu_project.run()

    assert run.last_line == "1 passed"
    assert gpu_project.gpus.state.inits == 0
