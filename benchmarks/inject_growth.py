"""A pytest plugin that makes tests hold more than they did: the bytes that ``GROWTH`` names, as JSON by node id."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Wrap the functions of the tests that are to grow."""
    growth = json.loads(os.environ.get("GROWTH", "{}"))
    for item in items:
        if isinstance(item, pytest.Function) and item.nodeid in growth:
            item.obj = _holding(item.obj, growth[item.nodeid])


def _holding(function: Any, size_bytes: int) -> Any:
    @functools.wraps(function)
    def grown(*args: Any, **kwargs: Any) -> Any:
        held = bytearray(size_bytes)
        result = function(*args, **kwargs)
        del held
        return result

    return grown
