"""The largest eigenvalues, on spectra that are hard in different ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.eigen import leading_eigenpairs

SIZE = 96
SPECTRA = {
    "slow": 1 / np.arange(1, SIZE + 1),
    "steep": np.exp(-np.arange(SIZE) / 2.0),
    "flat": np.ones(SIZE),
    "clustered": np.repeat([4.0, 4 - 1e-2, 1.0, 0.1], SIZE // 4),
    "deficient": np.r_[np.ones(5), np.zeros(SIZE - 5)],
    "zero": np.zeros(SIZE),
}


def _matrix(spectrum: NDArray[Any]) -> NDArray[np.float64]:
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((len(spectrum), len(spectrum))))[0]
    matrix: NDArray[np.float64] = (basis * spectrum) @ basis.T
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize("k", [1, 7, SIZE - 3, SIZE])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-6), (np.float64, 1e-12)])
@pytest.mark.parametrize("spectrum", SPECTRA.values(), ids=SPECTRA.keys())
def test_values_and_vectors(spectrum: NDArray[Any], dtype: type[np.floating[Any]], tolerance: float, k: int) -> None:
    """The values are right, the vectors orthonormal, and their span holds as much as any could."""
    matrix = _matrix(spectrum)

    values, vectors = leading_eigenpairs(matrix.astype(dtype), k)

    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:k], atol=tolerance)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(k), atol=tolerance)
    np.testing.assert_allclose(np.trace(vectors @ matrix @ vectors.T), values.sum(), rtol=tolerance * k, atol=tolerance)


def test_one_by_one() -> None:
    """A single number is its own eigenvalue."""
    values, vectors = leading_eigenpairs(np.array([[3.0]]), 1)

    np.testing.assert_array_equal(values, 3)
    np.testing.assert_array_equal(vectors, 1)
