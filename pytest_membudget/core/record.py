"""The one value that leaves a test: what it may use, what it used, and how that was judged.

A record crosses process borders (from an xdist worker to its controller) and enters the JSON report as the same dict
of JSON's own types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_membudget.core.measurement import Figure, Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.verdict import Outcome, Verdict
from pytest_membudget.core.vram import VramReading
from pytest_membudget.core.vram_record import vram_from_plain, vram_to_plain

Plain = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """One resource of one test: the figure and the budget, each None where there is none.

    ``vram`` is the figure of GPU memory with all that stands behind it.
    """

    peak_bytes: int | None = None
    budget_bytes: int | None = None
    source: str | None = None
    exact: bool = True
    may_miss_bytes: int = 0
    vram: VramReading | None = None
    upper_bound: bool = False

    @property
    def headroom(self) -> float | None:
        """The share of the budget that is left: negative when over, None when nothing was judged."""
        if self.peak_bytes is None or self.budget_bytes is None or (self.vram and self.vram.unjudged):
            return None
        if self.budget_bytes == 0:
            return 0.0 if self.peak_bytes == 0 else -float("inf")
        return 1 - self.peak_bytes / self.budget_bytes


@dataclass(frozen=True)
class TestRecord:
    """One test of a run, as outputs see it."""

    __test__ = False  # the name would have pytest collect it

    nodeid: str
    test_outcome: str
    outcome: Outcome | None = None
    uses: Mapping[Resource, Use] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    seconds: float = 0.0
    reason: str | None = None
    worker: str | None = None
    isolated: bool = False

    def use(self, resource: Resource) -> Use:
        """Return what is known of ``resource``."""
        return self.uses.get(resource, Use())

    @property
    def tightest(self) -> Resource:
        """The judged resource with the least headroom; one that was budgeted but not measured, if none was judged."""
        judged = [(use.headroom, resource) for resource, use in self.uses.items() if use.headroom is not None]
        budgeted = [resource for resource, use in self.uses.items() if use.budget_bytes is not None]
        return min(judged, key=lambda pair: pair[0])[1] if judged else next(iter(budgeted), Resource.RAM)


def record_of(
    nodeid: str, test_outcome: str, measurement: Measurement, verdict: Verdict | None, worker: str | None = None
) -> TestRecord:
    """Return the record of a test that ran."""
    budgets = {finding.resource: finding.budget_bytes for finding in verdict.findings} if verdict else {}
    resources = [resource for resource in Resource if resource in budgets or resource in measurement.figures]
    return TestRecord(
        nodeid=nodeid,
        test_outcome=test_outcome,
        outcome=verdict.outcome if verdict else None,
        uses={resource: _use(measurement.figure(resource), budgets.get(resource)) for resource in resources},
        sites=measurement.sites,
        seconds=measurement.seconds,
        reason="; ".join(verdict.reasons) or None if verdict else None,
        worker=worker,
    )


def _use(figure: Figure, budget_bytes: int | None) -> Use:
    if not isinstance(figure, Reading):
        return Use(budget_bytes=budget_bytes)
    vram = figure if isinstance(figure, VramReading) else None
    return Use(figure.bytes, budget_bytes, figure.source, figure.exact, figure.may_miss_bytes, vram, figure.upper_bound)


def to_plain(record: TestRecord) -> Plain:
    """Return the record as JSON's own types, in the shape that the JSON report publishes."""
    return {
        "nodeid": record.nodeid,
        "outcome": record.outcome.value if record.outcome else None,
        "test_outcome": record.test_outcome,
        "isolated": record.isolated,
        "worker": record.worker,
        "ram": _ram_to_plain(record),
        "rss": _use_to_plain(record, Resource.RSS),
        "vram": _use_to_plain(record, Resource.VRAM),
        "seconds": record.seconds,
        "sites": [_site_to_plain(site) for site in record.sites],
        "phases": [],
        "reason": record.reason,
    }


def _use_to_plain(record: TestRecord, resource: Resource) -> Plain | None:
    if resource not in record.uses:
        return None
    use = record.use(resource)
    plain = {"peak_bytes": use.peak_bytes, "budget_bytes": use.budget_bytes, "source": use.source, "exact": use.exact}
    behind = vram_to_plain(use.vram) if use.vram else {}
    return plain | {"upper_bound": use.upper_bound} | behind


def _ram_to_plain(record: TestRecord) -> Plain | None:
    if Resource.RAM not in record.uses and Resource.RETAINED not in record.uses:
        return None
    ram, retained = record.use(Resource.RAM), record.use(Resource.RETAINED)
    return {
        "peak_bytes": ram.peak_bytes,
        "budget_bytes": ram.budget_bytes,
        "baseline_bytes": None,
        "retained_bytes": retained.peak_bytes,
        "retained_budget_bytes": retained.budget_bytes,
        "source": ram.source or retained.source,
        "exact": ram.exact,
        "upper_bound": ram.upper_bound,
        "may_miss_bytes": ram.may_miss_bytes,
    }


def _site_to_plain(site: Site) -> Plain:
    via = site.via and {"file": site.via.file, "line": site.via.line, "function": site.via.function}
    return {
        "bytes": site.bytes,
        "file": site.file,
        "line": site.line,
        "function": site.function,
        "source": site.source,
        "via": via,
    }


def from_plain(plain: Plain) -> TestRecord:
    """Return the record that ``to_plain`` wrote."""
    return TestRecord(
        nodeid=plain["nodeid"],
        test_outcome=plain["test_outcome"],
        outcome=Outcome(plain["outcome"]) if plain["outcome"] else None,
        uses=_uses_from_plain(plain),
        sites=tuple(_site_from_plain(site) for site in plain["sites"]),
        seconds=plain["seconds"],
        reason=plain["reason"],
        worker=plain["worker"],
        isolated=plain["isolated"],
    )


def _uses_from_plain(plain: Plain) -> dict[Resource, Use]:
    uses: dict[Resource, Use] = {}
    if ram := plain["ram"]:
        uses[Resource.RAM] = Use(
            ram["peak_bytes"],
            ram["budget_bytes"],
            ram["source"],
            ram["exact"],
            ram["may_miss_bytes"],
            upper_bound=ram["upper_bound"],
        )
        uses[Resource.RETAINED] = Use(ram["retained_bytes"], ram["retained_budget_bytes"], ram["source"])
    for resource in (Resource.RSS, Resource.VRAM):
        if use := plain[resource.value]:
            vram = vram_from_plain(use) if "devices" in use else None
            uses[resource] = Use(
                use["peak_bytes"],
                use["budget_bytes"],
                use["source"],
                use["exact"],
                vram=vram,
                upper_bound=use["upper_bound"],
            )
    return uses


def _site_from_plain(plain: Plain) -> Site:
    via = Frame(**plain["via"]) if plain["via"] else None
    frame = Frame(plain["file"], plain["line"], plain["function"])
    return Site(plain["bytes"], frame, plain["source"], via)
