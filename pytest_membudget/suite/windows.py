"""Batches of sliding windows over a sequence of frames, for training sequence models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath

Batches = Callable[..., Iterator[NDArray[Any]]]


def window_count(frames: int, window: int, stride: int = 1) -> int:
    """How many whole windows fit: ``(frames - window) // stride + 1``, and none where the frames are too few.

    The test comes first because integer division rounds towards zero in many languages: 29 frames, a window
    of 30 and a stride of 2 would then make one window that is not there.
    """
    at_least(0, frames=frames)
    at_least(1, window=window, stride=stride)
    return 0 if frames < window else (frames - window) // stride + 1


def lazy_batches(
    frames: NDArray[Any], window: int, batch_size: int, stride: int = 1, order: NDArray[Any] | None = None
) -> Iterator[NDArray[Any]]:
    """Batches of windows, gathered from the frames one batch at a time.

    Parameters
    ----------
    frames
        float [F, D], of any layout; windows keep its dtype and are copied unchanged, NaN included.
    window
        Frames per window, W.
    batch_size
        Windows per batch, B; the last batch may be smaller.
    stride
        Frames from the start of one window to the start of the next.
    order
        int [any length], the windows to visit in turn, such as a permutation; all of them in turn if
        None.

    Yields
    ------
    [B, W, D]. It is one buffer that the next batch overwrites: copy what must last.

    Bytes
    -----
    4 B W D + 24 B W in float32, whatever the number of frames.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, a size below 1, or an index in ``order`` of a window that does not
        exist.
    """
    shapes(frames=(frames, "float F D"))
    at_least(1, batch_size=batch_size)
    count = window_count(len(frames), window, stride)
    visits = count if order is None else checked_order(order, count)
    buffer = np.empty((min(batch_size, visits), window, frames.shape[1]), frames.dtype)
    return _gathered(frames, buffer, stride, order, visits)


def _gathered(
    frames: NDArray[Any], buffer: NDArray[Any], stride: int, order: NDArray[Any] | None, visits: int
) -> Iterator[NDArray[Any]]:
    for rows in row_blocks(visits, max(1, len(buffer))):
        chosen = np.arange(rows.start, rows.stop) if order is None else order[rows]
        batch = buffer[: len(chosen)]
        gather_windows(frames, chosen.astype(np.intp) * stride, batch)
        yield batch


def gather_windows(frames: NDArray[Any], starts: NDArray[np.intp], out: NDArray[Any]) -> None:
    """Copy the windows that begin at ``starts`` into ``out`` [B, W, D].

    ``np.take`` is the fast way with two traps: it copies frames that are not contiguous as a whole, and
    without ``mode="clip"`` it fills a second buffer of the size of ``out``. The starts must be valid already.
    """
    window = out.shape[1]
    if frames.flags.c_contiguous:
        np.take(frames, starts[:, None] + np.arange(window), axis=0, out=out, mode="clip")
        return
    for slot, start in enumerate(starts):
        out[slot] = frames[start : start + window]


def checked_order(order: NDArray[Any], count: int) -> int:
    """Check that ``order`` holds numbers of existing windows; return how many it visits.

    Raises
    ------
    ValueError
        The order is no array of integers, or holds a number that is not below ``count``.
    """
    shapes(order=(order, "int N"))
    if order.size and (order.min() < 0 or order.max() >= count):
        raise ValueError(f"order must hold window numbers from 0 to {count - 1}, not {order.min()} to {order.max()}")
    return len(order)


def naive_batches(
    frames: NDArray[Any], window: int, batch_size: int, stride: int = 1, order: NDArray[Any] | None = None
) -> Iterator[NDArray[Any]]:
    """The same with every window built before the first batch: 4 N W D bytes, W times the frames."""
    starts = range(0, len(frames) - window + 1, stride)
    sequences = np.stack([frames[start : start + window] for start in starts])
    visits = np.arange(len(sequences)) if order is None else order
    for first in range(0, len(visits), batch_size):
        yield sequences[visits[first : first + batch_size]]


def epoch_scores(batches: Iterator[NDArray[Any]], weights: NDArray[Any], visits: int) -> NDArray[np.float32]:
    """One pass of a linear model, the stand-in for a training step: a score for each window, 4 bytes each.

    It reads every element of every batch, so a wrong or stale window cannot hide.
    """
    scores = np.empty(visits, np.float32)
    first = 0
    for batch in batches:
        np.dot(batch.reshape(len(batch), -1), weights.ravel(), out=scores[first : first + len(batch)])
        first += len(batch)
    return scores


def epoch(batches: Batches) -> Callable[..., NDArray[np.float32]]:
    """Turn a form of batching into one pass of the linear model over its batches."""

    def run(
        frames: NDArray[Any], weights: NDArray[Any], order: NDArray[Any], stride: int, batch_size: int
    ) -> NDArray[np.float32]:
        return epoch_scores(batches(frames, len(weights), batch_size, stride, order), weights, len(order))

    return run


def reference_epoch(
    frames: NDArray[Any], weights: NDArray[Any], order: NDArray[Any], stride: int, **_: int
) -> NDArray[np.float64]:
    """The scores in float64, without any window: each frame meets each row of weights once."""
    scores = np.zeros(len(order))
    for offset, row in enumerate(weights.astype(np.float64)):
        products = np.concatenate([frames[rows] @ row for rows in row_blocks(len(frames), 4096)])
        scores += products[order * stride + offset]
    return scores


def epoch_inputs(frames: int, window: int, d: int, batch: int, stride: int) -> dict[str, Any]:
    """Frames, the weights of the model, and a shuffled order of all windows."""
    rng = np.random.default_rng(11)
    return {
        "frames": rng.standard_normal((frames, d), np.float32),
        "weights": rng.standard_normal((window, d), np.float32),
        "order": rng.permutation(window_count(frames, window, stride)),
        "stride": stride,
        "batch_size": batch,
    }


def _footprint(frames: int, window: int, d: int, batch: int, stride: int) -> Footprint:
    count = window_count(frames, window, stride)
    batch_bytes = 4 * batch * window * d
    return Footprint(
        input_bytes=4 * frames * d + 8 * count,
        output_bytes=4 * count,
        scratch_bytes=batch_bytes + 8 * batch * (window + 2),
        naive_bytes=4 * count * window * d + 2 * batch_bytes + 4 * count,
    )


PATHS = (
    HotPath(
        name="windows_shuffled",
        seed="001",
        inputs=epoch_inputs,
        lean=epoch(lazy_batches),
        naive=epoch(naive_batches),
        reference=reference_epoch,
        footprint=_footprint,
        blamed=("sequences = np.stack([frames[start : start + window] for start in starts])",),
        tolerance=2e-6,
        small={"frames": 6_000, "window": 30, "d": 128, "batch": 128, "stride": 1},
        seed_size={"frames": 380_029, "window": 30, "d": 287, "batch": 256, "stride": 1},
        grows="frames",
        growth={"frames": 700, "window": 8, "d": 128, "batch": 128, "stride": 1},
    ),
    HotPath(
        name="windows_strided",
        seed="001",
        inputs=epoch_inputs,
        lean=epoch(lazy_batches),
        naive=epoch(naive_batches),
        reference=reference_epoch,
        footprint=_footprint,
        blamed=("sequences = np.stack([frames[start : start + window] for start in starts])",),
        tolerance=2e-6,
        small={"frames": 6_001, "window": 30, "d": 128, "batch": 100, "stride": 7},
        grows="frames",
    ),
)
