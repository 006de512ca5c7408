"""Whether a test had a process of its own, and what is known when that process ended before the test did."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from pytest_membudget.core.sizes import format_size

_MEANS = {"SIGKILL": ", as the system does with a process when memory runs out"}


@dataclass(frozen=True)
class Isolation:
    """Where a test ran that was to have a process of its own: in one, or not, and why."""

    isolated: bool
    reason: str


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Parameters
    ----------
    exit_code
        As ``subprocess`` has it: minus the signal's number where a signal ended it; None where nobody can tell.
    seconds
        How long it ran.
    resident_peak_bytes
        An upper bound of its resident set; None where the system keeps no account of it.
    out_of_memory_kills
        Processes that the system killed meanwhile because memory had run out.
    overdue
        It was killed because it did not end when its time was up.
    """

    exit_code: int | None
    seconds: float
    resident_peak_bytes: int | None = None
    out_of_memory_kills: int = 0
    overdue: bool = False


@dataclass(frozen=True)
class TimeLimit:
    """What a test was told by pytest-timeout."""

    seconds: float
    ends_process: bool = False

    def explains(self, ending: Ending) -> bool:
        """Whether the process ended because the test's time was up."""
        return ending.overdue or (self.ends_process and ending.exit_code == 1 and ending.seconds >= self.seconds)


def ending_text(ending: Ending, phase: str, limit: TimeLimit | None) -> str:
    """Return why a test failed whose process ended in the middle of ``phase``."""
    if limit and limit.explains(ending):
        how = f"was ended because the test was not over after {limit.seconds:g} s (pytest-timeout)"
    else:
        how = _how(ending)
    return f"the test's own process {how}, in its {phase} phase"


def _how(ending: Ending) -> str:
    if ending.exit_code is None:
        return "was lost: the process that it was forked from has ended"
    if ending.exit_code >= 0:
        return f"ended by itself with exit status {ending.exit_code} (os._exit or the like)"
    name = _signal_name(-ending.exit_code)
    if name == "SIGKILL" and ending.out_of_memory_kills:
        return "was ended by SIGKILL while the system was killing processes because memory had run out"
    return f"was ended by {name}{_MEANS.get(name, '')}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_figure(ending: Ending, grown_bytes: int | None) -> str:
    """Return what is known of the memory of a process that has ended, as a sentence."""
    if grown_bytes is not None:
        return f"the last known figure: its resident set had grown by {format_size(grown_bytes)}"
    if ending.resident_peak_bytes is not None:
        return f"the last known figure: its resident set was {format_size(ending.resident_peak_bytes)} at most"
    return "no figure is known of its memory"
