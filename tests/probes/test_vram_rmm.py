"""RMM's statistics, over a module that stands in for RMM: layers of counters, as the real ones are stacked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.vram_rmm import RmmSource
from pytest_membudget.probes.vram_source import VramError

DEVICE = "RMM's current device"


class Counters:
    """One layer."""

    def __init__(self) -> None:
        self.current_bytes = self.peak_bytes = 0

    def add(self, size: int) -> None:
        """Count an allocation, or a release as a negative size."""
        self.current_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.current_bytes)


class StandInRmm:
    """Statistics of one resource; without them ``get_statistics`` gives None."""

    def __init__(self, enabled: bool = True) -> None:
        self.layers = [Counters()]
        self.resource: object = object()
        rmm, statistics, mr = (ModuleType(name) for name in ("rmm", "rmm.statistics", "rmm.mr"))
        for module, name, function in (
            (statistics, "get_statistics", lambda: self.layers[-1] if enabled else None),
            (statistics, "push_statistics", lambda: self.layers.append(Counters())),
            (statistics, "pop_statistics", self._pop),
            (mr, "get_current_device_resource", lambda: self.resource),
        ):
            setattr(module, name, function)
        sys.modules.update({"rmm": rmm, "rmm.statistics": statistics, "rmm.mr": mr})

    def _pop(self) -> Any:
        top = self.layers.pop()
        below = self.layers[-1]
        below.peak_bytes = max(below.peak_bytes, below.current_bytes + top.peak_bytes)
        below.current_bytes += top.current_bytes
        return top


@pytest.fixture(autouse=True)
def _modules_are_put_back() -> Iterator[None]:
    """Let no stand-in outlive its test."""
    with mock.patch.dict(sys.modules):
        yield


def test_reasons() -> None:
    """RMM is looked up, never imported, and its statistics never switched on."""
    source = RmmSource()
    source.reset()
    assert source.unavailable() == "rmm is not imported"
    StandInRmm(enabled=False)
    source.reset()

    assert source.unavailable() == ("RMM's statistics are off: rmm.statistics.enable_statistics() switches them on")


def test_growth() -> None:
    """Levels are those of the user's own counters, marks those since the reset."""
    rmm, source = StandInRmm(), RmmSource()
    rmm.layers[-1].add(1000)
    rmm.layers[-1].add(-900)
    source.reset()
    assert source.in_use() == {DEVICE: 100}
    rmm.layers[-1].add(50)
    rmm.layers[-1].add(-20)

    assert (source.in_use(), source.high_water()) == ({DEVICE: 130}, {DEVICE: 150})
    source.reset()
    assert (source.in_use(), source.high_water()) == ({DEVICE: 130}, {DEVICE: 130})


def test_users_counters_go_on() -> None:
    """When the layer is taken off, the user's counters read as if it had never been there."""
    rmm, source = StandInRmm(), RmmSource()
    rmm.layers[-1].add(10)
    source.reset()
    rmm.layers[-1].add(500)
    rmm.layers[-1].add(-500)
    source.close()

    (users,) = rmm.layers
    assert (users.current_bytes, users.peak_bytes) == (10, 510)


def test_resource_that_the_test_changed() -> None:
    """The counters of another resource say nothing about this one, whose layer is left alone."""
    rmm, source = StandInRmm(), RmmSource()
    source.reset()
    rmm.resource = object()

    with pytest.raises(VramError, match="the test changed RMM's current resource"):
        source.high_water()
    source.close()
    assert len(rmm.layers) == 2
