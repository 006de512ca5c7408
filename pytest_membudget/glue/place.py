"""Where a test's budget stands in its file, so that an output can point at the very line."""

from __future__ import annotations

import inspect
import linecache
import re
from typing import NamedTuple

import pytest

from pytest_membudget.glue.marker_names import LIMIT_MEMORY, MARKER

_BUDGET = re.compile(rf"\s*@.*\b(?:{MARKER}|{LIMIT_MEMORY})\b")
_DEFINITION = re.compile(r"\s*(?:async\s+)?def\b")


class Place(NamedTuple):
    """A line of a file, relative to rootdir; the line is None where pytest knows none."""

    file: str
    line: int | None


def place_of(item: pytest.Item) -> Place:
    """Return the line of the budget's decorator on the test function, else the line that the test begins at."""
    file, line, _ = item.location
    return Place(file.replace("\\", "/"), _decorator_line(item) or (None if line is None else line + 1))


def _decorator_line(item: pytest.Item) -> int | None:
    if MARKER not in item.keywords and LIMIT_MEMORY not in item.keywords:
        return None
    code = getattr(inspect.unwrap(getattr(item, "function", place_of)), "__code__", None)
    if code is None:
        return None
    # A function's code begins at its first decorator.
    for number, text in enumerate(linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :], code.co_firstlineno):
        if _DEFINITION.match(text):
            return None
        if _BUDGET.match(text):
            return number
    return None
