"""The edges of window batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.windows import lazy_batches, naive_batches, window_count


def _frames(count: int, d: int = 5) -> NDArray[Any]:
    return np.random.default_rng(0).standard_normal((count, d), np.float32)


def _all(frames: NDArray[Any], *arguments: Any, **options: Any) -> NDArray[Any]:
    """The windows of all batches in one array, copied before the next batch overwrites them."""
    copies = [batch.copy() for batch in lazy_batches(frames, *arguments, **options)]
    return np.concatenate(copies) if copies else np.empty((0, 0, 0))


@pytest.mark.parametrize(
    ("frames", "window", "stride", "expected"),
    [(0, 3, 1, 0), (2, 3, 1, 0), (29, 30, 2, 0), (3, 3, 1, 1), (4, 3, 2, 1), (5, 3, 2, 2), (10, 1, 1, 10)],
)
def test_window_count(frames: int, window: int, stride: int, expected: int) -> None:
    """Whole windows count, and too few frames make none, whatever the stride."""
    assert window_count(frames, window, stride) == expected


@pytest.mark.parametrize("batch_size", [1, 7, 18, 100])
@pytest.mark.parametrize("stride", [1, 3])
def test_same_windows_as_eager(batch_size: int, stride: int) -> None:
    """Any batch size and stride gives the windows that stacking them all gives."""
    frames = _frames(20)
    expected = np.concatenate(list(naive_batches(frames, 3, batch_size, stride)))

    np.testing.assert_array_equal(_all(frames, 3, batch_size, stride), expected)


def test_order_is_followed() -> None:
    """Windows come in the order asked for, repeats included."""
    frames = _frames(20)
    order = np.array([4, 4, 0, 17], np.uint8)

    found = _all(frames, 3, 3, order=order)

    np.testing.assert_array_equal(found, np.stack([frames[start : start + 3] for start in order]))


@pytest.mark.parametrize("frames", [0, 2])
def test_too_few_frames_give_no_batch(frames: int) -> None:
    """Without a whole window there is no batch."""
    assert list(lazy_batches(_frames(frames), 3, 4)) == []


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Frames may lie in memory as they please."""
    frames = _frames(20)

    np.testing.assert_array_equal(_all(layout(frames), 3, 4), _all(frames, 3, 4))


def test_frames_that_are_not_contiguous_are_not_copied_as_a_whole(membudget: Any) -> None:
    """Only the batch is allocated, also where ``np.take`` would copy all frames first."""
    frames = np.asfortranarray(_frames(40_000, 16))

    with membudget.track() as region:
        for _ in lazy_batches(frames, 4, 8):
            break

    assert region.ram_peak_bytes < frames.nbytes // 20


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_windows_keep_the_dtype(dtype: type[np.floating[Any]]) -> None:
    """Nothing is calculated, so nothing is widened; NaN passes through."""
    frames = _frames(20).astype(dtype)
    frames[4] = np.nan

    found = _all(frames, 3, 4)

    assert found.dtype == dtype
    np.testing.assert_array_equal(found[2], frames[2:5])


FRAMES = _frames(20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FRAMES[0], 3, 4), "frames must be a float array [F, D], not float32 of shape (5,)"),
        ((FRAMES, 0, 4), "window must be a whole number of at least 1, not 0"),
        ((FRAMES, 3, 2.5), "batch_size must be a whole number of at least 1, not 2.5"),
        ((FRAMES, 3, 4, -1), "stride must be a whole number of at least 1, not -1"),
        ((FRAMES, 3, 4, 1, np.array([18])), "order must hold window numbers from 0 to 17, not 18 to 18"),
        ((FRAMES, 3, 4, 1, np.array([0.5])), "order must be an int array [N], not float64 of shape (1,)"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], message: str) -> None:
    """A wrong argument is refused with one sentence that names it, before the first batch."""
    with pytest.raises(ValueError, match="must") as raised:
        lazy_batches(*arguments)

    assert str(raised.value) == message
