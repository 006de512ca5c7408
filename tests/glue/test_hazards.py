"""When a process must not be forked."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from pytest_membudget.glue.hazards import fork_hazard

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is ever forked")


@linux_only
def test_a_process_with_one_thread_may_be_forked() -> None:
    """Nothing stands against it."""
    assert fork_hazard() is None


@linux_only
def test_other_threads_are_a_hazard() -> None:
    """Their locks would stay locked in the forked process for ever."""
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(2)]
    try:
        threads[0].start()
        assert fork_hazard() == "another thread is running"
        threads[1].start()
        assert fork_hazard() == "2 other threads are running"
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@linux_only
@pytest.mark.parametrize(
    ("device", "hazard"),
    [("nvidia-uvm", "CUDA is initialised already"), ("nvidiactl", None), ("null", None)],
)
def test_cuda_is_a_hazard_once_it_is_initialised(tmp_path: Path, device: str, hazard: str | None) -> None:
    """It is known by the driver's memory manager, which merely asking NVML for figures does not open."""
    (tmp_path / "3").symlink_to(f"/dev/{device}")

    assert fork_hazard(tmp_path) == hazard


def test_other_systems_never_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS system libraries start threads of their own, and Windows has no fork."""
    monkeypatch.setattr(sys, "platform", "darwin")

    assert fork_hazard() == "forking is not safe on darwin"
