"""Stretches of GPU memory, the order of sources, and what happens when one cannot answer."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from pytest_membudget.core.measurement import Unavailable
from pytest_membudget.core.vram import Cadence, DeviceUse, VramReading
from pytest_membudget.probes.vram_meter import FORKED, VramMeter
from pytest_membudget.probes.vram_sampler import Sampler, Samples
from pytest_membudget.probes.vram_source import VramSource
from tests.own_interpreter import in_own_interpreter
from tests.probes.scripted_vram import ScriptedSource


class ScriptedSampler:
    """A sampler that has seen what the test says."""

    def __init__(self) -> None:
        self.seen = Samples()
        self.sources: list[str] = []
        self.running = False

    def __call__(self, sources: Sequence[VramSource]) -> Sampler:
        """Be the sampler of these sources."""
        self.sources = [source.name for source in sources]
        return self

    def start(self) -> None:
        """Begin."""
        self.running = True

    def drain(self) -> Samples:
        """Tell."""
        seen, self.seen = self.seen, Samples()
        return seen

    def stop(self) -> Samples:
        """Tell for the last time."""
        self.running = False
        return self.drain()


def meter_of(
    *sources: VramSource, pinned: str = "auto", sampler: ScriptedSampler | None = None, doubt: str | None = None
) -> VramMeter:
    """A meter that has begun."""
    meter = VramMeter(sources, pinned, sampler or ScriptedSampler(), lambda: doubt)
    meter.start()
    meter.begin_sampling()
    return meter


def reading(outcome: VramReading | Unavailable) -> VramReading:
    """The reading, which is there."""
    assert isinstance(outcome, VramReading), outcome.reason
    return outcome


def test_exact_source() -> None:
    """Peak minus start, no sampler, and the source is closed once."""
    source, sampler = ScriptedSource(levels={"gpu": 5}), ScriptedSampler()
    meter = meter_of(source, sampler=sampler)
    source.move(100)
    source.move(-60)
    found = reading(meter.stop())

    assert (found.bytes, found.exact, found.cadence) == (100, True, None)
    assert found.devices == (DeviceUse("gpu", 5, 105),)
    assert (sampler.sources, source.closed) == ([], 1)


def test_sampled_source() -> None:
    """What the sampler saw, and what the test's own thread sees at both ends, with count and gap."""
    source, sampler = ScriptedSource(exact=False, scope="process"), ScriptedSampler()
    meter = meter_of(source, sampler=sampler)
    source.move(10)
    sampler.seen = Samples({"script": {"gpu": 70}}, {}, Cadence(3, 0.25))
    found = reading(meter.stop())

    assert (found.bytes, found.exact, found.cadence) == (70, False, Cadence(5, 0.25))
    assert (sampler.sources, sampler.running) == (["script"], False)


def test_worst_device() -> None:
    """The device that grew the most gives the figure; with ``total``, the one that holds the most."""
    source = ScriptedSource(levels={"a": 1000, "b": 0})
    meter = meter_of(source)
    source.move(10, "a")
    source.move(20, "b")
    grown = reading(meter.stop())
    meter.start()
    total = reading(meter.stop(total=True))

    assert (grown.bytes, grown.worst.device) == (20, "b")
    assert (total.bytes, total.worst.device) == (1010, "a")


def test_order_and_reasons() -> None:
    """The first that can answer is chosen; those before it give reasons, those after it stand beside."""
    sources = [
        ScriptedSource("absent", reason="not here"),
        ScriptedSource("broken", failure="broke"),
        ScriptedSource("idle"),
        ScriptedSource("good"),
        ScriptedSource("beside", exact=False, scope="process"),
    ]
    meter = meter_of(*sources)
    sources[3].move(7)
    sources[4].move(9)
    found = reading(meter.stop())

    assert (found.source, found.bytes) == ("good", 7)
    assert found.passed_over == (
        ("absent", "not here"),
        ("broken", "broke"),
        ("idle", "idle allocated no GPU memory in this test"),
    )
    assert [(other.source, other.bytes) for other in found.beside] == [("beside", 9)]


def test_none_can_answer() -> None:
    """All reasons are given, each once; that a framework is not imported is worth no word beside them."""
    meter = meter_of(
        ScriptedSource("torch", reason="torch is not imported"),
        ScriptedSource("a", reason="no driver"),
        ScriptedSource("b", reason="no driver"),
        ScriptedSource("c", exact=False, scope="process", levels={}),
    )

    assert meter.stop() == Unavailable(
        "no GPU figure: no driver; c does not list this process: it uses no GPU, or it runs in a container that hides "
        "process ids"
    )


def test_pinned_source() -> None:
    """A pinned source is the only one, and may be idle."""
    sources = [ScriptedSource("first"), ScriptedSource("second")]
    meter = meter_of(*sources, pinned="second")
    sources[0].move(5)
    found = reading(meter.stop())

    assert (found.source, found.bytes, found.beside) == ("second", 0, ())
    assert meter_of(ScriptedSource("first", reason="gone"), pinned="first").stop() == Unavailable("no GPU figure: gone")


def test_source_that_comes_up_in_the_test() -> None:
    """It counts from zero."""
    source = ScriptedSource(reason="not yet", levels={})
    meter = meter_of(source)
    source.reason = None
    source.move(50)
    source.move(-20)

    assert reading(meter.stop()).devices == (DeviceUse("gpu", 0, 50),)


def test_source_that_fails_in_the_test() -> None:
    """Whatever it raises is a reason, and the test goes on."""
    source = ScriptedSource()
    meter = meter_of(source)
    source.failure = "lost"

    assert meter.stop() == Unavailable("no GPU figure: lost")


def test_sampler_that_met_a_failure() -> None:
    """A source that failed while it was sampled has no figure."""
    source, sampler = ScriptedSource(exact=False), ScriptedSampler()
    meter = meter_of(source, sampler=sampler)
    sampler.seen = Samples({}, {"script": "lost"}, Cadence(1, 0.1))

    assert meter.stop() == Unavailable("no GPU figure: lost")


def test_regions() -> None:
    """A region has its own growth, and its mark is folded into the stretch around it."""
    source = ScriptedSource()
    meter = meter_of(source)
    source.move(100)
    source.move(-100)
    meter.start()
    source.move(30)
    inner = reading(meter.stop())
    source.move(5)
    outer = reading(meter.stop())

    assert (inner.bytes, outer.bytes, source.closed) == (30, 100, 1)


def test_regions_of_a_sampled_source() -> None:
    """What was sampled before a region began is not the region's."""
    source, sampler = ScriptedSource(exact=False), ScriptedSampler()
    meter = meter_of(source, sampler=sampler)
    sampler.seen = Samples({"script": {"gpu": 90}}, {}, Cadence(2, 0.5))
    meter.start()
    sampler.seen = Samples({"script": {"gpu": 40}}, {}, Cadence(1, 0.1))
    meter.end_sampling()
    inner = reading(meter.stop())

    assert sampler.running
    outer = reading(meter.stop())
    assert (inner.bytes, inner.cadence) == (40, Cadence(3, 0.1))
    assert (outer.bytes, outer.cadence) == (90, Cadence(7, 0.5))


@pytest.mark.parametrize(("pinned", "unjudged"), [("auto", "shared"), ("script", None)])
def test_doubt(pinned: str, unjudged: str | None) -> None:
    """A whole device's figure decides nothing where it is doubted, unless its source was pinned."""
    source = ScriptedSource(exact=False, scope="device")
    meter = meter_of(source, pinned=pinned, doubt="shared")

    assert reading(meter.stop()).unjudged == unjudged


def test_process_figure_is_not_doubted() -> None:
    """Only a whole device's figure is."""
    assert reading(meter_of(ScriptedSource(exact=False, scope="process"), doubt="shared").stop()).unjudged is None


def test_sample_in_between() -> None:
    """A sample on the test's own thread counts."""
    source = ScriptedSource(exact=False)
    meter = meter_of(source)
    source.move(10)
    meter.take_sample()
    source.move(-10)
    found = reading(meter.stop())

    assert found.bytes == 10
    assert found.cadence is not None
    assert found.cadence.samples == 3


def test_preparation_that_fails() -> None:
    """Bringing the GPU to rest may fail; the measurement goes on."""
    meter = VramMeter([ScriptedSource()], "script", ScriptedSampler())
    meter.start(lambda: 1 / 0)

    assert reading(meter.stop()).bytes == 0


def test_forked_child() -> None:
    """A child that was forked in the middle has no figure, and its sources are left to the parent."""
    assert in_own_interpreter(what_a_forked_child_reads) == [FORKED, 0]


def what_a_forked_child_reads() -> list[object]:
    """Stop a meter in a forked child; return what it said, and how often the source was closed."""
    source = ScriptedSource(exact=False)
    meter = meter_of(source)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        meter.end_sampling()
        outcome = meter.stop()
        assert isinstance(outcome, Unavailable)
        os.write(write, f"{outcome.reason}\n{source.closed}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    reason, closed = os.read(read, 1000).decode().split("\n")
    return [reason, int(closed)]
