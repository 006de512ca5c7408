"""Stepping aside for a tracker that a test opens itself: memray allows one at a time, and the test's goes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

_LOCK = "tracker_creation_lock"


class Lock(Protocol):
    """What memray holds while a tracker begins or ends."""

    def acquire(self) -> bool:
        """Wait until it is free, and take it."""

    def release(self) -> None:
        """Give it back."""


class TrackerLock:
    """Stands in for memray's own lock, and speaks up before anybody takes it.

    Nothing public tells that another tracker wants to begin. But every tracker takes this lock first, whichever way
    the test came by the class. The lock's name is memray's own affair: where it is missing, nothing is stood in for,
    and the test meets memray's own error.

    Parameters
    ----------
    before_taken
        Called once, before the first who takes the lock has it.
    """

    def __init__(self, before_taken: Callable[[], None]) -> None:
        self._before_taken = before_taken
        self._memrays_own: Lock | None = None

    def install(self) -> None:
        """Take the place of memray's lock."""
        from memray import _memray

        self._memrays_own = getattr(_memray, _LOCK, None)
        if self._memrays_own is not None:
            setattr(_memray, _LOCK, self)

    def remove(self) -> None:
        """Put memray's lock back; nothing happens the second time."""
        from memray import _memray

        if getattr(_memray, _LOCK, None) is self:
            setattr(_memray, _LOCK, self._memrays_own)

    def __enter__(self) -> None:
        self.remove()
        self._before_taken()
        assert self._memrays_own is not None
        self._memrays_own.acquire()

    def __exit__(self, *exc_info: object) -> None:
        assert self._memrays_own is not None
        self._memrays_own.release()
