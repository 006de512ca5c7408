"""Two sets of recorded figures side by side: two runs, two baselines, or one of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from pytest_membudget.core.baseline import Baseline, Entry, figure_key, resource_of
from pytest_membudget.core.growth import Growth, SiteChange, places, site_changes
from pytest_membudget.core.measurement import Frame, Resource, Site
from pytest_membudget.core.provenance import Provenance
from pytest_membudget.core.record import TestRecord
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES, Tolerances


class Relation(str, Enum):
    """How a figure of the new side stands to the old one, the worst first."""

    REGRESSED = "regressed"
    MISSING_IN_OLD = "only in new"
    MISSING_IN_NEW = "only in old"
    INCOMPARABLE = "measured in another way"
    IMPROVED = "improved"
    SAME = "same"


@dataclass(frozen=True)
class Row:
    """One figure of one test; ``growth`` is None where a side has no such figure."""

    environment: str
    nodeid: str
    figure: str
    relation: Relation
    growth: Growth | None = None
    changes: tuple[SiteChange, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """All figures, the worst first, then by environment and test."""

    rows: tuple[Row, ...]

    def of(self, *relations: Relation) -> tuple[Row, ...]:
        """Return the rows that stand in one of these relations."""
        return tuple(row for row in self.rows if row.relation in relations)


def compare(old: Baseline, new: Baseline, tolerances: Tolerances = DEFAULT_TOLERANCES) -> Comparison:
    """Return how each figure of ``new`` stands to that of ``old``."""
    tests = {(key, nodeid) for side in (old, new) for key, found in side.environments.items() for nodeid in found}
    rows = [
        row
        for environment, nodeid in tests
        for row in _rows(
            environment, nodeid, old.entry(environment, nodeid), new.entry(environment, nodeid), tolerances
        )
    ]
    worst_first = list(Relation)
    return Comparison(
        tuple(sorted(rows, key=lambda row: (worst_first.index(row.relation), row.environment, row.nodeid, row.figure)))
    )


def _rows(environment: str, nodeid: str, old: Entry | None, new: Entry | None, tolerances: Tolerances) -> Iterator[Row]:
    before, now = (old.figures if old else {}), (new.figures if new else {})
    for key in {**before, **now}:
        if key not in now:
            yield Row(environment, nodeid, key, Relation.MISSING_IN_NEW)
        elif key not in before:
            yield Row(environment, nodeid, key, Relation.MISSING_IN_OLD)
        elif old and new:
            yield _row(environment, nodeid, key, old, new, tolerances)


def _row(environment: str, nodeid: str, key: str, old: Entry, new: Entry, tolerances: Tolerances) -> Row:
    resource = resource_of(key)
    assert resource is not None
    before_bytes = old.figures[key]
    growth = Growth(before_bytes, new.figures[key], tolerances[resource].band_bytes(before_bytes))
    if not (growth.grew or growth.shrank):
        return Row(environment, nodeid, key, Relation.SAME, growth)
    if not old.is_comparable(key, Provenance(environment, new.measured_by, new.mode)):
        return Row(environment, nodeid, key, Relation.INCOMPARABLE, growth)
    relation = Relation.REGRESSED if growth.grew else Relation.IMPROVED
    changes = site_changes(old.sites, _sites(new.sites)) if resource is Resource.RAM and old.sites else ()
    return Row(environment, nodeid, key, relation, growth, changes)


def _sites(by_place: Mapping[str, int]) -> list[Site]:
    split = [(place.rpartition(":"), size_bytes) for place, size_bytes in by_place.items()]
    return [Site(size_bytes, Frame(file, 0, function)) for (file, _, function), size_bytes in split]


def entries_of_run(records: Iterable[TestRecord], heap_of_all: bool) -> Baseline:
    """Return the figures of a run: those that were judged, with ``heap_of_all`` every heap peak that was measured."""
    environments: dict[str, dict[str, Entry]] = {}
    for record in records:
        if (entry := _entry(record, heap_of_all)).figures:
            environments.setdefault(record.provenance.environment, {})[record.nodeid] = entry
    return Baseline(environments)


def _entry(record: TestRecord, heap_of_all: bool) -> Entry:
    figures = {
        figure_key(resource, use.device, use.source): use.peak_bytes
        for resource, use in record.uses.items()
        if use.peak_bytes is not None and (use.is_judged or (heap_of_all and resource is Resource.RAM))
    }
    sites = places(record.sites, figures.get(Resource.RAM.value, 0))
    return Entry(figures, record.provenance.measured_by, record.provenance.mode, {}, sites)
