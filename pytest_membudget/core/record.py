"""The one value that leaves a test: what it may use, what it used, and how that was judged.

A record crosses process borders (from an xdist worker to its controller) and enters the JSON report as the same dict
of JSON's own types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_membudget.core.growth import ChangeKind, Growth, SiteChange
from pytest_membudget.core.measurement import Figure, Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.provenance import UNKNOWN, Provenance
from pytest_membudget.core.timeline import Moment
from pytest_membudget.core.verdict import Finding, Outcome, Verdict
from pytest_membudget.core.vram import VramReading
from pytest_membudget.core.vram_record import vram_from_plain, vram_to_plain

Plain = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """One resource of one test: figure, budget and baseline, each None where there is none.

    ``outcome`` is None for a resource without a budget; ``band_bytes`` is the change since the baseline that does not
    count, and ``anchor_bytes`` where the baseline's figure began.
    ``vram`` is the figure of GPU memory with all that stands behind it.
    """

    peak_bytes: int | None = None
    budget_bytes: int | None = None
    source: str | None = None
    exact: bool = True
    may_miss_bytes: int = 0
    device: str | None = None
    outcome: Outcome | None = None
    baseline_bytes: int | None = None
    anchor_bytes: int | None = None
    band_bytes: int | None = None
    vram: VramReading | None = None
    upper_bound: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether the test has a budget for this resource, in bytes or as its baseline."""
        return self.outcome is not None or self.budget_bytes is not None

    @property
    def growth(self) -> Growth | None:
        """The change since the baseline, None where one of the two figures is missing."""
        if self.peak_bytes is None or self.baseline_bytes is None or self.band_bytes is None:
            return None
        return Growth(self.baseline_bytes, self.peak_bytes, self.band_bytes)

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
    """One test of a run, as outputs see it.

    Attributes
    ----------
    sites
        The call sites at the heap's peak, the biggest first.
    changes
        Those that are new, grown or gone since the baseline, where the peak left its band.
    failed_by_baseline
        Whether the test passed in all but its baseline: it regressed, or had no entry where one is required.
    file, line
        Where its budget stands, relative to rootdir, else where the test begins.
    timeline
        How memory moved while the heap was measured.
    text
        What the verdict says where it fails the test.
    """

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
    isolation_reason: str | None = None
    host: str | None = None
    file: str | None = None
    line: int | None = None
    timeline: tuple[Moment, ...] = ()
    text: str | None = None
    provenance: Provenance = UNKNOWN
    changes: tuple[SiteChange, ...] = ()
    failed_by_baseline: bool = False

    def use(self, resource: Resource) -> Use:
        """Return what is known of ``resource``."""
        return self.uses.get(resource, Use())

    @property
    def tightest(self) -> Resource:
        """The resource with the worst outcome, of several the one with the least headroom; RAM where none is judged."""
        judged = [resource for resource, use in self.uses.items() if use.is_judged]
        return min(judged, key=self._rank, default=Resource.RAM)

    def _rank(self, resource: Resource) -> tuple[int, float]:
        use = self.use(resource)
        worst_first = list(Outcome)
        badness = worst_first.index(use.outcome) if use.outcome else len(worst_first)
        return badness, float("inf") if use.headroom is None else use.headroom


def record_of(
    nodeid: str,
    test_outcome: str,
    measurement: Measurement,
    verdict: Verdict | None,
    worker: str | None = None,
    provenance: Provenance = UNKNOWN,
    **more: Any,
) -> TestRecord:
    """Return the record of a test that ran; ``more`` are fields that neither its figures nor its verdict tell."""
    findings = {finding.resource: finding for finding in verdict.findings} if verdict else {}
    resources = [resource for resource in Resource if resource in findings or resource in measurement.figures]
    return TestRecord(
        nodeid=nodeid,
        test_outcome=test_outcome,
        outcome=verdict.outcome if verdict else None,
        uses={resource: _use(measurement.figure(resource), findings.get(resource)) for resource in resources},
        sites=measurement.sites,
        seconds=measurement.seconds,
        reason="; ".join(verdict.reasons) or None if verdict else None,
        worker=worker,
        timeline=measurement.timeline,
        **more,
        provenance=provenance,
        changes=verdict.changes if verdict else (),
    )


_NO_READING = Reading(0, "")


def _use(figure: Figure, finding: Finding | None) -> Use:
    reading = figure if isinstance(figure, Reading) else _NO_READING
    growth = finding.growth if finding else None
    return Use(
        peak_bytes=reading.bytes if reading is figure else None,
        budget_bytes=finding.budget_bytes if finding else None,
        source=reading.source or None,
        exact=reading.exact,
        may_miss_bytes=reading.may_miss_bytes,
        device=reading.device,
        vram=reading if isinstance(reading, VramReading) else None,
        upper_bound=reading.upper_bound,
        outcome=finding.outcome if finding else None,
        baseline_bytes=growth.before_bytes if growth else None,
        anchor_bytes=finding.anchor_bytes if finding and growth else None,
        band_bytes=growth.band_bytes if growth else None,
    )


def to_plain(record: TestRecord) -> Plain:
    """Return the record as JSON's own types, in the shape that the JSON report publishes."""
    return {
        "nodeid": record.nodeid,
        "outcome": record.outcome.value if record.outcome else None,
        "test_outcome": record.test_outcome,
        "isolated": record.isolated,
        "isolation_reason": record.isolation_reason,
        "host": record.host,
        "worker": record.worker,
        "file": record.file,
        "line": record.line,
        "environment": record.provenance.environment,
        "measured_by": record.provenance.measured_by,
        "mode": record.provenance.mode,
        "failed_by_baseline": record.failed_by_baseline,
        "ram": _ram_to_plain(record),
        "rss": _use_to_plain(record, Resource.RSS),
        "vram": _use_to_plain(record, Resource.VRAM),
        "seconds": record.seconds,
        "sites": [_site_to_plain(site) for site in record.sites],
        "changes": [{**vars(change), "kind": change.kind.value} for change in record.changes],
        "timeline": [list(moment) for moment in record.timeline],
        "phases": [],
        "reason": record.reason,
        "text": record.text,
    }


def _use_to_plain(record: TestRecord, resource: Resource) -> Plain | None:
    if resource not in record.uses:
        return None
    use = record.use(resource)
    plain = {"peak_bytes": use.peak_bytes, "source": use.source, "exact": use.exact, "upper_bound": use.upper_bound}
    plain |= _judged_to_plain(use)
    if resource is not Resource.VRAM:
        return plain
    return plain | (vram_to_plain(use.vram) if use.vram else {"device": use.device})


def _ram_to_plain(record: TestRecord) -> Plain | None:
    if Resource.RAM not in record.uses and Resource.RETAINED not in record.uses:
        return None
    ram, retained = record.use(Resource.RAM), record.use(Resource.RETAINED)
    return {
        "peak_bytes": ram.peak_bytes,
        **_judged_to_plain(ram),
        "retained_bytes": retained.peak_bytes,
        **_judged_to_plain(retained, "retained_"),
        "source": ram.source or retained.source,
        "exact": ram.exact,
        "upper_bound": ram.upper_bound,
        "may_miss_bytes": ram.may_miss_bytes,
    }


def _judged_to_plain(use: Use, prefix: str = "") -> Plain:
    """Return what a figure was held against, and with what outcome."""
    return {
        f"{prefix}outcome": use.outcome.value if use.outcome else None,
        f"{prefix}budget_bytes": use.budget_bytes,
        f"{prefix}baseline_bytes": use.baseline_bytes,
        f"{prefix}anchor_bytes": use.anchor_bytes,
        f"{prefix}band_bytes": use.band_bytes,
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
        isolation_reason=plain["isolation_reason"],
        host=plain["host"],
        file=plain["file"],
        line=plain["line"],
        timeline=tuple(Moment(*moment) for moment in plain["timeline"]),
        text=plain["text"],
        provenance=Provenance(plain["environment"], plain["measured_by"], plain["mode"]),
        changes=tuple(SiteChange(**{**change, "kind": ChangeKind(change["kind"])}) for change in plain["changes"]),
        failed_by_baseline=plain["failed_by_baseline"],
    )


def _uses_from_plain(plain: Plain) -> dict[Resource, Use]:
    uses: dict[Resource, Use] = {}
    if ram := plain["ram"]:
        source = ram["source"]
        peak = Use(ram["peak_bytes"], None, source, ram["exact"], ram["may_miss_bytes"], upper_bound=ram["upper_bound"])
        uses[Resource.RAM] = _judged(peak, ram)
        uses[Resource.RETAINED] = _judged(Use(ram["retained_bytes"], None, source), ram, "retained_")
    for resource in (Resource.RSS, Resource.VRAM):
        if use := plain[resource.value]:
            vram = vram_from_plain(use) if "devices" in use else None
            figure = Use(
                use["peak_bytes"],
                None,
                use["source"],
                use["exact"],
                device=vram.device if vram else use.get("device"),
                vram=vram,
                upper_bound=use["upper_bound"],
            )
            uses[resource] = _judged(figure, use)
    return uses


def _judged(figure: Use, plain: Plain, prefix: str = "") -> Use:
    judged = {name: plain[prefix + name] for name in _JUDGED if plain[prefix + name] is not None}
    if "outcome" in judged:
        judged["outcome"] = Outcome(judged["outcome"])
    # Most figures of a report of all tests are judged by nothing.
    return replace(figure, **judged) if judged else figure


_JUDGED = ("outcome", "budget_bytes", "baseline_bytes", "anchor_bytes", "band_bytes")


def _site_from_plain(plain: Plain) -> Site:
    via = Frame(**plain["via"]) if plain["via"] else None
    frame = Frame(plain["file"], plain["line"], plain["function"])
    return Site(plain["bytes"], frame, plain["source"], via)
