"""Window batches read from a file of frames that is never loaded."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath
from pytest_membudget.suite.windows import (
    checked_order,
    epoch,
    epoch_inputs,
    reference_epoch,
    window_count,
)

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def file_batches(
    frames: str | os.PathLike[str], window: int, batch_size: int, stride: int, order: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    """Batches of windows, each read from the file straight into its place in the batch.

    A memory map would look leaner than it is: the kernel may map far more of the file than is touched, all of that is
    resident, and a heap profiler counts the whole map.

    Parameters
    ----------
    frames
        Path of a .npy file, float [F, D], rows in C order.
    window
        Frames per window, W.
    batch_size
        Windows per batch, B; the last batch may be smaller.
    stride
        Frames from the start of one window to the start of the next.
    order
        int [any length], the windows to visit in turn.

    Yields
    ------
    [B, W, D]. It is one buffer that the next batch overwrites: copy what must last.

    Bytes
    -----
    4 B W D + 2^15 in float32, whatever the size of the file.

    Raises
    ------
    ValueError
        No such .npy file, one cut short, a size below 1, or an index of a window that does not exist.
    """
    at_least(1, batch_size=batch_size)
    with Path(frames).open("rb") as file:
        rows, columns, dtype, start = _checked_header(file)
    visits = checked_order(order, window_count(rows, window, stride))
    buffer = np.empty((min(batch_size, visits), window, columns), dtype)
    return _read_batches(Path(frames), start, buffer, stride, order)


def _checked_header(file: BinaryIO) -> tuple[int, int, np.dtype[Any], int]:
    """Rows, columns, dtype and first byte of the frames in a .npy file."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"the file of frames must have .npy format 1.0 or 2.0, not {version[0]}.{version[1]}")
    shape, by_columns, dtype = _HEADERS[version](file)
    if len(shape) != 2 or by_columns or dtype.kind != "f":
        order = "Fortran" if by_columns else "C"
        raise ValueError(f"the file must hold a float array [F, D] in C order, not {dtype} {shape} in {order} order")
    start = file.tell()
    if file.seek(0, os.SEEK_END) < start + shape[0] * shape[1] * dtype.itemsize:
        raise ValueError(f"the file of frames must hold {shape[0]} frames, but is cut short")
    return shape[0], shape[1], dtype, start


def _read_batches(
    path: Path, start: int, buffer: NDArray[Any], stride: int, order: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    step = stride * buffer[0, 0].nbytes if buffer.size else 0
    with path.open("rb", buffering=0) as file:
        for rows in row_blocks(len(order), max(1, len(buffer))):
            batch = buffer[: rows.stop - rows.start]
            for window, number in zip(batch, order[rows].tolist(), strict=True):
                file.seek(start + number * step)
                _read_fully(file, memoryview(window.reshape(-1).view(np.uint8)))
            yield batch


def _read_fully(file: Any, target: memoryview) -> None:
    """Fill ``target``; one read may give less than was asked for."""
    while target:
        count = file.readinto(target)
        if not count:
            raise ValueError("the file of frames was cut short while it was read")
        target = target[count:]


def naive_file_batches(
    frames: str | os.PathLike[str], window: int, batch_size: int, stride: int, order: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    """The same with the whole file in memory: 4 F D bytes besides the batch."""
    loaded = np.load(frames)
    for rows in row_blocks(len(order), batch_size):
        yield np.stack([loaded[start : start + window] for start in order[rows] * stride])


class TemporaryFrames:
    """A .npy file in a folder of its own, which goes when this object does."""

    def __init__(self, frames: NDArray[Any]) -> None:
        """Write the frames."""
        folder = tempfile.mkdtemp(prefix="membudget-suite-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder, "frames.npy")
        np.save(self.path, frames)

    def __fspath__(self) -> str:
        return str(self.path)


def _inputs(**sizes: int) -> dict[str, Any]:
    arguments = epoch_inputs(**sizes)
    return {**arguments, "frames": TemporaryFrames(arguments["frames"])}


def _reference(frames: TemporaryFrames, **arguments: Any) -> NDArray[np.float64]:
    return reference_epoch(np.load(frames), **arguments)


def _footprint(frames: int, window: int, d: int, batch: int, stride: int) -> Footprint:
    count = window_count(frames, window, stride)
    batch_bytes = 4 * batch * window * d
    return Footprint(
        input_bytes=8 * count,
        output_bytes=4 * count,
        scratch_bytes=batch_bytes + 2**15,
        naive_bytes=4 * frames * d + 2 * batch_bytes + 4 * count,
    )


PATHS = (
    HotPath(
        name="windows_from_file",
        seed="001",
        inputs=_inputs,
        lean=epoch(file_batches),
        naive=epoch(naive_file_batches),
        reference=_reference,
        footprint=_footprint,
        blamed=("loaded = np.load(frames)",),
        tolerance=2e-6,
        small={"frames": 16_000, "window": 30, "d": 128, "batch": 128, "stride": 1},
        seed_size={"frames": 380_029, "window": 30, "d": 287, "batch": 256, "stride": 1},
        grows="frames",
        growth={"frames": 700, "window": 8, "d": 128, "batch": 128, "stride": 1},
    ),
)
