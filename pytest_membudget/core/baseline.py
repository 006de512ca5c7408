"""The recorded figures of a suite, by environment and test: plain values, and new values made from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.provenance import Provenance

HEAP = frozenset((Resource.RAM.value, Resource.RETAINED.value))


@dataclass(frozen=True)
class Entry:
    """What is recorded of one test in one environment.

    Attributes
    ----------
    figures
        Bytes by figure: ``ram``, ``retained``, ``rss``, and VRAM by the model of the GPU (see `figure_key`).
    measured_by, mode
        The heap's tool with its version, empty where there is no heap figure; and the way of measuring. See
        `Provenance`.
    anchors
        Where a figure began: its lowest accepted bytes, if that is less than the figure itself.
    sites
        Bytes at the heap's peak by ``file:function``, the largest first.
    """

    figures: Mapping[str, int]
    measured_by: str = ""
    mode: str = ""
    anchors: Mapping[str, int] = field(default_factory=dict)
    sites: Mapping[str, int] = field(default_factory=dict)

    def anchor_bytes(self, key: str) -> int | None:
        """Return where the figure began, or None where there is no figure."""
        return self.anchors.get(key, self.figures.get(key))

    def is_comparable(self, key: str, provenance: Provenance) -> bool:
        """Whether a figure measured in that way can be held against this entry's."""
        return self.mode == provenance.mode and (key not in HEAP or self.measured_by == provenance.measured_by)

    def measured_like(self, other: Entry) -> bool:
        """Whether the two were measured in the same way; one without a heap figure goes with any heap tool."""
        same_tool = not (self.measured_by and other.measured_by) or self.measured_by == other.measured_by
        return same_tool and self.mode == other.mode

    def described(self) -> str:
        """Return how the entry was measured, in words."""
        return str(Provenance("", self.measured_by, self.mode))


Tests = Mapping[str, Entry]


@dataclass(frozen=True)
class Baseline:
    """All entries, by environment key and node id."""

    environments: Mapping[str, Tests] = field(default_factory=dict)

    def entry(self, environment: str, nodeid: str) -> Entry | None:
        """Return the entry of a test, or None."""
        return self.environments.get(environment, {}).get(nodeid)

    def environments_of(self, nodeid: str) -> tuple[str, ...]:
        """Return the environments in which the test was recorded."""
        return tuple(sorted(key for key, tests in self.environments.items() if nodeid in tests))

    def __len__(self) -> int:
        return sum(map(len, self.environments.values()))

    def with_entries(self, environment: str, entries: Tests) -> Baseline:
        """Return this baseline with ``entries`` added to an environment, or put in place of those that were there."""
        if not entries:
            return self
        tests = {**self.environments.get(environment, {}), **entries}
        return Baseline({**self.environments, environment: tests})

    def pruned(self, is_gone: Callable[[str, str], bool]) -> Baseline:
        """Return this baseline without the entries whose environment and node id ``is_gone`` says yes to."""
        kept = {
            environment: {nodeid: entry for nodeid, entry in tests.items() if not is_gone(environment, nodeid)}
            for environment, tests in self.environments.items()
        }
        return Baseline({environment: tests for environment, tests in kept.items() if tests})


def figure_key(resource: Resource, device: str | None = None, source: str | None = None) -> str:
    """Return the name of a figure: VRAM of another GPU, or counted by another source, is another figure."""
    return f"{resource.value} ({device}, {source})" if device else resource.value


def resource_of(key: str) -> Resource | None:
    """Return the resource that a figure's name stands for, or None where it is no such name."""
    name, opened, rest = key.partition(" (")
    if opened and (name != Resource.VRAM.value or not rest.endswith(")")):
        return None
    return Resource(name) if name in _RESOURCES else None


_RESOURCES = frozenset(resource.value for resource in Resource)


def merged_entry(old: Entry | None, new: Entry, replaced: Collection[str]) -> Entry:
    """Return ``old`` with the figures named in ``replaced`` taken from ``new``.

    A figure keeps its anchor while it grows, and begins anew when it falls below it. Where the way of measuring has
    changed all begins anew: of ``old`` only the figures of other GPUs stay.
    """
    if old is None:
        return new
    kept = old.figures if old.measured_like(new) else {key: old.figures[key] for key in old.figures if "(" in key}
    figures = {**kept, **{key: new.figures[key] for key in replaced}}
    begins = {key: old.anchor_bytes(key) for key in kept}
    anchors = {key: begin for key, begin in begins.items() if begin is not None and begin < figures[key]}
    sites = new.sites if Resource.RAM.value in replaced or Resource.RAM.value not in figures else old.sites
    return Entry(figures, new.measured_by or old.measured_by, new.mode, anchors, sites)
