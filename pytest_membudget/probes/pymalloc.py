"""How much memory pymalloc holds free: what a figure that sees arenas only may have missed."""

from __future__ import annotations

import os
import re
import sys
import tempfile

from pytest_membudget.core.measurement import Unavailable

_HELD = re.compile(r"^\s*\d+ arenas \* \d+ bytes/arena\s*=\s*([\d,]+)\s*$", re.MULTILINE)
_IN_USE = re.compile(r"^# bytes in allocated blocks\s*=\s*([\d,]+)\s*$", re.MULTILINE)


def free_pymalloc_bytes() -> int | Unavailable:
    """Return the bytes of pymalloc's arenas that no object occupies.

    New objects fill these before pymalloc asks for another arena, so this bounds from above by how much a peak that
    counts arenas can be below the true one, as long as the measured code releases no objects that were there before
    it: their place is filled as well. Source: ``sys._debugmallocstats``, which prints to standard error.
    """
    write_stats = getattr(sys, "_debugmallocstats", None)
    if write_stats is None:
        return Unavailable("this interpreter has no pymalloc")
    return _parse(_printed_by(write_stats))


def _parse(stats: str) -> int | Unavailable:
    held, in_use = _HELD.search(stats), _IN_USE.search(stats)
    if held is None or in_use is None:
        return Unavailable("this interpreter does not use pymalloc")
    return _whole(held[1]) - _whole(in_use[1])


def _whole(digits: str) -> int:
    return int(digits.replace(",", ""))


def _printed_by(write_stats: object) -> str:
    """Return what a C function prints to file descriptor 2."""
    assert callable(write_stats)
    sys.stderr.flush()
    with tempfile.TemporaryFile() as stats_file:
        stderr_copy = os.dup(2)
        try:
            os.dup2(stats_file.fileno(), 2)
            write_stats()
        finally:
            os.dup2(stderr_copy, 2)
            os.close(stderr_copy)
        stats_file.seek(0)
        return stats_file.read().decode("ascii", "replace")
