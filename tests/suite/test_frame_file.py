"""The edges of windows from a file."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.frame_file import TemporaryFrames, file_batches
from pytest_membudget.suite.windows import lazy_batches


def _saved(folder: Path, frames: NDArray[Any]) -> Path:
    path = folder / "frames.npy"
    np.save(path, frames)
    return path


def _frames(count: int, d: int = 5) -> NDArray[Any]:
    return np.random.default_rng(0).standard_normal((count, d), np.float32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("batch_size", [1, 5, 100])
def test_same_windows_as_from_memory(tmp_path: Path, dtype: Any, batch_size: int) -> None:
    """Every float type is read as it was written, in any batch size."""
    frames = _frames(40).astype(dtype)
    order = np.random.default_rng(1).permutation(12)
    expected = [batch.copy() for batch in lazy_batches(frames, 3, batch_size, 3, order)]

    found = [batch.copy() for batch in file_batches(_saved(tmp_path, frames), 3, batch_size, 3, order)]

    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(expected))


@pytest.mark.parametrize("frames", [0, 2])
def test_too_few_frames_give_no_batch(tmp_path: Path, frames: int) -> None:
    """Without a whole window there is no batch."""
    assert list(file_batches(_saved(tmp_path, _frames(frames)), 3, 4, 1, np.empty(0, int))) == []


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    """Frames that vanish are an error, not zeros."""
    path = _saved(tmp_path, _frames(40))
    batches = file_batches(path, 3, 4, 1, np.arange(30))
    path.write_bytes(path.read_bytes()[:-600])

    with pytest.raises(ValueError, match="cut short while it was read"):
        list(batches)


def test_wrong_files(tmp_path: Path) -> None:
    """A file that cannot hold the frames is refused with one sentence."""
    order = np.arange(3)
    path = _saved(tmp_path, np.asfortranarray(_frames(9)))
    with pytest.raises(
        ValueError, match=r"must hold a float array \[F, D\] in C order, not float32 \(9, 5\) in Fortran"
    ):
        file_batches(path, 3, 4, 1, order)
    path = _saved(tmp_path, np.arange(9))
    with pytest.raises(ValueError, match=r"must hold a float array \[F, D\] in C order, not int64 \(9,\) in C order"):
        file_batches(path, 3, 4, 1, order)
    path = _saved(tmp_path, _frames(9))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="must hold 9 frames, but is cut short"):
        file_batches(path, 3, 4, 1, order)
    path.write_bytes(b"not numpy at all")
    with pytest.raises(ValueError, match="magic string is not correct"):
        file_batches(path, 3, 4, 1, order)


def test_temporary_frames_go_with_their_object() -> None:
    """The file is there while the object is, and its folder goes with it."""
    temporary = TemporaryFrames(_frames(9))
    folder = temporary.path.parent
    np.testing.assert_array_equal(np.load(temporary), _frames(9))

    del temporary
    gc.collect()

    assert not folder.exists()
