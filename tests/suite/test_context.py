"""The edges of context features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.context import context_flat, context_mean, naive_context_flat, reference_context_mean
from pytest_membudget.suite.hotpath import relative_error


def _latents(frames: int, d: int = 6) -> NDArray[Any]:
    return np.random.default_rng(0).standard_normal((frames, d), np.float32)


@pytest.mark.parametrize("frames", [3, 4, 11_000])
@pytest.mark.parametrize("window", [1, 3])
def test_any_number_of_rows(frames: int, window: int) -> None:
    """No row count is special, nor is a window of one row."""
    latents = _latents(frames)

    assert relative_error(context_mean(latents, window), reference_context_mean(latents, window)) <= 1e-6
    np.testing.assert_array_equal(context_flat(latents, window), naive_context_flat(latents, window))


@pytest.mark.parametrize("frames", [0, 2])
def test_too_few_rows_give_no_window(frames: int) -> None:
    """Without a whole window the features are empty, with their columns."""
    latents = _latents(frames)

    assert context_mean(latents, 3).shape == (0, 6)
    assert context_flat(latents, 3).shape == (0, 18)


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Latents may lie in memory as they please; where a view cannot be right, a copy is made."""
    latents = _latents(50)

    np.testing.assert_array_equal(context_mean(layout(latents), 3), context_mean(latents, 3))
    np.testing.assert_array_equal(context_flat(layout(latents), 3), naive_context_flat(latents, 3))


def test_flat_is_a_read_only_view() -> None:
    """Dense rows are shared, so writing through one window would change its neighbours, and is refused."""
    latents = _latents(50)

    flat = context_flat(latents, 3)

    assert np.shares_memory(flat, latents)
    assert not flat.flags.writeable


@pytest.mark.parametrize(("dtype", "wide"), [(np.float16, np.float32), (np.float64, np.float64)])
def test_other_float_types(dtype: type[np.floating[Any]], wide: type[np.floating[Any]]) -> None:
    """Means of float16 are float32; flat windows keep the dtype."""
    latents = _latents(50).astype(dtype)

    means = context_mean(latents, 3)

    assert means.dtype == wide
    assert context_flat(latents, 3).dtype == dtype
    assert relative_error(means, reference_context_mean(latents, 3)) <= 1e-6


def test_nan_spreads_to_its_windows_alone() -> None:
    """A row with NaN spoils the windows that hold it and no other."""
    latents = _latents(10)
    latents[4, 2] = np.nan

    spoilt = np.isnan(context_mean(latents, 3)).any(axis=1)

    np.testing.assert_array_equal(np.flatnonzero(spoilt), [2, 3, 4])


@pytest.mark.parametrize("function", [context_mean, context_flat])
@pytest.mark.parametrize(
    ("latents", "window", "message"),
    [
        (_latents(5)[0], 3, "latents must be a float array [F, D], not float32 of shape (6,)"),
        (_latents(5), 0, "window must be a whole number of at least 1, not 0"),
        (_latents(5), "3", "window must be a whole number of at least 1, not '3'"),
    ],
)
def test_wrong_arguments(function: Callable[..., Any], latents: Any, window: Any, message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        function(latents, window)

    assert str(raised.value) == message
