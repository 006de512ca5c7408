"""Checks on arguments, so that every path refuses the same mistake with the same sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_KINDS = {"float": "f", "int": "iu", "bool": "b"}
_WIDEST_BYTES = 8


def shapes(**arguments: tuple[Any, str]) -> dict[str, int]:
    """Check arrays against specs such as ``x=(x, "float N D"), labels=(labels, "int N")``.

    The first word is the kind of the elements (float means float16, float32 or float64), the others name the
    axes; axes of one name have one length. Returns the length of each axis.

    Raises
    ------
    ValueError
        An argument is no array, has another kind, number of axes, or length; the text says which.
    """
    lengths: dict[str, int] = {}
    for name, (value, spec) in arguments.items():
        kind, *axes = spec.split()
        if not (isinstance(value, np.ndarray) and value.ndim == len(axes) and _is_kind(value, kind)):
            raise ValueError(f"{name} must be {_wanted(kind, axes)}, not {_described(value)}")
        for axis, length in zip(axes, value.shape, strict=True):
            if lengths.setdefault(axis, length) != length:
                known = f"with {axis} = {lengths[axis]}"
                raise ValueError(f"{name} must be {_wanted(kind, axes)} {known}, not {_described(value)}")
    return lengths


def at_least(least: int, **counts: Any) -> None:
    """Check whole numbers, such as ``at_least(1, K=len(centroids))``.

    Raises
    ------
    ValueError
        A count is no whole number or lies below ``least``.
    """
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, not {count!r}")


def finite(**arrays: NDArray[Any]) -> None:
    """Check small parameters, such as centroids, in which one NaN would spoil every result.

    Raises
    ------
    ValueError
        An array holds NaN or infinity.
    """
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, but holds NaN or infinity")


def working_dtype(*arrays: NDArray[Any]) -> np.dtype[Any]:
    """The dtype to calculate in: float64 if an array is float64, else float32 (so float16 is widened)."""
    dtypes: list[DTypeLike] = [array.dtype for array in arrays]
    return np.result_type(np.float32, *dtypes)


def _is_kind(array: NDArray[Any], kind: str) -> bool:
    return array.dtype.kind in _KINDS[kind] and array.dtype.itemsize <= _WIDEST_BYTES


def _wanted(kind: str, axes: list[str]) -> str:
    return f"{'an' if kind == 'int' else 'a'} {kind} array [{', '.join(axes)}]"


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return f"{type(value).__name__}"
