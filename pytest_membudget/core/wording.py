"""Every sentence that a user reads about a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_membudget.core.growth_wording import Reference, accept_line, against_lines, regressed_line
from pytest_membudget.core.measurement import Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.sizes import format_against, format_size
from pytest_membudget.core.verdict import Finding, Outcome, Verdict

MOST_SITES = 5
LEAST_SHARE = 0.01
_NOUN = {"ram": "peak", "retained": "still held at the end", "rss": "resident peak", "vram": "peak"}
# Where the lines that held the heap at its peak explain a figure.
_OF_THE_HEAP = (Resource.RAM, Resource.RSS)


@dataclass(frozen=True)
class Strictness:
    """What fails a test beside a figure that is too high.

    ``vram_missing`` is what a GPU budget without a figure means, where that was said apart: ``"warn"``, ``"skip"`` or
    ``"fail"``.
    """

    unmeasured: bool = False
    no_baseline: bool = False
    vram_missing: str | None = None

    def setting_against(self, finding: Finding) -> str | None:
        """Return the setting that fails a test for having no figure, None if this one may pass."""
        if self.vram_missing is not None and finding.resource is Resource.VRAM:
            return "membudget_vram_missing" if self.vram_missing == "fail" else None
        return "membudget_missing" if self.unmeasured else None


LENIENT = Strictness()


def failure_text(
    verdict: Verdict,
    measurement: Measurement,
    strictness: Strictness = LENIENT,
    reference: Callable[[], Reference] | None = None,
) -> str | None:
    """Return the text that fails the test, or None when the verdict lets it pass.

    ``reference`` is asked where the baseline comes from, once the text needs it.
    """
    over, regressed = verdict.of(Outcome.OVER_BUDGET), verdict.of(Outcome.REGRESSED)
    missing = verdict.of(Outcome.NO_BASELINE) if strictness.no_baseline else ()
    lines = [*map(over_budget_line, over), *(regressed_line(finding, _noun(finding)) for finding in regressed)]
    lines += _sites_lines(measurement, (*over, *regressed), bool(verdict.changes))
    for finding in verdict.of(Outcome.NOT_MEASURED):
        if setting := strictness.setting_against(finding):
            lines.append(f"{finding.resource.value}: not judged: {finding.reason} ({setting} = fail)")
    lines += [f"{finding.resource.value}: not compared: {finding.reason}" for finding in missing]
    if lines and reference:
        lines += _baseline_lines(verdict, bool(regressed or missing) and not over, reference())
    return "\n".join(lines) or None


def _sites_lines(measurement: Measurement, findings: Sequence[Finding], peak_is_told: bool) -> list[str]:
    """Return the lines that hold what the findings complain of: at the peak, at the end, or both."""
    lines: list[str] = []
    at_end = [finding for finding in findings if finding.resource is Resource.RETAINED]
    at_peak = [finding for finding in findings if finding.resource in _OF_THE_HEAP]
    if measurement.sites and any(finding.outcome is Outcome.OVER_BUDGET or not peak_is_told for finding in at_peak):
        lines += ["at the peak:", *site_lines(measurement.sites, _heap_bytes(measurement, Resource.RAM))]
    if measurement.held and at_end:
        lines += ["at the end:", *site_lines(measurement.held, _heap_bytes(measurement, Resource.RETAINED))]
    return lines


def _baseline_lines(verdict: Verdict, may_accept: bool, reference: Reference) -> list[str]:
    """Return how the heap's peak compares, if it does, and what records it where nothing else is in the way."""
    ram = [finding for finding in verdict.findings if finding.resource is Resource.RAM and finding.growth]
    lines = against_lines(ram[0], verdict.changes, reference) if ram and (ram[0].outcome in _TELLING) else []
    return [*lines, accept_line(reference)] if may_accept else lines


_TELLING = (Outcome.OVER_BUDGET, Outcome.REGRESSED)


def _noun(finding: Finding) -> str:
    return _NOUN[finding.resource.value]


def vram_skip_text(verdict: Verdict) -> str | None:
    """Return why a test whose GPU budget could not be judged counts as skipped."""
    unjudged = (found for found in verdict.of(Outcome.NOT_MEASURED) if found.resource is Resource.VRAM)
    return next((f"vram: not judged: {finding.reason} (membudget_vram_missing = skip)" for finding in unjudged), None)


def over_budget_line(finding: Finding) -> str:
    """Say by how much one resource is over."""
    assert isinstance(finding.figure, Reading)
    assert finding.budget_bytes is not None
    peak_bytes, budget_bytes = finding.figure.bytes, finding.budget_bytes
    peak, budget = format_against(peak_bytes, budget_bytes), format_against(budget_bytes, peak_bytes)
    factor = f" ({_times(peak_bytes / budget_bytes)})" if budget_bytes and peak_bytes >= 1.05 * budget_bytes else ""
    how = f", {finding.figure.by}" if finding.figure.by else ""
    over_by = format_size(peak_bytes - budget_bytes)
    what = f"{finding.resource.value}: {_noun(finding)}"
    return f"{what} {peak}, budget {budget}: over by {over_by}{factor}{how}"


def _times(factor: float) -> str:
    return f"{factor:.2g}x" if factor < 10 else f"{factor:,.0f}x"


def site_lines(sites: tuple[Site, ...], peak_bytes: int) -> list[str]:
    """Return the call sites at the peak as aligned lines, biggest first, a library's frame folded under its caller."""
    telling = [site for site in sites if site.bytes >= LEAST_SHARE * peak_bytes] or sites[:1]
    shown = telling[:MOST_SITES]
    places = [_place(site.frame) for site in shown]
    width = max(map(len, places), default=0)
    lines = []
    for site, place in zip(shown, places, strict=True):
        share = f"{site.bytes / peak_bytes:4.0%}" if peak_bytes else "   -"
        lines.append(f"  {format_size(site.bytes):>8} {share}  {place:<{width}}  {site.source}".rstrip())
        if site.via:
            lines.append(f"                  via {_place(site.via)}")
    return lines


def _place(frame: Frame) -> str:
    return f"{frame.file}:{frame.line} in {frame.function}" if frame.line else f"{frame.file} ({frame.function})"


def _heap_bytes(measurement: Measurement, resource: Resource) -> int:
    figure = measurement.figure(resource)
    return figure.bytes if isinstance(figure, Reading) else sum(site.bytes for site in measurement.sites)
