"""Calling sources of GPU figures, which are drivers' and other people's code: their trouble is never the test's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_membudget.core.measurement import Unavailable
from pytest_membudget.probes.vram_source import VramSource

Result = TypeVar("Result")


def attempt(call: Callable[[], Result]) -> Result | Unavailable:
    """Return what the call returns, or what it raises as a reason."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # whatever it is, it must become a reason
        return Unavailable(str(error) or type(error).__name__)


def reason_against(source: VramSource) -> str | None:
    """Return why the source cannot serve at this moment, or None."""
    found = attempt(source.unavailable)
    return found.reason if isinstance(found, Unavailable) else found
