"""The edges of prefetched windows: the same windows, no matter who waits for whom."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.prefetch import prefetched_batches
from pytest_membudget.suite.windows import lazy_batches


def _frames(count: int, d: int = 5) -> NDArray[Any]:
    return np.random.default_rng(0).standard_normal((count, d), np.float32)


@pytest.mark.parametrize("batch_size", [1, 7, 100])
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("stride", [1, 3])
def test_same_windows_as_without(batch_size: int, depth: int, stride: int) -> None:
    """Neither the depth nor the size of batches changes a window, though buffers are used again."""
    frames = _frames(40)
    order = np.random.default_rng(1).permutation(12)
    expected = [batch.copy() for batch in lazy_batches(frames, 3, batch_size, stride, order)]

    found = [batch.copy() for batch in prefetched_batches(frames, 3, batch_size, stride, order, depth)]

    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(expected))


def test_nothing_to_visit() -> None:
    """An empty order gives no batch."""
    assert list(prefetched_batches(_frames(2), 3, 4, 1, np.empty(0, int))) == []


def test_a_model_that_stops_early_leaves_no_thread() -> None:
    """Closing the batches ends the loader."""
    threads = threading.active_count()
    batches = prefetched_batches(_frames(400), 3, 4, 1, np.arange(300))
    next(batches)
    assert threading.active_count() == threads + 1

    batches.close()  # type: ignore[attr-defined]

    assert threading.active_count() == threads


def test_a_slow_model_holds_the_loader_back(membudget: Any) -> None:
    """However long a step takes, no more than depth + 1 batches exist."""
    frames, order = _frames(4000, 64), np.arange(3000)
    batch_bytes = 100 * 8 * 64 * 4

    with membudget.track() as region:
        for _ in prefetched_batches(frames, 8, 100, 1, order, depth=2):
            threading.Event().wait(0.005)

    assert region.ram_peak_bytes <= 3 * batch_bytes + 64 * 1024


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((_frames(9), 3, 4, 1, np.array([7])), "order must hold window numbers from 0 to 6, not 7 to 7"),
        ((_frames(9), 3, 4, 1, np.array([0]), 0), "depth must be a whole number of at least 1, not 0"),
        ((_frames(9), 3, 0, 1, np.array([0])), "batch_size must be a whole number of at least 1, not 0"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], message: str) -> None:
    """A wrong argument is refused with one sentence that names it, before a thread starts."""
    with pytest.raises(ValueError, match="must") as raised:
        prefetched_batches(*arguments)

    assert str(raised.value) == message
