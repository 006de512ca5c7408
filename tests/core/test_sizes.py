"""Sizes: how they are written, and how they are read back."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_membudget.core.errors import SizeError
from pytest_membudget.core.sizes import UNIT_BYTES, Percentage, format_against, format_size, parse_size

KNOWN = "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB, KB"
LARGEST = 2**63 - 1
EXAMPLES = 'write bytes as an int, or a string such as "64MiB", "1.5 GB" or "50%"'


@pytest.mark.parametrize(
    ("unit", "unit_bytes"),
    [
        ("B", 1),
        ("kB", 10**3),
        ("KB", 10**3),
        ("MB", 10**6),
        ("GB", 10**9),
        ("TB", 10**12),
        ("PB", 10**15),
        ("KiB", 2**10),
        ("MiB", 2**20),
        ("GiB", 2**30),
        ("TiB", 2**40),
        ("PiB", 2**50),
    ],
)
def test_unit(unit: str, unit_bytes: int) -> None:
    """SI units are powers of 1000, IEC units powers of 1024, and there are no others."""
    assert parse_size(f"3{unit}") == 3 * unit_bytes
    assert UNIT_BYTES[unit] == unit_bytes
    assert len(UNIT_BYTES) == 12


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2GiB", 2 * 1024**3),
        ("512 MB", 512 * 10**6),
        ("1.5e6 B", 1_500_000),
        ("1.5 GB", 1_500_000_000),
        (".5KiB", 512),
        ("1.KiB", 1024),
        ("  64 MiB  ", 64 * 1024**2),
        ("64\tMiB", 64 * 1024**2),
        ("0B", 0),
        ("1E3B", 1000),
        ("1e+3B", 1000),
        ("1500e-3 kB", 1500),
        ("8PiB", 8 * 1024**5),
        ("0.1 kB", 100),
    ],
)
def test_string(text: str, expected: int) -> None:
    """A number, blanks if wanted, and a unit."""
    assert parse_size(text) == expected


@pytest.mark.parametrize("size_bytes", [0, 1, 10 * 1024**2, LARGEST])
def test_int_is_bytes(size_bytes: int) -> None:
    """An int is taken as it is."""
    assert parse_size(size_bytes) == size_bytes


@pytest.mark.parametrize(
    ("text", "percent"),
    [("50%", Fraction(50)), ("0.5 %", Fraction(1, 2)), ("1000%", Fraction(1000)), ("0%", Fraction(0))],
)
def test_percentage(text: str, percent: Fraction) -> None:
    """A share is kept exactly, until the total is known."""
    assert parse_size(text) == Percentage(percent)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("10 MBfoo", f"'10 MBfoo' has the unknown unit 'MBfoo': known units: {KNOWN}"),
        ("10 mib", "'10 mib' has the unknown unit 'mib': did you mean \"MiB\"?"),
        ("10 M", "'10 M' has the unknown unit 'M': did you mean \"MB\"?"),
        ("10 gi", "'10 gi' has the unknown unit 'gi': did you mean \"GiB\"?"),
        ("10 kb", "'10 kb' has the unknown unit 'kb': did you mean \"kB\"?"),
        ("10", '\'10\' has no unit: write "10B" for bytes, or "10MiB"'),
        (" 1.5e3 ", '\' 1.5e3 \' has no unit: write "1.5e3B" for bytes, or "1.5e3MiB"'),
        ("-1MiB", "'-1MiB' is negative: a size is zero or more bytes"),
        ("-5%", "'-5%' is negative: a size is zero or more bytes"),
        (-1, "-1 is negative: a size is zero or more bytes"),
        ("nan", f"'nan' is not a size: {EXAMPLES}"),
        ("inf MiB", f"'inf MiB' is not a size: {EXAMPLES}"),
        ("", f"'' is not a size: {EXAMPLES}"),
        ("MiB", f"'MiB' is not a size: {EXAMPLES}"),
        ("+5MiB", f"'+5MiB' is not a size: {EXAMPLES}"),
        ("1,5 MiB", f"'1,5 MiB' is not a size: {EXAMPLES}"),
        ("1_000B", f"'1_000B' is not a size: {EXAMPLES}"),
        ("0x10B", "'0x10B' is not a size: " + EXAMPLES),
        ("5 MiB 5 MiB", f"'5 MiB 5 MiB' is not a size: {EXAMPLES}"),
        ("1e999B", f"'1e999B' is not a size: {EXAMPLES}"),
        ("٣MiB", f"'٣MiB' is not a size: {EXAMPLES}"),
        ("5%%", f"'5%%' is not a size: {EXAMPLES}"),
        (None, f"None is not a size: {EXAMPLES}"),
        (True, f"True is not a size: {EXAMPLES}"),
        (1.5, f"1.5 is not a size: {EXAMPLES}"),
        (math.nan, f"nan is not a size: {EXAMPLES}"),
        (math.inf, f"inf is not a size: {EXAMPLES}"),
        (b"5MiB", f"b'5MiB' is not a size: {EXAMPLES}"),
        ([1], f"[1] is not a size: {EXAMPLES}"),
        ("1001%", "'1001%' is over 1000%: write a share of what the machine has, such as '50%'"),
        ("1e99%", "'1e99%' is over 1000%: write a share of what the machine has, such as '50%'"),
        ("8192PiB", f"'8192PiB' is more than {LARGEST} bytes, the largest size there is"),
        (2**63, f"{2**63} is more than {LARGEST} bytes, the largest size there is"),
        pytest.param("9" * 5000 + "B", f"{'9' * 5000 + 'B'!r} is not a size: {EXAMPLES}", id="5000 digits"),
        pytest.param(
            2**9999, f"an int of 10000 bits is more than {LARGEST} bytes, the largest size there is", id="huge"
        ),
        pytest.param(-(2**9999), "an int of 10000 bits is negative: a size is zero or more bytes", id="huge, negative"),
    ],
)
def test_refused(raw: object, message: str) -> None:
    """Anything else is refused in a sentence that names it and a right spelling."""
    with pytest.raises(SizeError) as refused:
        parse_size(raw)

    assert str(refused.value) == message


@given(st.integers(0, 10**6), st.integers(0, 999), st.sampled_from(sorted(UNIT_BYTES)))
def test_parse_rounds_down_to_whole_bytes(whole: int, thousandths: int, unit: str) -> None:
    """A fraction of a byte is never budgeted: the size is exact, then rounded down."""
    exact = Fraction(whole * 1000 + thousandths, 1000) * UNIT_BYTES[unit]

    if exact <= LARGEST:
        assert parse_size(f"{whole}.{thousandths:03d}{unit}") == math.floor(exact)


@given(st.text(max_size=12))
def test_any_text_is_a_size_or_refused(text: str) -> None:
    """No text gets past the parser with another error."""
    try:
        size = parse_size(text)
    except SizeError:
        return
    assert isinstance(size, Percentage) or 0 <= size <= LARGEST


@given(st.integers(0, 2**60))
@example(1023)
@example(1024)
@example(1070)
@example(1_032_769)
@example(999 * 1024)
@example(1024**2 - 1)
@example(2**60)
def test_format_reads_back(size_bytes: int) -> None:
    """What is printed has three significant digits (two just below 1 MiB, 1 GiB, ...), and can be typed back."""
    read_back = parse_size(format_size(size_bytes))

    assert isinstance(read_back, int)
    assert abs(read_back - size_bytes) < 0.006 * size_bytes + 1


@given(st.integers(-(2**60), 2**60))
def test_format_fits_its_column(size_bytes: int) -> None:
    """Eight cells are enough, and one more for a minus sign."""
    assert len(format_size(size_bytes)) <= 8 + (size_bytes < 0)


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1025, "1 KiB"),
        (1536, "1.5 KiB"),
        (10 * 1024**2, "10 MiB"),
        (1000 * 1024, "0.98 MiB"),
        (2_620_000_000, "2.44 GiB"),
        (99_900 * 1024**3, "97.6 TiB"),
        (5000 * 1024**5, "5000 PiB"),
        (-1536, "-1.5 KiB"),
        (-5, "-5 B"),
    ],
)
def test_format(size_bytes: int, expected: str) -> None:
    """IEC units, three significant digits, no trailing zeros."""
    assert format_size(size_bytes) == expected


@pytest.mark.parametrize(
    ("size_bytes", "other_bytes", "expected"),
    [
        (10 * 1024**2 + 1, 10 * 1024**2, "10 MiB (10,485,761 B)"),
        (10 * 1024**2, 10 * 1024**2, "10 MiB"),
        (11 * 1024**2, 10 * 1024**2, "11 MiB"),
        (1001, 1000, "1001 B"),
    ],
)
def test_format_against(size_bytes: int, other_bytes: int, expected: str) -> None:
    """To the byte only where rounding would make two different sizes look alike."""
    assert format_against(size_bytes, other_bytes) == expected


@pytest.mark.parametrize(
    ("percent", "total_bytes", "expected"),
    [(Fraction(50), 1000, 500), (Fraction(1, 3), 1000, 3), (Fraction(1000), 7, 70), (Fraction(0), 5, 0)],
)
def test_share_of_a_total(percent: Fraction, total_bytes: int, expected: int) -> None:
    """Rounded down to whole bytes."""
    assert Percentage(percent).of(total_bytes) == expected


def test_percentage_reads_as_it_was_written() -> None:
    """In a sentence it is a number and a percent sign."""
    assert str(Percentage(Fraction(1, 2))) == "0.5%"
    assert str(Percentage(Fraction(50))) == "50%"
