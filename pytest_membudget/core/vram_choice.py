"""Which of several sources is believed: the first that can answer, and never a mixture of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_membudget.core.measurement import Unavailable
from pytest_membudget.core.vram import VramReading

Outcome = VramReading | Unavailable

AUTO = "auto"


def not_imported(framework: str) -> str:
    """Return the reason of a framework's counter in a process that does not use the framework."""
    return f"{framework} is not imported"


def choose(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Return the first reading, with what the sources before it gave as reasons and what those after it read.

    Parameters
    ----------
    outcomes
        What each source came to, the most trusted first.
    """
    readings = [outcome for outcome in outcomes.values() if isinstance(outcome, VramReading)]
    if not readings:
        return Unavailable(f"no GPU figure: {_reasons(outcomes)}")
    chosen, *others = readings
    passed_over = []
    for name, outcome in outcomes.items():
        if outcome is chosen:
            break
        assert isinstance(outcome, Unavailable)
        passed_over.append((name, outcome.reason))
    return replace(chosen, passed_over=tuple(passed_over), beside=tuple(others))


def _reasons(outcomes: Mapping[str, Outcome]) -> str:
    """Join the reasons; that a framework is not imported is worth no word beside others."""
    reasons = {name: outcome.reason for name, outcome in outcomes.items() if isinstance(outcome, Unavailable)}
    telling = [reason for name, reason in reasons.items() if reason != not_imported(name)]
    return "; ".join(dict.fromkeys(telling or reasons.values())) or "there is no source"
