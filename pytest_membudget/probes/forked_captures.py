"""What memray wrote of children that were forked while it tracked: a capture each, beside the parent's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_membudget.core.attribution import CodeMap, Stack, sites_of
from pytest_membudget.core.measurement import Site


@dataclass(frozen=True)
class ForkedCapture:
    """A child's high-water mark of what it allocated since the fork, and the call sites of what was live then."""

    pid: int
    peak_bytes: int
    sites: tuple[Site, ...] = ()


def take_forked_captures(parent: Path, code_map: CodeMap) -> list[ForkedCapture]:
    """Return what the children of a capture left beside it, and remove it.

    A child needs not have ended, or ended well: events are written as they come. One that replaced itself by another
    program left next to nothing.
    """
    return [found for path in sorted(parent.parent.glob(f"{parent.name}.*")) for found in _taken(path, code_map)]


def _taken(path: Path, code_map: CodeMap) -> Iterator[ForkedCapture]:
    from memray import FileReader

    try:
        with FileReader(path) as reader:
            records = list(reader.get_high_watermark_allocation_records(merge_threads=False))
            groups = [(record.size, _since_the_fork(record.stack_trace(), code_map)) for record in records]
            yield ForkedCapture(int(path.suffix[1:]), sum(size for size, _ in groups), sites_of(groups, code_map))
    except (OSError, RuntimeError, ValueError):
        return  # nothing was written yet: the child has allocated nothing, or has become another program
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def _since_the_fork(stack: list[tuple[str, str, int]], code_map: CodeMap) -> Stack:
    """Cut off the frames under the test, which a child inherits: the first of them is the measuring's own."""
    for depth, (_, file, _) in enumerate(stack):
        if file.startswith(code_map.own):
            return tuple(stack[:depth])
    return tuple(stack)
