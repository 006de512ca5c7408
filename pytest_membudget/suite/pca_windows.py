"""Principal components of sliding windows, from the rows that the windows share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes, working_dtype
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.context import context_flat, naive_context_flat
from pytest_membudget.suite.eigen import GUARD_VECTORS
from pytest_membudget.suite.hotpath import Footprint, HotPath
from pytest_membudget.suite.pca import Components, check_rank, fit, from_sums, reference_fit, shortfall
from pytest_membudget.suite.windows import window_count

BLOCK_ROWS = 512


@np.errstate(invalid="ignore")  # infinity less infinity: said by from_sums, in words
def fit_windows(latents: NDArray[Any], window: int, k: int) -> Components:
    """The components of all windows of W rows, laid flat to W D columns, without laying one flat.

    Block (a, b) of the scatter of flat windows sums the products of rows a and b of each window, so it depends on
    b - a but for a few rows at both ends: the matrix is block-Hankel in the data, as in singular spectrum analysis
    (Broomhead and King 1986). W products of the latents with their shifts give its first row of blocks; each further
    row is the one above it, less the products of the row that leaves and plus those of the row that enters.

    Parameters
    ----------
    latents
        float [F, D], finite; float16 is widened block by block.
    window
        Rows per window, W, with N = F - W + 1 >= 2 windows.
    k
        How many components, 1 <= k <= min(N, W D).

    Returns
    -------
    Components with W D columns, as ``fit`` of the flat windows gives them.

    Bytes
    -----
    4 (W D)^2 + max(4 D^2 + 2,048 D, 50 (k + 16) W D) in float32, output included.

    Raises
    ------
    ValueError
        Wrong shape or dtype, too few rows, a size out of range, NaN or infinity in the latents.
    """
    lengths = shapes(latents=(latents, "float F D"))
    rows, columns = window_count(lengths["F"], window), window * lengths["D"]
    at_least(2, windows=rows)
    check_rank(k, rows, columns)
    shift = latents[:BLOCK_ROWS].mean(axis=0, dtype=np.float64).astype(working_dtype(latents))
    scatter = np.zeros((columns, columns), shift.dtype)
    total = _lag_products(latents, shift, rows, scatter)
    leaving, entering = latents[: window - 1] - shift, latents[rows:] - shift
    _slide(scatter, leaving, entering)
    steps = np.concatenate([np.zeros((1, len(shift))), np.cumsum(entering - leaving, axis=0, dtype=np.float64)])
    return from_sums(np.tile(shift, window), ((total + steps) / rows).ravel(), scatter, rows, k)


def _lag_products(latents: NDArray[Any], shift: NDArray[Any], rows: int, scatter: NDArray[Any]) -> NDArray[np.float64]:
    """Sum the products of row j and row j + lag into the first row of blocks; return the sum of the rows j [D]."""
    size, lags = len(shift), len(scatter) // len(shift)
    total, product = np.zeros(size), np.empty((size, size), shift.dtype)
    scratch = np.empty((min(BLOCK_ROWS, rows) + lags - 1, size), shift.dtype)
    for block in row_blocks(rows, BLOCK_ROWS):
        count = block.stop - block.start
        part = scratch[: count + lags - 1]
        np.subtract(latents[block.start : block.stop + lags - 1], shift, out=part, dtype=shift.dtype)
        total += part[:count].sum(axis=0, dtype=np.float64)
        for lag in range(lags):
            np.matmul(part[:count].T, part[lag : lag + count], out=product)
            scatter[:size, lag * size : (lag + 1) * size] += product
    return total


def _slide(scatter: NDArray[Any], leaving: NDArray[Any], entering: NDArray[Any]) -> None:
    """Fill the rows of blocks below the first, right of the diagonal, from the block above to the left of each."""
    lags, size = len(leaving) + 1, leaving.shape[1]
    blocks = scatter.reshape(lags, size, lags, size)
    for above in range(lags - 1):
        for left in range(above, lags - 1):
            block = blocks[above + 1, :, left + 1]
            block[...] = blocks[above, :, left]
            block -= np.outer(leaving[above], leaving[left])
            block += np.outer(entering[above], entering[left])


def naive_fit_windows(latents: NDArray[Any], window: int, k: int) -> Components:
    """The same from the flat windows, collected in a list and copied into an array: 8 N W D bytes."""
    features_flat = naive_context_flat(latents, window)
    return fit(features_flat, k)


def reference_fit_windows(
    latents: NDArray[Any], window: int, k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Mean, covariance, and the variance that the best k directions of the flat windows capture, in float64."""
    return reference_fit(context_flat(latents, window), k)


def _inputs(frames: int, window: int, d: int, k: int) -> dict[str, Any]:
    """Latents that drift: each row remembers the one before, so that the windows have a decaying spectrum."""
    rng = np.random.default_rng(5)
    latents = rng.standard_normal((frames, d), np.float32) + np.float32(1)
    for row in range(1, frames):
        latents[row] += np.float32(0.7) * latents[row - 1]
    return {"latents": latents, "window": window, "k": k}


def _footprint(frames: int, window: int, d: int, k: int) -> Footprint:
    rows, columns = frames - window + 1, window * d
    blocks = 4 * d**2 + 4 * (BLOCK_ROWS + window) * d
    return Footprint(
        input_bytes=4 * frames * d,
        output_bytes=4 * (k + 1) * columns + 8 * k,
        scratch_bytes=4 * columns**2 + max(blocks, 50 * (k + GUARD_VECTORS) * columns),
        naive_bytes=8 * rows * columns + 140 * rows,
    )


PATHS = (
    HotPath(
        name="pca_fit_windows",
        seed="000",
        inputs=_inputs,
        lean=fit_windows,
        naive=naive_fit_windows,
        reference=reference_fit_windows,
        footprint=_footprint,
        blamed=(
            "feat_flat = latents[start : start + window].flatten()",
            "return np.array(feat_flat_list, dtype=np.float32)",
        ),
        tolerance=1e-6,
        small={"frames": 6_000, "window": 8, "d": 64, "k": 16},
        seed_size={"frames": 100_007, "window": 8, "d": 512, "k": 64},
        grows="frames",
        error=shortfall,
    ),
)
