"""Normalisation of deltas: mean and deviation of each column, and their removal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes, working_dtype
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath

# A block of rows that stays in a core's own cache while it is read more than once.
_BLOCK_BYTES = 2**18


def normalize(
    deltas: NDArray[Any], mean: NDArray[Any], deviation: NDArray[Any], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """``(deltas - mean) / deviation``, both steps on a block of rows while it is in the cache.

    Parameters
    ----------
    deltas
        float [N, D]; float16 is widened.
    mean
        float [D].
    deviation
        float [D], positive.
    out
        float [N, D] to write into; it may be the deltas themselves.

    Returns
    -------
    [N, D]: ``out`` if given, else float64 if the deltas are, else float32. NaN stays where it is.

    Bytes
    -----
    4 N D in float32, the output alone; 0 with ``out``.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, or a deviation that is not positive.
    """
    shapes(deltas=(deltas, "float N D"), mean=(mean, "float D"), deviation=(deviation, "float D"))
    if not (deviation > 0).all():
        raise ValueError("deviation must be positive in every column")
    out = np.empty(deltas.shape, working_dtype(deltas)) if out is None else out
    shapes(deltas=(deltas, "float N D"), out=(out, "float N D"))
    for rows in _cached_rows(deltas):
        block = out[rows]
        np.subtract(deltas[rows], mean, out=block, dtype=working_dtype(block), casting="same_kind")
        np.divide(block, deviation, out=block, dtype=working_dtype(block), casting="same_kind")
    return out


def naive_normalize(deltas: NDArray[Any], mean: NDArray[Any], deviation: NDArray[Any]) -> NDArray[Any]:
    """The same in one line, with the difference as a second array: 8 N D bytes."""
    delta_norm: NDArray[Any] = (deltas - mean) / deviation
    return delta_norm


def reference_normalize(deltas: NDArray[Any], mean: NDArray[Any], deviation: NDArray[Any]) -> NDArray[np.float64]:
    """The normalised deltas in float64."""
    normal: NDArray[np.float64] = np.subtract(deltas, mean, dtype=np.float64)
    normal /= deviation
    return normal


def mean_and_deviation(x: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column, in one pass.

    Each block of rows gives its own mean and its squares about that mean, which merge into those of all rows seen so
    far (Chan, Golub and LeVeque 1979). Neither a large offset nor a drift of the data costs digits.

    Parameters
    ----------
    x
        float [N, D], N >= 1.

    Returns
    -------
    Mean and deviation over N, float64 [D] each; NaN in the columns that hold NaN.

    Bytes
    -----
    2^18 + 80 D, output included.

    Raises
    ------
    ValueError
        Wrong shape or dtype, or no row.
    """
    lengths = shapes(x=(x, "float N D"))
    at_least(1, N=lengths["N"])
    moments = ColumnMoments(lengths["D"], block_rows(x), working_dtype(x))
    for rows in _cached_rows(x):
        moments.add(x[rows])
    return moments.mean, moments.deviation()


class ColumnMoments:
    """Mean and squares of the columns over as many blocks of rows as are added.

    Bytes: 4 n D in float32 for blocks of up to n rows, and 64 D.
    """

    def __init__(self, columns: int, rows: int, dtype: np.dtype[Any]) -> None:
        """Start with no rows; no block may have more than ``rows``."""
        self.mean = np.zeros(columns)
        self._squares = np.zeros(columns)
        self._seen = 0
        self._scratch = np.empty((rows, columns), dtype)
        self._ones = np.ones(rows, dtype)

    def add(self, block: NDArray[Any]) -> None:
        """Add rows [n, D]."""
        mean, squares = _moments(block, self._scratch[: len(block)], self._ones[: len(block)])
        step, share = mean - self.mean, len(block) / (self._seen + len(block))
        self.mean += step * share
        self._squares += squares + step**2 * (self._seen * share)
        self._seen += len(block)

    def deviation(self) -> NDArray[np.float64]:
        """Standard deviation of each column over all rows."""
        deviation: NDArray[np.float64] = np.sqrt(self._squares / self._seen)
        return deviation


def _moments(
    block: NDArray[Any], scratch: NDArray[Any], ones: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of the columns of one block, and their sums of squares about it.

    The first mean carries the rounding of a large offset; the mean of what is left after subtracting it does not.
    """
    scratch[...] = block
    rough = ones @ scratch / len(ones)
    scratch -= rough
    rest = (ones @ scratch).astype(np.float64) / len(ones)
    return rough + rest, np.einsum("nd,nd->d", scratch, scratch) - len(ones) * rest**2


def block_rows(x: NDArray[Any]) -> int:
    """How many rows of x make a block of 256 KiB in float32."""
    fitting: int = _BLOCK_BYTES // (4 * max(1, x.shape[1]))
    return max(1, min(len(x), fitting))


def _cached_rows(x: NDArray[Any]) -> Iterator[slice]:
    return row_blocks(len(x), block_rows(x))


def naive_mean_and_deviation(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same from numpy, whose deviation centres a copy of all rows: 4 N D bytes."""
    mu = x.mean(axis=0)
    sigma = x.std(axis=0)
    return mu, sigma


def reference_mean_and_deviation(x: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation in float64, column by column."""
    columns = [column.astype(np.float64) for column in x.T]
    return np.array([column.mean() for column in columns]), np.array([column.std() for column in columns])


def _rows(n: int, d: int) -> NDArray[Any]:
    """Rows whose columns differ in mean and spread."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((n, d), np.float32)
    x *= np.linspace(0.5, 2, d, dtype=np.float32)
    x += np.linspace(1, 3, d, dtype=np.float32)
    return x


def _normalize_inputs(n: int, d: int) -> dict[str, Any]:
    return {
        "deltas": _rows(n, d),
        "mean": np.linspace(1, 3, d, dtype=np.float32),
        "deviation": np.linspace(0.5, 2, d, dtype=np.float32),
    }


def _statistics_inputs(n: int, d: int) -> dict[str, Any]:
    return {"x": _rows(n, d)}


def _normalize_footprint(n: int, d: int) -> Footprint:
    return Footprint(input_bytes=4 * n * d + 8 * d, output_bytes=4 * n * d, scratch_bytes=0, naive_bytes=8 * n * d)


def _statistics_footprint(n: int, d: int) -> Footprint:
    return Footprint(
        input_bytes=4 * n * d,
        output_bytes=16 * d,
        scratch_bytes=_BLOCK_BYTES + 64 * d,
        naive_bytes=4 * n * d + 16 * d,
    )


PATHS = (
    HotPath(
        name="normalize_deltas",
        seed="000",
        inputs=_normalize_inputs,
        lean=normalize,
        naive=naive_normalize,
        reference=reference_normalize,
        footprint=_normalize_footprint,
        blamed=("delta_norm: NDArray[Any] = (deltas - mean) / deviation",),
        tolerance=1e-6,
        small={"n": 24_000, "d": 256},
        seed_size={"n": 100_000, "d": 512},
        grows="n",
        growth={"n": 8_192, "d": 32},
    ),
    HotPath(
        name="normalize_statistics",
        seed="000",
        inputs=_statistics_inputs,
        lean=mean_and_deviation,
        naive=naive_mean_and_deviation,
        reference=reference_mean_and_deviation,
        footprint=_statistics_footprint,
        blamed=("sigma = x.std(axis=0)",),
        tolerance=1e-6,
        small={"n": 24_000, "d": 256},
        seed_size={"n": 100_000, "d": 512},
        grows="n",
        growth={"n": 8_192, "d": 32},
    ),
)
