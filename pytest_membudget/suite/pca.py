"""Principal components: projection onto them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.arguments import shapes, working_dtype
from pytest_membudget.suite.blocks import row_blocks
from pytest_membudget.suite.hotpath import Footprint, HotPath

BLOCK_ROWS = 512


def project(x: NDArray[Any], mean: NDArray[Any], components: NDArray[Any]) -> NDArray[Any]:
    """Coordinates of the rows in the basis of the components: ``(x - mean) @ components.T``.

    Rows are centred block by block in one scratch. Multiplying first and subtracting ``mean @ components.T``
    afterwards needs no scratch, but loses digits where the mean is large against the spread.

    Args:
        x: float [N, D]; float16 is widened block by block.
        mean: float [D].
        components: float [k, D], rows of unit length as a fit returns them.

    Returns:
        [N, k] in float64 if an argument is float64, else in float32. A row with NaN gives a row of NaN.

    Bytes:
        4 N k + 2,048 D in float32, output included.

    Raises:
        ValueError: Wrong shapes or dtypes.
    """
    shapes(x=(x, "float N D"), mean=(mean, "float D"), components=(components, "float k D"))
    dtype = working_dtype(x, mean, components)
    basis = components.astype(dtype, copy=False).T
    coordinates = np.empty((len(x), len(components)), dtype)
    scratch = np.empty((min(BLOCK_ROWS, len(x)), x.shape[1]), dtype)
    for rows in row_blocks(len(x), BLOCK_ROWS):
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
        scratch_bytes=4 * BLOCK_ROWS * d,
        naive_bytes=4 * n * d + 4 * n * k,
    )


PATHS = (
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
    ),
)
