"""Rows in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pytest_membudget.suite.blocks import float_blocks, row_blocks

FLOAT32 = np.dtype(np.float32)


@pytest.mark.parametrize(("rows", "expected"), [(0, []), (1, [1]), (4, [4]), (5, [4, 1]), (8, [4, 4])])
def test_row_blocks(rows: int, expected: list[int]) -> None:
    """Blocks follow one another and cover the rows exactly."""
    blocks = list(row_blocks(rows, 4))

    assert [block.stop - block.start for block in blocks] == expected
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(rows))


def _x() -> NDArray[Any]:
    return np.arange(30, dtype=np.float32).reshape(10, 3)


@pytest.mark.parametrize("change", [lambda x: x, np.asfortranarray, lambda x: np.hstack([x, x])[:, 2:5]])
def test_views_where_a_product_can_read_them(change: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Dense rows or dense columns are not copied."""
    x = change(_x())

    assert all(np.shares_memory(block, x) for _, block in float_blocks(x, 4, FLOAT32))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float16),
        lambda x: x.astype(">f4"),
        lambda x: x[::-1],
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: sliding_window_view(x.ravel(), 5),
        lambda x: np.broadcast_to(x[0], x.shape),
    ],
)
def test_copies_where_it_cannot(change: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Other layouts and types come through one scratch, with the values unchanged."""
    x = change(_x())

    for rows, block in float_blocks(x, 4, FLOAT32):
        assert block.dtype == FLOAT32
        assert block.flags.c_contiguous
        assert not np.shares_memory(block, x)
        np.testing.assert_array_equal(block, x[rows])


def test_origin_is_subtracted() -> None:
    """With an origin the rows come less it."""
    x, origin = _x(), np.array([1, 2, 3], np.float32)

    for rows, block in float_blocks(x, 4, FLOAT32, origin):
        np.testing.assert_array_equal(block, x[rows] - origin)
