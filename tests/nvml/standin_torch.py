"""A module that stands in for torch with CUDA: a caching allocator with torch's counters, and torch's refusals.

``CachingAllocator`` hands memory out of what it has in reserve before it asks the device for more, as the real one
does, so a second test can take a gigabyte without the driver seeing any of it.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

RESERVED_BYTES = 2**37
NO_RESERVE = 0x4000


class CachingAllocator:
    """Bytes in tensors and bytes in reserve; ``grow`` is told how much the device gives or gets back."""

    def __init__(self, grow: Callable[[int], None]) -> None:
        self._grow = grow
        self.allocated = self.allocated_peak = self.reserved = 0

    def take(self, size: int) -> None:
        """Hand out memory, from the reserve as far as that goes."""
        self.allocated += size
        self.allocated_peak = max(self.allocated_peak, self.allocated)
        if self.allocated > self.reserved:
            self._grow(self.allocated - self.reserved)
            self.reserved = self.allocated

    def give(self, size: int) -> None:
        """Take memory back into the reserve."""
        self.allocated -= size

    def empty_cache(self) -> None:
        """Give the reserve back to the device."""
        self._grow(self.allocated - self.reserved)
        self.reserved = self.allocated


class Tensor:
    """Some bytes on a device, for as long as it lives."""

    def __init__(self, cuda: Cuda, size: int, index: int) -> None:
        cuda.init()
        self._allocator = cuda.allocators[index]
        self._size = size
        self._allocator.take(size)

    def __del__(self) -> None:
        self._allocator.give(self._size)


class Cuda(ModuleType):
    """What the plugin, and tests, use of ``torch.cuda``."""

    def __init__(self, count: int, backend: str, grow: Callable[[int], None], context_bytes: int) -> None:
        super().__init__("torch.cuda")
        self.allocators = [CachingAllocator(grow) for _ in range(count)]
        self._backend = backend
        self._grow = grow
        self._context_bytes = context_bytes
        self._initialized = False

    def init(self) -> None:
        """Create the context, which reserves address space that it never touches."""
        if not self._initialized:
            self._initialized = True
            self.reserved = mmap.mmap(
                -1, RESERVED_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE, prot=0
            )
            self._grow(self._context_bytes)

    def is_initialized(self) -> bool:
        """Whether there is a context."""
        return self._initialized

    def is_available(self) -> bool:
        """There is a GPU."""
        return True

    def synchronize(self) -> None:
        """Everything has happened already."""

    def device_count(self) -> int:
        """Return the number of devices."""
        return len(self.allocators)

    def get_device_name(self, index: int) -> str:
        """Return a name."""
        return f"Stand-in {index}"

    def get_allocator_backend(self) -> str:
        """Return which allocator is in use."""
        return self._backend

    def memory_stats(self, index: int = 0) -> dict[str, int]:
        """Return the counters: none before CUDA has begun, zeros where the allocator keeps none."""
        if not self._initialized:
            return {}
        allocator, kept = self.allocators[index], int(self._backend == "native")
        return {
            "allocated_bytes.all.current": allocator.allocated * kept,
            "allocated_bytes.all.peak": allocator.allocated_peak * kept,
        }

    def reset_peak_memory_stats(self, index: int = 0) -> None:
        """Set the mark back, which is refused before CUDA has begun."""
        if not self._initialized:
            raise RuntimeError("invalid argument to reset_peak_memory_stats")
        self.allocators[index].allocated_peak = self.allocators[index].allocated

    def empty_cache(self) -> None:
        """Give the reserves back."""
        for allocator in self.allocators:
            allocator.empty_cache()


def install(
    grow: Callable[[int], None] = lambda _: None, *, count: int = 1, backend: str = "native", context_bytes: int = 0
) -> Any:
    """Put the stand-in where ``import torch`` finds it, and return it."""
    torch: Any = ModuleType("torch")
    torch.cuda = Cuda(count, backend, grow, context_bytes)
    torch.empty = lambda size, device=0: Tensor(torch.cuda, size, device)
    torch.zeros = lambda size, **_: Tensor(torch.cuda, size, 0)
    sys.modules["torch"], sys.modules["torch.cuda"] = torch, torch.cuda
    return torch
