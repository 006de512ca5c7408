"""The edges of the whole analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import relative_error
from pytest_membudget.suite.pipeline import PATHS, reference_unexplained_variance, unexplained_variance

SIZES = {"frames": 600, "window": 3, "d": 6, "clusters": 5, "k": 2}


def _arguments(**sizes: int) -> dict[str, Any]:
    return PATHS[0].inputs(**{**SIZES, **sizes})


@pytest.mark.parametrize("frames", [20, 515, 516, 1027])
@pytest.mark.parametrize("clusters", [1, 5])
def test_any_number_of_rows(frames: int, clusters: int) -> None:
    """No row count is special, nor is a single cluster."""
    arguments = _arguments(frames=frames, clusters=clusters)

    found = unexplained_variance(**arguments)

    assert relative_error(found, reference_unexplained_variance(**arguments)) <= 1e-4


def test_layout_changes_nothing(layout: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """The splits may lie in memory as they please."""
    arguments = _arguments()
    moved = {**arguments, "train": layout(arguments["train"]), "evaluation": layout(arguments["evaluation"])}

    assert relative_error(unexplained_variance(**moved), reference_unexplained_variance(**arguments)) <= 1e-4


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_float_types(dtype: type[np.floating[Any]]) -> None:
    """float16 is widened, float64 is kept."""
    arguments = _arguments()
    typed = {
        **arguments,
        "train": arguments["train"].astype(dtype),
        "evaluation": arguments["evaluation"].astype(dtype),
    }

    assert relative_error(unexplained_variance(**typed), reference_unexplained_variance(**typed)) <= 5e-3


def test_splits_may_differ_in_length() -> None:
    """The evaluation split has its own number of rows."""
    arguments = _arguments()
    arguments["evaluation"] = arguments["evaluation"][:100]

    found = unexplained_variance(**arguments)

    assert relative_error(found, reference_unexplained_variance(**arguments)) <= 1e-4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"evaluation": np.zeros((9, 5))},
            "evaluation must be a float array [E, D] with D = 6, not float64 of shape (9, 5)",
        ),
        ({"clusters": 0}, "clusters must be a whole number of at least 1, not 0"),
        ({"window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"k": 19}, "k must be at most min(N, D) = 18, not 19"),
    ],
)
def test_wrong_arguments(changed: dict[str, Any], message: str) -> None:
    """A wrong argument is refused with one sentence that names it."""
    with pytest.raises(ValueError, match="must") as raised:
        unexplained_variance(**{**_arguments(), **changed})

    assert str(raised.value) == message
