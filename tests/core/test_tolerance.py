"""How much growth does not count."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.errors import SizeError
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.tolerance import (
    DEFAULT_TOLERANCES,
    NO_ALLOWANCES,
    Allowance,
    Allowances,
    Tolerance,
    parse_tolerance,
)
from tests.fakes import KIB, MIB

GRAMMAR = 'write "5%", "1MiB", "5%+64KiB" or, by resource, "ram=5%+64KiB, rss=20%"'


@pytest.mark.parametrize(
    ("resource", "share", "floor_bytes"),
    [
        (Resource.RAM, Fraction(5, 100), 64 * KIB),
        (Resource.RETAINED, Fraction(5, 100), 64 * KIB),
        (Resource.RSS, Fraction(20, 100), 16 * MIB),
        (Resource.VRAM, Fraction(5, 100), 64 * MIB),
    ],
)
def test_defaults(resource: Resource, share: Fraction, floor_bytes: int) -> None:
    """What each resource's figures are apart where nothing has changed."""
    assert DEFAULT_TOLERANCES[resource] == Tolerance(share, floor_bytes)


@pytest.mark.parametrize(
    ("entry_bytes", "band_bytes"),
    [(0, 65536), (1_310_719, 65536), (1_310_720, 65536), (1_310_740, 65537), (100 * MIB, 5 * MIB)],
)
def test_the_larger_of_share_and_floor(entry_bytes: int, band_bytes: int) -> None:
    """Small entries have the floor, large ones the share, rounded down."""
    assert Tolerance(Fraction(5, 100), 65536).band_bytes(entry_bytes) == band_bytes


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("5%", Allowances(Allowance(Fraction(1, 20)))),
        ("0.5 %", Allowances(Allowance(Fraction(1, 200)))),
        ("1MiB", Allowances(Allowance(Fraction(0), MIB))),
        (4096, Allowances(Allowance(Fraction(0), 4096))),
        (0, Allowances(Allowance(Fraction(0), 0))),
        ("5%+64KiB", Allowances(Allowance(Fraction(1, 20), 65536))),
        ("5% + 0B", Allowances(Allowance(Fraction(1, 20), 0))),
        ("rss=20%", Allowances(by_resource={Resource.RSS: Allowance(Fraction(1, 5))})),
        (
            "2%, rss = 20%+32MiB, vram=1GiB",
            Allowances(
                Allowance(Fraction(1, 50)),
                {
                    Resource.RSS: Allowance(Fraction(1, 5), 32 * MIB),
                    Resource.VRAM: Allowance(Fraction(0), 1024 * MIB),
                },
            ),
        ),
    ],
)
def test_grammar(raw: object, expected: Allowances) -> None:
    """A share, bytes, both; for all resources or for the one that is named."""
    assert parse_tolerance(raw) == expected


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("5", f"tolerance '5': '5' has no unit: write \"5B\" for bytes, or \"5MiB\"; {GRAMMAR}"),
        ("64KiB+5%", f"tolerance '64KiB+5%': {GRAMMAR}"),
        ("5%+5%", f"tolerance '5%+5%': {GRAMMAR}"),
        ("5%+1MiB+1MiB", f"tolerance '5%+1MiB+1MiB': {GRAMMAR}"),
        ("cpu=5%", f"tolerance 'cpu=5%': 'cpu' is none of ram, retained, rss, vram: {GRAMMAR}"),
        ("-5%", f"tolerance '-5%': '-5%' is negative: a size is zero or more bytes; {GRAMMAR}"),
    ],
)
def test_what_is_refused(raw: object, message: str) -> None:
    """The sentence names the value, what is wrong with it and the right spellings."""
    with pytest.raises(SizeError) as refused:
        parse_tolerance(raw)

    assert str(refused.value) == message


@pytest.mark.parametrize("raw", [0.05, True, None, "", "ram=", ",", "5%,"])
def test_other_nonsense(raw: object) -> None:
    """Whatever it is, it is an error of the value and never of the parser."""
    with pytest.raises(SizeError):
        parse_tolerance(raw)


def test_a_share_keeps_the_floor_that_stands_under_it() -> None:
    """Bytes alone are the whole tolerance; a share alone keeps the floor of its resource."""
    shares = parse_tolerance("1%").over(DEFAULT_TOLERANCES)
    plain = parse_tolerance("1MiB").over(DEFAULT_TOLERANCES)

    assert shares[Resource.RAM] == Tolerance(Fraction(1, 100), 64 * KIB)
    assert shares[Resource.RSS] == Tolerance(Fraction(1, 100), 16 * MIB)
    assert plain[Resource.RAM] == Tolerance(Fraction(0), MIB)


def test_nearer_places_speak_last() -> None:
    """A marker that names rss leaves what the ini file says of ram."""
    ini = parse_tolerance("2%+1MiB").over(DEFAULT_TOLERANCES)
    marker = parse_tolerance("rss=50%").over(ini)

    assert marker[Resource.RAM] == Tolerance(Fraction(1, 50), MIB)
    assert marker[Resource.RSS] == Tolerance(Fraction(1, 2), MIB)


def test_silence_changes_nothing() -> None:
    """No marker, no option."""
    assert not NO_ALLOWANCES
    assert NO_ALLOWANCES.over(DEFAULT_TOLERANCES) == DEFAULT_TOLERANCES


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(raw: str) -> None:
    """There is no third way."""
    with contextlib.suppress(SizeError):
        assert parse_tolerance(raw).over(DEFAULT_TOLERANCES).keys() == DEFAULT_TOLERANCES.keys()
