"""One stretch of heap tracking by memray, written to a file and read back.

memray allows one tracker per process, each used once; nothing can be asked of it while it runs. A capture is therefore
a file: complete when its last allocation is the one that ``stop`` made, and otherwise a reason in words.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_membudget.core.attribution import CodeMap, Stack
from pytest_membudget.core.ledger import Event
from pytest_membudget.core.measurement import PythonAllocators
from pytest_membudget.core.timeline import Moment, thinned
from pytest_membudget.probes.tracker_lock import TrackerLock

if TYPE_CHECKING:
    from memray import AllocationRecord, FileReader
    from typing_extensions import Self

# Fine enough to show the shape of a test of some milliseconds; a native thread reads the resident set this often.
_SNAPSHOT_MILLISECONDS = 1
_NO_SNAPSHOT_MILLISECONDS = 24 * 3600 * 1000
# The mark that ``stop`` leaves: above pymalloc's 512 bytes where only malloc is tracked, else as small as can be.
_MARK_BYTES = {"exact": 1, "arenas": 1024}

_COMPRESSED = b"\x04\x22\x4d\x18"  # how an LZ4 frame begins
_AMPLE_BYTES = 2**30
_SPARE_BYTES = 2**20
_MOST_COMPRESSION = 255  # what LZ4 can reach at best


class CaptureError(Exception):
    """Tracking could not start, or what it wrote cannot be used; the message is a reason for the user."""


class HeapCapture:
    """Tracks the heap from ``start`` to ``stop``.

    Parameters
    ----------
    path
        A file that does not exist yet.
    python_allocators
        ``"exact"`` sees every object; ``"arenas"`` sees pymalloc's arenas only.
    every_event
        Keep each allocation and release in order, rather than the state at the peak and at the end.
    follow_fork
        Let forked children write captures of their own beside ``path``; needs ``every_event``, because children leave
        without a chance to write down sums.
    snapshots
        Have a thread of memray's look at the process each millisecond, for a timeline. It ends the process if the test
        closes all file descriptors, and a fork that falls into a look leaves the child untracked.
    """

    def __init__(
        self,
        path: Path,
        python_allocators: PythonAllocators,
        every_event: bool = False,
        follow_fork: bool = False,
        snapshots: bool = True,
    ) -> None:
        self.path = path
        self._owner = os.getpid()
        self._every_event = every_event
        self._mark_bytes = _MARK_BYTES[python_allocators]
        self._stepped_aside = False
        self._lock = TrackerLock(self._step_aside)
        try:
            import memray
        except ImportError as error:
            raise CaptureError(f"memray cannot be imported ({error})") from None
        # Its warnings, such as "Correcting symbol for malloc" with some builds of Python, would stand among what the
        # test itself printed.
        memray.set_log_level(logging.ERROR)  # type: ignore[attr-defined]  # missing from its stubs
        kind = memray.FileFormat.ALL_ALLOCATIONS if every_event else memray.FileFormat.AGGREGATED_ALLOCATIONS
        try:
            self._tracker = memray.Tracker(
                destination=memray.FileDestination(path),
                trace_python_allocators=python_allocators == "exact",
                file_format=kind,
                memory_interval_ms=_SNAPSHOT_MILLISECONDS if snapshots else _NO_SNAPSHOT_MILLISECONDS,
                follow_fork=follow_fork,
            )
        except OSError as error:
            raise CaptureError(f"memray cannot write its capture ({error})") from None

    def start(self) -> None:
        """Begin tracking in all threads.

        Raises
        ------
        CaptureError
            When another tracker is active, or the file cannot be written.
        """
        # memray leaves out of its stacks as many frames as the thread that begins had at that moment. If the code to
        # measure runs higher up than this call, those are the very frames that name the line; so a bare thread begins.
        failures: list[RuntimeError] = []
        beginner = threading.Thread(target=self._enter, args=(failures,), name="membudget begins tracking")
        try:
            beginner.start()
        except RuntimeError as error:
            failures.append(error)
        else:
            beginner.join()
        if failures:
            self.path.unlink(missing_ok=True)
            other = "one Tracker" in str(failures[0])
            raise CaptureError(OTHER_TRACKER if other else f"memray cannot track ({failures[0]})")

    def _enter(self, failures: list[RuntimeError]) -> None:
        try:
            self._tracker.__enter__()
            # In this thread no signal (a timeout, an interrupt) can come between the two. A capture that such a signal
            # has left running is then ended by the next one, which takes the same lock.
            self._lock.install()
        except RuntimeError as error:
            failures.append(error)

    def _step_aside(self) -> None:
        self._stepped_aside = True
        self._tracker.__exit__(None, None, None)

    def stop(self) -> None:
        """End tracking, unless it has ended for a tracker of the test."""
        self._lock.remove()
        if self._stepped_aside:
            return
        self._mark = bytearray(self._mark_bytes)
        self._tracker.__exit__(None, None, None)
        # Events are written as they come, so the mark is the last of them. Sums are written here and in no order: on a
        # disk that fills, the mark may be there while others are lost, and memray reads such a file without complaint.
        self._had_room = self._every_event or _has_room(self.path)

    def read(self, code_map: CodeMap, base_depth: int) -> CaptureReading:
        """Read what was tracked; the outermost ``base_depth`` frames of the thread that stopped are left out.

        Raises
        ------
        CaptureError
            When the capture is missing, damaged or incomplete.
        """
        if os.getpid() != self._owner:
            raise CaptureError("this process was forked from the one that is measured")
        if self._stepped_aside:
            raise CaptureError(OWN_TRACKER)
        from memray import FileReader

        try:
            reader = FileReader(self.path)
            left = tuple(reader.get_leaked_allocation_records(merge_threads=False))
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0].rstrip(".:")
            raise CaptureError(
                f"memray's capture cannot be read ({reason}): was the disk full, or the file removed?"
            ) from None
        mark = next(filter(_left_by_stop, left), None)
        if mark is None or not self._had_room:
            reader.close()
            raise CaptureError(
                "memray's capture ends before the test did: the test set a profiler of its own (sys.setprofile, "
                "cProfile), or the disk was full"
            )
        return CaptureReading(reader, left, code_map, mark.tid, base_depth)


OWN_TRACKER = "the test uses memray.Tracker itself, and memray allows one tracker at a time"
OTHER_TRACKER = "another memray tracker is active in this process, and memray allows one at a time"


OWN_THREADS = "membudget "
"""How the names of the threads begin that measure; what one of them allocates is no test's, also below its frames."""
_MEASURING: Stack = (("measuring", __file__, 0),)


class Live(NamedTuple):
    """Bytes that were live at one moment, and size and stack of each group of them."""

    bytes: int
    groups: list[tuple[int, Stack]]


@dataclass(frozen=True)
class CaptureReading:
    """A capture that has been opened; usable until ``close``."""

    _reader: FileReader
    _left: tuple[AllocationRecord, ...]
    _code_map: CodeMap
    _test_thread: int
    _base_depth: int

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._reader.close()

    def at_peak(self) -> Live:
        """Return what was live at the high-water mark, without the measuring's own."""
        return self._live(self._reader.get_high_watermark_allocation_records(merge_threads=False))

    def left(self) -> Live:
        """Return what was live at the end, without the measuring's own."""
        return self._live(self._left)

    def timeline(self) -> tuple[Moment, ...]:
        """Return how heap and resident set moved, in seconds of the clock; the measuring's own bytes are included."""
        count = sum(1 for _ in self._reader.get_memory_snapshots())
        snapshots = self._reader.get_memory_snapshots()
        return thinned((Moment(shot.time / 1000, shot.heap, shot.rss) for shot in snapshots), count)

    def _live(self, records: Iterable[AllocationRecord]) -> Live:
        """Leave out the measuring's own allocations, and the test runner's."""
        groups = [(record.size, self._stack(record)) for record in records]
        counted = [(size, stack) for size, stack in groups if size > self._code_map.bookkeeping_bytes(stack)]
        return Live(sum(size for size, _ in counted), counted)

    def events(self, own_thread_only: bool = False) -> Iterator[Event]:
        """Yield allocations and releases in order, without the measuring's own.

        With ``own_thread_only`` allocations of other threads than the test's are left out, their releases too.
        """
        releases = _release_kinds()
        mmap = _mmap_kind()
        stacks: dict[tuple[int, int], Stack] = {}
        spare_bytes: dict[tuple[int, int], float] = {}
        for record in self._reader.get_allocation_records():
            kind, size_bytes = record.allocator, record.size
            if kind in releases:
                yield Event(record.address, size_bytes, (), release=True, mapped=kind == releases[0])
                continue
            if own_thread_only and record.tid != self._test_thread:
                continue
            if (stack := stacks.get(key := (record.stack_id, record.tid))) is None:
                stack = stacks[key] = self._stack(record)
                spare_bytes[key] = self._code_map.bookkeeping_bytes(stack)
            # As with sums, what counts is how much a stack asked for in all: a thread of native code has an empty one,
            # and many small blocks are as much as a large one.
            if spare_bytes[key]:
                spare_bytes[key] = max(spare_bytes[key] - size_bytes, 0)
            if not spare_bytes[key]:
                yield Event(record.address, size_bytes, stack, mapped=kind == mmap)

    def _stack(self, record: AllocationRecord) -> Stack:
        if record.tid != self._test_thread:
            return _MEASURING if record.thread_name.startswith(OWN_THREADS) else tuple(record.stack_trace())
        frames = record.stack_trace()
        return tuple(frames[: max(len(frames) - self._base_depth, 0)])


def _has_room(path: Path) -> bool:
    """Whether sums are written whole here: compressing them, the last step, succeeded, with room to spare."""
    import resource

    try:
        filesystem = os.statvfs(path)
        with path.open("rb") as file:
            compressed = file.read(len(_COMPRESSED)) == _COMPRESSED
    except OSError:
        return True  # then the file cannot be read either, which is the better reason
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    unlimited = limit_bytes == resource.RLIM_INFINITY or limit_bytes >= _AMPLE_BYTES
    # The plain file took room that is free again: there must be more than it can have been, and the tenth that memray
    # asks for when it grows one.
    spare_bytes = max(_SPARE_BYTES, 1.2 * _MOST_COMPRESSION * path.stat().st_size)
    return compressed and unlimited and filesystem.f_bavail * filesystem.f_frsize >= spare_bytes


def _release_kinds() -> tuple[int, int, int]:
    from memray import AllocatorType

    return (AllocatorType.MUNMAP, AllocatorType.FREE, AllocatorType.PYMALLOC_FREE)


def _mmap_kind() -> int:
    from memray import AllocatorType

    return AllocatorType.MMAP


def _left_by_stop(record: AllocationRecord) -> bool:
    top = record.stack_trace(max_stacks=1)
    return bool(top) and top[0][:2] == (HeapCapture.stop.__name__, __file__)
