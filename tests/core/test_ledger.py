"""Live bytes over several captures, against a model that is slow and obvious."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.attribution import Stack
from pytest_membudget.core.ledger import Event, Ledger

FIT: Stack = (("fit", "model.py", 1),)
LOAD: Stack = (("load", "model.py", 2),)


def alloc(address: int, size_bytes: int, stack: Stack = FIT) -> Event:
    """An allocation by malloc."""
    return Event(address, size_bytes, stack)


def free(address: int) -> Event:
    """A release by free."""
    return Event(address, 0, (), release=True)


def mmap(address: int, size_bytes: int, stack: Stack = FIT) -> Event:
    """A mapping."""
    return Event(address, size_bytes, stack, mapped=True)


def munmap(address: int, size_bytes: int) -> Event:
    """The release of a range of addresses."""
    return Event(address, size_bytes, (), release=True, mapped=True)


def replayed(ledger: Ledger, events: Iterable[Event]) -> None:
    """Enter one capture's events."""
    kept = list(events)
    ledger.replay(lambda: kept)


class Model:
    """Every mapped byte by its address, every block by its start."""

    def __init__(self) -> None:
        self.blocks: dict[int, int] = {}
        self.mapped: set[int] = set()
        self.levels = [0]

    def apply(self, event: Event) -> None:
        """Do what the event says, byte by byte."""
        touched = set(range(event.address, event.address + event.size_bytes))
        if event.mapped:
            self.mapped = self.mapped - touched if event.release else self.mapped | touched
        elif event.release:
            self.blocks.pop(event.address, None)
        else:
            self.blocks[event.address] = event.size_bytes
        self.levels.append(sum(self.blocks.values()) + len(self.mapped))


# Few addresses, so that releases hit, reuse happens and ranges overlap. Mappings begin on a grid of 100 and end before
# the next begins, as the kernel's do; releases of ranges begin and end anywhere.
BLOCKS = st.builds(alloc, st.integers(0, 5), st.integers(0, 50)) | st.builds(free, st.integers(0, 6))
MAPPINGS = st.builds(lambda page, size: mmap(1000 + page * 100, size), st.integers(0, 4), st.just(100))
UNMAPPINGS = st.builds(munmap, st.integers(950, 1500), st.integers(0, 300))
SEQUENCES = st.lists(BLOCKS | MAPPINGS | UNMAPPINGS, max_size=40)


@given(st.lists(SEQUENCES, max_size=4))
def test_level_and_peak(captures: list[list[Event]]) -> None:
    """However the events are split into captures, level and peak are those of the whole sequence."""
    ledger, model = Ledger(), Model()
    whole = ledger.open_span()

    for events in captures:
        replayed(ledger, events)
        for event in events:
            model.apply(event)

    assert ledger.level_bytes == model.levels[-1]
    assert whole.peak_bytes == max(model.levels)
    assert sum(size_bytes for size_bytes, _ in ledger.live()) == ledger.level_bytes


@given(SEQUENCES, SEQUENCES, SEQUENCES)
def test_span_in_the_middle(before: list[Event], inside: list[Event], after: list[Event]) -> None:
    """A region's figures are what the model says of its own stretch, whatever came before and comes after."""
    ledger, model = Ledger(), Model()
    replayed(ledger, before)
    for event in before:
        model.apply(event)
    start_bytes = model.levels[-1]
    model.levels = [start_bytes]

    span = ledger.open_span()
    replayed(ledger, inside)
    for event in inside:
        model.apply(event)
    left_bytes = ledger.close_span(span)
    replayed(ledger, after)

    assert span.grown_bytes == max(model.levels) - start_bytes
    assert left_bytes == model.levels[-1] - start_bytes


@given(SEQUENCES)
def test_what_was_live_at_the_peak_adds_up_to_it(events: list[Event]) -> None:
    """The call sites of a peak are those of its own instant, not of another."""
    ledger = Ledger()
    whole = ledger.open_span()

    replayed(ledger, events)

    assert sum(size_bytes for size_bytes, _ in whole.live_at_peak) == whole.peak_bytes


def test_first_of_equal_peaks_is_kept() -> None:
    """Later ones add nothing, so they cost no second pass."""
    ledger = Ledger()
    whole = ledger.open_span()

    replayed(ledger, [alloc(1, 10, FIT), free(1), alloc(1, 10, LOAD)])

    assert whole.live_at_peak == ((10, FIT),)


def test_first_of_equal_peaks_is_kept_over_captures() -> None:
    """The later capture does not take the place of the earlier one."""
    ledger = Ledger()
    whole = ledger.open_span()

    replayed(ledger, [alloc(1, 10, FIT), free(1)])
    replayed(ledger, [alloc(1, 10, LOAD)])

    assert whole.live_at_peak == ((10, FIT),)


def test_region_that_frees_what_came_before_it() -> None:
    """Its level sinks below where it began: nothing grew, and what it left is negative."""
    ledger = Ledger()
    replayed(ledger, [alloc(1, 100)])
    span = ledger.open_span()
    replayed(ledger, [free(1), alloc(2, 30)])

    assert ledger.close_span(span) == -70
    assert span.grown_bytes == 0


def test_region_is_not_blamed_for_what_was_there() -> None:
    """Only what it made itself is live because of it, also where an equal block was there before."""
    ledger = Ledger()
    replayed(ledger, [alloc(1, 100, LOAD), alloc(2, 30, FIT), mmap(1000, 100, LOAD)])
    span = ledger.open_span()
    replayed(ledger, [alloc(3, 30, FIT), mmap(2000, 100, FIT)])

    assert sorted(span.live_at_peak) == [(30, FIT), (100, FIT)]


@given(SEQUENCES, SEQUENCES)
def test_what_a_region_made_is_never_less_than_it_grew_by(before: list[Event], inside: list[Event]) -> None:
    """It may be more, where the region released what was there before."""
    ledger = Ledger()
    replayed(ledger, before)
    span = ledger.open_span()
    replayed(ledger, inside)

    assert sum(size_bytes for size_bytes, _ in span.live_at_peak) >= span.grown_bytes


def test_nested_regions_have_peaks_of_their_own() -> None:
    """The outer one sees all that the inner one does, above its own start."""
    ledger = Ledger()
    outer = ledger.open_span()
    replayed(ledger, [alloc(1, 100)])
    inner = ledger.open_span()
    replayed(ledger, [alloc(2, 50), free(2)])
    ledger.close_span(inner)
    replayed(ledger, [free(1)])
    ledger.close_span(outer)

    assert (inner.grown_bytes, outer.grown_bytes) == (50, 150)
    assert ledger.spans == []


def test_closed_region_rises_no_more() -> None:
    """What comes after its end is not its own."""
    ledger = Ledger()
    span = ledger.open_span()
    ledger.close_span(span)
    replayed(ledger, [alloc(1, 100)])

    assert span.grown_bytes == 0


def test_equal_regions_are_told_apart() -> None:
    """Two that began at one level and rose alike are closed each by itself."""
    ledger = Ledger()
    outer, inner = ledger.open_span(), ledger.open_span()
    ledger.close_span(inner)
    replayed(ledger, [alloc(1, 7)])

    assert (outer.grown_bytes, inner.grown_bytes) == (7, 0)


def test_address_that_is_allocated_twice() -> None:
    """Its release went unseen, so the newer allocation stands in the place of the older."""
    ledger = Ledger()
    replayed(ledger, [alloc(1, 100), alloc(1, 30, LOAD)])

    assert ledger.level_bytes == 30
    assert ledger.live() == ((30, LOAD),)


def test_release_of_an_unknown_address() -> None:
    """It was allocated before anybody looked, and counts nothing."""
    ledger = Ledger()
    replayed(ledger, [free(9), munmap(5000, 100)])

    assert ledger.level_bytes == 0


def test_hole_in_a_mapping() -> None:
    """Both ends stay live, under the line that mapped them."""
    ledger = Ledger()
    replayed(ledger, [mmap(1000, 100, LOAD), munmap(1030, 20)])

    assert ledger.level_bytes == 80
    assert sorted(ledger.live()) == [(30, LOAD), (50, LOAD)]


def test_one_release_of_several_mappings() -> None:
    """Munmap takes a range of addresses, whatever was mapped there piece by piece."""
    ledger = Ledger()
    replayed(ledger, [mmap(1000, 100), mmap(1100, 100), mmap(1200, 100), munmap(1050, 200)])

    assert ledger.level_bytes == 100
    assert ledger.live() == ((50, FIT), (50, FIT))


def test_release_that_fits_a_mapping() -> None:
    """Nothing is left of it, not even a piece of no size."""
    ledger = Ledger()
    replayed(ledger, [mmap(1000, 100), munmap(1000, 60), munmap(1060, 40)])

    assert ledger.live() == ()


def test_mappings_and_blocks_do_not_meet() -> None:
    """Free never releases a mapping, nor munmap a block, though their addresses be equal."""
    ledger = Ledger()
    replayed(
        ledger, [alloc(1000, 10), mmap(1000, 100), free(1000), munmap(1000, 100), alloc(1000, 10), munmap(1000, 5)]
    )

    assert ledger.level_bytes == 10
