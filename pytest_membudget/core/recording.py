"""Recording a run: which of its tests may enter the baseline, and what becomes of the entries that are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from pytest_membudget.core.baseline import HEAP, Baseline, Entry, figure_key, merged_entry, resource_of
from pytest_membudget.core.growth import Growth, places
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES
from pytest_membudget.core.verdict import Outcome


class Update(str, Enum):
    """What a run may write: tests without an entry; also figures that left their band; or every figure."""

    NEW = "new"
    CHANGED = "changed"
    ALL = "all"


@dataclass(frozen=True)
class Recorded:
    """A baseline after a run, and the node ids that it differs by; ``held`` would have risen, had the run passed."""

    baseline: Baseline
    added: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    lowered: tuple[str, ...] = ()
    renewed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.added or self.raised or self.lowered or self.renewed)


def may_enter(record: TestRecord) -> bool:
    """Whether a test's figures may be recorded: it was judged, it passed, or nothing but its baseline failed it."""
    if record.outcome in (None, Outcome.OVER_BUDGET):
        return False
    return record.test_outcome == "passed" or record.failed_by_baseline


def has_failures(records: Iterable[TestRecord]) -> bool:
    """Whether a test of the run failed for another reason than its baseline."""
    return any(record.test_outcome in ("failed", "error") and not record.failed_by_baseline for record in records)


def entry_of(record: TestRecord) -> Entry:
    """Return what there is to record of a test: the figures that it has a budget for."""
    figures = {
        figure_key(resource, use.device, use.source): use.peak_bytes
        for resource, use in record.uses.items()
        if use.outcome is not None and use.peak_bytes is not None
    }
    ram_bytes = figures.get(Resource.RAM.value)
    sites = places(record.sites, ram_bytes) if ram_bytes is not None else {}
    measured_by = record.provenance.measured_by if HEAP & figures.keys() else ""
    return Entry(figures, measured_by, record.provenance.mode, {}, sites)


@dataclass(frozen=True)
class _Candidate:
    """What a test would be recorded with, and the changes in bytes that do not count, where the test was compared."""

    entry: Entry
    bands: Mapping[str, int]

    @property
    def size(self) -> tuple[int, ...]:
        return tuple(self.entry.figures.get(resource.value, 0) for resource in Resource)

    def replaced(self, old: Entry | None, update: Update) -> list[str]:
        """Return the figures to write."""
        new = self.entry
        if old is None:
            return list(new.figures)
        if update is Update.ALL:
            return [key for key in new.figures if _differs(old, new, key)]
        if update is Update.NEW:
            return [key for key in new.figures if key not in old.figures and old.measured_like(new)]
        return [key for key in new.figures if key not in old.figures or self._left_band(old, key)]

    def _left_band(self, old: Entry, key: str) -> bool:
        if not old.measured_like(self.entry):
            return True
        before_bytes = old.figures[key]
        growth = Growth(before_bytes, self.entry.figures[key], self._band_bytes(key, before_bytes))
        return growth.grew or growth.shrank

    def _band_bytes(self, key: str, before_bytes: int) -> int:
        resource = resource_of(key)
        assert resource is not None
        return self.bands.get(key, DEFAULT_TOLERANCES[resource].band_bytes(before_bytes))


def _differs(old: Entry, new: Entry, key: str) -> bool:
    same_sites = key != Resource.RAM.value or old.sites == new.sites
    return not (old.measured_like(new) and same_sites and old.figures.get(key) == new.figures[key])


def _candidates(records: Iterable[TestRecord]) -> dict[tuple[str, str], _Candidate]:
    """Return what may enter, by environment and node id; of several attempts the one with the highest figures."""
    found: dict[tuple[str, str], _Candidate] = {}
    for record in records:
        candidate = _Candidate(entry_of(record), _bands(record))
        if not may_enter(record) or not candidate.entry.figures:
            continue
        key = record.provenance.environment, record.nodeid
        if key not in found or candidate.size > found[key].size:
            found[key] = candidate
    return found


def _bands(record: TestRecord) -> dict[str, int]:
    return {
        figure_key(resource, use.device, use.source): use.band_bytes
        for resource, use in record.uses.items()
        if use.band_bytes is not None
    }


def recorded(baseline: Baseline, records: Iterable[TestRecord], update: Update, run_failed: bool) -> Recorded:
    """Return the baseline with what the run may write of its tests; a run that failed raises no entry."""
    nodeids: dict[str, set[str]] = {}
    written: dict[str, dict[str, Entry]] = {}
    for (environment, nodeid), candidate in _candidates(records).items():
        old = baseline.entry(environment, nodeid)
        if not (keys := candidate.replaced(old, update)):
            continue
        what = _what(old, candidate.entry, keys)
        if what == "raised" and run_failed:
            what = "held"
        else:
            written.setdefault(environment, {})[nodeid] = merged_entry(old, candidate.entry, keys)
        nodeids.setdefault(what, set()).add(nodeid)
    for environment, entries in written.items():
        baseline = baseline.with_entries(environment, entries)
    return Recorded(baseline, **{what: tuple(sorted(names)) for what, names in nodeids.items()})


def _what(old: Entry | None, new: Entry, replaced: Iterable[str]) -> str:
    changes = [new.figures[key] - old.figures[key] for key in replaced if old and key in old.figures]
    if not changes:
        return "added"
    if max(changes) > 0:
        return "raised"
    return "lowered" if min(changes) < 0 else "renewed"
