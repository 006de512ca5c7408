"""Runs the suite in the order that a seed gives."""

from __future__ import annotations

import os
import random

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle, all files together."""
    if seed := os.environ.get("ORDER"):
        random.Random(int(seed)).shuffle(items)
