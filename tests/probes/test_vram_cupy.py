"""CuPy's pool, over a module that stands in for CuPy and calls hooks as the real one does: in one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.vram_cupy import CupySource
from pytest_membudget.probes.vram_source import VramError


class StandInCupy:
    """A pool on one device, and the hooks that are registered."""

    def __init__(self) -> None:
        self.hooks: list[Any] = []
        self.used = 0
        outer = self

        class MemoryHook:
            """Registered while its ``with`` block runs."""

            def __enter__(self) -> None:
                outer.hooks.append(self)

            def __exit__(self, *exc_info: object) -> None:
                outer.hooks.remove(self)

        cupy: Any = ModuleType("cupy")
        self.pool = SimpleNamespace(malloc=self.take, used_bytes=lambda: self.used)
        self.allocator = self.pool.malloc
        cupy.get_default_memory_pool = lambda: self.pool
        cupy.cuda = SimpleNamespace(
            MemoryHook=MemoryHook,
            get_allocator=lambda: self.allocator,
            runtime=SimpleNamespace(getDevice=lambda: 0),
        )
        sys.modules["cupy"] = cupy

    def take(self, size: int, hooked: bool = True) -> None:
        """Hand out memory; in another thread no hook is called."""
        self.used += size
        for hook in self.hooks if hooked else ():
            hook.malloc_postprocess(device_id=0, size=size, mem_size=size, mem_ptr=1, pmem_id=1)

    def give(self, size: int) -> None:
        """Take memory back."""
        self.used -= size
        for hook in self.hooks:
            hook.free_postprocess(device_id=0, mem_size=size, mem_ptr=1, pmem_id=1)


@pytest.fixture(autouse=True)
def _modules_are_put_back() -> Iterator[None]:
    """Let no stand-in outlive its test."""
    with mock.patch.dict(sys.modules):
        yield


def test_reasons() -> None:
    """CuPy is looked up, never imported; another pool is not followed."""
    source = CupySource()
    source.reset()
    assert source.unavailable() == "cupy is not imported"
    source.close()
    cupy = StandInCupy()
    assert source.unavailable() == "CuPy has allocated no GPU memory"
    cupy.allocator = print

    assert source.unavailable() == "CuPy allocates from another pool than its default one"


def test_growth() -> None:
    """The hook keeps the mark that the pool lacks."""
    cupy, source = StandInCupy(), CupySource()
    cupy.take(100)
    source.reset()
    cupy.take(60)
    cupy.give(60)
    cupy.take(10)

    assert (source.in_use(), source.high_water()) == ({"cuda:0": 110}, {"cuda:0": 160})
    source.reset()
    assert source.high_water() == {"cuda:0": 110}
    source.close()
    assert cupy.hooks == []


def test_another_thread() -> None:
    """Where the count and the pool disagree there is no figure."""
    cupy, source = StandInCupy(), CupySource()
    source.reset()
    cupy.take(60, hooked=False)

    with pytest.raises(VramError, match="CuPy's memory was used by several threads, and its hooks see one"):
        source.high_water()


def test_imported_in_the_test() -> None:
    """The hook came too late, so nothing is claimed."""
    source = CupySource()
    source.reset()
    StandInCupy().take(60)

    assert source.unavailable() == "CuPy was imported in the course of the test, too late to count along"
