"""The edges of the nearest centroid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.vq import (
    BLOCK_ROWS,
    assign_clusters,
    excess_distance,
    naive_assign_clusters,
    reference_distances,
)


def _data(n: int, k: int = 7, d: int = 12, offset: float = 0.0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d), np.float32) + np.float32(offset)
    return x, rng.standard_normal((k, d), np.float32) + np.float32(offset)


@pytest.mark.parametrize("n", [0, 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS - 1])
@pytest.mark.parametrize("k", [1, 7])
def test_any_number_of_rows(n: int, k: int) -> None:
    """No row count is special, nor is a single centroid."""
    x, centroids = _data(n, k)

    np.testing.assert_array_equal(assign_clusters(x, centroids), naive_assign_clusters(x, centroids))


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Rows and centroids may lie in memory as they please."""
    x, centroids = _data(BLOCK_ROWS + 5)

    np.testing.assert_array_equal(assign_clusters(layout(x), layout(centroids)), assign_clusters(x, centroids))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_float_types(dtype: type[np.floating[Any]]) -> None:
    """float16 is widened and float64 is kept."""
    x, centroids = (array.astype(dtype) for array in _data(BLOCK_ROWS + 5))

    found = assign_clusters(x, centroids)

    assert excess_distance(found, reference_distances(x, centroids)) <= 1e-6


@pytest.mark.parametrize("offset", [10.0, 1000.0])
def test_common_offset(offset: float) -> None:
    """An offset shared by data and centroids, large against their spread, costs no accuracy."""
    x, centroids = _data(5000, 64, 96, offset)

    found = assign_clusters(x, centroids)

    assert excess_distance(found, reference_distances(x, centroids)) <= 1e-6


def test_nan_row_gets_zero_alone() -> None:
    """A row with NaN gets the index 0 and disturbs no other row."""
    x, centroids = _data(20)
    expected = assign_clusters(x, centroids)
    x[3, 2] = np.nan
    expected[3] = 0

    np.testing.assert_array_equal(assign_clusters(x, centroids), expected)


def test_tie_goes_to_the_lower_index() -> None:
    """Of equal centroids the first one wins."""
    x, centroids = _data(20, k=1)

    assert not assign_clusters(x, np.repeat(centroids, 3, axis=0)).any()


X, C = _data(5)


@pytest.mark.parametrize(
    ("x", "centroids", "message"),
    [
        (X[0], C, "x must be a float array [N, D], not float32 of shape (12,)"),
        (X.astype(int), C, "x must be a float array [N, D], not int64 of shape (5, 12)"),
        (X.tolist(), C, "x must be a float array [N, D], not list"),
        (X, C[:, :5], "centroids must be a float array [K, D] with D = 12, not float32 of shape (7, 5)"),
        (X, C.astype(complex), "centroids must be a float array [K, D], not complex128 of shape (7, 12)"),
        (X, C[:0], "K must be a whole number of at least 1, not 0"),
        (X, C * np.nan, "centroids must be finite, but holds NaN or infinity"),
    ],
)
def test_wrong_arguments(x: Any, centroids: Any, message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        assign_clusters(x, centroids)

    assert str(raised.value) == message
