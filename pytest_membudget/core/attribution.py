"""Whose line is it? From call stacks and bytes to the lines that a reader can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from pytest_membudget.core.measurement import Frame, Site

Stack = tuple[tuple[str, str, int], ...]
"""Function, file and line of each frame, the most recent first."""

NO_FRAME = Frame("<native code>", 0, "no Python frame")
# Bookkeeping of the test runner is made of small objects and the buffers of its files (8 KiB, and a copy of one);
# anything larger is the test's, whatever its stack.
MOST_HARNESS_BYTES = 16 * 1024


@dataclass(frozen=True)
class CodeMap:
    """Which paths are the project's, which a library's and which the test runner's own.

    A path belongs to the longest prefix that matches; one that no prefix matches is the project's.
    """

    root: str
    project: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    harness: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def is_project(self, file: str) -> bool:
        """Whether the user is likely to be able to change that file."""
        if file.startswith("<"):
            return False
        return _longest(file, self.project) >= _longest(file, (*self.library, *self.harness))

    def bookkeeping_bytes(self, stack: Stack) -> float:
        """How much of what a stack asked for is the measuring's own.

        All, where the plugin's frames are on it; a little, where there are only the test runner's; otherwise none.
        """
        if any(file.startswith(self.own) for _, file, _ in stack):
            return float("inf")
        runner_only = all(file.startswith((*self.harness, "<frozen")) for _, file, _ in stack)
        return MOST_HARNESS_BYTES if runner_only else 0

    def shorten(self, file: str) -> str:
        """Return the path as a reader of this project would write it."""
        return file[_longest(file, tuple(f"{folder}/" for folder in (self.root, *self.library))) :]


def _longest(file: str, prefixes: tuple[str, ...]) -> int:
    return max((len(prefix) for prefix in prefixes if file.startswith(prefix)), default=0)


def sites_of(live: Iterable[tuple[int, Stack]], code_map: CodeMap) -> tuple[Site, ...]:
    """Sum live bytes by the project's most recent line; project lines first, each group the biggest first.

    Where a library allocated on behalf of that line, the library frame that took the most is kept as ``via``.
    """
    is_project = cache(code_map.is_project)
    by_line: dict[Frame, dict[Frame | None, int]] = {}
    for size_bytes, stack in live:
        line, via = _blamed(stack, is_project)
        shares = by_line.setdefault(line, {})
        shares[via] = shares.get(via, 0) + size_bytes
    sites = [
        Site(sum(shares.values()), line, "", max(shares, key=lambda via: shares[via]))
        for line, shares in by_line.items()
    ]
    return tuple(sorted(sites, key=lambda site: (not is_project(site.file), -site.bytes, site.file, site.line)))


def _blamed(stack: Stack, is_project: Callable[[str], bool]) -> tuple[Frame, Frame | None]:
    for position, (_, file, _) in enumerate(stack):
        if is_project(file):
            return _frame(stack, position), _frame(stack, 0) if position else None
    return (_frame(stack, 0) if stack else NO_FRAME), None


def _frame(stack: Stack, position: int) -> Frame:
    function, file, line = stack[position]
    return Frame(file, line, function)
