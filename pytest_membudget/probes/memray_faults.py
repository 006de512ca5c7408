"""Known faults of the memray that is installed, on the interpreter that runs."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

_LAST_FAULTY = (1, 20, 0)


@lru_cache(maxsize=1)
def tracker_fault() -> str | None:
    """Return why a tracker may take the process down with it when it ends, None if it is not known to."""
    try:
        installed = version("memray")
    except PackageNotFoundError:
        return None
    return crash_risk(sys.version_info[:2], installed)


def crash_risk(python: tuple[int, int], memray: str) -> str | None:
    """Return what is known of that Python with that memray, None if nothing bad is.

    Source: memray#999, a segmentation fault on 3.12 when tracking ends while other threads run.
    """
    numbers = tuple(int(part) for part in memray.split(".")[:3] if part.isdigit())
    if python != (3, 12) or numbers > _LAST_FAULTY:
        return None
    return f"memray {memray} can crash Python 3.12 when tracking ends while threads run (memray#999)"
