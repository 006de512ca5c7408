"""What child processes add to the figure of a test: the sum of peaks, which is at least what all used at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_membudget.core.measurement import Figure, Frame, Site, Unavailable


def with_children(own: Figure, forked_bytes: Sequence[int], others_bytes: Sequence[int] = ()) -> Figure:
    """Return the figure with the children's peaks added, named as the bound that it then is.

    Parameters
    ----------
    forked_bytes
        Peaks of forked children, each measured as the test itself was.
    others_bytes
        Resident peaks of children that run a program of their own.
    """
    if isinstance(own, Unavailable) or not (forked_bytes or others_bytes):
        return own
    counted = [_counted(len(forked_bytes), "forked child", "forked children")] if forked_bytes else []
    if others_bytes:
        counted.append(f"the resident peak of {_counted(len(others_bytes), 'other child', 'other children')}")
    return replace(
        own,
        bytes=own.bytes + sum(forked_bytes) + sum(others_bytes),
        source=f"{own.source}, with {' and '.join(counted)}",
        exact=False,
        upper_bound=True,
    )


def merged(sites: Iterable[Site]) -> tuple[Site, ...]:
    """Return the call sites of several processes as one list, the biggest first; those of one line are summed."""
    by_line: dict[Frame, Site] = {}
    for site in sites:
        known = by_line.get(site.frame)
        by_line[site.frame] = replace(known, bytes=known.bytes + site.bytes) if known else site
    return tuple(sorted(by_line.values(), key=lambda site: (-site.bytes, site.file, site.line)))


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
