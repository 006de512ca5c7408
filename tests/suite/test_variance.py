"""The edges of the variance ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import relative_error
from pytest_membudget.suite.variance import block_rows, reference_variance_ratio, slice_ratios, variance_ratio

D, K = 64, 5


def _data(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, n)
    return rng.standard_normal((n, D), np.float32) + rng.standard_normal((K, D), np.float32)[labels], labels


@pytest.mark.parametrize("n", [2, 100, block_rows(D), block_rows(D) + 1, 2 * block_rows(D) - 1])
def test_any_number_of_rows(n: int) -> None:
    """No row count from two on is special."""
    deltas, labels = _data(n)

    assert relative_error(variance_ratio(deltas, labels, K), reference_variance_ratio(deltas, labels, K)) <= 1e-6


@pytest.mark.parametrize("n", [0, 1])
def test_no_variance_is_nan(n: int) -> None:
    """Without variance there is nothing to explain: the ratio is NaN, not a division by zero."""
    assert np.isnan(variance_ratio(*_data(n), K))


def test_constant_data_are_nan() -> None:
    """Equal rows have no variance either."""
    assert np.isnan(variance_ratio(np.full((50, D), 3, np.float32), np.zeros(50, int), K))


def test_one_cluster_explains_nothing() -> None:
    """With K = 1 the ratio is one."""
    deltas, labels = _data(500)

    assert variance_ratio(deltas, labels * 0, 1) == pytest.approx(1, abs=1e-6)


def test_empty_clusters_count_for_nothing() -> None:
    """Clusters without rows change no ratio."""
    deltas, labels = _data(500)

    assert variance_ratio(deltas, labels * 2, 2 * K + 4) == pytest.approx(variance_ratio(deltas, labels, K), rel=1e-7)


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Rows and labels may lie in memory as they please."""
    deltas, labels = _data(500)

    found = variance_ratio(layout(deltas), layout(labels), K)

    assert relative_error(found, reference_variance_ratio(deltas, labels, K)) <= 1e-6


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 1e-6), (np.float64, 1e-13)])
def test_other_float_types(dtype: type[np.floating[Any]], tolerance: float) -> None:
    """float16 is widened, float64 is kept."""
    deltas, labels = _data(500)
    deltas = deltas.astype(dtype)

    found = variance_ratio(deltas, labels.astype(np.uint8), K)

    assert relative_error(found, reference_variance_ratio(deltas, labels, K)) <= tolerance


def test_common_offset() -> None:
    """A mean that is large against the spread costs no accuracy."""
    deltas, labels = _data(5000)
    deltas += np.float32(1000)

    assert relative_error(variance_ratio(deltas, labels, K), reference_variance_ratio(deltas, labels, K)) <= 1e-6


def test_nan_counts_only_where_its_row_does() -> None:
    """NaN makes a ratio NaN unless the slice leaves its row out."""
    deltas, labels = _data(500)
    deltas[3, 2] = np.nan
    masks = np.ones((2, 500), bool)
    masks[1, 3] = False

    with_nan, without = slice_ratios(deltas, labels, K, masks)

    assert np.isnan(with_nan)
    kept = np.arange(500) != 3
    assert relative_error(without, reference_variance_ratio(deltas[kept], labels[kept], K)) <= 1e-6


def test_slices() -> None:
    """An empty slice is NaN, a slice of all rows is the ratio itself, no slice gives no ratio."""
    deltas, labels = _data(500)

    nothing, everything = slice_ratios(deltas, labels, K, np.repeat([[False], [True]], 500, axis=1))

    assert np.isnan(nothing)
    assert everything == pytest.approx(variance_ratio(deltas, labels, K), rel=1e-7)
    assert slice_ratios(deltas, labels, K, np.ones((0, 500), bool)).shape == (0,)


DELTAS, LABELS = _data(6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DELTAS[0], LABELS, K), "deltas must be a float array [N, D], not float32 of shape (64,)"),
        ((DELTAS, LABELS[:3], K), "labels must be an int array [N] with N = 6, not int64 of shape (3,)"),
        ((DELTAS, LABELS * 1.0, K), "labels must be an int array [N], not float64 of shape (6,)"),
        ((DELTAS, LABELS, 0), "clusters must be a whole number of at least 1, not 0"),
        ((DELTAS, np.array([0, 1, 2, 3, 4, 5]), K), "labels must lie from 0 to 4, not from 0 to 5"),
        ((DELTAS, np.array([0, 1, 2, 3, 4, -1]), K), "labels must lie from 0 to 4, not from -1 to 4"),
        ((DELTAS, LABELS, K, LABELS), "mask must be a bool array [N], not int64 of shape (6,)"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        variance_ratio(*arguments)

    assert str(raised.value) == message
