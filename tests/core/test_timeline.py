"""Thinning a timeline: few moments, none of the heights lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.timeline import MOST_MOMENTS, Moment, thinned

_BYTES = st.integers(0, 2**40)
_TIMELINES = st.lists(st.tuples(_BYTES, _BYTES), max_size=600).map(
    lambda pairs: [Moment(position / 1000, heap, resident) for position, (heap, resident) in enumerate(pairs)]
)


@given(_TIMELINES, st.integers(4, 200))
def test_thinned_timeline_is_short_and_in_order(moments: list[Moment], most: int) -> None:
    """What is kept is a part of what was there, in its order, and no more than asked for."""
    kept = thinned(iter(moments), len(moments), most)

    assert len(kept) <= most
    assert sorted(set(kept)) == list(kept)
    assert set(kept) <= set(moments)


@given(_TIMELINES.filter(bool), st.integers(4, 200))
def test_thinned_timeline_keeps_the_heights_and_the_ends(moments: list[Moment], most: int) -> None:
    """The highest heap, the highest resident set, the first moment and the last are never lost."""
    kept = thinned(iter(moments), len(moments), most)

    assert max(moment.heap_bytes for moment in moments) == max(moment.heap_bytes for moment in kept)
    assert max(moment.resident_bytes for moment in moments) == max(moment.resident_bytes for moment in kept)
    assert (moments[0], moments[-1]) == (kept[0], kept[-1])


def test_short_timeline_is_kept_whole() -> None:
    """Nothing is dropped where there is room for all."""
    moments = tuple(Moment(step / 10, step, step) for step in range(MOST_MOMENTS))

    assert moments == thinned(moments, len(moments))
