"""The checks that all paths share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_membudget.suite.arguments import at_least, finite, shapes, working_dtype


def test_shapes_gives_the_length_of_each_axis() -> None:
    """Axes are named by the spec and measured on the arrays."""
    lengths = shapes(
        x=(np.zeros((3, 4)), "float N D"), y=(np.zeros(3, np.uint8), "int N"), m=(np.ones(4, bool), "bool D")
    )

    assert lengths == {"N": 3, "D": 4}


@pytest.mark.parametrize(
    ("value", "spec", "message"),
    [
        ([1.0], "float N", "x must be a float array [N], not list"),
        (None, "int N", "x must be an int array [N], not NoneType"),
        (np.float32(3), "float N", "x must be a float array [N], not float32"),
        (np.zeros((2, 2)), "float N", "x must be a float array [N], not float64 of shape (2, 2)"),
        (np.zeros((2, 3)), "float N N", "x must be a float array [N, N] with N = 2, not float64 of shape (2, 3)"),
        (np.array(["a"]), "float N", "x must be a float array [N], not <U1 of shape (1,)"),
        (
            np.zeros(2, np.longdouble),
            "float N",
            f"x must be a float array [N], not {np.dtype(np.longdouble)} of shape (2,)",
        ),
    ],
)
def test_shapes_refuses(value: Any, spec: str, message: str) -> None:
    """What is no such array is refused with what it must be and what it is."""
    with pytest.raises(ValueError, match="must") as raised:
        shapes(x=(value, spec))

    assert str(raised.value) == message


@pytest.mark.parametrize("count", [2, np.int64(2), 10**12])
def test_at_least_accepts(count: Any) -> None:
    """Python's and numpy's whole numbers do."""
    at_least(2, k=count)


@pytest.mark.parametrize("count", [1, -1, 2.0, True, "2", None, np.float32(3)])
def test_at_least_refuses(count: Any) -> None:
    """Too small a number, or no whole number, is refused."""
    with pytest.raises(ValueError, match="k must be a whole number of at least 2, not "):
        at_least(2, k=count)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_refuses(bad: float) -> None:
    """One value that is not finite is enough."""
    finite(c=np.zeros(3))
    with pytest.raises(ValueError, match="c must be finite, but holds NaN or infinity"):
        finite(c=np.array([0, bad, 0]))


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ((np.float16,), np.float32),
        ((np.float16, np.float32), np.float32),
        ((np.float32, np.float64), np.float64),
        ((">f4",), np.float32),
    ],
)
def test_working_dtype(dtypes: tuple[Any, ...], expected: Any) -> None:
    """float16 is widened, float64 wins, the byte order is the machine's."""
    assert working_dtype(*(np.zeros(1, dtype) for dtype in dtypes)) == np.dtype(expected)
