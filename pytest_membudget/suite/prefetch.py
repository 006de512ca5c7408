"""Window batches that a thread gathers while the model works on the batch before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath
from pytest_membudget.suite.windows import (
    checked_order,
    epoch,
    epoch_inputs,
    gather_windows,
    reference_epoch,
    window_count,
)

DEPTH = 2


def prefetched_batches(
    frames: NDArray[Any], window: int, batch_size: int, stride: int, order: NDArray[Any], depth: int = DEPTH
) -> Iterator[NDArray[Any]]:
    """Batches of windows, up to ``depth`` of them gathered ahead by one thread.

    A further batch is begun only when the model asks for the next one, so a slow model holds the loader back instead
    of letting batches pile up, and ``depth + 1`` buffers in turn are enough.

    Parameters
    ----------
    frames
        float [F, D], of any layout.
    window
        Frames per window, W.
    batch_size
        Windows per batch, B; the last batch may be smaller.
    stride
        Frames from the start of one window to the start of the next.
    order
        int [any length], the windows to visit in turn.
    depth
        Batches to gather ahead, at least 1.

    Yields
    ------
    [B, W, D]. The buffer is filled again once the next batch is asked for: copy what must last.

    Bytes
    -----
    4 (depth + 1) B W D + 24 B W in float32, whatever the number of frames.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, a size below 1, or an index of a window that does not exist.
    """
    shapes(frames=(frames, "float F D"))
    at_least(1, batch_size=batch_size, depth=depth)
    visits = checked_order(order, window_count(len(frames), window, stride))
    ring = np.empty((depth + 1, min(batch_size, visits), window, frames.shape[1]), frames.dtype)
    return _pipelined(frames, order, stride, ring)


def _pipelined(frames: NDArray[Any], order: NDArray[Any], stride: int, ring: NDArray[Any]) -> Iterator[NDArray[Any]]:
    ahead: deque[Future[NDArray[Any]]] = deque()
    with ThreadPoolExecutor(max_workers=1) as loader:
        for number, rows in enumerate(row_blocks(len(order), max(1, ring.shape[1]))):
            buffer = ring[number % len(ring), : rows.stop - rows.start]
            ahead.append(loader.submit(_filled, buffer, frames, order[rows], stride))
            if len(ahead) == len(ring):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _filled(buffer: NDArray[Any], frames: NDArray[Any], order: NDArray[Any], stride: int) -> NDArray[Any]:
    gather_windows(frames, order.astype(np.intp) * stride, buffer)
    return buffer


def naive_prefetched_batches(
    frames: NDArray[Any], window: int, batch_size: int, stride: int, order: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    """The same with every batch handed to the pool at once, and kept by its future: 4 N W D bytes."""

    def load(chosen: NDArray[Any]) -> NDArray[Any]:
        states: NDArray[Any] = np.stack([frames[start : start + window] for start in chosen * stride])
        return states

    with ThreadPoolExecutor(max_workers=1) as loader:
        futures = [loader.submit(load, order[rows]) for rows in row_blocks(len(order), batch_size)]
        for future in futures:
            yield future.result()


def _footprint(frames: int, window: int, d: int, batch: int, stride: int) -> Footprint:
    count = window_count(frames, window, stride)
    return Footprint(
        input_bytes=4 * frames * d + 8 * count,
        output_bytes=4 * count,
        scratch_bytes=4 * (DEPTH + 1) * batch * window * d + 8 * batch * (window + 2),
        naive_bytes=4 * count * window * d + 4 * count,
    )


PATHS = (
    HotPath(
        name="windows_prefetched",
        seed="001",
        inputs=epoch_inputs,
        lean=epoch(prefetched_batches),
        naive=epoch(naive_prefetched_batches),
        reference=reference_epoch,
        footprint=_footprint,
        blamed=("states: NDArray[Any] = np.stack([frames[start : start + window] for start in chosen * stride])",),
        tolerance=2e-6,
        small={"frames": 6_000, "window": 30, "d": 128, "batch": 128, "stride": 1},
        grows="frames",
        growth={"frames": 700, "window": 8, "d": 128, "batch": 128, "stride": 1},
    ),
)
