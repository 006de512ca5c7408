"""How a figure came about: what two figures must share to be compared."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_membudget.core.budget import Budget


@dataclass(frozen=True)
class Provenance:
    """Where and how a test was measured.

    ``environment`` is a key such as ``cpython-3.11-linux-x86_64``, ``measured_by`` the heap's tool and its version,
    ``mode`` the ways of measuring that change a figure, in words.
    """

    environment: str = ""
    measured_by: str = ""
    mode: str = ""

    def __str__(self) -> str:
        return f"{self.measured_by or 'no heap tool'} ({self.mode})"


UNKNOWN = Provenance()
"""Of a figure that says nothing of how it came about."""


def mode_of(budget: Budget, isolated: bool) -> str:
    """Return the mode in words: what else than the code under test decides about the figure."""
    words = [budget.python_allocators, "isolated" if isolated else "in process"]
    words += ["with fixtures"] if budget.scope == "test" else []
    words += ["own thread"] if budget.own_thread else []
    words += ["with children"] if budget.children else []
    words += ["vram in total"] if budget.vram_total else []
    return ", ".join(words)
