"""Values that many tests start from: finished records and runs, and a high-water mark that follows a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_membudget.core.measurement import Frame, Resource, Site
from pytest_membudget.core.provenance import Provenance
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.run import Environment, RunReport
from pytest_membudget.core.verdict import Outcome

KIB, MIB, GIB = 1024, 1024**2, 1024**3

ENVIRONMENT = Environment(
    key="cpython-3.11-linux-x86_64",
    cpu_count=2,
    total_ram_bytes=16 * GIB,
    commit="3f2c1ab0c5d2e8f1a7b9d4c6e0f3a2b1c8d7e6f5",
    tools={"pytest-membudget": "0.1.0", "pytest": "8.2.0", "memray": "1.20.0"},
)


PROVENANCE = Provenance(ENVIRONMENT.key, "memray 1.20.0", "exact, isolated")


def a_site(size_bytes: int = MIB, line: int = 7, source: str = "rows = [*rows]", via: Frame | None = None) -> Site:
    """A line of a project."""
    return Site(size_bytes, Frame("hotpaths/vq.py", line, "assign_clusters"), source, via)


def a_record(
    nodeid: str = "tests/test_vq.py::test_assign",
    outcome: Outcome | None = Outcome.WITHIN,
    uses: Mapping[Resource, Use] | None = None,
    *,
    reason: str | None = None,
    sites: tuple[Site, ...] = (),
    worker: str | None = None,
    test_outcome: str = "passed",
) -> TestRecord:
    """A test that ended."""
    return TestRecord(
        nodeid=nodeid,
        test_outcome=test_outcome,
        outcome=outcome,
        uses=uses or {},
        sites=sites,
        seconds=0.25,
        reason=reason,
        worker=worker,
        provenance=PROVENANCE,
    )


def ram(peak_bytes: int | None, budget_bytes: int | None = None, rss_bytes: int | None = None) -> dict[Resource, Use]:
    """What a test used of the heap, and how far the resident set grew."""
    heap = Use(peak_bytes, budget_bytes, None if peak_bytes is None else "memray")
    return {Resource.RAM: heap} if rss_bytes is None else {Resource.RAM: heap, **rss(rss_bytes)}


def rss(peak_bytes: int, budget_bytes: int | None = None) -> dict[Resource, Use]:
    """How far the resident set grew."""
    return {Resource.RSS: Use(peak_bytes, budget_bytes, "vmhwm")}


def a_run(*records: TestRecord) -> RunReport:
    """A run that ended."""
    return RunReport(records, ENVIRONMENT)


@dataclass
class ScriptedHighWater:
    """A resident set that takes the sizes of a script, one after the other, and a mark over them."""

    source = "script"
    exact = True

    sizes_bytes: list[int]
    mark_bytes: int = 0
    prepared: bool = False
    closed: bool = False
    failure: OSError | None = None
    _now_bytes: int = field(default=0)

    def advance(self, steps: int = 1) -> None:
        """Let the resident set take its next sizes."""
        for _ in range(steps):
            self._now_bytes = self.sizes_bytes.pop(0)
            self.mark_bytes = max(self.mark_bytes, self._now_bytes)

    def prepare(self) -> None:
        """Remember that it was asked to."""
        self.prepared = True

    def reset(self) -> int:
        """Set the mark to the present size."""
        self._raise_if_told()
        self.mark_bytes = self._now_bytes
        return self.mark_bytes

    def high_water_bytes(self) -> int:
        """Return the mark."""
        self._raise_if_told()
        return self.mark_bytes

    def close(self) -> None:
        """Remember that nobody samples any more."""
        self.closed = True

    def _raise_if_told(self) -> None:
        if self.failure:
            raise self.failure
