"""PyTorch's caching allocator, CUDA and ROCm alike: exact peaks, also of memory that it took from its cache."""

from __future__ import annotations

import sys
from typing import Any

from pytest_membudget.core.vram import Levels, highest
from pytest_membudget.core.vram_choice import not_imported
from pytest_membudget.probes.peak_reset_guard import PeakResetGuard
from pytest_membudget.probes.vram_source import Scope

_CURRENT = "allocated_bytes.all.current"
_PEAK = "allocated_bytes.all.peak"
# Where a test can set the allocator's mark back. The first two are what all others end in, however they were imported;
# they are private, so the public ones stand here as well.
_RESETS = (
    ("torch._C", "_cuda_resetPeakMemoryStats"),
    ("torch._C", "_accelerator_resetPeakStats"),
    ("torch.cuda.memory", "reset_peak_memory_stats"),
    ("torch.cuda", "reset_peak_memory_stats"),
    ("torch.accelerator.memory", "reset_peak_memory_stats"),
    ("torch.accelerator", "reset_peak_memory_stats"),
)


class TorchSource:
    """Reads ``torch.cuda.memory_stats``: bytes in tensors, not those that the allocator keeps in reserve.

    Setting the mark back also sets back what the user reads with ``torch.cuda.max_memory_allocated``. A test that sets
    it back itself is noticed, and what the mark said before is kept.
    """

    name = "torch"
    exact = True
    scope: Scope = "allocator"
    cannot_see = "the CUDA context, the libraries' own workspaces, and memory that did not come from torch's allocator"

    def __init__(self) -> None:
        self._seen: Levels = {}
        self._guard = PeakResetGuard(_RESETS, self._keep_mark)

    def unavailable(self) -> str | None:
        """Return why not: not imported, CUDA not begun, or an allocator without statistics."""
        torch = sys.modules.get("torch")
        if torch is None:
            return not_imported("torch")
        if not torch.cuda.is_initialized():
            return "torch has not initialised CUDA"
        backend = torch.cuda.get_allocator_backend()
        if backend != "native":
            return f"torch allocates through {backend}, which keeps no statistics"
        return None

    def reset(self) -> None:
        """Set the mark back, which torch refuses before CUDA is initialised."""
        self._guard.put_up()
        self._seen = {}
        if self.unavailable() is None:
            with self._guard.ignored():
                for index in range(_cuda().device_count()):
                    _cuda().reset_peak_memory_stats(index)

    def in_use(self) -> Levels:
        """Return the bytes in tensors now."""
        return _levels(_CURRENT)

    def high_water(self) -> Levels:
        """Return the most bytes in tensors since ``reset``."""
        return highest(self._seen, _levels(_PEAK))

    def close(self) -> None:
        """Let torch be as it was."""
        self._guard.take_down()

    def _keep_mark(self) -> None:
        if self.unavailable() is None:
            self._seen = self.high_water()


def _cuda() -> Any:
    return sys.modules["torch"].cuda


def _levels(key: str) -> Levels:
    cuda = _cuda()
    return {
        f"cuda:{index} ({cuda.get_device_name(index)})": int(cuda.memory_stats(index).get(key, 0))
        for index in range(cuda.device_count())
    }
