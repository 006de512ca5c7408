"""Bringing the GPU to rest, and torch's context into being."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from pytest_membudget.probes.vram_housekeeping import WarmUp, bring_to_rest, warm_up
from tests.nvml.standin_torch import install

MIB = 2**20


@pytest.fixture(autouse=True)
def _modules_are_put_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no stand-in outlive its test, and begin without a failure."""
    for name in ("last_exc", "last_value", "last_traceback"):
        monkeypatch.delattr(sys, name, raising=False)
    with mock.patch.dict(sys.modules):
        yield


def test_nothing_held_costs_nothing() -> None:
    """Without a framework that holds GPU memory no garbage is collected."""
    sys.modules.pop("torch", None)
    bring_to_rest(lambda: pytest.fail("collected"))
    install()
    bring_to_rest(lambda: pytest.fail("collected"))


def test_cache_is_emptied() -> None:
    """What the allocator keeps in reserve goes back to the device."""
    torch = install()
    torch.empty(5 * MIB)
    bring_to_rest(lambda: None)

    assert torch.cuda.allocators[0].reserved == 0


@pytest.mark.parametrize("where", ["last_value", "last_exc"])
def test_failed_test_lets_go(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The tensors in a failed test's frames, and in those of what it failed with, are freed (pitfall 25)."""
    torch = install()
    monkeypatch.setattr(sys, where, failure_with_tensors(torch), raising=False)
    assert torch.cuda.allocators[0].allocated == 3 * MIB
    bring_to_rest(lambda: None)

    assert torch.cuda.allocators[0].allocated == 0


def failure_with_tensors(torch: Any) -> BaseException:
    """Fail twice, with a tensor in each frame."""

    def inner() -> None:
        held = torch.empty(MIB)
        raise ValueError(held and "inner")

    def outer() -> None:
        held = torch.empty(2 * MIB)
        try:
            inner()
        except ValueError as error:
            raise RuntimeError(held and "outer") from error

    try:
        outer()
    except RuntimeError as error:
        return error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
    raise AssertionError


@pytest.mark.parametrize(
    ("when", "may_fork", "begun"),
    [("auto", False, True), ("auto", True, False), ("always", True, True), ("never", False, False)],
)
def test_warm_up(when: WarmUp, may_fork: bool, begun: bool) -> None:
    """A context is made when it was asked for, and leaves nothing in reserve."""
    torch = install()
    warm_up(when, may_fork)

    assert torch.cuda.is_initialized() == begun
    assert torch.cuda.allocators[0].reserved == 0


def test_warm_up_without_torch() -> None:
    """Torch is never imported for it."""
    sys.modules.pop("torch", None)
    warm_up("always", False)

    assert "torch" not in sys.modules
