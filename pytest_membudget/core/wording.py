"""Every sentence that a user reads about a verdict."""

from __future__ import annotations

from pytest_membudget.core.measurement import Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.sizes import format_against, format_size
from pytest_membudget.core.verdict import Finding, Outcome, Verdict

MOST_SITES = 5
LEAST_SHARE = 0.01
_NOUN = {"ram": "peak", "retained": "still held at the end", "rss": "resident peak", "vram": "peak"}
# Where the lines that held the heap at its peak explain a figure.
_OF_THE_HEAP = (Resource.RAM, Resource.RSS)


def failure_text(
    verdict: Verdict, measurement: Measurement, unmeasured_fails: bool, vram_missing: str | None = None
) -> str | None:
    """Return the text that fails the test, or None when the verdict lets it pass.

    Parameters
    ----------
    unmeasured_fails
        Whether a budget without a figure fails the test.
    vram_missing
        What a GPU budget without a figure means, where that was said apart: ``"warn"``, ``"skip"`` or ``"fail"``.
    """
    over = verdict.of(Outcome.OVER_BUDGET)
    lines = [over_budget_line(finding) for finding in over]
    if measurement.sites and any(finding.resource in _OF_THE_HEAP for finding in over):
        lines += ["at the peak:", *site_lines(measurement.sites, _heap_bytes(measurement, Resource.RAM))]
    if measurement.held and any(finding.resource is Resource.RETAINED for finding in over):
        lines += ["at the end:", *site_lines(measurement.held, _heap_bytes(measurement, Resource.RETAINED))]
    unjudged = (*verdict.of(Outcome.NOT_MEASURED), *verdict.of(Outcome.NO_BASELINE))
    for finding in unjudged:
        apart = vram_missing is not None and finding.resource is Resource.VRAM
        if vram_missing == "fail" if apart else unmeasured_fails:
            setting = "membudget_vram_missing" if apart else "membudget_missing"
            lines.append(f"{finding.resource.value}: not judged: {finding.reason} ({setting} = fail)")
    return "\n".join(lines) or None


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
    what = f"{finding.resource.value}: {_NOUN[finding.resource.value]}"
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
