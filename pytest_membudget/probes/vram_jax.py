"""JAX's allocator: a peak since the process began, which nothing sets back, so exact only when a test raises it."""

from __future__ import annotations

import sys
from typing import Any

from pytest_membudget.core.vram import Levels
from pytest_membudget.core.vram_choice import not_imported
from pytest_membudget.probes.vram_source import Scope, VramError

_NOW = "bytes_in_use"
_PEAK = "peak_bytes_in_use"
_BRIDGE = "jax._src.xla_bridge"


class JaxSource:
    """Reads ``Device.memory_stats``."""

    name = "jax"
    exact = True
    scope: Scope = "allocator"
    cannot_see = "memory that JAX's allocator reserved and did not use, peaks below an earlier one"

    def __init__(self) -> None:
        self._started: dict[str, tuple[int, int]] = {}

    def unavailable(self) -> str | None:
        """Return why not: not imported, no backend yet, or devices without statistics (the CPU has none)."""
        if "jax" not in sys.modules:
            return not_imported("jax")
        bridge = sys.modules.get(_BRIDGE)
        # Asking JAX for its devices would initialise it; only this private function tells whether it is.
        if bridge is None or not hasattr(bridge, "backends_are_initialized"):
            return "this version of JAX does not tell whether it has begun to use a device"
        if not bridge.backends_are_initialized():
            return "JAX has not begun to use a device"
        return None if _stats() else "JAX runs on a device that keeps no statistics"

    def reset(self) -> None:
        """Remember the mark, since it cannot be set back."""
        self._started = {} if self.unavailable() else {name: (now, peak) for name, (now, peak) in _stats().items()}

    def in_use(self) -> Levels:
        """Return the bytes in use now."""
        return {name: now for name, (now, _) in _stats().items()}

    def high_water(self) -> Levels:
        """Return the most bytes in use since ``reset``.

        Raises
        ------
        VramError
            When all that can be said is that it was no more than an earlier peak.
        """
        return {name: self._peak_bytes(name, now, peak) for name, (now, peak) in _stats().items()}

    def close(self) -> None:
        """Nothing was changed."""

    def _peak_bytes(self, name: str, now_bytes: int, peak_bytes: int) -> int:
        start_bytes, old_peak_bytes = self._started.get(name, (0, 0))
        if peak_bytes > old_peak_bytes or peak_bytes in (now_bytes, start_bytes):
            return peak_bytes
        raise VramError("JAX's mark cannot be set back, and the test stayed below an earlier peak")


def _stats() -> dict[str, tuple[int, int]]:
    """Return the present level and the peak of each device that keeps them."""
    jax: Any = sys.modules["jax"]
    found = {str(device): device.memory_stats() for device in jax.local_devices()}
    return {name: (int(stats[_NOW]), int(stats[_PEAK])) for name, stats in found.items() if stats and _PEAK in stats}
