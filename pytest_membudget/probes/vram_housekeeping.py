"""Bringing GPU memory to rest before a test, so that what earlier tests left behind does not blur its beginning."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

WarmUp = Literal["auto", "always", "never"]


def bring_to_rest(collect_garbage: Callable[[], None]) -> None:
    """Let go of a failed test's variables and empty the caches of frameworks that hold GPU memory.

    Does nothing, at no cost, in a process that holds none.
    """
    held = [empty for empty in (_torch_cache(), _cupy_cache()) if empty]
    if held:
        _clear_last_failure()
        collect_garbage()
    for empty in held:
        empty()


def warm_up(when: WarmUp, may_fork: bool) -> None:
    """Have torch create its CUDA context now rather than inside the first test that is measured.

    The context takes some hundred MiB of the GPU and reserves address space, which would be charged to that test. A
    context does not survive a fork, so by default a test that may fork gets none from here.
    """
    torch = sys.modules.get("torch")
    if torch is None or when == "never" or (when == "auto" and may_fork):
        return
    if not torch.cuda.is_initialized() and torch.cuda.is_available():
        torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def _torch_cache() -> Callable[[], object] | None:
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    empty: Callable[[], object] = torch.cuda.empty_cache
    return empty


def _cupy_cache() -> Callable[[], object] | None:
    cupy: Any = sys.modules.get("cupy")
    if cupy is None:
        return None
    return lambda: cupy.get_default_memory_pool().free_all_blocks()


def _clear_last_failure() -> None:
    """Drop the local variables of the last failed test: its traceback would keep their tensors alive."""
    last: BaseException | None = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    seen: set[int] = set()
    while last is not None and id(last) not in seen:
        seen.add(id(last))
        _clear(last.__traceback__)
        last = last.__cause__ or last.__context__
    _clear(getattr(sys, "last_traceback", None))


def _clear(frames: TracebackType | None) -> None:
    if frames is not None:
        traceback.clear_frames(frames)
