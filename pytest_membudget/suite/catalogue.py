"""The table of hot paths. A new path is one entry in the ``PATHS`` of its subject's module."""

from __future__ import annotations

from pytest_membudget.suite import pca, vq, windows
from pytest_membudget.suite.hotpath import Case, HotPath

PATHS: tuple[HotPath, ...] = (
    *vq.PATHS,
    *pca.PATHS,
    *windows.PATHS,
)

CASES: tuple[Case, ...] = tuple(case for path in PATHS for case in path.cases())
