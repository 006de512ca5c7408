"""Sizes as users write them ("2GiB", "512 MB", "50%") and as they read them back."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from pytest_membudget.core.errors import SizeError

_SI = {"B": 1} | {f"{prefix}B": 1000**power for power, prefix in enumerate("kMGTP", start=1)}
_IEC = {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTP", start=1)}
# "KB" is the spelling most people type for the SI kilobyte; SI itself writes "kB".
UNIT_BYTES: dict[str, int] = _SI | _IEC | {"KB": 1000}

# Python refuses to read numbers of thousands of digits, so a number has few enough of them here.
_NUMBER = r"(?P<number>\d{1,99}(?:\.\d{0,99})?(?:[eE][+-]?\d{1,2})?|\.\d{1,99}(?:[eE][+-]?\d{1,2})?)"
_SIZE = re.compile(rf"{_NUMBER}\s*(?P<unit>[A-Za-z]+)", re.ASCII)
_PERCENTAGE = re.compile(rf"{_NUMBER}\s*%", re.ASCII)
_EXAMPLES = 'write bytes as an int, or a string such as "64MiB", "1.5 GB" or "50%"'
_MOST_PERCENT = 1000
_MOST_BYTES = 2**63 - 1


@dataclass(frozen=True)
class Percentage:
    """A share of the memory that the machine, the container or the GPU has."""

    percent: Fraction

    def of(self, total_bytes: int) -> int:
        """Return the share of ``total_bytes``, rounded down to whole bytes."""
        return math.floor(self.percent * total_bytes / 100)

    def __str__(self) -> str:
        return f"{float(self.percent):g}%"


def parse_size(raw: object) -> int | Percentage:
    """Return bytes, or the percentage, that ``raw`` stands for.

    IEC units (KiB = 1024) and SI units (kB = 1000) are kept apart, and the whole string must match.

    Raises
    ------
    SizeError
        With a sentence that names the value and a right spelling.
    """
    if isinstance(raw, bool) or not isinstance(raw, (int, str)):
        raise SizeError(f"{raw!r} is not a size: {_EXAMPLES}")
    if isinstance(raw, int):
        return _checked_bytes(raw, raw)
    text = raw.strip()
    if percentage := _PERCENTAGE.fullmatch(text):
        return _checked_percentage(Fraction(percentage["number"]), raw)
    if size := _SIZE.fullmatch(text):
        return _checked_bytes(math.floor(Fraction(size["number"]) * _unit_bytes(size["unit"], raw)), raw)
    raise SizeError(_unreadable(text, raw))


def _unreadable(text: str, raw: str) -> str:
    if text.startswith("-"):
        return f"{raw!r} is negative: a size is zero or more bytes"
    if re.fullmatch(_NUMBER, text, re.ASCII):
        return f'{raw!r} has no unit: write "{text}B" for bytes, or "{text}MiB"'
    return f"{raw!r} is not a size: {_EXAMPLES}"


def _unit_bytes(unit: str, raw: str) -> int:
    if unit in UNIT_BYTES:
        return UNIT_BYTES[unit]
    guesses = [known for known in UNIT_BYTES if known.lower() == unit.lower()]
    guesses += [known for known in UNIT_BYTES if known.lower().startswith(unit.lower())]
    hint = f'did you mean "{guesses[0]}"?' if guesses else f"known units: {', '.join(UNIT_BYTES)}"
    raise SizeError(f"{raw!r} has the unknown unit {unit!r}: {hint}")


def _checked_bytes(size_bytes: int, raw: object) -> int:
    if size_bytes < 0:
        raise SizeError(f"{_written(raw)} is negative: a size is zero or more bytes")
    if size_bytes > _MOST_BYTES:
        raise SizeError(f"{_written(raw)} is more than {_MOST_BYTES} bytes, the largest size there is")
    return size_bytes


def _written(raw: object) -> str:
    """Show ``raw``; Python itself declines to write out an int of thousands of digits."""
    return f"an int of {raw.bit_length()} bits" if isinstance(raw, int) and raw.bit_length() > 1000 else repr(raw)


def _checked_percentage(percent: Fraction, raw: str) -> Percentage:
    if percent > _MOST_PERCENT:
        raise SizeError(f"{raw!r} is over {_MOST_PERCENT}%: write a share of what the machine has, such as '50%'")
    return Percentage(percent)


def format_size(size_bytes: int) -> str:
    """Return ``size_bytes`` in IEC units with three significant digits, such as ``2.44 GiB``."""
    sign, magnitude = ("-" if size_bytes < 0 else ""), abs(size_bytes)
    if magnitude < 1024:
        return f"{sign}{magnitude} B"
    for unit, unit_bytes in _IEC.items():
        scaled = magnitude / unit_bytes
        if scaled < 999.5 or unit == "PiB":
            break
    digits = 2 if scaled < 9.995 else 1 if scaled < 99.95 else 0
    number = f"{scaled:.{digits}f}"
    return f"{sign}{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def format_against(size_bytes: int, other_bytes: int) -> str:
    """Return ``size_bytes`` readably, and to the byte where rounding would hide how it differs from ``other_bytes``."""
    text = format_size(size_bytes)
    if size_bytes != other_bytes and text == format_size(other_bytes) and not text.endswith(" B"):
        return f"{text} ({size_bytes:,} B)"
    return text
