"""The edges of principal components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import relative_error
from pytest_membudget.suite.pca import BLOCK_ROWS, project, reference_project


def _data(n: int, d: int = 20, k: int = 3) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((d, k)))[0].T
    x = rng.standard_normal((n, d), np.float32)
    return x, rng.standard_normal(d, np.float32), np.ascontiguousarray(basis, np.float32)


@pytest.mark.parametrize("n", [0, 1, BLOCK_ROWS, BLOCK_ROWS + 1])
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
