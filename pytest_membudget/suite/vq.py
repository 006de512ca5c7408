"""Vector quantisation: the nearest centroid of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, finite, shapes, working_dtype
from pytest_membudget.suite.blocks import float_blocks, row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath

BLOCK_ROWS = 1024


def assign_clusters(x: NDArray[Any], centroids: NDArray[Any]) -> NDArray[np.intp]:
    """Index of the nearest centroid of each row, by Euclidean distance.

    The nearest centroid maximises ``x.c - |c|^2 / 2``: ``|x|^2`` is the same for all of them, so one matrix
    product per block decides (Lloyd 1982 is the rule, the expansion is folklore). Where the mean of the
    centroids outweighs their spread, the origin moves there, because the product would lose the digits that
    tell one centroid from the next.

    Parameters
    ----------
    x
        float [N, D]; float16 is widened block by block.
    centroids
        float [K, D], finite, K >= 1.

    Returns
    -------
    intp [N]. Ties go to the lower index; a row with NaN gets 0.

    Bytes
    -----
    8 N + 4,096 K + 16 K D in float32, output included; 4,096 D more where a block of rows must be copied,
    be it to centre it or because a matrix product cannot read it as it lies.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, no centroid, or a centroid that is not finite.
    """
    lengths = shapes(x=(x, "float N D"), centroids=(centroids, "float K D"))
    at_least(1, K=lengths["K"])
    finite(centroids=centroids)
    dtype = working_dtype(x, centroids)
    basis = centroids.astype(dtype, copy=False)
    origin = _origin(basis)
    basis = basis if origin is None else basis - origin
    half_norms = np.einsum("kd,kd->k", basis, basis) / 2
    labels = np.empty(len(x), np.intp)
    scores = np.empty((min(BLOCK_ROWS, len(x)), len(centroids)), dtype)
    for rows, block in float_blocks(x, BLOCK_ROWS, dtype, origin):
        similarity = np.matmul(block, basis.T, out=scores[: len(block)])
        similarity -= half_norms
        similarity.argmax(axis=1, out=labels[rows])
    return labels


def _origin(centroids: NDArray[Any]) -> NDArray[Any] | None:
    """The mean of the centroids, [D], if it is farther from zero than they are from it, else None."""
    mean = centroids.mean(axis=0, dtype=np.float64)
    spread = np.mean(np.square(centroids - mean).sum(axis=1))
    return mean.astype(centroids.dtype) if mean @ mean > spread else None


def naive_assign_clusters(x: NDArray[Any], centroids: NDArray[Any], batch_size: int = 10_000) -> NDArray[np.intp]:
    """The same by broadcasting: two arrays [batch, K, D] at a time, 8 batch K D bytes."""
    labels = np.empty(len(x), np.intp)
    for start in range(0, len(x), batch_size):
        batch = x[start : start + batch_size]
        diff = batch[:, None, :] - centroids[None, :, :]
        sq_dists = np.sum(diff**2, axis=2)
        labels[start : start + batch_size] = np.argmin(sq_dists, axis=1)
    return labels


def reference_distances(x: NDArray[Any], centroids: NDArray[Any]) -> NDArray[np.float64]:
    """Squared distances [N, K] by differences in float64."""
    distances = np.empty((len(x), len(centroids)))
    for rows in row_blocks(len(x), BLOCK_ROWS):
        for k, centroid in enumerate(centroids.astype(np.float64)):
            difference = x[rows] - centroid
            distances[rows, k] = np.einsum("nd,nd->n", difference, difference)
    return distances


def excess_distance(labels: NDArray[np.intp], distances: NDArray[np.float64]) -> float:
    """How much farther than the nearest centroid the chosen one lies, at worst, as a fraction."""
    chosen = np.take_along_axis(distances, labels[:, None], axis=1)[:, 0]
    nearest = distances.min(axis=1)
    return float(np.max((chosen - nearest) / nearest, initial=0.0))


def _inputs(n: int, k: int, d: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, d), np.float32)
    return {"x": x, "centroids": rng.standard_normal((k, d), np.float32)}


def _footprint(n: int, k: int, d: int) -> Footprint:
    batch = min(n, 10_000)
    return Footprint(
        input_bytes=4 * (n + k) * d,
        output_bytes=8 * n,
        scratch_bytes=4 * BLOCK_ROWS * k + 16 * k * d,
        naive_bytes=8 * n + 8 * batch * k * d + 4 * batch * k,
    )


PATHS = (
    HotPath(
        name="vq_assign",
        seed="000",
        inputs=_inputs,
        lean=assign_clusters,
        naive=naive_assign_clusters,
        reference=reference_distances,
        footprint=_footprint,
        blamed=("diff = batch[:, None, :] - centroids[None, :, :]", "sq_dists = np.sum(diff**2, axis=2)"),
        tolerance=1e-6,
        small={"n": 12_000, "k": 64, "d": 96},
        seed_size={"n": 20_000, "k": 64, "d": 512},
        grows="n",
        growth={"n": 16_384, "k": 8, "d": 16},
        error=excess_distance,
    ),
)
