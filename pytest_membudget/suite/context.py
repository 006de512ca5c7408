"""Context features: the mean, or all values, of a sliding window of latents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import shapes, working_dtype
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath, relative_error
from pytest_membudget.suite.windows import window_count

# A block of the output that stays in a core's own cache while the shifted rows are added to it.
_BLOCK_BYTES = 2**18


def context_mean(latents: NDArray[Any], window: int) -> NDArray[Any]:
    """Mean of each window: the window shrinks to one row.

    The rows of a window are added one shift at a time, straight into a block of the output.

    Parameters
    ----------
    latents
        float [F, D]; float16 is widened.
    window
        Rows per window, W.

    Returns
    -------
    [F - W + 1, D] (none if F < W) in float64 if the latents are, else in float32. NaN spreads to the windows that
    hold it.

    Bytes
    -----
    4 N D in float32 for N windows: the output alone.

    Raises
    ------
    ValueError
        Wrong shape or dtype, or a window below 1.
    """
    shapes(latents=(latents, "float F D"))
    count, size = window_count(len(latents), window), latents.shape[1]
    means = np.empty((count, size), working_dtype(latents))
    for rows in row_blocks(count, 1 + _BLOCK_BYTES // (4 * max(1, size))):
        block = means[rows]
        block[...] = latents[rows]
        for shift in range(1, window):
            block += latents[rows.start + shift : rows.stop + shift]
        block /= window
    return means


def naive_context_mean(latents: NDArray[Any], window: int) -> NDArray[Any]:
    """The same through a list of rows that is copied into an array: 8 N D bytes and N array objects."""
    feat_mean_list = []
    for start in range(len(latents) - window + 1):
        feat_mean = latents[start : start + window].mean(axis=0)
        feat_mean_list.append(feat_mean)
    return np.array(feat_mean_list, dtype=np.float32)


def reference_context_mean(latents: NDArray[Any], window: int) -> NDArray[np.float64]:
    """The means in float64."""
    count = window_count(len(latents), window)
    total = np.zeros((count, latents.shape[1]))
    for shift in range(window):
        total += latents[shift : shift + count]
    return total / window


def context_flat(latents: NDArray[Any], window: int) -> NDArray[Any]:
    """All values of each window side by side: a view, in which windows share their rows.

    Latents that lie row after row are not copied. ``sliding_window_view`` puts the window last; moved back in place,
    numpy can merge the two last axes into one, because a row ends where the next begins. (``as_strided`` says the same
    without the check that the rows do lie so.)

    Parameters
    ----------
    latents
        float [F, D].
    window
        Rows per window, W.

    Returns
    -------
    [F - W + 1, W D] (none if F < W), of the dtype of the latents, read-only where it is a view.

    Bytes
    -----
    0. 4 N W D in float32 for N windows if the rows are not dense: then it must be a copy.

    Raises
    ------
    ValueError
        Wrong shape or dtype, or a window below 1.
    """
    shapes(latents=(latents, "float F D"))
    count, size = window_count(len(latents), window), latents.shape[1]
    if count == 0:
        return np.empty((0, window * size), latents.dtype)
    windows = sliding_window_view(latents, window, axis=0)
    return windows.transpose(0, 2, 1).reshape(count, window * size)


def naive_context_flat(latents: NDArray[Any], window: int) -> NDArray[Any]:
    """The same through a list of flattened copies that is copied into an array: 8 N W D bytes and N array objects."""
    feat_flat_list = []
    for start in range(len(latents) - window + 1):
        feat_flat = latents[start : start + window].flatten()
        feat_flat_list.append(feat_flat)
    return np.array(feat_flat_list, dtype=np.float32)


def reference_context_flat(latents: NDArray[Any], window: int) -> NDArray[Any]:
    """The rows that each column block of the result must hold, [W, N, D]."""
    return sliding_window_view(latents, len(latents) - window + 1, axis=0).transpose(0, 2, 1)


def _column_block_error(found: NDArray[Any], expected: NDArray[Any]) -> float:
    window, _, size = expected.shape
    blocks = (found[:, shift * size : (shift + 1) * size] for shift in range(window))
    return max(relative_error(block, rows) for block, rows in zip(blocks, expected, strict=True))


def _inputs(frames: int, window: int, d: int) -> dict[str, Any]:
    return {"latents": np.random.default_rng(4).standard_normal((frames, d), np.float32), "window": window}


# What numpy allocates besides the data of one small array: its object, its shape and its place in the list.
_ARRAY_BYTES = 140


def _mean_footprint(frames: int, window: int, d: int) -> Footprint:
    count = frames - window + 1
    return Footprint(
        input_bytes=4 * frames * d,
        output_bytes=4 * count * d,
        scratch_bytes=0,
        naive_bytes=8 * count * d + _ARRAY_BYTES * count,
    )


def _flat_footprint(frames: int, window: int, d: int) -> Footprint:
    count = frames - window + 1
    return Footprint(
        input_bytes=4 * frames * d,
        output_bytes=0,
        scratch_bytes=0,
        naive_bytes=8 * count * window * d + _ARRAY_BYTES * count,
    )


PATHS = (
    HotPath(
        name="context_mean",
        seed="000",
        inputs=_inputs,
        lean=context_mean,
        naive=naive_context_mean,
        reference=reference_context_mean,
        footprint=_mean_footprint,
        blamed=(
            "feat_mean = latents[start : start + window].mean(axis=0)",
            "return np.array(feat_mean_list, dtype=np.float32)",
        ),
        tolerance=1e-6,
        small={"frames": 12_000, "window": 8, "d": 256},
        seed_size={"frames": 100_007, "window": 8, "d": 512},
        grows="frames",
        growth={"frames": 8_192, "window": 8, "d": 16},
    ),
    HotPath(
        name="context_flat",
        seed="000",
        inputs=_inputs,
        lean=context_flat,
        naive=naive_context_flat,
        reference=reference_context_flat,
        footprint=_flat_footprint,
        blamed=(
            "feat_flat = latents[start : start + window].flatten()",
            "return np.array(feat_flat_list, dtype=np.float32)",
        ),
        tolerance=0.0,
        small={"frames": 8_000, "window": 8, "d": 128},
        seed_size={"frames": 100_007, "window": 8, "d": 512},
        grows="frames",
        error=_column_block_error,
    ),
)
