"""The fast mode that sees pymalloc's arenas only, and the bound on what it may have missed."""

from __future__ import annotations

import gc
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("memray does not exist for Windows", allow_module_level=True)

from pytest_membudget.core.attribution import CodeMap
from pytest_membudget.core.measurement import Reading, Unavailable
from pytest_membudget.probes import pymalloc
from pytest_membudget.probes.capture_folder import CaptureFolder
from pytest_membudget.probes.garbage import Collector
from pytest_membudget.probes.heap_meter import HeapMeter, HeapPlan
from pytest_membudget.probes.pymalloc import free_pymalloc_bytes
from tests.fakes import MIB
from tests.own_interpreter import in_own_interpreter
from tests.probes.conftest import Metered

OBJECTS = 60_000
ARENAS = HeapPlan(python_allocators="arenas")


def make_objects() -> list[bytes]:
    """Some 8 MiB of small objects."""
    return [bytes(100) for _ in range(OBJECTS)]


def reading(metered: Metered, plan: HeapPlan) -> Reading:
    """The peak of making objects."""
    figures = metered(make_objects, plan)
    assert isinstance(figures.peak, Reading)
    return figures.peak


def test_bound_holds_where_objects_fill_holes(metered: Metered) -> None:
    """A heap full of holes hides the objects from the arenas, and the bound covers all that is hidden."""
    holes = [bytes(100) for _ in range(4 * OBJECTS)]
    # Every thirtieth stays: hardly a pool is given back.
    holes = holes[::30]
    exact = reading(metered, HeapPlan())
    arenas = reading(metered, ARENAS)

    assert arenas.bytes < exact.bytes / 2
    assert exact.bytes <= arenas.bytes + arenas.may_miss_bytes
    assert arenas.source == "memray, arenas"
    assert exact.may_miss_bytes == 0
    assert holes


def test_bound_holds_where_garbage_left_the_holes(metered: Metered) -> None:
    """Garbage is collected before the bound is taken, or its room would not be in it."""
    exact = reading(metered, HeapPlan())
    gc.disable()
    try:
        garbage: list[object] = [[bytes(100)] for _ in range(2 * OBJECTS)]
        garbage.append(garbage)
        del garbage
        arenas = reading(metered, ARENAS)
    finally:
        gc.enable()

    assert exact.bytes <= arenas.bytes + arenas.may_miss_bytes


def test_array_is_seen_in_full(metered: Metered) -> None:
    """What does not come from pymalloc needs no bound: it is read to the byte."""
    figures = metered(lambda: bytearray(10 * MIB), ARENAS)

    assert figures.sites[0].bytes == 10 * MIB + 1


def free_bytes_before_and_after() -> list[int]:
    """Free half of many objects; return what pymalloc says of its free bytes around that."""
    held = [bytes(100) for _ in range(OBJECTS)]
    before = free_pymalloc_bytes()
    held = held[::2]
    after = free_pymalloc_bytes()
    assert isinstance(before, int)
    assert isinstance(after, int)
    return [before, after, sys.getsizeof(held[0])]


def test_free_bytes_grow_by_what_is_freed() -> None:
    """Read from the allocator's own statistics, block by block."""
    before, after, block_bytes = in_own_interpreter(free_bytes_before_and_after)
    freed = OBJECTS // 2 * block_bytes

    assert freed <= after - before <= 1.2 * freed


def test_statistics_do_not_reach_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """They are printed to the descriptor of standard error, which is put back."""
    free_pymalloc_bytes()
    sys.stderr.write("still here\n")

    assert capfd.readouterr().err == "still here\n"


def arenas_without_pymalloc() -> str:
    """Measure arenas in an interpreter that has none."""
    meter = HeapMeter(ARENAS, CaptureFolder(), Collector(), CodeMap("/"))
    meter.start(0)
    figures = meter.stop()
    assert isinstance(figures.peak, Unavailable)
    return figures.peak.reason


def test_interpreter_that_does_not_use_pymalloc() -> None:
    """Without arenas there is no bound, and so no figure."""
    found = in_own_interpreter(arenas_without_pymalloc, environment={"PYTHONMALLOC": "malloc"})

    assert found == "python_allocators='arenas' cannot state its error bound: this interpreter does not use pymalloc"


def test_interpreter_without_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other interpreters than CPython have no such function."""
    monkeypatch.delattr(sys, "_debugmallocstats")

    assert free_pymalloc_bytes() == Unavailable("this interpreter has no pymalloc")


STATISTICS = """\
Small block threshold = 512, in 32 size classes.

class   size   num pools   blocks in use  avail blocks
    0     16           7            1715            70

# arenas allocated total           =                   13
1 arenas * 1048576 bytes/arena     =            1,048,576

# bytes in allocated blocks        =              901,120
# bytes in available blocks        =               11,111
"""


def test_statistics_as_python_prints_them() -> None:
    """Held by arenas, less what objects occupy."""
    assert pymalloc._parse(STATISTICS) == 1_048_576 - 901_120


@pytest.mark.parametrize("line", ["1 arenas", "# bytes in allocated blocks"])
def test_statistics_that_lack_a_line(line: str) -> None:
    """Half a statistic is none."""
    rest = "\n".join(kept for kept in STATISTICS.splitlines() if not kept.startswith(line))

    assert pymalloc._parse(rest) == Unavailable("this interpreter does not use pymalloc")
