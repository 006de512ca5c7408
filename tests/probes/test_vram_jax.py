"""JAX's allocator, over a module that stands in for JAX: a mark that nothing sets back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.vram_jax import JaxSource
from pytest_membudget.probes.vram_source import VramError
from tests.own_interpreter import in_own_interpreter


class StandInDevice:
    """One GPU with its statistics."""

    def __init__(self) -> None:
        self.now = self.peak = 0

    def __str__(self) -> str:
        return "cuda:0"

    def move(self, size: int) -> None:
        """Take memory, or give it back."""
        self.now += size
        self.peak = max(self.peak, self.now)

    def memory_stats(self) -> dict[str, int] | None:
        """Return what JAX returns of a GPU."""
        return {"bytes_in_use": self.now, "peak_bytes_in_use": self.peak}


def standing_in(device: object, begun: bool = True) -> None:
    """Put a stand-in for JAX into the modules."""
    jax: Any = ModuleType("jax")
    bridge: Any = ModuleType("jax._src.xla_bridge")
    jax.local_devices = lambda: [device]
    bridge.backends_are_initialized = lambda: begun
    sys.modules.update({"jax": jax, "jax._src.xla_bridge": bridge})


@pytest.fixture(autouse=True)
def _modules_are_put_back() -> Iterator[None]:
    """Let no stand-in outlive its test."""
    with mock.patch.dict(sys.modules):
        yield


def test_reasons() -> None:
    """JAX is looked up, never imported, and never made to begin."""
    sys.modules.pop("jax", None)
    source = JaxSource()
    source.reset()
    assert source.unavailable() == "jax is not imported"
    standing_in(StandInDevice(), begun=False)
    assert source.unavailable() == "JAX has not begun to use a device"
    del sys.modules["jax._src.xla_bridge"]
    assert source.unavailable() == "this version of JAX does not tell whether it has begun to use a device"


def test_device_without_statistics() -> None:
    """The CPU keeps none."""
    device = StandInDevice()
    device.memory_stats = lambda: None  # type: ignore[method-assign]
    standing_in(device)

    assert JaxSource().unavailable() == "JAX runs on a device that keeps no statistics"


@pytest.mark.parametrize(
    ("before", "inside", "expected"),
    [
        ([100], [50, -50], 150),
        ([100, -20], [10, -10], None),
        ([100, -20], [20, -5], None),
        ([100, -20], [20], 100),
        ([100, -20], [21, -5], 101),
        ([100], [-50, 20], 100),
        ([], [30, -10], 30),
    ],
)
def test_mark(before: list[int], inside: list[int], expected: int | None) -> None:
    """A mark that rose is the stretch's own, as is one at which the stretch began or ended; else nothing is known."""
    device, source = StandInDevice(), JaxSource()
    standing_in(device)
    for size in before:
        device.move(size)
    source.reset()
    for size in inside:
        device.move(size)

    if expected is None:
        with pytest.raises(VramError, match="JAX's mark cannot be set back, and the test stayed below an earlier peak"):
            source.high_water()
    else:
        assert source.high_water() == {"cuda:0": expected}
    assert source.in_use() == {"cuda:0": sum(before) + sum(inside)}


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
def test_real_jax_on_a_cpu() -> None:
    """The real one begins when it is first used, and has no statistics on a CPU."""
    assert in_own_interpreter(what_a_cpu_jax_says) == [
        "JAX has not begun to use a device",
        "JAX runs on a device that keeps no statistics",
    ]


def what_a_cpu_jax_says() -> list[str | None]:
    """Return the reasons before and after JAX has begun."""
    jax: Any = __import__("jax")
    source = JaxSource()
    source.reset()
    before = source.unavailable()
    jax.numpy.zeros(3)
    return [before, source.unavailable()]
