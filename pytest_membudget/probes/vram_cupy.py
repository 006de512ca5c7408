"""CuPy's memory pool, followed allocation by allocation: exact for what the test's own thread does."""

from __future__ import annotations

import sys
from typing import Any

from pytest_membudget.core.vram import Levels, highest
from pytest_membudget.core.vram_choice import not_imported
from pytest_membudget.probes.vram_source import Scope, VramError

_HOOK_NAME = "membudget"


class CupySource:
    """Counts along with a memory hook, since the pool itself keeps no peak.

    CuPy calls a hook only in the thread that registered it. Where the count and the pool disagree in the end, another
    thread took part, and there is no figure.
    """

    name = "cupy"
    exact = True
    scope: Scope = "allocator"
    cannot_see = "memory that did not come from CuPy's default pool, blocks that the pool keeps in reserve"

    def __init__(self) -> None:
        self._levels: dict[int, int] = {}
        self._peaks: dict[int, int] = {}
        self._hook: Any = None
        self._began_without = False

    def unavailable(self) -> str | None:
        """Return why not: not imported, or memory comes from elsewhere than the default pool."""
        cupy = sys.modules.get("cupy")
        if cupy is None:
            return not_imported("cupy")
        if cupy.cuda.get_allocator() != cupy.get_default_memory_pool().malloc:
            return "CuPy allocates from another pool than its default one"
        if self._began_without:
            return "CuPy was imported in the course of the test, too late to count along"
        if not self._levels and not _pool_bytes():
            return "CuPy has allocated no GPU memory"
        return None

    def reset(self) -> None:
        """Set the mark back, and begin to count if CuPy has been imported."""
        self._began_without = "cupy" not in sys.modules
        if self._began_without:
            return
        if self._hook is None:
            self._hook = _new_hook(self)
            self._hook.__enter__()
            self._levels = _pool_bytes()
        self._peaks = dict(self._levels)

    def in_use(self) -> Levels:
        """Return the bytes in arrays now."""
        pool = _pool_bytes()
        if self._hook is not None and any(pool.get(device, 0) != self._levels.get(device, 0) for device in pool):
            raise VramError("CuPy's memory was used by several threads, and its hooks see one")
        return _named(pool)

    def high_water(self) -> Levels:
        """Return the most bytes in arrays since ``reset``."""
        return highest(_named(self._peaks), self.in_use())

    def close(self) -> None:
        """Stop counting."""
        if self._hook is not None:
            self._hook.__exit__(None, None, None)
        self._hook, self._levels, self._peaks, self._began_without = None, {}, {}, False

    def note(self, device: int, size_bytes: int) -> None:
        """Take an allocation, or a release as a negative size, into account."""
        self._levels[device] = self._levels.get(device, 0) + size_bytes
        self._peaks[device] = max(self._peaks.get(device, 0), self._levels[device])


def _new_hook(source: CupySource) -> Any:
    base: Any = sys.modules["cupy"].cuda.MemoryHook

    class Hook(base):  # type: ignore[misc]  # CuPy's class, known at run time only
        """Tells the source what the pool hands out and takes back."""

        name = _HOOK_NAME

        def malloc_postprocess(self, **call: int) -> None:
            if call["mem_ptr"]:
                source.note(call["device_id"], call["mem_size"])

        def free_postprocess(self, **call: int) -> None:
            source.note(call["device_id"], -call["mem_size"])

    return Hook()


def _pool_bytes() -> dict[int, int]:
    """Return the bytes in use in the pool of the current device: asking for another one would create its context."""
    cupy = sys.modules["cupy"]
    used_bytes = int(cupy.get_default_memory_pool().used_bytes())
    return {int(cupy.cuda.runtime.getDevice()): used_bytes} if used_bytes else {}


def _named(levels: Levels | dict[int, int]) -> Levels:
    return {f"cuda:{device}": size_bytes for device, size_bytes in levels.items()}
