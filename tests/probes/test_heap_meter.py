"""A test's heap figures, by the real memray."""

from __future__ import annotations

import _thread
import gc
import itertools
import mmap
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

if sys.platform == "win32":
    pytest.skip("memray does not exist for Windows", allow_module_level=True)

import memray

from pytest_membudget.core.ledger import Span
from pytest_membudget.core.measurement import Reading, Unavailable
from pytest_membudget.probes.capture_folder import CaptureFolder
from pytest_membudget.probes.heap_meter import HeapFigures, HeapMeter, HeapPlan
from pytest_membudget.probes.meter import depth_below
from tests.fakes import MIB
from tests.probes.conftest import Metered, NewHeapMeter

SIZE = 10 * MIB
HALF = 5 * MIB
# Frames and small integers of the code around the blocks.
CRUMBS = 1024
# A thread's own objects: its locks, its name, its entry among the threads.
THREAD_CRUMBS = 64 * 1024

PLANS = [HeapPlan(), HeapPlan(regions=True), HeapPlan(own_thread=True)]
PLAN_IDS = ["sums", "events", "own thread"]


def peak_bytes(figures: HeapFigures) -> int:
    """The peak, which must be there."""
    assert isinstance(figures.peak, Reading)
    return figures.peak.bytes


def retained_bytes(figures: HeapFigures) -> int:
    """What was left, which must be there."""
    assert isinstance(figures.retained, Reading)
    return figures.retained.bytes


def hold() -> bytearray:
    """Hold on to a block."""
    return bytearray(SIZE)


def rise_and_fall() -> bytearray:
    """Hold a large block, then a small one."""
    large = bytearray(SIZE)
    del large
    return bytearray(HALF)


@pytest.mark.parametrize("plan", PLANS, ids=PLAN_IDS)
def test_nothing(metered: Metered, plan: HeapPlan) -> None:
    """An empty test reads next to nothing: here a frame of the function that calls it."""
    metered(lambda: None, plan)
    figures = metered(lambda: None, plan)

    assert peak_bytes(figures) <= 512
    assert figures.peak == Reading(peak_bytes(figures), "memray")


@pytest.mark.parametrize("plan", PLANS, ids=PLAN_IDS)
def test_a_block_that_is_held(metered: Metered, plan: HeapPlan) -> None:
    """To the byte at its line, and next to nothing beside it."""
    figures = metered(hold, plan)

    assert figures.sites[0].bytes == sys.getsizeof(bytearray(SIZE))
    assert figures.sites[0].source == "return bytearray(SIZE)"
    assert (figures.sites[0].file, figures.sites[0].function) == ("tests/probes/test_heap_meter.py", "hold")
    assert 0 <= peak_bytes(figures) - SIZE < CRUMBS
    assert 0 <= retained_bytes(figures) - SIZE < CRUMBS


@pytest.mark.parametrize("plan", PLANS, ids=PLAN_IDS)
def test_a_peak_that_has_passed(metered: Metered, plan: HeapPlan) -> None:
    """The high-water mark, not what is left; and the line that made it."""
    figures = metered(rise_and_fall, plan)

    assert figures.sites[0].bytes == sys.getsizeof(bytearray(SIZE))
    assert figures.sites[0].source == "large = bytearray(SIZE)"
    assert 0 <= peak_bytes(figures) - SIZE < CRUMBS
    assert 0 <= retained_bytes(figures) - HALF < CRUMBS


def test_same_bytes_every_time(metered: Metered) -> None:
    """Whatever the state of pymalloc's arenas: a fresh heap and one full of holes give one figure."""

    def make_objects() -> list[bytes]:
        return [bytes(100) for _ in range(50_000)]

    metered(make_objects)
    before = peak_bytes(metered(make_objects))
    holes = [bytes(100) for _ in range(200_000)][::7]
    after = peak_bytes(metered(make_objects))

    assert before == after
    assert len(holes) > 0


def test_as_memray_itself_has_it(metered: Metered, tmp_path: Path) -> None:
    """The figure is memray's own peak of the same work, less what measuring cost."""

    def work() -> object:
        table = {index: [index, str(index)] for index in range(20_000)}
        array = np.ones((200, 200)) @ np.ones((200, 200))
        return len(table), array.sum()

    work()
    with memray.Tracker(tmp_path / "a.bin", trace_python_allocators=True):
        work()
    with memray.FileReader(tmp_path / "a.bin") as reader:
        by_memray_bytes = reader.metadata.peak_memory

    assert abs(peak_bytes(metered(work)) - by_memray_bytes) < 8 * CRUMBS


@pytest.mark.parametrize(
    "plan",
    [HeapPlan(holders=True), HeapPlan(holders=True, own_thread=True)],
    ids=["sums", "own thread"],
)
def test_holders(metered: Metered, plan: HeapPlan) -> None:
    """The lines that hold what is left, beside those of the peak; for those who ask."""
    figures = metered(rise_and_fall, plan)

    assert figures.sites[0].source == "large = bytearray(SIZE)"
    assert figures.held[0].source == "return bytearray(HALF)"
    assert figures.held[0].bytes == sys.getsizeof(bytearray(HALF))
    assert metered(rise_and_fall).held == ()


def test_garbage_from_before_is_not_the_tests(metered: Metered) -> None:
    """Cycles that nobody collected yet are collected before the start; releasing them is not a credit."""
    cycle: list[object] = [bytearray(SIZE)]
    cycle.append(cycle)
    del cycle

    assert 0 <= peak_bytes(metered(hold)) - SIZE < CRUMBS


def test_same_bytes_wherever_the_collector_stands(metered: Metered) -> None:
    """Cycles are freed when the collector's counter is full, so every test starts with an empty one."""
    most = gc.get_threshold()[0]

    def make_cycles() -> None:
        for _ in range(most * 6 // 7):
            cycle: list[object] = [bytearray(1000)]
            cycle.append(cycle)

    metered(make_cycles)
    first = peak_bytes(metered(make_cycles))
    counted: list[list[object]] = [[] for _ in range(most // 2)]
    second = peak_bytes(metered(make_cycles))

    assert abs(second - first) < CRUMBS
    assert counted


def test_cycles_that_the_test_leaves_are_not_retained(metered: Metered) -> None:
    """Garbage is collected before the end is read."""

    def leave_a_cycle() -> None:
        cycle: list[object] = [bytearray(SIZE)]
        cycle.append(cycle)

    gc.disable()
    try:
        figures = metered(leave_a_cycle)
    finally:
        gc.enable()

    assert 0 <= peak_bytes(figures) - SIZE < CRUMBS
    assert retained_bytes(figures) < CRUMBS


def test_freeing_what_was_there_before_counts_nothing(metered: Metered) -> None:
    """A test that empties a cache does not earn the bytes."""
    cache = [bytearray(SIZE)]

    def work() -> bytearray:
        cache.clear()
        return bytearray(HALF)

    figures = metered(work)

    assert 0 <= peak_bytes(figures) - HALF < CRUMBS
    assert 0 <= retained_bytes(figures) - HALF < CRUMBS


def in_a_thread(size_bytes: int) -> None:
    """Hold a block for a moment in another thread."""
    thread = threading.Thread(target=lambda: bytearray(size_bytes))
    thread.start()
    thread.join()


def test_other_threads_count(metered: Metered) -> None:
    """A budget is about the process, so a worker's block is the test's."""
    figures = metered(lambda: in_a_thread(SIZE))

    assert 0 <= peak_bytes(figures) - SIZE < THREAD_CRUMBS


def test_own_thread_has_a_peak_of_its_own(metered: Metered) -> None:
    """At the instant when all threads together held most, this one held nothing; its own peak came earlier."""

    def work() -> None:
        own = bytearray(HALF)
        del own
        in_a_thread(SIZE)

    assert 0 <= peak_bytes(metered(work, HeapPlan(own_thread=True))) - HALF < THREAD_CRUMBS
    assert 0 <= peak_bytes(metered(work, HeapPlan())) - SIZE < THREAD_CRUMBS


def test_own_thread_and_blocks_that_change_hands(metered: Metered) -> None:
    """What another thread made and this one drops is no credit; what this one made and another drops is gone."""
    mine, theirs = [bytearray(0)], [bytearray(0)]

    def their_part() -> None:
        mine.clear()
        theirs.append(bytearray(SIZE))

    def work() -> bytearray:
        mine.append(bytearray(HALF))
        thread = threading.Thread(target=their_part)
        thread.start()
        thread.join()
        theirs.clear()
        return bytearray(HALF)

    figures = metered(work, HeapPlan(own_thread=True))

    assert 0 <= peak_bytes(figures) - HALF < THREAD_CRUMBS
    assert 0 <= retained_bytes(figures) - HALF < THREAD_CRUMBS


def make_small_objects_without_python(count: int) -> list[bytes]:
    """Let a thread that runs C code alone make objects: no Python frame is on its stack."""
    made: list[bytes] = []
    _thread.start_new_thread(made.extend, (map(bytes, itertools.repeat(100, count)),))
    while len(made) < count:
        time.sleep(0.001)
    return made


def test_small_objects_of_native_code(meter: HeapMeter) -> None:
    """Each is as small as the runner's own bookkeeping; all together they are the test's."""
    meter.start(depth_below(0))
    span = opened(meter)
    made = make_small_objects_without_python(50_000)
    region = meter.close_region(span)
    meter.stop()

    assert peak_bytes(region) >= sum(map(sys.getsizeof, made)) - 4 * CRUMBS


def test_folder_whose_place_is_taken(metered: Metered, folder: CaptureFolder) -> None:
    """A test that puts a file where the folder was gets a reason as well."""

    def take_its_place() -> None:
        place = folder.new_file().parent
        shutil.rmtree(place)
        place.write_text("mine")

    figures = metered(take_its_place)
    place = folder._folder
    following = metered(hold)
    assert place is not None
    place.unlink()

    assert isinstance(figures.peak, Unavailable)
    assert figures.peak.reason.startswith("memray's capture cannot be read (Could not open file ")
    assert peak_bytes(following) >= SIZE


@pytest.fixture
def meter(new_heap_meter: NewHeapMeter) -> HeapMeter:
    """A meter for a test with regions."""
    return new_heap_meter(HeapPlan(regions=True))


def opened(meter: HeapMeter) -> Span:
    """A region, which must have begun."""
    span = meter.open_region()
    assert isinstance(span, Span)
    return span


def test_region(meter: HeapMeter) -> None:
    """Its own peak above its start; the whole test's peak knows of both."""
    meter.start(depth_below(0))
    before = bytearray(HALF)
    span = opened(meter)
    inside = bytearray(SIZE)
    region = meter.close_region(span)
    del before, inside
    whole = meter.stop()

    assert abs(peak_bytes(region) - SIZE) < 4 * CRUMBS
    assert abs(retained_bytes(region) - SIZE) < 4 * CRUMBS
    assert region.sites[0].source == "inside = bytearray(SIZE)"
    assert sum(site.bytes for site in region.sites) < SIZE + 4 * CRUMBS
    assert abs(peak_bytes(whole) - (SIZE + HALF)) < 4 * CRUMBS
    assert retained_bytes(whole) < 4 * CRUMBS


def test_region_that_frees_earlier_memory(meter: HeapMeter) -> None:
    """It never rises above its start, and leaves less than it found."""
    meter.start(depth_below(0))
    before = bytearray(SIZE)
    span = opened(meter)
    del before
    inside = bytearray(HALF)
    region = meter.close_region(span)
    whole = meter.stop()

    assert 0 <= peak_bytes(region) < CRUMBS
    assert abs(retained_bytes(region) - (HALF - SIZE)) < CRUMBS
    assert abs(peak_bytes(whole) - SIZE) < 4 * CRUMBS
    assert len(inside) == HALF


def test_region_that_unmaps_earlier_memory(meter: HeapMeter) -> None:
    """Mappings are told from blocks, and released by their addresses."""
    meter.start(depth_below(0))
    before = mmap.mmap(-1, SIZE)
    span = opened(meter)
    before.close()
    inside = mmap.mmap(-1, HALF)
    region = meter.close_region(span)
    inside.close()
    whole = meter.stop()

    assert 0 <= peak_bytes(region) < 8 * CRUMBS
    assert abs(retained_bytes(region) - (HALF - SIZE)) < 8 * CRUMBS
    assert abs(peak_bytes(whole) - SIZE) < 8 * CRUMBS
    assert retained_bytes(whole) < 8 * CRUMBS


def test_nested_regions(meter: HeapMeter) -> None:
    """The inner one knows its own stretch alone, the outer one both."""
    meter.start(depth_below(0))
    outer_span = opened(meter)
    first = bytearray(HALF)
    inner_span = opened(meter)
    second = bytearray(SIZE)
    inner = meter.close_region(inner_span)
    del first, second
    third = bytearray(SIZE + HALF + HALF)
    outer = meter.close_region(outer_span)
    whole = meter.stop()

    assert abs(peak_bytes(inner) - SIZE) < 4 * CRUMBS
    assert abs(peak_bytes(outer) - len(third)) < 4 * CRUMBS
    assert abs(peak_bytes(whole) - len(third)) < 4 * CRUMBS


def test_regions_one_after_the_other(meter: HeapMeter) -> None:
    """Each starts afresh, and the whole sums up what they keep."""
    meter.start(depth_below(0))
    kept = []
    peaks = []
    for _ in range(20):
        span = opened(meter)
        kept.append(bytearray(MIB))
        peaks.append(peak_bytes(meter.close_region(span)))
    whole = meter.stop()

    assert all(abs(peak - MIB) < 4 * CRUMBS for peak in peaks)
    assert abs(peak_bytes(whole) - 20 * MIB) < 20 * CRUMBS


def test_a_meter_with_regions_reads_as_one_without(meter: HeapMeter, metered: Metered) -> None:
    """Splitting a test into captures costs it nothing."""

    def work() -> list[object]:
        return [bytes(100) for _ in range(10_000)] + [bytearray(SIZE)]

    metered(work)
    unsplit = peak_bytes(metered(work))
    meter.start(depth_below(0))
    span = opened(meter)
    held = work()
    meter.close_region(span)
    split = peak_bytes(meter.stop())

    assert abs(split - unsplit) < CRUMBS
    assert held


def test_another_tracker(metered: Metered, tmp_path: Path) -> None:
    """One sentence, and no crash."""
    with memray.Tracker(tmp_path / "theirs.bin"):
        figures = metered(hold)

    none = Unavailable("another memray tracker is active in this process, and memray allows one at a time")
    assert figures == HeapFigures(none, none)


def test_tracker_that_the_test_opens(metered: Metered, tmp_path: Path) -> None:
    """The test works as it would without the plugin, and so does the next one with it."""

    def open_another() -> None:
        with memray.Tracker(tmp_path / "theirs.bin"):
            pass

    none = Unavailable("the test uses memray.Tracker itself, and memray allows one tracker at a time")

    assert metered(open_another) == HeapFigures(none, none)
    assert peak_bytes(metered(hold)) >= SIZE


def test_folder_that_the_test_removes(metered: Metered, folder: CaptureFolder) -> None:
    """That test has a reason, and the next one a figure."""

    def remove_it() -> None:
        shutil.rmtree(folder.new_file().parent)

    figures = metered(remove_it)
    following = metered(hold)

    assert isinstance(figures.peak, Unavailable)
    assert figures.peak.reason.startswith("memray's capture cannot be read (Could not open file ")
    assert figures.peak.reason.endswith(": No such file or directory): was the disk full, or the file removed?")
    assert peak_bytes(following) >= SIZE


def test_region_whose_capture_is_lost(meter: HeapMeter, folder: CaptureFolder) -> None:
    """The region, those after it and the test itself have the reason; none has half a figure."""
    meter.start(depth_below(0))
    first = opened(meter)
    shutil.rmtree(folder.new_file().parent)
    figures = [meter.close_region(first)]
    second = meter.open_region()
    figures.append(meter.stop())

    reasons = {figure.reason for each in figures for figure in (each.peak, each.retained) if hasattr(figure, "reason")}
    assert len(reasons) == 1
    assert second == Unavailable(*reasons)


def test_test_that_changes_directory(metered: Metered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The capture stays where it is."""

    def change() -> bytearray:
        monkeypatch.chdir(tmp_path)
        return bytearray(SIZE)

    assert 0 <= peak_bytes(metered(change)) - SIZE < 16 * CRUMBS


def test_captures_are_removed(metered: Metered, meter: HeapMeter, folder: CaptureFolder) -> None:
    """Whatever was measured, no file is left."""
    metered(hold)
    meter.start(depth_below(0))
    meter.close_region(opened(meter))
    meter.stop()

    assert os.listdir(folder.new_file().parent) == []


def test_meter_that_never_began(meter: HeapMeter) -> None:
    """There is nothing to read, and it says so."""
    none = Unavailable("tracking never began")

    assert meter.stop() == HeapFigures(none, none)


def test_line_that_is_reached_in_many_ways(metered: Metered) -> None:
    """A recursive function has a stack for every depth; its line is to blame for all of them."""

    def descend(depth: int, made: list[bytearray]) -> list[bytearray]:
        made.append(bytearray(10_000))
        return descend(depth - 1, made) if depth else made

    figures = metered(lambda: descend(400, []))

    assert figures.sites[0].source == "made.append(bytearray(10_000))"
    assert figures.sites[0].bytes >= 401 * 10_000


def test_library_frame_is_folded_under_its_caller(metered: Metered) -> None:
    """The project's line is blamed, the library's is named as the way there."""

    def work() -> object:
        return np.repeat(np.zeros(HALF // 8), 2)

    (site, *_) = metered(work).sites

    assert site.source == "return np.repeat(np.zeros(HALF // 8), 2)"
    assert site.bytes >= SIZE
    assert site.via is not None
    assert site.via.file == "numpy/_core/fromnumeric.py"
