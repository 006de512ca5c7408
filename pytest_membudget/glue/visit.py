"""A test's stay in a process of its own, as the waiting process knows it afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_membudget.core.isolation import Ending, Isolation, TimeLimit, ending_text, last_figure

Phase = Literal["setup", "call", "teardown"]
PHASES: tuple[Phase, ...] = ("setup", "call", "teardown")
Message = tuple[str, Any]
# What faulthandler begins with.
_FATAL = "Fatal Python error"


@dataclass(frozen=True)
class Visit:
    """How the process ended, what it told before, why the test was there, and what a fresh interpreter printed."""

    ending: Ending
    messages: list[Message]
    isolation: Isolation
    printed: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """The last message of each kind."""
        return dict(self.messages)

    @property
    def phase(self) -> Phase:
        """The phase that the test was in last."""
        phase: Phase = self.told.get("phase", PHASES[0])
        return phase

    @property
    def reported(self) -> set[Phase]:
        """The phases of the last attempt at the test that came as reports."""
        phases: set[Phase] = set()
        for kind, content in self.messages:
            if (kind, content) == ("phase", PHASES[0]):
                phases.clear()
            elif kind == "report":
                phases.add(content["when"])
        return phases

    @property
    def grown_bytes(self) -> int | None:
        """By how much the resident set had grown at most, None where that is not known."""
        began_bytes, peak_bytes = self.told.get("began"), self.ending.resident_peak_bytes
        return None if began_bytes is None or peak_bytes is None else max(peak_bytes - int(began_bytes), 0)

    @property
    def why_lost(self) -> str:
        """Why the process ended before the test did, in words."""
        if self.printed and "phase" not in self.told:
            return "the fresh interpreter that was to run the test did not get as far as that"
        limit = self.told.get("limit")
        return ending_text(self.ending, self.phase, limit and TimeLimit(*limit))

    @property
    def last_words(self) -> str:
        """The last that is known of the process: a figure, and what it printed unless that was captured."""
        told = "" if "phase" in self.told and _FATAL not in self.printed else self.printed
        return "\n".join(filter(None, (last_figure(self.ending, self.grown_bytes), told)))
