"""The edges of components of windows: they are those of the flat windows, whatever the sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import relative_error
from pytest_membudget.suite.pca import shortfall
from pytest_membudget.suite.pca_windows import BLOCK_ROWS, fit_windows, reference_fit_windows


def _latents(frames: int, d: int = 5) -> NDArray[Any]:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((frames, d)).cumsum(axis=0) * 0.3 + np.arange(d)).astype(np.float32)


@pytest.mark.parametrize("frames", [9, 20, BLOCK_ROWS + 7, BLOCK_ROWS + 8, 3 * BLOCK_ROWS])
@pytest.mark.parametrize("window", [1, 2, 8])
def test_any_size(frames: int, window: int) -> None:
    """No number of rows or rows per window is special."""
    latents = _latents(frames)

    assert shortfall(fit_windows(latents, window, 2), reference_fit_windows(latents, window, 2)) <= 2e-6


@pytest.mark.parametrize("d", [1, 100])
def test_any_number_of_columns(d: int) -> None:
    """Blocks narrower and wider than a strip are mirrored alike."""
    latents = _latents(700, d)

    assert shortfall(fit_windows(latents, 4, 2), reference_fit_windows(latents, 4, 2)) <= 2e-6


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Latents may lie in memory as they please."""
    latents = _latents(600)

    assert shortfall(fit_windows(layout(latents), 4, 2), reference_fit_windows(latents, 4, 2)) <= 2e-6


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-6), (np.float64, 1e-12)])
def test_other_float_types(dtype: type[np.floating[Any]], tolerance: float) -> None:
    """float16 is widened, float64 is kept."""
    latents = _latents(600).astype(dtype)

    assert shortfall(fit_windows(latents, 4, 2), reference_fit_windows(latents, 4, 2)) <= tolerance


def test_common_offset() -> None:
    """A mean that is large against the spread costs no captured variance."""
    latents = _latents(2000) + np.float32(1000)
    found, (mean, covariance, reachable) = fit_windows(latents, 4, 2), reference_fit_windows(latents, 4, 2)

    assert shortfall(found._replace(mean=mean), (mean, covariance, reachable)) <= 1e-9
    assert relative_error(found.mean, mean) <= 1e-7


@pytest.mark.parametrize(
    ("latents", "window", "k", "message"),
    [
        (_latents(4), 4, 1, "windows must be a whole number of at least 2, not 1"),
        (_latents(9), 0, 1, "window must be a whole number of at least 1, not 0"),
        (_latents(9), 4, 7, "k must be at most min(N, D) = 6, not 7"),
        (_latents(9) * np.inf, 4, 2, "x must be finite, but holds NaN or infinity"),
        (_latents(9).astype(int), 4, 2, "latents must be a float array [F, D], not int64 of shape (9, 5)"),
    ],
)
def test_wrong_arguments(latents: Any, window: Any, k: Any, message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        fit_windows(latents, window, k)

    assert str(raised.value) == message
