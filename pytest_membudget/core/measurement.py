"""What was measured: figures with their source, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from pytest_membudget.core.timeline import Moment


class Resource(str, Enum):
    """What a budget can limit."""

    RAM = "ram"
    RETAINED = "retained"
    RSS = "rss"
    VRAM = "vram"

    # Enum hashes in Python; these are the keys of small dicts that every test makes.
    __hash__ = str.__hash__


@dataclass(frozen=True)
class Frame:
    """One line of code in a call stack."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Site:
    """A line of code and the bytes that were live because of it at the peak.

    ``via`` is the library frame that allocated on the line's behalf, if it was not the line itself.
    """

    bytes: int
    frame: Frame
    source: str = ""
    via: Frame | None = None

    @property
    def file(self) -> str:
        """Path of the file the line stands in."""
        return self.frame.file

    @property
    def line(self) -> int:
        """Line number, from 1."""
        return self.frame.line

    @property
    def function(self) -> str:
        """Name of the function the line belongs to."""
        return self.frame.function


@dataclass(frozen=True)
class Reading:
    """A measured figure.

    ``may_miss_bytes`` bounds what the source can have overlooked; ``exact`` is false for a sampled figure; ``device``
    is the model of the GPU that a VRAM figure belongs to. ``unjudged`` says why the figure is shown and must decide
    nothing. An ``upper_bound`` is at least what was in use at once.
    """

    bytes: int
    source: str
    exact: bool = True
    may_miss_bytes: int = 0
    device: str | None = None
    unjudged: str | None = None
    upper_bound: bool = False

    @property
    def by(self) -> str:
        """What a reader must know about the source; empty for an exact figure."""
        if self.exact:
            return ""
        return f"an upper bound by {self.source}" if self.upper_bound else f"sampled by {self.source}"


@dataclass(frozen=True)
class Unavailable:
    """No figure, and why not."""

    reason: str


Figure = Reading | Unavailable
PythonAllocators = Literal["exact", "arenas"]


@dataclass(frozen=True)
class Measurement:
    """All that was measured of one test: ``sites`` at the peak, ``held`` at the end, where a budget speaks of that."""

    figures: dict[Resource, Figure] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    seconds: float = 0.0
    held: tuple[Site, ...] = ()
    timeline: tuple[Moment, ...] = ()

    def figure(self, resource: Resource) -> Figure:
        """Return the figure of ``resource``, or the plain statement that nothing measured it."""
        return self.figures.get(resource, Unavailable(f"{resource.value} is not measured yet by this version"))
