"""BLAS, LAPACK and plain array code."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.membudget("1GiB", isolate=True)
GENERATOR = np.random.default_rng(7)
MATRIX = GENERATOR.normal(size=(300, 200))


def test_blas() -> None:
    """A product of matrices; the first starts the threads of BLAS and their buffers."""
    square = np.ones((700, 700))
    assert (square @ square)[0, 0] == 700


def test_blas_again() -> None:
    """The same in another test, which must not find the buffers of the first."""
    square = np.ones((700, 700))
    assert (square @ square)[0, 0] == 700


def test_svd() -> None:
    """A singular value decomposition."""
    assert np.linalg.svd(MATRIX, full_matrices=False)[1].shape == (200,)


def test_solve() -> None:
    """A linear system."""
    assert np.linalg.solve(MATRIX[:200], MATRIX[:200, 0]).shape == (200,)


def test_broadcast() -> None:
    """A difference of all pairs."""
    assert (MATRIX[:, None, :] - MATRIX[None, :100, :]).shape == (300, 100, 200)


def test_sort() -> None:
    """A copy and its order."""
    assert np.argsort(np.tile(MATRIX, 5), axis=None).size == 300_000


def test_stack() -> None:
    """A list of arrays that becomes one."""
    assert np.stack([MATRIX + step for step in range(10)]).shape == (10, 300, 200)
