"""From one peak to the next: how much it changed, and which call sites made the difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from pytest_membudget.core.measurement import Site

MOST_PLACES = 8
MOST_CHANGES = 8
# Of the peak: smaller call sites are not recorded. Of the largest change: smaller changes are not told.
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class Growth:
    """One figure against its entry; ``band_bytes`` is the change that does not count."""

    before_bytes: int
    now_bytes: int
    band_bytes: int

    @property
    def bytes(self) -> int:
        """The change, negative where the figure fell."""
        return self.now_bytes - self.before_bytes

    @property
    def grew(self) -> bool:
        """Whether the figure rose beyond the band."""
        return self.bytes > self.band_bytes

    @property
    def shrank(self) -> bool:
        """Whether the figure fell beyond the band."""
        return -self.bytes > self.band_bytes


class ChangeKind(str, Enum):
    """What became of a call site since the baseline."""

    NEW = "new"
    GROWN = "grown"
    GONE = "gone"


@dataclass(frozen=True)
class SiteChange:
    """A function whose share of the peak changed; ``line`` and ``source`` are those of its largest line now.

    A function that is gone has no line any more: then ``line`` is 0 and ``source`` empty.
    """

    kind: ChangeKind
    before_bytes: int
    now_bytes: int
    file: str
    function: str
    line: int = 0
    source: str = ""

    @property
    def bytes(self) -> int:
        """The change, negative for a function that is gone."""
        return self.now_bytes - self.before_bytes


def place_of(site: Site) -> str:
    """Return ``file:function``: what still names the place after lines have moved."""
    return f"{site.file}:{site.function}"


def places(sites: Iterable[Site], peak_bytes: int) -> dict[str, int]:
    """Return the bytes of the places worth recording, the largest first."""
    by_place: dict[str, int] = {}
    for site in sites:
        by_place[place_of(site)] = by_place.get(place_of(site), 0) + site.bytes
    telling = [(place, size) for place, size in by_place.items() if size >= LEAST_SHARE * peak_bytes]
    return dict(sorted(telling, key=lambda pair: (-pair[1], pair[0]))[:MOST_PLACES])


def site_changes(before: Mapping[str, int], sites: Iterable[Site]) -> tuple[SiteChange, ...]:
    """Return the places that are new, that grew and that are gone, the largest growth first."""
    by_place: dict[str, list[Site]] = {}
    for site in sites:
        by_place.setdefault(place_of(site), []).append(site)
    risen = [_risen(before.get(place, 0), group) for place, group in by_place.items()]
    gone = [_gone(place, size) for place, size in before.items() if place not in by_place]
    changes = [change for change in (*risen, *gone) if change.bytes > 0 or change.kind is ChangeKind.GONE]
    least_bytes = LEAST_SHARE * max((abs(change.bytes) for change in changes), default=0)
    telling = [change for change in changes if abs(change.bytes) >= least_bytes]
    return tuple(sorted(telling, key=lambda change: (-change.bytes, change.file, change.function))[:MOST_CHANGES])


def _risen(before_bytes: int, group: list[Site]) -> SiteChange:
    largest = max(group, key=lambda site: site.bytes)
    kind = ChangeKind.GROWN if before_bytes else ChangeKind.NEW
    now_bytes = sum(site.bytes for site in group)
    return SiteChange(kind, before_bytes, now_bytes, largest.file, largest.function, largest.line, largest.source)


def _gone(place: str, before_bytes: int) -> SiteChange:
    file, _, function = place.rpartition(":")
    return SiteChange(ChangeKind.GONE, before_bytes, 0, file, function)
