"""What the end of a run says about the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_membudget.core.growth import Growth
from pytest_membudget.core.growth_wording import share_of, signed_size
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import Use
from pytest_membudget.core.recording import Recorded
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.sizes import format_size
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.terminal import Line, named

TOO_LOOSE = 4


def recorded_lines(name: str, result: Recorded, command: str) -> list[Line]:
    """Say what was recorded, and what was not because the run failed."""
    parts = [
        (len(result.added), "added"),
        (len(result.raised), "raised"),
        (len(result.lowered), "lowered"),
        (len(result.renewed), "measured anew"),
    ]
    counts = ", ".join(f"{count} {word}" for count, word in parts if count) or "no entry changed"
    lines = [Line(f"{name}: {counts}; it holds {_entries(len(result.baseline))}", "green")]
    if result.raised:
        lines.append(Line(f"raised: {named(result.raised)}", "yellow"))
    if result.held:
        lines.append(
            Line(
                f"not raised, because the run failed: {named(result.held)}: let it pass, or record these alone with "
                f"{command} and their names",
                "yellow",
            )
        )
    return lines


def pruned_line(gone: Sequence[str]) -> Line:
    """Say which entries were dropped."""
    if not gone:
        return Line("pruned: no entry, every test still exists")
    return Line(f"pruned: {_entries(len(gone))} of tests that are gone: {named(gone)}", "yellow")


def unrecorded_lines(run: RunReport, command: str) -> list[Line]:
    """Say how to record the tests that there was nothing to compare with."""
    return [Line(f"to record what was not compared: {command}", "yellow")] if run.count(Outcome.NO_BASELINE) else []


def improved_lines(run: RunReport, command: str) -> list[Line]:
    """Say which tests need less than the baseline has, and how to record that."""
    improved = [
        f"{record.nodeid} ({_change(resource, growth)})"
        for record in run.budgeted
        for resource, use in record.uses.items()
        if (growth := use.growth) and growth.shrank
    ]
    return [Line(f"improved: {named(improved)}: record it with {command}", "green")] if improved else []


def drift_lines(run: RunReport) -> list[Line]:
    """Say which tests have crept up since they were first recorded, in steps that were each accepted."""
    crept = [
        f"{record.nodeid} ({_change(resource, growth)})"
        for record in run.budgeted
        for resource, use in record.uses.items()
        if (growth := _since_anchor(use)) and growth.grew
    ]
    return [Line(f"grown since first recorded: {named(crept)}", "yellow")] if crept else []


def _since_anchor(use: Use) -> Growth | None:
    if use.peak_bytes is None or use.anchor_bytes is None or use.band_bytes is None:
        return None
    return Growth(use.anchor_bytes, use.peak_bytes, use.band_bytes) if use.anchor_bytes != use.baseline_bytes else None


def _change(resource: Resource, growth: Growth) -> str:
    what = "" if resource is Resource.RAM else f"{resource.value} "
    return f"{what}{share_of(growth)}" if growth.before_bytes else f"{what}{signed_size(growth.bytes)}"


def loose_lines(run: RunReport) -> list[Line]:
    """Say which budgets are so far above the figure that it could multiply unnoticed."""
    loose = [
        f"{record.nodeid} ({format_size(use.peak_bytes)} of {format_size(use.budget_bytes)})"
        for record in run.budgeted
        for resource, use in record.uses.items()
        if use.peak_bytes and use.budget_bytes and use.budget_bytes > TOO_LOOSE * _at_least(use.peak_bytes, resource)
    ]
    return [Line(f"budgets more than {TOO_LOOSE}x what was measured: {named(loose)}")] if loose else []


def _at_least(peak_bytes: int, resource: Resource) -> int:
    """Return the figure, or the bytes below which figures of the resource do not tell tests apart."""
    return max(peak_bytes, DEFAULT_TOLERANCES[resource].floor_bytes)


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"
