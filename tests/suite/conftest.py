"""Layouts that array code meets in practice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_membudget.suite.warmup import start_blas

Layout = Callable[[NDArray[Any]], NDArray[Any]]


def _strided(array: NDArray[Any]) -> NDArray[Any]:
    every_other: NDArray[Any] = np.repeat(array, 2, axis=-1)[..., ::2]
    return every_other


def _reversed(array: NDArray[Any]) -> NDArray[Any]:
    backwards: NDArray[Any] = array[::-1].copy()[::-1]
    return backwards


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    left: NDArray[Any] = np.concatenate([array, array], axis=-1)[..., : array.shape[-1]]
    return left


def _readonly(array: NDArray[Any]) -> NDArray[Any]:
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


LAYOUTS = (np.asfortranarray, _strided, _reversed, _wide, _readonly)


@pytest.fixture(scope="session", autouse=True)
def _blas_started() -> None:
    """Keep the one-time costs of BLAS out of the first measurement."""
    start_blas()


@pytest.fixture(params=LAYOUTS, ids=("fortran", "strided", "reversed", "wide", "readonly"))
def layout(request: pytest.FixtureRequest) -> Layout:
    """A function that gives an array the same values in another memory layout."""
    found: Layout = request.param
    return found
