"""TensorFlow's allocator, over a module that stands in for TensorFlow."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.vram_tensorflow import TensorflowSource
from tests.own_interpreter import in_own_interpreter


class StandInTensorflow:
    """Some GPUs with a level and a mark each."""

    def __init__(self, gpus: int = 1, begun: bool = True) -> None:
        self.now, self.peak = [0] * gpus, [0] * gpus
        tensorflow: Any = ModuleType("tensorflow")
        context: Any = ModuleType("tensorflow.python.eager.context")
        experimental = SimpleNamespace(get_memory_info=self._info, reset_memory_stats=self._reset)
        tensorflow.config = SimpleNamespace(
            experimental=experimental, list_logical_devices=lambda kind: [kind for _ in self.now]
        )
        context.context_safe = lambda: SimpleNamespace(_initialized=begun)
        sys.modules.update({"tensorflow": tensorflow, "tensorflow.python.eager.context": context})

    def move(self, size: int, index: int = 0) -> None:
        """Take memory, or give it back."""
        self.now[index] += size
        self.peak[index] = max(self.peak[index], self.now[index])

    def _info(self, device: str) -> dict[str, int]:
        index = int(device.removeprefix("GPU:"))
        return {"current": self.now[index], "peak": self.peak[index]}

    def _reset(self, device: str) -> None:
        index = int(device.removeprefix("GPU:"))
        self.peak[index] = self.now[index]


@pytest.fixture(autouse=True)
def _modules_are_put_back() -> Iterator[None]:
    """Let no stand-in outlive its test."""
    with mock.patch.dict(sys.modules):
        yield


def test_reasons() -> None:
    """TensorFlow is looked up, never imported, and never made to take the GPU."""
    sys.modules.pop("tensorflow", None)
    source = TensorflowSource()
    source.reset()
    assert source.unavailable() == "tensorflow is not imported"
    StandInTensorflow(begun=False)
    assert source.unavailable() == "TensorFlow has not begun to use a device"
    StandInTensorflow(gpus=0)
    assert source.unavailable() == "TensorFlow uses no GPU"


def test_growth() -> None:
    """Each GPU has its level and its mark since the reset."""
    tensorflow, source = StandInTensorflow(gpus=2), TensorflowSource()
    tensorflow.move(500)
    tensorflow.move(-400)
    source.reset()
    tensorflow.move(50)
    tensorflow.move(-30)
    tensorflow.move(7, 1)

    assert source.in_use() == {"GPU:0": 120, "GPU:1": 7}
    assert source.high_water() == {"GPU:0": 150, "GPU:1": 7}
    source.close()


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="tensorflow is not installed")
def test_real_tensorflow_on_a_cpu() -> None:
    """The real one begins when it is first used."""
    assert in_own_interpreter(what_a_cpu_tensorflow_says) == [
        "TensorFlow has not begun to use a device",
        "TensorFlow uses no GPU",
    ]


def what_a_cpu_tensorflow_says() -> list[str | None]:
    """Return the reasons before and after TensorFlow has begun."""
    tensorflow: Any = __import__("tensorflow")
    source = TensorflowSource()
    source.reset()
    before = source.unavailable()
    tensorflow.zeros(3)
    return [before, source.unavailable()]
