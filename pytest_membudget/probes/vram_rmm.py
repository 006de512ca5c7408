"""RAPIDS Memory Manager, when its statistics are switched on: exact peaks of all that allocates through it."""

from __future__ import annotations

import sys
from typing import Any

from pytest_membudget.core.vram import Levels
from pytest_membudget.core.vram_choice import not_imported
from pytest_membudget.probes.vram_source import Scope, VramError

_DEVICE = "RMM's current device"


class RmmSource:
    """Pushes a layer of counters onto RMM's statistics and takes it off again.

    A new layer counts from zero, so ``_below_bytes`` remembers what was in use beneath it.
    """

    name = "rmm"
    exact = True
    scope: Scope = "allocator"
    cannot_see = "memory that does not come from RMM's current resource, other devices than the current one"

    def __init__(self) -> None:
        self._pushed_onto: object = None
        self._below_bytes = 0

    def unavailable(self) -> str | None:
        """Return why not: not imported, or the user has not switched statistics on."""
        if "rmm" not in sys.modules:
            return not_imported("rmm")
        statistics = sys.modules.get("rmm.statistics")
        if statistics is None or statistics.get_statistics() is None:
            return "RMM's statistics are off: rmm.statistics.enable_statistics() switches them on"
        return None

    def reset(self) -> None:
        """Replace the layer of counters by a fresh one."""
        self.close()
        if self.unavailable() is None:
            self._below_bytes = int(_statistics().get_statistics().current_bytes)
            _statistics().push_statistics()
            self._pushed_onto = _resource()

    def in_use(self) -> Levels:
        """Return the bytes in use now."""
        return {_DEVICE: self._below_bytes + int(self._counters().current_bytes)}

    def high_water(self) -> Levels:
        """Return the most bytes in use since ``reset``."""
        return {_DEVICE: self._below_bytes + int(self._counters().peak_bytes)}

    def close(self) -> None:
        """Take the layer off, so that the user's own counters go on as if it had never been there."""
        if self._pushed_onto is not None and self._pushed_onto is _resource():
            _statistics().pop_statistics()
        self._pushed_onto, self._below_bytes = None, 0

    def _counters(self) -> Any:
        if self._pushed_onto is not None and self._pushed_onto is not _resource():
            raise VramError("the test changed RMM's current resource, so its counters are not those of the start")
        return _statistics().get_statistics()


def _statistics() -> Any:
    return sys.modules["rmm.statistics"]


def _resource() -> object:
    return sys.modules["rmm.mr"].get_current_device_resource() if "rmm.mr" in sys.modules else None
