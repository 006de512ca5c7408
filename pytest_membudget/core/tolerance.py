"""How much a figure may grow over its baseline entry before that counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pytest_membudget.core.errors import SizeError
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.sizes import Percentage, parse_size

KIB, MIB = 1024, 1024**2
_GRAMMAR = 'write "5%", "1MiB", "5%+64KiB" or, by resource, "ram=5%+64KiB, rss=20%"'


@dataclass(frozen=True)
class Tolerance:
    """A share of the entry, and a floor in bytes that stands under it for small entries."""

    share: Fraction
    floor_bytes: int

    def band_bytes(self, entry_bytes: int) -> int:
        """Return the change of an entry of that size that does not count, in bytes."""
        return max(entry_bytes * self.share.numerator // self.share.denominator, self.floor_bytes)


Tolerances = Mapping[Resource, Tolerance]

# Exact heap figures repeat within 0.5 % over whole suites; resident pages and GPU pools come in larger grains.
DEFAULT_TOLERANCES: Tolerances = {
    Resource.RAM: Tolerance(Fraction(5, 100), 64 * KIB),
    Resource.RETAINED: Tolerance(Fraction(5, 100), 64 * KIB),
    Resource.RSS: Tolerance(Fraction(20, 100), 16 * MIB),
    Resource.VRAM: Tolerance(Fraction(5, 100), 64 * MIB),
}


@dataclass(frozen=True)
class Allowance:
    """What one marker, option or ini key says of a tolerance; a part that it is silent about is None."""

    share: Fraction | None = None
    floor_bytes: int | None = None

    def over(self, tolerance: Tolerance) -> Tolerance:
        """Return ``tolerance`` with the parts that were said in place of its own."""
        return Tolerance(
            tolerance.share if self.share is None else self.share,
            tolerance.floor_bytes if self.floor_bytes is None else self.floor_bytes,
        )


@dataclass(frozen=True)
class Allowances:
    """What one place says: of single resources, and of all the others."""

    general: Allowance = field(default_factory=Allowance)
    by_resource: Mapping[Resource, Allowance] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self != NO_ALLOWANCES

    def over(self, tolerances: Tolerances) -> dict[Resource, Tolerance]:
        """Return ``tolerances`` with what was said here in place of their own."""
        return {
            resource: self.by_resource.get(resource, self.general).over(tolerance)
            for resource, tolerance in tolerances.items()
        }


NO_ALLOWANCES = Allowances()


def parse_tolerance(raw: object) -> Allowances:
    """Return what ``raw`` allows: ``"5%"``, ``"1MiB"``, bytes as an int, ``"5%+64KiB"``, ``"ram=5%, rss=20%"``.

    A percentage keeps the floor in bytes that stands under it; bytes alone are the whole tolerance.

    Raises
    ------
    SizeError
        With a sentence that names the value and the right spellings.
    """
    if not isinstance(raw, str):
        return Allowances(_allowance((raw,), raw))
    general = Allowance()
    by_resource: dict[Resource, Allowance] = {}
    for part in raw.split(","):
        name, named, value = part.rpartition("=")
        allowance = _allowance(value.split("+"), raw)
        if named:
            by_resource[_resource(name.strip(), raw)] = allowance
        else:
            general = allowance
    return Allowances(general, by_resource)


def _resource(name: str, raw: str) -> Resource:
    try:
        return Resource(name)
    except ValueError:
        known = ", ".join(resource.value for resource in Resource)
        raise SizeError(f"tolerance {raw!r}: {name!r} is none of {known}: {_GRAMMAR}") from None


def _allowance(terms: Iterable[object], raw: object) -> Allowance:
    try:
        sizes = [parse_size(term) for term in terms]
    except SizeError as error:
        raise SizeError(f"tolerance {raw!r}: {error}; {_GRAMMAR}") from None
    match sizes:
        case [Percentage() as share]:
            return Allowance(share.percent / 100)
        case [int() as floor_bytes]:
            return Allowance(Fraction(0), floor_bytes)
        case [Percentage() as share, int() as floor_bytes]:
            return Allowance(share.percent / 100, floor_bytes)
    raise SizeError(f"tolerance {raw!r}: {_GRAMMAR}")
