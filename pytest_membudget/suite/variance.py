"""How much of the variance of deltas the clusters leave unexplained, over all rows and over slices of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes, working_dtype
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath

_BLOCK_BYTES = 2**19


class ClusterMoments:
    """Sums from which the variance within clusters and in total follow, over as many blocks of rows as are added.

    Bytes
    -----
    16 K D + 16 K, and while a block of n rows is added 8 K D + 4 n (K + D) in float32.
    """

    def __init__(self, clusters: int, origin: NDArray[Any]) -> None:
        """Start with no rows; ``origin`` [D] is a point near the data, which keeps the sums accurate."""
        self._origin = origin
        self._counts = np.zeros(clusters)
        self._sums = np.zeros((clusters, len(origin)))
        self._squares = 0.0

    def add(self, rows: NDArray[Any], labels: NDArray[Any]) -> None:
        """Add rows [n, D], which must be few enough to be copied, with their clusters, int [n]."""
        centred = np.subtract(rows, self._origin, dtype=self._origin.dtype)
        members = labels == np.arange(len(self._counts))[:, None]
        self._sums += members.astype(centred.dtype) @ centred
        self._counts += members.sum(axis=1)
        self._squares += float(np.square(centred, out=centred).sum())

    def ratio(self) -> float:
        """Sum of squares within the clusters over that about the mean of all; NaN if there is no variance."""
        filled = self._counts > 0
        between = float((np.square(self._sums[filled]).sum(axis=1) / self._counts[filled]).sum())
        total = self._squares - float(np.square(self._sums.sum(axis=0)).sum()) / max(1.0, float(self._counts.sum()))
        return (self._squares - between) / total if total > 0 else float("nan")


def variance_ratio(
    deltas: NDArray[Any], labels: NDArray[Any], clusters: int, mask: NDArray[Any] | None = None
) -> float:
    """Variance within clusters over total variance: 1 where the clusters say nothing, 0 where they say all.

    One pass over blocks of rows. The sum of each cluster is a product of the one-hot labels with the rows, and the
    within-cluster sum of squares is what the cluster means leave of the total (the analysis of variance, Fisher 1925).

    Parameters
    ----------
    deltas
        float [N, D]; float16 is widened block by block.
    labels
        int [N], from 0 to K - 1.
    clusters
        K.
    mask
        bool [N], the rows that count; all if None. Only a block of them is ever copied.

    Returns
    -------
    The ratio; NaN if no row counts, all are equal, or one holds NaN. A cluster without rows counts for nothing.

    Bytes
    -----
    32 K D + 2^19 + n (5 K + 4) in float32, n = max(1, 2^17 / D) rows in a block; 2^19 + 8 n more with a mask.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, or a label out of range.
    """
    arrays = {"deltas": (deltas, "float N D"), "labels": (labels, "int N")}
    shapes(**arrays if mask is None else {**arrays, "mask": (mask, "bool N")})
    at_least(1, clusters=clusters)
    if len(labels) and (labels.min() < 0 or labels.max() >= clusters):
        raise ValueError(f"labels must lie from 0 to {clusters - 1}, not from {labels.min()} to {labels.max()}")
    moments = ClusterMoments(clusters, _near(deltas))
    for rows in row_blocks(len(deltas), block_rows(deltas.shape[1])):
        kept = slice(None) if mask is None else mask[rows]
        moments.add(deltas[rows][kept], labels[rows][kept])
    return moments.ratio()


def _near(deltas: NDArray[Any]) -> NDArray[Any]:
    """A point [D] near the data; a NaN there must not spoil a slice that leaves its row out."""
    first = deltas[: block_rows(deltas.shape[1])]
    center = first.sum(axis=0, dtype=np.float64) / max(1, len(first))
    point: NDArray[Any] = np.nan_to_num(center, posinf=0, neginf=0).astype(working_dtype(deltas))
    return point


def block_rows(columns: int) -> int:
    """How many rows of float32 make a block of 512 KiB."""
    return max(1, _BLOCK_BYTES // (4 * max(1, columns)))


def naive_variance_ratio(deltas: NDArray[Any], labels: NDArray[Any], clusters: int) -> float:
    """The same with the difference and its square as whole arrays: 8 N D bytes."""
    global_mean = deltas.mean(axis=0)
    diff = deltas - global_mean
    total = np.sum(diff**2)
    del diff
    within = 0.0
    for k in range(clusters):
        cluster = deltas[labels == k]
        within += np.sum((cluster - cluster.mean(axis=0)) ** 2) if len(cluster) else 0.0
    return float(within / total)


def reference_variance_ratio(deltas: NDArray[Any], labels: NDArray[Any], clusters: int) -> float:
    """The ratio in float64."""
    wide = deltas.astype(np.float64)
    within = sum(_scatter(wide[labels == k]) for k in range(clusters))
    return within / _scatter(wide)


def _scatter(rows: NDArray[np.float64]) -> float:
    return float(np.square(rows - rows.mean(axis=0)).sum()) if len(rows) else 0.0


def slice_ratios(deltas: NDArray[Any], labels: NDArray[Any], clusters: int, masks: NDArray[Any]) -> NDArray[np.float64]:
    """The variance ratio of each slice of the rows, without a copy of a slice.

    Parameters
    ----------
    deltas
        float [N, D].
    labels
        int [N], from 0 to K - 1.
    clusters
        K.
    masks
        bool [S, N], the rows of each slice.

    Returns
    -------
    float64 [S], as ``variance_ratio`` gives them.

    Bytes
    -----
    Those of one ``variance_ratio`` with a mask, and 8 S.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, or a label out of range.
    """
    shapes(masks=(masks, "bool S N"), deltas=(deltas, "float N D"), labels=(labels, "int N"))
    return np.array([variance_ratio(deltas, labels, clusters, mask) for mask in masks])


def naive_slice_ratios(
    deltas: NDArray[Any], labels: NDArray[Any], clusters: int, masks: NDArray[Any]
) -> NDArray[np.float64]:
    """The same from a copy of each slice, of which two are alive at a time: 8 N D bytes where slices are large."""
    ratios = []
    for slice_mask in masks:
        deltas_slice = deltas[slice_mask]
        ratios.append(variance_ratio(deltas_slice, labels[slice_mask], clusters))
    return np.array(ratios)


def reference_slice_ratios(
    deltas: NDArray[Any], labels: NDArray[Any], clusters: int, masks: NDArray[Any]
) -> NDArray[np.float64]:
    """The ratios in float64."""
    return np.array([reference_variance_ratio(deltas[mask], labels[mask], clusters) for mask in masks])


def _ratio_inputs(n: int, d: int, k: int) -> dict[str, Any]:
    """Rows around k centres."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, k, n)
    deltas = rng.standard_normal((n, d), np.float32)
    deltas += rng.standard_normal((k, d), np.float32)[labels]
    return {"deltas": deltas, "labels": labels, "clusters": k}


def _slice_inputs(n: int, d: int, k: int, s: int) -> dict[str, Any]:
    """The first slice is all rows, as in the document; the others thin out."""
    rng = np.random.default_rng(8)
    return {**_ratio_inputs(n, d, k), "masks": rng.random((s, n)) < np.linspace(1, 0.1, s)[:, None]}


def _ratio_scratch_bytes(d: int, k: int) -> int:
    return 32 * k * d + _BLOCK_BYTES + block_rows(d) * (5 * k + 4)


def _ratio_footprint(n: int, d: int, k: int) -> Footprint:
    return Footprint(
        input_bytes=4 * n * d + 8 * n,
        output_bytes=0,
        scratch_bytes=_ratio_scratch_bytes(d, k),
        naive_bytes=8 * n * d,
    )


def _slice_footprint(n: int, d: int, k: int, s: int) -> Footprint:
    return Footprint(
        input_bytes=4 * n * d + 8 * n + n * s,
        output_bytes=8 * s,
        scratch_bytes=_ratio_scratch_bytes(d, k) + _BLOCK_BYTES + 8 * block_rows(d),
        naive_bytes=4 * n * d + 8 * n + int(4 * n * d * (1 - 0.9 / max(1, s - 1))),
    )


PATHS = (
    HotPath(
        name="variance_ratio",
        seed="000",
        inputs=_ratio_inputs,
        lean=variance_ratio,
        naive=naive_variance_ratio,
        reference=reference_variance_ratio,
        footprint=_ratio_footprint,
        blamed=("diff = deltas - global_mean", "total = np.sum(diff**2)"),
        tolerance=1e-6,
        small={"n": 24_000, "d": 256, "k": 32},
        seed_size={"n": 100_000, "d": 512, "k": 64},
        grows="n",
        growth={"n": 8_192, "d": 32, "k": 8},
    ),
    HotPath(
        name="slice_ratios",
        seed="000",
        inputs=_slice_inputs,
        lean=slice_ratios,
        naive=naive_slice_ratios,
        reference=reference_slice_ratios,
        footprint=_slice_footprint,
        blamed=("deltas_slice = deltas[slice_mask]",),
        tolerance=1e-6,
        small={"n": 16_000, "d": 128, "k": 16, "s": 6},
        seed_size={"n": 100_000, "d": 512, "k": 64, "s": 8},
        grows="n",
        growth={"n": 8_192, "d": 32, "k": 8, "s": 3},
    ),
)
