"""A whole run: all that an output may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pytest_membudget.core.record import TestRecord
from pytest_membudget.core.verdict import Outcome


@dataclass(frozen=True)
class Environment:
    """The facts that make two figures comparable, and those that help a reader to place them."""

    key: str
    cpu_count: int
    total_ram_bytes: int
    commit: str | None
    tools: Mapping[str, str]


@dataclass(frozen=True)
class RunReport:
    """The records of one run, in the order in which the tests ended; files name the environment as well."""

    records: tuple[TestRecord, ...]
    environment: Environment | None = None

    @property
    def budgeted(self) -> tuple[TestRecord, ...]:
        """The judged tests, the least headroom first, then those that could not be judged."""
        judged = [record for record in self.records if record.outcome is not None]
        return tuple(sorted(judged, key=_by_headroom))

    @property
    def unbudgeted(self) -> tuple[TestRecord, ...]:
        """The tests that ran and were not judged: not those that were skipped, or broken before they began."""
        return tuple(
            record
            for record in self.records
            if record.outcome is None and record.uses and record.test_outcome != "skipped"
        )

    @property
    def lost(self) -> tuple[TestRecord, ...]:
        """The tests in the middle of which their process ended, so that nothing is known but the reason."""
        return tuple(record for record in self.records if record.outcome is None and record.reason)

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The node ids that several workers ran, as with ``--dist each``."""
        times = Counter(record.nodeid for record in self.records)
        return frozenset(nodeid for nodeid, count in times.items() if count > 1)

    @cached_property
    def places(self) -> tuple[tuple[str, str, str], ...]:
        """Worker, host and environment of the tests, sorted; empty where all ran in the same environment."""
        found = {
            (record.worker or "", record.host or "", record.provenance.environment or "") for record in self.records
        }
        return tuple(sorted(found)) if len({place[1:] for place in found}) > 1 else ()

    def place_of(self, record: TestRecord) -> str:
        """Return the worker and the host of a test, as far as they tell it from others of the run."""
        several_hosts = len({host for _, host, _ in self.places}) > 1
        worker = record.worker if self.places or record.nodeid in self.repeated else None
        return " ".join(filter(None, (worker, record.host if several_hosts else None)))

    def count(self, outcome: Outcome) -> int:
        """Return how many tests came to ``outcome``."""
        return sum(record.outcome is outcome for record in self.records)


def merged(runs: Sequence[RunReport]) -> RunReport:
    """Return several runs as one: the shards of a suite, or its runs on several machines.

    A fact on which the runs agree stays; texts that differ are named side by side, and of numbers the least counts.
    """
    records = tuple(record for run in runs for record in run.records)
    environments = [run.environment for run in runs if run.environment]
    if not environments:
        return RunReport(records)
    tools: dict[str, list[str]] = {}
    for environment in environments:
        for tool, version in environment.tools.items():
            tools.setdefault(tool, []).append(version)
    commits = [environment.commit for environment in environments if environment.commit]
    environment = replace(
        environments[0],
        key=_side_by_side(environment.key for environment in environments),
        cpu_count=min(environment.cpu_count for environment in environments),
        total_ram_bytes=min(environment.total_ram_bytes for environment in environments),
        commit=_side_by_side(commits) or None,
        tools={tool: _side_by_side(versions) for tool, versions in tools.items()},
    )
    return RunReport(records, environment)


def _side_by_side(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def one_per_test(records: Iterable[TestRecord]) -> tuple[TestRecord, ...]:
    """Return a single record for each test: of several attempts the worst, with the outcome of the last.

    Attempts are what a rerun plugin makes; the same test on two workers is two tests.
    """
    attempts: dict[tuple[str, str | None], list[TestRecord]] = {}
    for record in records:
        attempts.setdefault((record.nodeid, record.worker), []).append(record)
    return tuple(several[0] if len(several) == 1 else _worst(several) for several in attempts.values())


def _worst(attempts: list[TestRecord]) -> TestRecord:
    return replace(min(attempts, key=_badness), test_outcome=attempts[-1].test_outcome)


def _badness(record: TestRecord) -> int:
    return len(Outcome) if record.outcome is None else list(Outcome).index(record.outcome)


def _by_headroom(record: TestRecord) -> tuple[float, str, str]:
    headroom = record.use(record.tightest).headroom
    return (float("inf") if headroom is None else headroom, record.nodeid, record.worker or "")
