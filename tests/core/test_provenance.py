"""How a figure came about."""

from __future__ import annotations

import pytest

from pytest_membudget.core.budget import Budget
from pytest_membudget.core.provenance import Provenance, mode_of


@pytest.mark.parametrize(
    ("budget", "isolated", "mode"),
    [
        (Budget(), False, "exact, in process"),
        (Budget(python_allocators="arenas"), True, "arenas, isolated"),
        (Budget(scope="test", own_thread=True), True, "exact, isolated, with fixtures, own thread"),
        (Budget(children=True), True, "exact, isolated, with children"),
    ],
)
def test_mode(budget: Budget, isolated: bool, mode: str) -> None:
    """All that changes a figure without a change of the code."""
    assert mode_of(budget, isolated) == mode


def test_in_words() -> None:
    """As messages have it."""
    assert str(Provenance("cpython", "memray 1.20.0", "exact")) == "memray 1.20.0 (exact)"
    assert str(Provenance("cpython", "", "exact")) == "no heap tool (exact)"
