"""Sampling from a thread."""

from __future__ import annotations

import threading
import time

from pytest_membudget.core.vram import Cadence
from pytest_membudget.probes.vram_sampler import NoSampler, Samples, ThreadSampler
from pytest_membudget.probes.vram_sampler_pair import SamplerPair
from tests.probes.scripted_vram import ScriptedSource

TICK_SECONDS = 0.001


def until_asked(source: ScriptedSource, times: int = 2) -> None:
    """Wait until a source has been sampled some times more."""
    goal, deadline = source.asked + times, time.monotonic() + 10
    while source.asked < goal and time.monotonic() < deadline:
        time.sleep(TICK_SECONDS)
    assert source.asked >= goal


def test_highest_level_is_kept() -> None:
    """Between two questions the highest level counts, and each question begins anew."""
    source = ScriptedSource("a", exact=False)
    sampler = ThreadSampler([source], TICK_SECONDS)
    sampler.start()
    source.move(50)
    until_asked(source)
    source.move(-50)
    until_asked(source)
    first = sampler.drain()
    until_asked(source)
    second = sampler.stop()

    assert (first.peaks, second.peaks) == ({"a": {"gpu": 50}}, {"a": {"gpu": 0}})
    assert first.cadence.samples >= 4
    assert first.cadence.longest_gap_seconds > 0


def test_thread_ends() -> None:
    """No thread is left."""
    before = threading.enumerate()
    sampler = ThreadSampler([ScriptedSource(exact=False)], TICK_SECONDS)
    sampler.start()
    sampler.stop()

    assert threading.enumerate() == before


def test_failing_source_does_not_end_the_others() -> None:
    """It gets its reason and is asked no more (pitfall 7)."""
    lost, fine = ScriptedSource("lost", exact=False, failure="the GPU was lost"), ScriptedSource("fine", exact=False)
    sampler = ThreadSampler([lost, fine], TICK_SECONDS)
    sampler.start()
    until_asked(fine, 3)
    first = sampler.drain()
    until_asked(fine)
    second = sampler.stop()

    assert first.failures == second.failures == {"lost": "the GPU was lost"}
    assert list(second.peaks) == ["fine"]


def test_no_sampler() -> None:
    """Without a sampler the gap is all the time in between."""
    sampler = NoSampler()
    sampler.start()
    time.sleep(0.02)
    seen = sampler.stop()

    assert seen.cadence.samples == 0
    assert seen.cadence.longest_gap_seconds >= 0.02


def test_pair() -> None:
    """Two samplers answer as one, with the scarcer one's cadence."""

    class Answering:
        def __init__(self, name: str, cadence: Cadence) -> None:
            self.samples = Samples({name: {"gpu": 1}}, {f"{name}-lost": "gone"}, cadence)

        def start(self) -> None:
            """Begin."""

        def drain(self) -> Samples:
            """Answer."""
            return self.samples

        stop = drain

    pair = SamplerPair([Answering("a", Cadence(10, 0.1)), Answering("b", Cadence(3, 0.5))])
    pair.start()

    for seen in (pair.drain(), pair.stop()):
        assert seen.peaks == {"a": {"gpu": 1}, "b": {"gpu": 1}}
        assert seen.failures == {"a-lost": "gone", "b-lost": "gone"}
        assert seen.cadence == Cadence(3, 0.5)
