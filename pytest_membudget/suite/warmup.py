"""What a process pays once, paid before anything is measured."""

from __future__ import annotations

import numpy as np


def start_blas() -> None:
    """Let BLAS start its threads and allocate their buffers, which are 32 MiB with OpenBLAS."""
    for dtype in (np.float32, np.float64):
        square = np.ones((512, 512), dtype) + np.eye(512, dtype=dtype)
        np.linalg.eigh(square @ square)
