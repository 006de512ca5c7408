"""The largest eigenvalues of a symmetric matrix, in the precision of the matrix and without a copy of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Vectors beyond those asked for; they shield the last wanted one from its slow neighbours.
GUARD_VECTORS = 16
_MOST_ROUNDS = 60
_HIGHEST_DEGREE = 12


def leading_eigenpairs(matrix: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The k largest eigenvalues of a positive semidefinite matrix and their eigenvectors.

    ``numpy.linalg.eigh`` turns a float32 matrix into float64 and needs ten times its bytes. Here a block of k
    + 16 vectors is filtered by Chebyshev polynomials that are small on the unwanted part of the spectrum,
    made orthonormal, and rotated to the best approximations it contains, until the residuals are at the
    rounding level or the sum of the eigenvalues stands still. Eigenvectors whose values differ by less than
    a thousandth may come out mixed with one another, at next to no cost in the sum. (Subspace iteration with
    Chebyshev acceleration: Rutishauser 1970; Zhou and Saad 2007.)

    Parameters
    ----------
    matrix
        float32 or float64 [D, D], symmetric, positive semidefinite and finite; only read.
    k
        How many, 1 <= k <= D.

    Returns
    -------
    The eigenvalues [k] in float64, largest first, and the eigenvectors as rows [k, D] of the matrix's
    dtype. The entry of largest magnitude of each vector is positive.

    Bytes
    -----
    50 (k + 16) D in float32, output included.
    """
    size = len(matrix)
    rng = np.random.default_rng(0)
    basis = _orthonormal(rng.standard_normal((size, min(size, k + GUARD_VECTORS)), matrix.dtype.type))
    tolerance = 2 * float(np.finfo(matrix.dtype).eps)
    reached = 0.0
    for _ in range(_MOST_ROUNDS):
        values, basis, residual = _rotated(matrix, basis, k)
        captured = float(values[:k].sum())
        if residual <= tolerance * values[0] or captured - reached <= tolerance * captured / size:
            break
        reached = captured
        basis = _orthonormal(_filtered(matrix, basis, values, k))
    return values[:k].clip(0), _upright(basis[:, :k].T)


def _rotated(matrix: NDArray[Any], basis: NDArray[Any], k: int) -> tuple[NDArray[np.float64], NDArray[Any], float]:
    """Ritz values, Ritz vectors, and the largest residual among the first k (Rayleigh and Ritz)."""
    image = matrix @ basis
    values, rotation = np.linalg.eigh((basis.T @ image).astype(np.float64))
    values, rotation = values[::-1], rotation[:, ::-1].astype(matrix.dtype)
    image, basis = image @ rotation, basis @ rotation
    image[:, :k] -= basis[:, :k] * values[:k].astype(matrix.dtype)
    return values, basis, float(np.sqrt(np.einsum("dk,dk->k", image[:, :k], image[:, :k]).max()))


def _filtered(matrix: NDArray[Any], basis: NDArray[Any], values: NDArray[np.float64], k: int) -> NDArray[Any]:
    """The Chebyshev polynomial of the matrix, times the basis: small on [0, the last Ritz value], 1 at the first."""
    largest = values[0]
    half = max(values[-1], largest * float(np.finfo(matrix.dtype).eps)) / 2
    sigma = first = half / (largest - half)
    scalar = matrix.dtype.type
    before, basis = basis, (matrix @ basis - scalar(half) * basis) * scalar(sigma / half)
    for _ in range(1, _degree(values, half, k, matrix.dtype)):
        following = 1 / (2 / first - sigma)
        after = (matrix @ basis - scalar(half) * basis) * scalar(2 * following / half)
        after -= scalar(sigma * following) * before
        before, basis, sigma = basis, after, following
    return basis


def _degree(values: NDArray[np.float64], half: float, k: int, dtype: np.dtype[Any]) -> int:
    """The degree that lifts the first vector over the k-th by no more than the digits can carry."""
    first, last = np.arccosh(np.maximum(values[[0, k - 1]] / half - 1, 1.0))
    digits = -np.log(float(np.finfo(dtype).eps)) / 2
    return int(np.clip(digits / max(first - last, 1e-9), 1, _HIGHEST_DEGREE))


def _orthonormal(block: NDArray[Any]) -> NDArray[Any]:
    return np.linalg.qr(block)[0]


def _upright(vectors: NDArray[Any]) -> NDArray[Any]:
    """The vectors with the sign that makes their largest entry positive, so that a result is repeatable."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    upright: NDArray[Any] = vectors * np.where(largest < 0, -1, 1).astype(vectors.dtype)
    return upright
