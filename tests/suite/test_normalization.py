"""The edges of normalisation and its statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import relative_error
from pytest_membudget.suite.normalization import (
    mean_and_deviation,
    normalize,
    reference_mean_and_deviation,
    reference_normalize,
)

D = 9
MEAN, DEVIATION = np.linspace(1, 2, D, dtype=np.float32), np.linspace(0.5, 2, D, dtype=np.float32)


def _deltas(n: int, d: int = D) -> NDArray[Any]:
    return np.random.default_rng(0).standard_normal((n, d), np.float32) * 2 + 1


@pytest.mark.parametrize("n", [0, 1, 7281, 7282, 7283])
def test_normalize_any_number_of_rows(n: int) -> None:
    """No row count is special; a block holds 7,281 rows here."""
    deltas = _deltas(n)

    assert relative_error(normalize(deltas, MEAN, DEVIATION), reference_normalize(deltas, MEAN, DEVIATION)) <= 1e-6


@pytest.mark.parametrize("n", [1, 7281, 7282, 7283])
def test_statistics_any_number_of_rows(n: int) -> None:
    """No row count is special, and one row has no deviation."""
    deltas = _deltas(n)

    assert relative_error(mean_and_deviation(deltas), reference_mean_and_deviation(deltas)) <= 1e-6


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Rows may lie in memory as they please."""
    deltas = _deltas(500)

    np.testing.assert_array_equal(normalize(layout(deltas), MEAN, DEVIATION), normalize(deltas, MEAN, DEVIATION))
    assert relative_error(mean_and_deviation(layout(deltas)), reference_mean_and_deviation(deltas)) <= 1e-6


@pytest.mark.parametrize(("dtype", "wide"), [(np.float16, np.float32), (np.float64, np.float64)])
def test_other_float_types(dtype: type[np.floating[Any]], wide: type[np.floating[Any]]) -> None:
    """float16 is widened, float64 is kept."""
    deltas = _deltas(500).astype(dtype)

    found = normalize(deltas, MEAN, DEVIATION)

    assert found.dtype == wide
    assert relative_error(found, reference_normalize(deltas, MEAN, DEVIATION)) <= 1e-6
    assert relative_error(mean_and_deviation(deltas), reference_mean_and_deviation(deltas)) <= 1e-6


@pytest.mark.parametrize("scale", [0.0, 1e-3])
def test_statistics_with_offset_and_drift(scale: float) -> None:
    """Neither a large offset nor a drift over the rows costs the deviation its digits."""
    deltas = _deltas(50_000) + np.float32(1000) + (np.arange(50_000) * scale)[:, None].astype(np.float32)

    assert relative_error(mean_and_deviation(deltas), reference_mean_and_deviation(deltas)) <= 1e-6


def test_normalize_in_place() -> None:
    """The deltas may be their own output, and then nothing is allocated."""
    deltas = _deltas(500)
    expected = normalize(deltas, MEAN, DEVIATION)

    found = normalize(deltas, MEAN, DEVIATION, out=deltas)

    assert found is deltas
    np.testing.assert_array_equal(found, expected)


def test_nan_stays_where_it_is() -> None:
    """NaN spoils its own place in the deltas and its own column in the statistics."""
    deltas = _deltas(20)
    deltas[3, 2] = np.nan

    assert np.argwhere(np.isnan(normalize(deltas, MEAN, DEVIATION))).tolist() == [[3, 2]]
    assert [np.flatnonzero(np.isnan(figure)).tolist() for figure in mean_and_deviation(deltas)] == [[2], [2]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((_deltas(5), MEAN[:3], DEVIATION), "mean must be a float array [D] with D = 9, not float32 of shape (3,)"),
        ((_deltas(5), MEAN, DEVIATION * 0), "deviation must be positive in every column"),
        ((_deltas(5), MEAN, DEVIATION * np.nan), "deviation must be positive in every column"),
        (
            (_deltas(5), MEAN, DEVIATION, _deltas(4)),
            "out must be a float array [N, D] with N = 5, not float32 of shape (4, 9)",
        ),
    ],
)
def test_normalize_wrong_arguments(arguments: tuple[Any, ...], message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        normalize(*arguments)

    assert str(raised.value) == message


def test_statistics_of_no_rows() -> None:
    """Without a row there is no mean."""
    with pytest.raises(ValueError, match="N must be a whole number of at least 1, not 0"):
        mean_and_deviation(_deltas(0))
