"""Noticing calls of functions in other modules, and leaving the modules as they were."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.peak_reset_guard import PeakResetGuard

PLACES = (("guarded", "reset"), ("guarded", "missing"), ("never_imported", "reset"))


@pytest.fixture
def guarded() -> Iterator[Any]:
    """A module with a function that says what it was called with."""
    module: Any = ModuleType("guarded")
    module.reset = lambda *args, **kwargs: (args, kwargs)
    with mock.patch.dict(sys.modules, {"guarded": module}):
        yield module


def test_call_is_noticed_and_goes_on(guarded: Any) -> None:
    """Before the function runs; arguments and result pass through."""
    seen: list[str] = []
    guard = PeakResetGuard(PLACES, lambda: seen.append("before"))
    guard.put_up()
    guard.put_up()

    assert guarded.reset(1, device=2) == ((1,), {"device": 2})
    assert seen == ["before"]


def test_own_calls_pass_unnoticed(guarded: Any) -> None:
    """The plugin sets the mark back itself."""
    seen: list[str] = []
    guard = PeakResetGuard(PLACES, lambda: seen.append("before"))
    guard.put_up()
    with guard.ignored():
        guarded.reset()

    assert seen == []


def test_taken_down(guarded: Any) -> None:
    """The original is back."""
    original = guarded.reset
    guard = PeakResetGuard(PLACES, lambda: None)
    guard.put_up()
    guard.take_down()

    assert guarded.reset is original


def test_somebody_elses_patch_stays(guarded: Any) -> None:
    """A test that put another function in the place keeps it."""
    guard = PeakResetGuard(PLACES, lambda: None)
    guard.put_up()
    guarded.reset = other = print
    guard.take_down()

    assert guarded.reset is other
