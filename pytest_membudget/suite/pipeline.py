"""A whole analysis: from the latents of two splits to how well their contexts predict what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import at_least, shapes, working_dtype
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.context import (
    context_flat,
    context_mean,
    naive_context_flat,
    naive_context_mean,
)
from pytest_membudget.suite.eigen import GUARD_VECTORS
from pytest_membudget.suite.hotpath import Footprint, HotPath
from pytest_membudget.suite.normalization import ColumnMoments, naive_normalize, normalize
from pytest_membudget.suite.pca import PROJECTED_ROWS, Components, naive_fit, naive_project, project, reference_project
from pytest_membudget.suite.pca_windows import fit_windows
from pytest_membudget.suite.variance import ClusterMoments, naive_variance_ratio, reference_variance_ratio
from pytest_membudget.suite.vq import assign_clusters, naive_assign_clusters, reference_distances

BLOCK_ROWS = 512


class Model(NamedTuple):
    """What the training split teaches: a basis for flat windows, two codebooks [K, .], and the scale of deltas."""

    components: Components
    mean_codebook: NDArray[Any]
    flat_codebook: NDArray[Any]
    delta_mean: NDArray[np.float64]
    delta_deviation: NDArray[np.float64]


def unexplained_variance(
    train: NDArray[Any], evaluation: NDArray[Any], window: int, k: int, clusters: int
) -> NDArray[np.float64]:
    """Variance of the step after each window that is left within clusters of windows, per split and kind of feature.

    The windows are never laid out: the basis comes from the rows that they share, and features, clusters and
    steps are made, used and dropped one block of rows at a time. Nothing of a split is held but the latents
    themselves.

    Parameters
    ----------
    train, evaluation
        float [F, D] each, finite; a window predicts the row that follows it.
    window
        Rows per window, W.
    k
        Principal components of the flat windows, 1 <= k <= min(F - W, W D).
    clusters
        K. The codebooks are the features of K windows at even distances in the training split.

    Returns
    -------
    float64 [2, 2]: training and evaluation split by clusters of window means and of projected flat windows.

    Bytes
    -----
    max(4 (W D)^2 + 50 (k + 16) W D, 1,024 W D + 2,048 (6 D + 2 k) + 32 K (128 + D)) in float32, whatever F.

    Raises
    ------
    ValueError
        Wrong shapes or dtypes, a size out of range, NaN or infinity in the training split.
    """
    shapes(train=(train, "float F D"), evaluation=(evaluation, "float E D"))
    at_least(1, clusters=clusters)
    model = _learned(train, window, k, clusters)
    return np.array([_ratios(split, window, model) for split in (train, evaluation)])


def _learned(train: NDArray[Any], window: int, k: int, clusters: int) -> Model:
    components = fit_windows(train[:-1], window, k)
    moments = ColumnMoments(train.shape[1], BLOCK_ROWS, working_dtype(train))
    for part in _blocks(train, window):
        moments.add(_steps(part, window))
    chosen = np.linspace(0, len(train) - window - 1, clusters).astype(np.intp)
    codes = [_features(train[start : start + window], window, components) for start in chosen]
    means, flats = (np.concatenate(column) for column in zip(*codes, strict=True))
    return Model(components, means, flats, moments.mean, moments.deviation())


def _blocks(latents: NDArray[Any], window: int) -> Iterator[NDArray[Any]]:
    """Blocks of up to 512 windows: their rows, and the one row that follows the last."""
    for rows in row_blocks(len(latents) - window, BLOCK_ROWS):
        yield latents[rows.start : rows.stop + window]


def _steps(part: NDArray[Any], window: int) -> NDArray[Any]:
    steps: NDArray[Any] = part[window:] - part[window - 1 : -1]
    return steps


def _features(rows: NDArray[Any], window: int, components: Components) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and coordinates of each window of the rows."""
    flat = project(context_flat(rows, window), components.mean, components.components)
    return context_mean(rows, window), flat


def _ratios(latents: NDArray[Any], window: int, model: Model) -> tuple[float, float]:
    origin = np.zeros(latents.shape[1], working_dtype(latents))
    by_mean, by_flat = (ClusterMoments(len(model.mean_codebook), origin) for _ in range(2))
    for part in _blocks(latents, window):
        means, flats = _features(part[:-1], window, model.components)
        steps = normalize(_steps(part, window), model.delta_mean, model.delta_deviation)
        by_mean.add(steps, assign_clusters(means, model.mean_codebook))
        by_flat.add(steps, assign_clusters(flats, model.flat_codebook))
    return by_mean.ratio(), by_flat.ratio()


def naive_unexplained_variance(
    train: NDArray[Any], evaluation: NDArray[Any], window: int, k: int, clusters: int
) -> NDArray[np.float64]:
    """The same with all features of both splits resident, 8 N D (W + 2) bytes, under the peak of each step."""
    splits = [
        (
            naive_context_mean(latents[:-1], window),
            naive_context_flat(latents[:-1], window),
            latents[window:] - latents[window - 1 : -1],
        )
        for latents in (train, evaluation)
    ]
    train_means, train_flat, train_deltas = splits[0]
    components = naive_fit(train_flat, k)
    mean, deviation = train_deltas.mean(axis=0), train_deltas.std(axis=0)
    chosen = np.linspace(0, len(train_flat) - 1, clusters).astype(np.intp)
    codebook = naive_project(train_flat[chosen], components.mean, components.components)
    ratios = []
    for means, flat, deltas in splits:
        normal = naive_normalize(deltas, mean, deviation)
        by_mean = naive_assign_clusters(means, train_means[chosen])
        by_flat = naive_assign_clusters(naive_project(flat, components.mean, components.components), codebook)
        ratios.append([naive_variance_ratio(normal, labels, clusters) for labels in (by_mean, by_flat)])
    return np.array(ratios)


def reference_unexplained_variance(
    train: NDArray[Any], evaluation: NDArray[Any], window: int, k: int, clusters: int
) -> NDArray[np.float64]:
    """The same in float64, with every array whole."""
    wide = [latents.astype(np.float64) for latents in (train, evaluation)]
    flat_windows = [context_flat(latents[:-1], window) for latents in wide]
    mean = flat_windows[0].mean(axis=0)
    basis = np.linalg.eigh(np.cov(flat_windows[0], rowvar=False))[1][:, : -k - 1 : -1].T
    steps = [latents[window:] - latents[window - 1 : -1] for latents in wide]
    features = [
        (flat.reshape(len(flat), window, -1).mean(axis=1), reference_project(flat, mean, basis))
        for flat in flat_windows
    ]
    chosen = np.linspace(0, len(steps[0]) - 1, clusters).astype(np.intp)
    ratios = np.empty((2, 2))
    for split, kind in np.ndindex(2, 2):
        labels = reference_distances(features[split][kind], features[0][kind][chosen]).argmin(axis=1)
        normal = (steps[split] - steps[0].mean(axis=0)) / steps[0].std(axis=0)
        ratios[split, kind] = reference_variance_ratio(normal, labels, clusters)
    return ratios


def _latents(rng: np.random.Generator, frames: int, d: int) -> NDArray[np.float32]:
    """Columns that swing at their own pace and strength, with noise."""
    phases = np.arange(frames)[:, None] / np.geomspace(5, 80, d) + rng.uniform(0, 6, d)
    swings = np.sin(phases) * np.geomspace(2, 0.1, d)
    return (swings + rng.standard_normal((frames, d)) * 0.2).astype(np.float32)


def _inputs(frames: int, window: int, d: int, clusters: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng(10)
    train, evaluation = _latents(rng, frames, d), _latents(rng, frames, d)
    return {"train": train, "evaluation": evaluation, "window": window, "k": k, "clusters": clusters}


def _footprint(frames: int, window: int, d: int, clusters: int, k: int) -> Footprint:
    rows, columns = frames - window, window * d
    basis = 4 * (k + 1) * columns
    resident, batch = 8 * rows * d * (window + 2) + 4 * rows * d, min(rows, 10_000)
    fitting = 4 * columns**2 + 50 * (k + GUARD_VECTORS) * columns
    scoring = 4 * PROJECTED_ROWS * columns + 4 * BLOCK_ROWS * (6 * d + 2 * k) + 4 * 1024 * clusters + 32 * clusters * d
    return Footprint(
        input_bytes=8 * frames * d,
        output_bytes=32,
        scratch_bytes=basis + max(fitting, scoring),
        naive_bytes=resident + 4 * columns**2 + 8 * batch * clusters * d + 4 * batch * clusters,
    )


PATHS = (
    HotPath(
        name="pipeline",
        seed="000",
        inputs=_inputs,
        lean=unexplained_variance,
        naive=naive_unexplained_variance,
        reference=reference_unexplained_variance,
        footprint=_footprint,
        blamed=(
            "diff = batch[:, None, :] - centroids[None, :, :]",
            "sq_dists = np.sum(diff**2, axis=2)",
        ),
        tolerance=1e-4,
        small={"frames": 3_000, "window": 8, "d": 48, "clusters": 32, "k": 16},
        grows="frames",
    ),
)
