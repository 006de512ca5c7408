"""The table of hot paths. A new path is one entry in the ``PATHS`` of its subject's module."""

from __future__ import annotations

from pytest_membudget.suite import (
    context,
    frame_file,
    keys,
    normalization,
    pca,
    pca_windows,
    pipeline,
    prefetch,
    variance,
    vq,
    windows,
)
from pytest_membudget.suite.hotpath import Case, HotPath

PATHS: tuple[HotPath, ...] = (
    *vq.PATHS,
    *pca.PATHS,
    *pca_windows.PATHS,
    *context.PATHS,
    *normalization.PATHS,
    *variance.PATHS,
    *keys.PATHS,
    *pipeline.PATHS,
    *windows.PATHS,
    *prefetch.PATHS,
    *frame_file.PATHS,
)

CASES: tuple[Case, ...] = tuple(case for path in PATHS for case in path.cases())
