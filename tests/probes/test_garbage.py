"""Collecting garbage without looking at what was there all along."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from pytest_membudget.probes.garbage import Collector


class Cycle:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector; the test's own garbage is left alone by everybody else."""
    gc.disable()
    collector = Collector()
    yield collector
    collector.close()
    gc.enable()


def test_garbage_is_collected_every_time(collector: Collector) -> None:
    """Before the freeze and after it."""
    for _ in range(3):
        gone = weakref.ref(Cycle())
        collector.collect()
        assert gone() is None


def test_what_was_there_is_frozen_once(collector: Collector) -> None:
    """Later collections pass over it; objects made since are looked at again and again."""
    before = gc.get_freeze_count()
    collector.collect()
    frozen = gc.get_freeze_count()
    younger = [Cycle() for _ in range(100)]
    collector.collect()

    assert frozen > before + 1000
    assert gc.get_freeze_count() == pytest.approx(frozen, abs=50)
    assert younger


def test_closing_gives_everything_back(collector: Collector) -> None:
    """After the run the interpreter is as it was."""
    collector.collect()
    collector.close()

    assert gc.get_freeze_count() == 0


def test_a_cycle_that_was_frozen_is_collected_after_closing(collector: Collector) -> None:
    """Nothing is lost for good."""
    cycle = Cycle()
    gone = weakref.ref(cycle)
    collector.collect()
    del cycle
    collector.collect()
    while_frozen = gone()
    del while_frozen
    collector.close()
    gc.collect()

    assert gone() is None


def test_without_freezing() -> None:
    """For those who switch it off: collected, and nothing frozen."""
    collector = Collector(freeze=False)
    before = gc.get_freeze_count()
    gone = weakref.ref(Cycle())
    collector.collect()

    assert gone() is None
    assert gc.get_freeze_count() == before
    collector.close()


def test_closing_what_never_collected() -> None:
    """Somebody else's frozen objects stay frozen."""
    gc.freeze()
    before = gc.get_freeze_count()
    Collector().close()
    after = gc.get_freeze_count()
    gc.unfreeze()

    assert after == before > 0
