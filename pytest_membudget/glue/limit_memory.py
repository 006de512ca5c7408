"""Reading pytest-memray's ``limit_memory`` marker as a budget, with that plugin's units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from pytest_membudget.core.budget import Declared
from pytest_membudget.core.errors import MarkerError

_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB"))}
_LIMIT = re.compile(r"\+?(?P<number>\d*\.?\d+(?:[eE][+-]?\d+)?)\s*(?P<unit>[KMGTP]?B)", re.IGNORECASE)


def read_limit_memory(args: tuple[object, ...], kwargs: Mapping[str, object], where: str) -> dict[str, Declared]:
    """Return what a ``limit_memory("25 MB", current_thread_only=True)`` marker declares; its MB is 1024**2 bytes.

    Raises
    ------
    MarkerError
        Arguments that pytest-memray would not take either.
    """
    given = dict(zip(("limit",), args, strict=False)) | dict(kwargs)
    own_thread = given.pop("current_thread_only", False)
    limit = given.pop("limit", None)
    if len(args) > 1 or given or not isinstance(limit, str):
        raise MarkerError(
            f'limit_memory marker {where}: write limit_memory("25 MB"), and current_thread_only=True if wanted'
        )
    found = _LIMIT.fullmatch(limit.strip())
    if found is None:
        raise MarkerError(
            f"limit_memory marker {where}: {limit!r} is not a number with one of the units {', '.join(_UNITS)}"
        )
    limit_bytes = int(Fraction(found["number"]) * _UNITS[found["unit"].upper()])
    declared = {"ram": Declared(limit_bytes, where)}
    return declared | {"own_thread": Declared(True, where)} if own_thread else declared
