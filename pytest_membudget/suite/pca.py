"""Principal components: the fit and the projection."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes, working_dtype
from pytest_membudget.suite.blocks import float_blocks, row_blocks
from pytest_membudget.suite.eigen import GUARD_VECTORS, leading_eigenpairs
from pytest_membudget.suite.hotpath import Footprint, HotPath

BLOCK_ROWS = 512
PROJECTED_ROWS = 256
STRIP_COLUMNS = 256


class Components(NamedTuple):
    """A fitted basis: mean [D], components [k, D] with rows of unit length, variances [k], largest first."""

    mean: NDArray[Any]
    components: NDArray[Any]
    variances: NDArray[np.float64]


@np.errstate(invalid="ignore")  # infinity less infinity: said below, in words
def fit(x: NDArray[Any], k: int) -> Components:
    """The k directions of largest variance, exactly: from the scatter matrix, summed over blocks of rows.

    Only the columns right of the diagonal are multiplied, strip by strip, into one matrix [D, D]. The rows
    are taken from the mean of the first block, which keeps the sums accurate when the data have a large
    offset; the small rest of the mean is subtracted at the end. The eigenvectors come from
    ``leading_eigenpairs``.

    Parameters
    ----------
    x
        float [N, D], finite, N >= 2; float16 is widened block by block.
    k
        How many components, 1 <= k <= min(N, D).

    Returns
    -------
    Components, in float64 if x is, else in float32; variances are over N - 1.

    Bytes
    -----
    4 D^2 + max(3,072 D, 50 (k + 16) D) in float32, output included.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, too few rows, k out of range, NaN or infinity in x.
    """
    lengths = shapes(x=(x, "float N D"))
    at_least(2, N=lengths["N"])
    check_rank(k, **lengths)
    shift, total, scatter = _shifted_sums(x, working_dtype(x))
    return from_sums(shift, total / len(x), scatter, len(x), k)


def check_rank(k: int, N: int, D: int) -> None:  # noqa: N803 - the names that the message shows
    """Check the number of components.

    Raises
    ------
    ValueError
        k is no whole number from 1 to min(N, D).
    """
    at_least(1, k=k)
    if k > min(N, D):
        raise ValueError(f"k must be at most min(N, D) = {min(N, D)}, not {k}")


def _shifted_sums(x: NDArray[Any], dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[Any]]:
    """The mean of the first block [D], and the sums of the rows [D] and of their outer products [D, D] about it.

    The outer products are summed right of the diagonal only.
    """
    size = x.shape[1]
    shift = x[:BLOCK_ROWS].mean(axis=0, dtype=np.float64).astype(dtype)
    total, scatter = np.zeros(size), np.zeros((size, size), dtype)
    strip = np.empty((min(STRIP_COLUMNS, size), size), dtype)
    ones = np.ones(min(BLOCK_ROWS, len(x)), dtype)
    for _, block in float_blocks(x, BLOCK_ROWS, dtype, shift):
        total += ones[: len(block)] @ block
        for columns in row_blocks(size, STRIP_COLUMNS):
            part = strip[: columns.stop - columns.start, columns.start :]
            scatter[columns, columns.start :] += np.matmul(block[:, columns].T, block[:, columns.start :], out=part)
    return shift, total, scatter


def from_sums(shift: NDArray[Any], offset: NDArray[np.float64], scatter: NDArray[Any], rows: int, k: int) -> Components:
    """The components of data whose outer products about ``shift`` were summed right of the diagonal.

    Parameters
    ----------
    shift
        float32 or float64 [D].
    offset
        float64 [D], the mean less the shift.
    scatter
        [D, D] of the dtype of shift; it is completed in place.
    rows
        How many rows were summed.
    k
        How many components.

    Raises
    ------
    ValueError
        The sums are not finite, because the data were not.
    """
    if not np.isfinite(np.trace(scatter)):
        raise ValueError("x must be finite, but holds NaN or infinity")
    _complete(scatter, offset.astype(scatter.dtype), rows)
    values, components = leading_eigenpairs(scatter, k)
    return Components((shift + offset).astype(scatter.dtype), components, values / (rows - 1))


def _complete(scatter: NDArray[Any], offset: NDArray[Any], rows: int) -> None:
    """Move the origin of the sums by ``offset`` to the mean, and mirror them to the left of the diagonal."""
    for columns in row_blocks(len(scatter), STRIP_COLUMNS):
        scatter[columns, columns.start :] -= rows * offset[columns, None] * offset[columns.start :]
        square = scatter[columns, columns]
        square[...] = np.triu(square) + np.triu(square, 1).T
        scatter[columns.stop :, columns] = scatter[columns, columns.stop :].T


def naive_fit(x: NDArray[Any], k: int) -> Components:
    """The same from a centred copy, and from numpy's eigh, which works in float64: 4 N D + 44 D^2 bytes."""
    mean = x.mean(axis=0)
    centered = x - mean
    covariance = centered.T @ centered
    values, vectors = np.linalg.eigh(covariance)
    return Components(mean, vectors[:, ::-1][:, :k].T, values[::-1][:k].astype(np.float64) / (len(x) - 1))


def reference_fit(x: NDArray[Any], k: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Mean, covariance, and the variance that the best k directions capture, in float64."""
    mean = x.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((x.shape[1], x.shape[1]))
    for rows in row_blocks(len(x), 4096):
        centred = x[rows] - mean
        covariance += centred.T @ centred
    covariance /= len(x) - 1
    return mean, covariance, float(np.linalg.eigvalsh(covariance)[-k:].sum())


def shortfall(found: Components, best: tuple[NDArray[np.float64], NDArray[np.float64], float]) -> float:
    """The part of the variance within reach that the components miss, or the error of the mean if that is larger.

    The directions are made orthonormal in float64 first: it is the subspace that is judged, not its rounding.
    """
    mean, covariance, reachable = best
    directions = np.linalg.qr(found.components.T.astype(np.float64))[0]
    captured = float(np.einsum("dk,dk->", directions, covariance @ directions))
    spread = float(np.sqrt(np.trace(covariance)))
    return max(1 - captured / reachable, float(np.linalg.norm(found.mean - mean)) / spread)


def project(x: NDArray[Any], mean: NDArray[Any], components: NDArray[Any]) -> NDArray[Any]:
    """Coordinates of the rows in the basis of the components: ``(x - mean) @ components.T``.

    Rows are centred block by block in one scratch. Multiplying first and subtracting ``mean @ components.T``
    afterwards needs no scratch, but loses digits where the mean is large against the spread.

    Parameters
    ----------
    x
        float [N, D]; float16 is widened block by block.
    mean
        float [D].
    components
        float [k, D], rows of unit length as a fit returns them.

    Returns
    -------
    [N, k] in float64 if an argument is float64, else in float32. A row with NaN gives a row of NaN.

    Bytes
    -----
    4 N k + 1,024 D in float32, output included.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes.
    """
    shapes(x=(x, "float N D"), mean=(mean, "float D"), components=(components, "float k D"))
    dtype = working_dtype(x, mean, components)
    basis = components.astype(dtype, copy=False).T
    coordinates = np.empty((len(x), len(components)), dtype)
    scratch = np.empty((min(PROJECTED_ROWS, len(x)), x.shape[1]), dtype)
    for rows in row_blocks(len(x), PROJECTED_ROWS):
        centred = np.subtract(x[rows], mean, out=scratch[: rows.stop - rows.start], dtype=dtype)
        np.matmul(centred, basis, out=coordinates[rows])
    return coordinates


def naive_project(x: NDArray[Any], mean: NDArray[Any], components: NDArray[Any]) -> NDArray[Any]:
    """The same with all rows centred at once: a second array of the size of ``x``, 4 N (D + k) bytes."""
    centered = x - mean
    coordinates: NDArray[Any] = np.dot(centered, components.T)
    return coordinates


def reference_project(x: NDArray[Any], mean: NDArray[Any], components: NDArray[Any]) -> NDArray[np.float64]:
    """The projection in float64."""
    basis = components.astype(np.float64).T
    coordinates = np.empty((len(x), len(components)))
    for rows in row_blocks(len(x), BLOCK_ROWS):
        coordinates[rows] = np.subtract(x[rows], mean, dtype=np.float64) @ basis
    return coordinates


def _fit_inputs(n: int, d: int, k: int) -> dict[str, Any]:
    """Rows with a decaying spectrum and a mean, reflected so that no direction is an axis."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((n, d), np.float32)
    x /= np.sqrt(np.arange(1, d + 1, dtype=np.float32))
    mirror = np.full(d, 1 / np.sqrt(d), np.float32)
    for rows in row_blocks(n, BLOCK_ROWS):
        x[rows] -= np.outer(2 * x[rows] @ mirror - 1, mirror)
    return {"x": x, "k": k}


def _fit_footprint(n: int, d: int, k: int) -> Footprint:
    return Footprint(
        input_bytes=4 * n * d,
        output_bytes=4 * (k + 1) * d + 8 * k,
        scratch_bytes=4 * d**2 + max(4 * (BLOCK_ROWS + STRIP_COLUMNS) * d, 50 * (k + GUARD_VECTORS) * d),
        naive_bytes=4 * n * d + 44 * d**2,
    )


def _project_inputs(n: int, d: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((n, d), np.float32)
    mean = rng.standard_normal(d, np.float32)
    basis = np.linalg.qr(rng.standard_normal((d, k)))[0].T
    return {"x": x, "mean": mean, "components": np.ascontiguousarray(basis, np.float32)}


def _project_footprint(n: int, d: int, k: int) -> Footprint:
    return Footprint(
        input_bytes=4 * (n + k + 1) * d,
        output_bytes=4 * n * k,
        scratch_bytes=4 * PROJECTED_ROWS * d,
        naive_bytes=4 * n * d + 4 * n * k,
    )


PATHS = (
    HotPath(
        name="pca_fit",
        seed="000",
        inputs=_fit_inputs,
        lean=fit,
        naive=naive_fit,
        reference=reference_fit,
        footprint=_fit_footprint,
        blamed=(
            "centered = x - mean",
            "values, vectors = np.linalg.eigh(covariance)",
        ),
        tolerance=1e-6,
        small={"n": 4_000, "d": 512, "k": 16},
        seed_size={"n": 100_000, "d": 4096, "k": 64},
        grows="n",
        growth={"n": 4_096, "d": 64, "k": 4},
        error=shortfall,
    ),
    HotPath(
        name="pca_project",
        seed="000",
        inputs=_project_inputs,
        lean=project,
        naive=naive_project,
        reference=reference_project,
        footprint=_project_footprint,
        blamed=("centered = x - mean",),
        tolerance=2e-6,
        small={"n": 16_000, "d": 768, "k": 32},
        seed_size={"n": 100_000, "d": 4096, "k": 64},
        grows="n",
        growth={"n": 8_192, "d": 32, "k": 4},
    ),
)
