"""What the table of hot paths is made of: a path, its byte formula, and the path at one size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

KIB = 1024
MIB = 1024 * KIB

# The job table that a matrix product of OpenBLAS allocates when it runs in threads, which small ones do not.
BLAS_BYTES = MIB // 2

# That, and one arena of CPython's small-object allocator.
SLACK_BYTES = MIB + BLAS_BYTES

# What numpy may keep of the small arrays that a call has dropped: it holds up to seven freed blocks of each size
# below a kilobyte, for the next array of that size.
KEPT_BYTES = 256 * KIB

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Footprint:
    """The bytes of one path at one size, by formula.

    Attributes
    ----------
    input_bytes
        The arguments; they live before the call and count in no peak.
    output_bytes
        What the lean form returns and has newly allocated.
    scratch_bytes
        All else that the lean form holds at its peak.
    naive_bytes
        Peak of the naive form, its output included.
    """

    input_bytes: int
    output_bytes: int
    scratch_bytes: int
    naive_bytes: int

    @property
    def peak_bytes(self) -> int:
        """Peak of the lean form, its output included."""
        return self.output_bytes + self.scratch_bytes

    @property
    def budget_bytes(self) -> int:
        """What the lean form may use.

        The output is known to the byte, so only the scratch gets 3 % of air: a budget of 1.03 times the whole
        would hide a regression wherever the output dominates.
        """
        return self.peak_bytes + self.scratch_bytes * 3 // 100 + SLACK_BYTES


def relative_error(found: Any, expected: Any) -> float:
    """Largest difference over the largest expected magnitude; the worst in a tuple; infinite with NaN."""
    if isinstance(expected, tuple):
        return max(relative_error(one, other) for one, other in zip(found, expected, strict=True))
    if np.shape(found) != np.shape(expected):
        return float("inf")
    if np.size(expected) == 0:
        return 0.0
    difference = np.max(np.abs(np.subtract(found, expected, dtype=np.float64)))
    error = float(difference) / (float(np.max(np.abs(expected))) or 1.0)
    return float("inf") if np.isnan(error) else error


@dataclass(frozen=True)
class HotPath:
    """One entry of the table.

    Attributes
    ----------
    name
        How reports and test ids call the path.
    seed
        Number of the document that describes the naive form.
    inputs
        ``inputs(**sizes)`` gives the arguments of the three forms; the same sizes give the same arguments.
    lean, naive, reference
        The three forms, each called with ``**inputs``; the reference works in float64.
    footprint
        ``footprint(**sizes)`` gives the byte formulas, for float32 data.
    blamed
        Source lines of the naive form that the document holds responsible, stripped.
    tolerance
        Largest error of the lean form.
    small
        Sizes that run in about a second.
    seed_size
        Sizes of the document, or None where it names none beyond ``small``.
    grows
        The size along which the scratch must stay flat.
    growth
        Where the growth test starts; by default ``small`` with a quarter of the samples.
    error
        ``error(lean result, reference result)``, a relative error.
    """

    name: str
    seed: str
    inputs: Callable[..., dict[str, Any]]
    lean: Callable[..., Any]
    naive: Callable[..., Any]
    reference: Callable[..., Any]
    footprint: Callable[..., Footprint]
    blamed: tuple[str, ...]
    tolerance: float
    small: Sizes
    grows: str
    seed_size: Sizes | None = None
    growth: Sizes | None = None
    error: Callable[[Any, Any], float] = relative_error

    def cases(self) -> tuple[Case, ...]:
        """The path at each of its sizes."""
        small = Case(self, "small", self.small)
        return (small,) if self.seed_size is None else (small, Case(self, "seed_size", self.seed_size))

    def growth_sizes(self, factor: int) -> tuple[Sizes, Sizes]:
        """Two sizes that differ by ``factor`` in the sample axis alone."""
        start = self.growth or {**self.small, self.grows: self.small[self.grows] // 4}
        return start, {**start, self.grows: start[self.grows] * factor}


@dataclass(frozen=True)
class Case:
    """A path at one size: the argument of the budgeted tests."""

    path: HotPath
    label: str
    sizes: Sizes

    def __str__(self) -> str:
        """The id of the case in test names."""
        return f"{self.path.name}-{self.label}"

    def inputs(self) -> dict[str, Any]:
        """Build the arguments of the three forms."""
        return self.path.inputs(**self.sizes)

    @property
    def footprint(self) -> Footprint:
        """The byte formulas at this size."""
        return self.path.footprint(**self.sizes)

    @property
    def budget_bytes(self) -> int:
        """What the lean form may use and the naive form must break."""
        return self.footprint.budget_bytes
