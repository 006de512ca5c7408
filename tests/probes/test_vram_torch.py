"""Torch's counters; tests/nvml/test_torch.py has what a user meets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.vram_torch import TorchSource
from tests.nvml.standin_torch import install
from tests.own_interpreter import in_own_interpreter


@pytest.fixture(autouse=True)
def _modules_are_put_back() -> Iterator[None]:
    """Let no stand-in outlive its test."""
    with mock.patch.dict(sys.modules):
        yield


def begun(**how: Any) -> Any:
    """A torch whose CUDA has begun."""
    torch = install(**how)
    torch.cuda.init()
    return torch


def test_not_imported() -> None:
    """Torch is looked up, never imported."""
    sys.modules.pop("torch", None)
    source = TorchSource()
    source.reset()
    source.close()

    assert source.unavailable() == "torch is not imported"
    assert "torch" not in sys.modules


def test_before_cuda() -> None:
    """No mark is set back before CUDA has begun, which torch would refuse (pitfall 10)."""
    torch = install()
    source = TorchSource()
    source.reset()

    assert source.unavailable() == "torch has not initialised CUDA"
    with pytest.raises(RuntimeError):
        torch.cuda.reset_peak_memory_stats()
    source.close()


def test_devices() -> None:
    """Each device has its level and its mark."""
    torch = begun(count=2)
    source = TorchSource()
    source.reset()
    held = torch.empty(100, device=1)
    torch.empty(50, device=1)

    assert source.in_use() == {"cuda:0 (Stand-in 0)": 0, "cuda:1 (Stand-in 1)": 100}
    assert source.high_water() == {"cuda:0 (Stand-in 0)": 0, "cuda:1 (Stand-in 1)": 150}
    del held


def test_mark_that_the_test_sets_back() -> None:
    """What the mark said before is kept (pitfall 12)."""
    torch = begun()
    source = TorchSource()
    source.reset()
    torch.empty(100)
    torch.cuda.reset_peak_memory_stats()
    torch.empty(10)

    assert list(source.high_water().values()) == [100]
    source.reset()
    assert list(source.high_water().values()) == [0]


def test_torch_is_left_as_it_was() -> None:
    """The wrapped functions are put back."""
    torch = begun()
    before = torch.cuda.reset_peak_memory_stats
    source = TorchSource()
    source.reset()
    during = torch.cuda.reset_peak_memory_stats
    source.close()

    assert during != before
    assert torch.cuda.reset_peak_memory_stats == before


def test_allocator_without_statistics() -> None:
    """Zeros are no figures (pitfall 14)."""
    begun(backend="cudaMallocAsync")

    assert TorchSource().unavailable() == "torch allocates through cudaMallocAsync, which keeps no statistics"


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_real_torch_without_a_gpu() -> None:
    """The real one, without CUDA, is asked nothing that it refuses."""
    assert in_own_interpreter(what_a_cpu_torch_says) == ["torch has not initialised CUDA", True]


def what_a_cpu_torch_says() -> list[object]:
    """Return the reason, and whether the functions that are watched are put back."""
    torch: Any = __import__("torch")
    before = torch.cuda.reset_peak_memory_stats, torch.accelerator.reset_peak_memory_stats
    source = TorchSource()
    source.reset()
    reason = source.unavailable()
    source.close()
    after = torch.cuda.reset_peak_memory_stats, torch.accelerator.reset_peak_memory_stats
    return [reason, before == after]
