"""How memory moved while a test ran: moments in order, few enough to be drawn."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

MOST_MOMENTS = 120
_HEIGHTS = (attrgetter("heap_bytes"), attrgetter("resident_bytes"))


class Moment(NamedTuple):
    """Heap and resident set of the process at one moment, in seconds since the measurement began."""

    seconds: float
    heap_bytes: int
    resident_bytes: int


def thinned(moments: Iterable[Moment], count: int, most: int = MOST_MOMENTS) -> tuple[Moment, ...]:
    """Return at most ``most`` (4 or more) of ``count`` moments: the ends, and the highest of equal stretches.

    Reads them once and one by one: a long test has hundreds of thousands. The highest heap and the highest resident
    set of all are always among those kept.
    """
    if count <= most:
        return tuple(moments)
    stretches = (most - 2) // 2
    highest: dict[tuple[int, int], tuple[int, Moment]] = {}
    ends: dict[int, Moment] = {}
    for position, moment in enumerate(moments):
        if position in (0, count - 1):
            ends[position] = moment
        for kind, height in enumerate(_HEIGHTS):
            place = (position * stretches // count, kind)
            if place not in highest or height(moment) > height(highest[place][1]):
                highest[place] = (position, moment)
    return tuple(moment for _, moment in sorted((ends | dict(highest.values())).items()))
