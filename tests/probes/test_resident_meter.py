"""Nested stretches over a single mark, by a resident set that follows a script."""

from __future__ import annotations

from pytest_membudget.core.measurement import Figure, Reading, Unavailable
from pytest_membudget.probes.resident_meter import ResidentMeter
from tests.fakes import ScriptedHighWater


def metered(*sizes_bytes: int) -> tuple[ResidentMeter, ScriptedHighWater]:
    """A meter over a resident set that takes these sizes, the first of them already."""
    resident_set = ScriptedHighWater(list(sizes_bytes))
    resident_set.advance()
    return ResidentMeter(resident_set), resident_set


def grown(size_bytes: int) -> Figure:
    """A figure as the scripted mark gives it."""
    return Reading(size_bytes, "script")


def test_growth_above_the_start() -> None:
    """Not the peak itself, and not what is left of it."""
    meter, resident_set = metered(100, 170, 120)
    meter.start()
    resident_set.advance(2)

    assert meter.stop() == grown(70)


def test_shrinking_is_no_growth() -> None:
    """A test that gives memory back grew by nothing."""
    meter, resident_set = metered(100, 40)
    meter.start()
    resident_set.advance()

    assert meter.stop() == grown(0)


def test_peak_before_the_inner_stretch() -> None:
    """Setting the mark back does not take it from the outer one."""
    meter, resident_set = metered(100, 300, 150, 180)
    meter.start()
    resident_set.advance(2)
    meter.start()
    resident_set.advance()

    assert [meter.stop(), meter.stop()] == [grown(30), grown(200)]


def test_peak_inside_the_inner_stretch() -> None:
    """It is the outer one's too, above its own start."""
    meter, resident_set = metered(100, 150, 400, 120)
    meter.start()
    resident_set.advance()
    meter.start()
    resident_set.advance(2)

    assert [meter.stop(), meter.stop()] == [grown(250), grown(300)]


def test_peak_after_the_inner_stretch() -> None:
    """It is the outer one's alone."""
    meter, resident_set = metered(100, 150, 500)
    meter.start()
    meter.start()
    resident_set.advance()
    inner = meter.stop()
    resident_set.advance()

    assert [inner, meter.stop()] == [grown(50), grown(400)]


def test_mark_is_let_go_of_at_the_end() -> None:
    """Once the outermost stretch has ended, and not before."""
    meter, resident_set = metered(100)
    meter.start()
    meter.start()
    meter.stop()
    closed_early = resident_set.closed
    meter.stop()

    assert (closed_early, resident_set.closed) == (False, True)


def test_mark_that_cannot_be_set_back() -> None:
    """A start that failed is told at the end, in the words of the system."""
    meter, resident_set = metered(100)
    resident_set.failure = PermissionError("clear_refs is read-only")
    meter.start()

    assert meter.stop() == Unavailable("the resident peak cannot be read (clear_refs is read-only)")


def test_mark_that_cannot_be_read_later() -> None:
    """Every open stretch may have missed a peak; the next one starts anew."""
    meter, resident_set = metered(100)
    meter.start()
    meter.start()
    resident_set.failure = OSError("gone")
    inner = meter.stop()
    resident_set.failure = None
    outer = meter.stop()
    meter.start()

    none = Unavailable("the resident peak cannot be read (gone)")
    assert [inner, outer, meter.stop()] == [none, none, grown(0)]


def test_prepare() -> None:
    """What sampling needs is set up before the heap is tracked."""
    meter, resident_set = metered(100)
    meter.prepare()

    assert resident_set.prepared
