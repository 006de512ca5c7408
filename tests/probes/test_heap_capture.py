"""One stretch of tracking by memray, and every way in which it can fail to become a figure."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("memray does not exist for Windows", allow_module_level=True)

import resource

import memray

from pytest_membudget.core.attribution import CodeMap, sites_of
from pytest_membudget.core.measurement import PythonAllocators
from pytest_membudget.probes.heap_capture import CaptureError, HeapCapture
from pytest_membudget.probes.meter import depth_below
from tests.fakes import MIB
from tests.own_interpreter import in_own_interpreter

SIZE = 10 * MIB
INCOMPLETE = (
    "memray's capture ends before the test did: the test set a profiler of its own (sys.setprofile, cProfile), "
    "or the disk was full"
)
OWN_TRACKER = "the test uses memray.Tracker itself, and memray allows one tracker at a time"
UNREADABLE = "memray's capture cannot be read ({}): was the disk full, or the file removed?"
OWN_FOLDER = str(Path(sys.modules[HeapCapture.__module__].__file__ or "").parent)


def reason(capture: HeapCapture) -> str:
    """Why a capture cannot be used."""
    with pytest.raises(CaptureError) as refused:
        capture.read(CodeMap("/"), 0)
    return str(refused.value)


@pytest.mark.parametrize("every_event", [False, True], ids=["sums", "events"])
@pytest.mark.parametrize("python_allocators", ["exact", "arenas"])
def test_a_block(tmp_path: Path, code_map: CodeMap, python_allocators: PythonAllocators, every_event: bool) -> None:
    """What was asked for, at the peak and at the end."""
    capture = HeapCapture(tmp_path / "a.bin", python_allocators, every_event)
    capture.start()
    first = bytearray(SIZE)
    del first
    second = bytearray(SIZE // 2)
    capture.stop()
    with capture.read(code_map, depth_below(0)) as reading:
        at_peak, left = reading.at_peak(), reading.left()

    assert 0 <= max(at_peak.groups)[0] - SIZE < 100
    assert 0 <= max(left.groups)[0] - len(second) < 100
    assert 0 <= at_peak.bytes - SIZE < 1024
    assert 0 <= left.bytes - len(second) < 1024


def test_objects_to_the_byte(tmp_path: Path, code_map: CodeMap) -> None:
    """With python allocators traced every object counts, its header included."""
    held = [b""] * 1000
    capture = HeapCapture(tmp_path / "a.bin", "exact")
    capture.start()
    for index in range(1000):
        held[index] = bytes(100)
    capture.stop()
    with capture.read(code_map, depth_below(0)) as reading:
        sites = sites_of(reading.left().groups, code_map)

    assert sites[0].bytes == sum(map(sys.getsizeof, held))
    assert linecache.getline(sites[0].file, sites[0].line).strip() == "held[index] = bytes(100)"


def left_bytes(capture: HeapCapture, code_map: CodeMap) -> int:
    """What was live at the end of a capture."""
    with capture.read(code_map, depth_below(0)) as reading:
        return reading.left().bytes


def test_nothing_reads_next_to_nothing(tmp_path: Path, code_map: CodeMap) -> None:
    """What the capture itself allocates is not the test's."""
    capture = HeapCapture(tmp_path / "a.bin", "exact")
    capture.start()
    capture.stop()

    assert left_bytes(capture, code_map) <= 1024


def test_stacks_begin_at_the_base_depth(tmp_path: Path, code_map: CodeMap) -> None:
    """Frames below the code that is measured are no part of any stack."""
    capture = HeapCapture(tmp_path / "a.bin", "exact")
    capture.start()
    held = bytearray(SIZE)
    capture.stop()
    with capture.read(code_map, depth_below(0)) as reading:
        (stack,) = [stack for size, stack in reading.left().groups if size > SIZE]

    assert [(function, file) for function, file, _ in stack] == [
        (test_stacks_begin_at_the_base_depth.__name__, __file__)
    ]
    assert len(held) == SIZE


def test_another_tracker_is_active(tmp_path: Path) -> None:
    """The one that was there first goes on; ours leaves no file behind."""
    capture = HeapCapture(tmp_path / "ours.bin", "exact")

    with memray.Tracker(tmp_path / "theirs.bin"), pytest.raises(CaptureError) as refused:
        capture.start()

    assert str(refused.value) == "another memray tracker is active in this process, and memray allows one at a time"
    assert os.listdir(tmp_path) == ["theirs.bin"]


def test_a_tracker_can_follow_a_refused_one(tmp_path: Path, code_map: CodeMap) -> None:
    """Being refused leaves memray as it was."""
    with memray.Tracker(tmp_path / "theirs.bin"), pytest.raises(CaptureError):
        HeapCapture(tmp_path / "refused.bin", "exact").start()
    capture = HeapCapture(tmp_path / "ours.bin", "exact")
    capture.start()
    held = bytearray(SIZE)
    capture.stop()

    assert left_bytes(capture, code_map) - sys.getsizeof(held) < 1024


def test_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process at the limit of its threads."""

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    capture = HeapCapture(tmp_path / "a.bin", "exact")
    monkeypatch.setattr(threading.Thread, "start", refused)

    with pytest.raises(CaptureError, match=r"^memray cannot track \(can't start new thread\)$"):
        capture.start()


def test_file_cannot_be_made(tmp_path: Path) -> None:
    """The folder is gone: memray's own words are passed on."""
    path = tmp_path / "gone" / "a.bin"

    with pytest.raises(CaptureError) as refused:
        HeapCapture(path, "exact")

    assert (
        str(refused.value)
        == f"memray cannot write its capture (Could not create output file {path}: No such file or directory)"
    )


@pytest.mark.parametrize("every_event", [False, True], ids=["sums", "events"])
def test_tracker_that_the_test_itself_ended(tmp_path: Path, every_event: bool) -> None:
    """What came after that went unseen, so there is no figure."""
    capture = HeapCapture(tmp_path / "a.bin", "exact", every_event)
    capture.start()
    capture._tracker.__exit__(None, None, None)
    capture.stop()

    assert reason(capture) == OWN_TRACKER


@pytest.mark.parametrize("every_event", [False, True], ids=["sums", "events"])
def test_tracker_that_the_test_opens(tmp_path: Path, every_event: bool) -> None:
    """The test's own goes first and works as ever; ours has a reason."""
    capture = HeapCapture(tmp_path / "ours.bin", "exact", every_event)
    capture.start()
    with memray.Tracker(tmp_path / "theirs.bin"):
        held = bytearray(SIZE)
    capture.stop()
    with memray.FileReader(tmp_path / "theirs.bin") as theirs:
        by_theirs_bytes = theirs.metadata.peak_memory

    assert reason(capture) == OWN_TRACKER
    assert by_theirs_bytes >= len(held)


@pytest.mark.parametrize("every_event", [False, True], ids=["sums", "events"])
def test_profiler_that_the_test_sets(tmp_path: Path, every_event: bool) -> None:
    """Memray has lost sight of the stacks then, and nothing can be said of whose bytes are whose."""
    capture = HeapCapture(tmp_path / "a.bin", "exact", every_event)
    capture.start()
    sys.setprofile(None)
    capture.stop()

    assert reason(capture) == INCOMPLETE


def test_next_tracker_after_a_capture(tmp_path: Path) -> None:
    """A capture that has ended stands in nobody's way."""
    capture = HeapCapture(tmp_path / "ours.bin", "exact")
    capture.start()
    capture.stop()

    with memray.Tracker(tmp_path / "theirs.bin"):
        held = bytearray(SIZE)

    assert len(held) == SIZE


def test_file_that_the_test_removed(tmp_path: Path) -> None:
    """Removing the temporary folder takes the capture with it."""
    path = tmp_path / "a.bin"
    capture = HeapCapture(path, "exact")
    capture.start()
    path.unlink()
    capture.stop()

    assert reason(capture) == UNREADABLE.format(f"Could not open file {path}: No such file or directory")


@pytest.mark.parametrize("content", [b"", b"not a capture" * 100])
def test_file_that_is_no_capture(tmp_path: Path, content: bytes) -> None:
    """Overwritten, or never written."""
    path = tmp_path / "a.bin"
    capture = HeapCapture(path, "exact")
    capture.start()
    capture.stop()
    path.write_bytes(content)

    assert reason(capture).startswith("memray's capture cannot be read (The provided input file does not look like ")


def measure_on_a_disk_of(limit_bytes: int, folder: str, every_event: bool) -> str | int:
    """Measure while no file can grow above a limit; return the peak or the reason that there is none."""
    capture = HeapCapture(Path(folder) / "a.bin", "exact", every_event)
    capture.start()
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    held = [bytes(index % 100 + 50) for index in range(20_000)]
    held.append(bytes(SIZE))
    # Many lines of code: many sums, so that the file is large enough to be cut in the middle of them.
    lines = [f"def f{index}(): return bytearray({index} + 600)\nheld.append(f{index}())" for index in range(200)]
    exec("\n".join(lines), {"held": held})
    capture.stop()
    try:
        with capture.read(CodeMap("/", own=(f"{OWN_FOLDER}/",)), depth_below(0)) as reading:
            return reading.at_peak().bytes
    except CaptureError as error:
        return str(error)


@pytest.mark.parametrize("limit_kib", [0, 4, 24, 44, 64])
def test_disk_that_fills(tmp_path: Path, limit_kib: int) -> None:
    """However far the sums got: a reason, and never the figure of those that made it to the disk."""
    found = in_own_interpreter(measure_on_a_disk_of, limit_kib * 1024, str(tmp_path), False)

    assert isinstance(found, str)
    assert found == INCOMPLETE or found.startswith("memray's capture cannot be read (")


@pytest.mark.parametrize("limit_kib", [0, 64])
def test_disk_that_fills_with_events(tmp_path: Path, limit_kib: int) -> None:
    """Events that were lost are missed by the mark that comes last."""
    found = in_own_interpreter(measure_on_a_disk_of, limit_kib * 1024, str(tmp_path), True)

    assert found == INCOMPLETE


def measure_with_that_much_room(spare_bytes: int, folder: str) -> str:
    """Measure where the filesystem says that so much is free; return the reason that there is no figure, if so."""
    real = os.statvfs
    os.statvfs = lambda path: os.statvfs_result((1, 1, 1, 1, spare_bytes, *real(path)[5:]))
    return str(measure_on_a_disk_of(1024 * MIB, folder, False))


@pytest.mark.parametrize(("spare_bytes", "measured"), [(MIB, False), (100 * MIB, True)])
def test_disk_that_was_full_while_the_sums_were_written(tmp_path: Path, spare_bytes: int, measured: bool) -> None:
    """What is free afterwards must be more than what the sums can have taken before they were compressed."""
    found = in_own_interpreter(measure_with_that_much_room, spare_bytes, str(tmp_path))

    assert found.isdigit() is measured
    assert measured or found == INCOMPLETE


@pytest.mark.parametrize("every_event", [False, True], ids=["sums", "events"])
def test_disk_with_room(tmp_path: Path, every_event: bool) -> None:
    """The same work, where the file fits."""
    found = in_own_interpreter(measure_on_a_disk_of, 1024 * MIB, str(tmp_path), every_event)

    assert isinstance(found, int)
    assert found > SIZE + 20_000 * 100


def read_in_a_forked_child(folder: str) -> str:
    """Fork while tracking, and let the child try to read."""
    capture = HeapCapture(Path(folder) / "a.bin", "exact")
    capture.start()
    receiver, sender = os.pipe()
    if os.fork() == 0:
        try:
            capture.read(CodeMap("/"), 0)
        except CaptureError as error:
            os.write(sender, str(error).encode())
        os._exit(0)
    os.wait()
    capture.stop()
    return os.read(receiver, 1000).decode()


def test_forked_child_has_no_figure(tmp_path: Path) -> None:
    """The capture is the parent's."""
    found = in_own_interpreter(read_in_a_forked_child, str(tmp_path))

    assert found == "this process was forked from the one that is measured"


def capture_without_memray(folder: str) -> str:
    """Try to measure where memray is not installed."""
    sys.modules["memray"] = None  # type: ignore[assignment]  # how Python itself marks a module that must not be found
    try:
        HeapCapture(Path(folder) / "a.bin", "exact")
    except CaptureError as error:
        return str(error)
    return "measured"


def test_without_memray(tmp_path: Path) -> None:
    """Python's own words say why."""
    found = in_own_interpreter(capture_without_memray, str(tmp_path))

    assert found == "memray cannot be imported (import of memray halted; None in sys.modules)"
