"""Rows in blocks: what keeps the scratch of a lean form independent of the number of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def row_blocks(rows: int, block: int) -> Iterator[slice]:
    """Slices of ``block`` rows that cover ``rows``; the last may be shorter."""
    for start in range(0, rows, block):
        yield slice(start, min(start + block, rows))


def float_blocks(
    x: NDArray[Any], block: int, dtype: np.dtype[Any], origin: NDArray[Any] | None = None
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Row blocks of ``x`` [N, D] that a matrix product of ``dtype`` can read without a copy of its own.

    They are views where ``x`` allows it. Where it does not (float16, steps along the last axis, overlapping
    windows) or an ``origin`` [D] of that dtype is to be subtracted, each block goes through one scratch of
    block x D elements, which the next block overwrites.
    """
    if origin is None and _is_gemm_operand(x, dtype):
        for rows in row_blocks(len(x), block):
            yield rows, x[rows]
        return
    scratch = np.empty((min(block, len(x)), x.shape[1]), dtype)
    for rows in row_blocks(len(x), block):
        part = scratch[: rows.stop - rows.start]
        if origin is None:
            part[...] = x[rows]
        else:
            np.subtract(x[rows], origin, out=part, dtype=dtype)
        yield rows, part


def _is_gemm_operand(x: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether BLAS can take ``x``: one axis is dense, the other steps over it without overlap."""
    down, across = x.strides
    by_rows = across == x.itemsize and down >= x.itemsize * x.shape[1]
    by_columns = down == x.itemsize and across >= x.itemsize * x.shape[0]
    return x.dtype == dtype and (by_rows or by_columns)
