"""TensorFlow's allocator: exact peaks that can be set back."""

from __future__ import annotations

import sys
from typing import Any

from pytest_membudget.core.vram import Levels
from pytest_membudget.core.vram_choice import not_imported
from pytest_membudget.probes.vram_source import Scope

_CONTEXT = "tensorflow.python.eager.context"


class TensorflowSource:
    """Reads ``tf.config.experimental.get_memory_info``."""

    name = "tensorflow"
    exact = True
    scope: Scope = "allocator"
    cannot_see = "memory that TensorFlow reserved and did not use, and what its libraries allocate themselves"

    def unavailable(self) -> str | None:
        """Return why not: not imported, not begun, or no GPU."""
        if "tensorflow" not in sys.modules:
            return not_imported("tensorflow")
        # Any question about memory would initialise TensorFlow, which takes the whole GPU; only its context tells.
        module = sys.modules.get(_CONTEXT)
        context = module.context_safe() if module is not None else None
        if not getattr(context, "_initialized", False):
            return "TensorFlow has not begun to use a device"
        return None if _devices() else "TensorFlow uses no GPU"

    def reset(self) -> None:
        """Set the mark back."""
        if self.unavailable() is None:
            for device in _devices():
                _memory().reset_memory_stats(device)

    def in_use(self) -> Levels:
        """Return the bytes in use now."""
        return {device: int(_memory().get_memory_info(device)["current"]) for device in _devices()}

    def high_water(self) -> Levels:
        """Return the most bytes in use since ``reset``."""
        return {device: int(_memory().get_memory_info(device)["peak"]) for device in _devices()}

    def close(self) -> None:
        """Nothing was changed."""


def _memory() -> Any:
    return sys.modules["tensorflow"].config.experimental


def _devices() -> list[str]:
    logical = sys.modules["tensorflow"].config.list_logical_devices("GPU")
    return [f"GPU:{index}" for index in range(len(logical))]
