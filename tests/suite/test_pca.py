"""The edges of principal components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import relative_error
from pytest_membudget.suite.pca import (
    BLOCK_ROWS,
    PROJECTED_ROWS,
    fit,
    project,
    reference_fit,
    reference_project,
    shortfall,
)


def _data(n: int, d: int = 20, k: int = 3) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((d, k)))[0].T
    x = rng.standard_normal((n, d), np.float32)
    return x, rng.standard_normal(d, np.float32), np.ascontiguousarray(basis, np.float32)


@pytest.mark.parametrize("n", [0, 1, PROJECTED_ROWS, PROJECTED_ROWS + 1])
@pytest.mark.parametrize("k", [1, 3])
def test_project_any_number_of_rows(n: int, k: int) -> None:
    """No row count is special, nor is a single component."""
    arguments = _data(n, k=k)

    assert relative_error(project(*arguments), reference_project(*arguments)) <= 2e-6


def test_project_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Rows, mean and components may lie in memory as they please."""
    arguments = _data(BLOCK_ROWS + 5)

    found = project(*(layout(array) for array in arguments))

    assert relative_error(found, reference_project(*arguments)) <= 2e-6


@pytest.mark.parametrize(
    ("dtype", "wide", "tolerance"), [(np.float16, np.float32, 2e-6), (np.float64, np.float64, 1e-14)]
)
def test_project_other_float_types(
    dtype: type[np.floating[Any]], wide: type[np.floating[Any]], tolerance: float
) -> None:
    """float16 is widened, float64 is kept."""
    arguments = tuple(array.astype(dtype) for array in _data(BLOCK_ROWS + 5))

    found = project(*arguments)

    assert found.dtype == wide
    assert relative_error(found, reference_project(*arguments)) <= tolerance


def test_project_common_offset() -> None:
    """A mean that is large against the spread costs no accuracy."""
    x, mean, components = _data(2000)
    arguments = (x + np.float32(1000), mean + np.float32(1000), components)

    assert relative_error(project(*arguments), reference_project(*arguments)) <= 2e-6


def test_project_nan_row_stays_alone() -> None:
    """A row with NaN gives a row of NaN and disturbs no other row."""
    x, mean, components = _data(20)
    expected = project(x, mean, components)
    x[3, 2] = np.nan
    expected[3] = np.nan

    np.testing.assert_array_equal(project(x, mean, components), expected)


X, MEAN, COMPONENTS = _data(5)


@pytest.mark.parametrize(
    ("x", "mean", "components", "message"),
    [
        (X[0], MEAN, COMPONENTS, "x must be a float array [N, D], not float32 of shape (20,)"),
        (X, MEAN[:3], COMPONENTS, "mean must be a float array [D] with D = 20, not float32 of shape (3,)"),
        (
            X,
            MEAN,
            COMPONENTS.T,
            "components must be a float array [k, D] with D = 20, not float32 of shape (20, 3)",
        ),
        (X > 0, MEAN, COMPONENTS, "x must be a float array [N, D], not bool of shape (5, 20)"),
    ],
)
def test_project_wrong_arguments(x: Any, mean: Any, components: Any, message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        project(x, mean, components)

    assert str(raised.value) == message


def _spread(n: int, d: int = 20) -> NDArray[Any]:
    """Rows with a mean and a decaying spectrum."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, d)) / np.arange(1, d + 1) + 1).astype(np.float32)


@pytest.mark.parametrize("n", [2, 20, BLOCK_ROWS, BLOCK_ROWS + 1, 3 * BLOCK_ROWS - 1])
@pytest.mark.parametrize("k", [1, 2])
def test_fit_any_number_of_rows(n: int, k: int) -> None:
    """No row count from two on is special, nor is a single component."""
    x = _spread(n)

    assert shortfall(fit(x, k), reference_fit(x, k)) <= 2e-6


@pytest.mark.parametrize("d", [1, 255, 256, 300])
def test_fit_any_number_of_columns(d: int) -> None:
    """Columns are multiplied in strips, and no count of them is special."""
    x = _spread(400, d)

    assert shortfall(fit(x, 1), reference_fit(x, 1)) <= 2e-6


def test_fit_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Rows may lie in memory as they please."""
    x = _spread(BLOCK_ROWS + 5)

    assert shortfall(fit(layout(x), 3), reference_fit(x, 3)) <= 2e-6


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-6), (np.float64, 1e-13)])
def test_fit_other_float_types(dtype: type[np.floating[Any]], tolerance: float) -> None:
    """float16 is widened, float64 is kept."""
    x = _spread(BLOCK_ROWS + 5).astype(dtype)

    assert shortfall(fit(x, 3), reference_fit(x, 3)) <= tolerance


def test_fit_common_offset() -> None:
    """A mean that is large against the spread costs no captured variance."""
    x = _spread(2000) + np.float32(1000)
    found, (mean, covariance, reachable) = fit(x, 3), reference_fit(x, 3)

    assert shortfall(found._replace(mean=mean), (mean, covariance, reachable)) <= 1e-9
    assert relative_error(found.mean, mean) <= 1e-7


def test_fit_gives_orthonormal_rows_and_their_variances() -> None:
    """Components have unit length and stand at right angles, variances fall."""
    x = _spread(2000)
    found, best = fit(x, 5), reference_fit(x, 5)[1]

    np.testing.assert_allclose(found.components @ found.components.T, np.eye(5), atol=1e-6)
    np.testing.assert_allclose(found.variances, np.linalg.eigvalsh(best)[:-6:-1], rtol=1e-5)


def test_fit_of_constant_data() -> None:
    """Data without variance have components of variance zero."""
    found = fit(np.ones((10, 4), np.float32), 2)

    np.testing.assert_array_equal(found.variances, 0)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(2), atol=1e-6)


def test_fit_is_repeatable() -> None:
    """Two fits of the same data give the same bytes."""
    x = _spread(700)

    for one, other in zip(fit(x, 3), fit(x, 3), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("x", "k", "message"),
    [
        (X[:1], 1, "N must be a whole number of at least 2, not 1"),
        (X[:0], 1, "N must be a whole number of at least 2, not 0"),
        (X, 0, "k must be a whole number of at least 1, not 0"),
        (X, 6, "k must be at most min(N, D) = 5, not 6"),
        (X * np.nan, 2, "x must be finite, but holds NaN or infinity"),
        (X * np.inf, 2, "x must be finite, but holds NaN or infinity"),
        (X.ravel(), 2, "x must be a float array [N, D], not float32 of shape (100,)"),
    ],
)
def test_fit_wrong_arguments(x: Any, k: Any, message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        fit(x, k)

    assert str(raised.value) == message
