"""What a user reads about a figure that left its baseline."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_membudget.core.growth import ChangeKind, Growth, SiteChange
from pytest_membudget.core.sizes import format_against, format_size
from pytest_membudget.core.verdict import Finding

_WORDS = {ChangeKind.NEW: "new", ChangeKind.GROWN: "grew", ChangeKind.GONE: "gone"}


@dataclass(frozen=True)
class Reference:
    """Where the baseline of a test comes from, and the command that records the test's figures in it."""

    environment: str
    accept: str
    commit: str | None = None

    def __str__(self) -> str:
        of = f" of {self.commit}" if self.commit else ""
        return f"the baseline{of} ({self.environment})"


def change(growth: Growth) -> str:
    """Return a change with its sign and its share of what was there before, as in ``+1.22 GiB (+100%)``."""
    share = f" ({share_of(growth)})" if growth.before_bytes else ""
    return f"{signed_size(growth.bytes)}{share}"


def share_of(growth: Growth) -> str:
    """Return a change as a signed share; a large one as a factor."""
    share = growth.bytes / growth.before_bytes
    if share >= 10:
        return f"{growth.now_bytes / growth.before_bytes:,.0f}x"
    return f"{share:+.1%}" if abs(share) < 0.1 else f"{share:+.0%}"


def signed_size(size_bytes: int) -> str:
    """Return a size with its sign."""
    return f"{'+' if size_bytes > 0 else ''}{format_size(size_bytes)}"


def regressed_line(finding: Finding, noun: str) -> str:
    """Say by how much one resource grew, and how much it may."""
    growth = finding.growth
    assert growth is not None
    now = format_against(growth.now_bytes, growth.before_bytes)
    before = format_against(growth.before_bytes, growth.now_bytes)
    tolerated = format_against(growth.band_bytes, growth.bytes)
    return (
        f"{finding.resource.value}: {noun} {now}, baseline {before}: grew by {change(growth).lstrip('+')}, "
        f"{tolerated} tolerated"
    )


def against_lines(finding: Finding, changes: tuple[SiteChange, ...], reference: Reference) -> list[str]:
    """Return the change since the baseline and the call sites that account for it."""
    assert finding.growth is not None
    return [f"against {reference}: {change(finding.growth)}", *site_change_lines(changes)]


def site_change_lines(changes: tuple[SiteChange, ...]) -> list[str]:
    """Return what became of the call sites as aligned lines."""
    places = [_place(site_change) for site_change in changes]
    width = max(map(len, places), default=0)
    return [
        f"  {signed_size(site_change.bytes):>9}  {_WORDS[site_change.kind]:<4}  {place:<{width}}  "
        f"{_was(site_change)}{site_change.source}".rstrip()
        for site_change, place in zip(changes, places, strict=True)
    ]


def accept_line(reference: Reference) -> str:
    """Say how to record the new figures."""
    return f"to accept: {reference.accept}"


def _place(site_change: SiteChange) -> str:
    line = f":{site_change.line}" if site_change.line else ""
    return f"{site_change.file}{line} in {site_change.function}"


def _was(site_change: SiteChange) -> str:
    """Return what a call site held before; source follows."""
    return f"(from {format_size(site_change.before_bytes)})  " if site_change.kind is ChangeKind.GROWN else ""
