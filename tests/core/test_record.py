"""The value that leaves a test: across processes and into JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import execnet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.growth import ChangeKind, SiteChange
from pytest_membudget.core.measurement import Figure, Frame, Measurement, Reading, Resource, Site, Unavailable
from pytest_membudget.core.provenance import Provenance
from pytest_membudget.core.record import TestRecord, Use, from_plain, record_of, to_plain
from pytest_membudget.core.timeline import Moment
from pytest_membudget.core.verdict import Outcome, judge
from tests.fakes import MIB, PROVENANCE, a_record, a_site, ram

BYTES = st.integers(0, 2**62)
NAMES = st.text(min_size=1, max_size=20)
FRAMES = st.builds(Frame, NAMES, st.integers(0, 10**6), NAMES)
SITES = st.builds(Site, BYTES, FRAMES, st.text(max_size=20), st.none() | FRAMES)


@st.composite
def heap_uses(draw: st.DrawFn) -> dict[Resource, Use]:
    """RAM and retained memory: one capture gives both or neither."""
    source = draw(st.sampled_from(["memray", "memray, arenas", None]))
    figure = st.none() if source is None else BYTES
    return {
        Resource.RAM: draw(judged(Use(draw(figure), None, source, True, draw(BYTES)))),
        Resource.RETAINED: draw(judged(Use(draw(figure), None, source))),
    }


@st.composite
def judged(draw: st.DrawFn, use: Use) -> Use:
    """A figure with all that it may have been held against."""
    return replace(
        use,
        outcome=draw(st.none() | st.sampled_from(Outcome)),
        budget_bytes=draw(st.none() | BYTES),
        baseline_bytes=draw(st.none() | BYTES),
        anchor_bytes=draw(st.none() | BYTES),
        band_bytes=draw(st.none() | BYTES),
    )


@st.composite
def device_uses(draw: st.DrawFn, devices: st.SearchStrategy[str | None]) -> Use:
    """A figure of the resident set, or of the memory of a GPU."""
    figure = Use(draw(st.none() | BYTES), None, draw(st.none() | NAMES), draw(st.booleans()), device=draw(devices))
    return draw(judged(figure))


DEVICE_USES = st.fixed_dictionaries(
    {}, optional={Resource.RSS: device_uses(st.none()), Resource.VRAM: device_uses(st.none() | NAMES)}
)
PROVENANCES = st.builds(Provenance, NAMES, NAMES, NAMES)
CHANGES = st.builds(SiteChange, st.sampled_from(ChangeKind), BYTES, BYTES, NAMES, NAMES, BYTES, NAMES)
RECORDS = st.builds(
    TestRecord,
    nodeid=NAMES,
    test_outcome=st.sampled_from(["passed", "failed", "error", "skipped", "xfailed", "xpassed"]),
    outcome=st.none() | st.sampled_from(Outcome),
    uses=st.builds(lambda heap, device: {**heap, **device}, st.just({}) | heap_uses(), DEVICE_USES),
    sites=st.lists(SITES, max_size=3).map(tuple),
    seconds=st.floats(0, 1e6),
    reason=st.none() | NAMES,
    worker=st.none() | st.just("gw1"),
    isolated=st.booleans(),
    isolation_reason=st.none() | NAMES,
    host=st.none() | NAMES,
    file=st.none() | NAMES,
    line=st.none() | st.integers(1, 10**6),
    timeline=st.lists(st.builds(Moment, st.floats(0, 1e6), BYTES, BYTES), max_size=3).map(tuple),
    text=st.none() | NAMES,
    provenance=PROVENANCES,
    changes=st.lists(CHANGES, max_size=3).map(tuple),
    failed_by_baseline=st.booleans(),
)


@given(RECORDS)
def test_round_trip(record: TestRecord) -> None:
    """What arrives is what was sent."""
    assert from_plain(to_plain(record)) == record


@given(RECORDS)
def test_plain_is_json(record: TestRecord) -> None:
    """JSON keeps every value as it is, strange characters included."""
    plain = to_plain(record)

    assert json.loads(json.dumps(plain)) == plain


@given(RECORDS)
def test_plain_passes_between_xdist_processes(record: TestRecord) -> None:
    """Execnet takes builtin types and nothing else: anything more would end the controller."""
    plain = to_plain(record)

    assert execnet.loads(execnet.dumps(plain)) == plain


def _types(value: object) -> set[type]:
    if isinstance(value, dict):
        return set().union(*map(_types, value.values()), *map(_types, value))
    return set().union(*map(_types, value)) if isinstance(value, list) else {type(value)}


@given(RECORDS)
def test_plain_has_no_subclasses(record: TestRecord) -> None:
    """An Enum that is also a str would pass for one here and fail in a worker."""
    assert _types(to_plain(record)) <= {str, int, float, bool, type(None)}


def test_shape() -> None:
    """The keys that the JSON report publishes, in its order."""
    heap = Use(5, 10, "memray", outcome=Outcome.WITHIN, baseline_bytes=4, anchor_bytes=3, band_bytes=2)
    uses = {Resource.RAM: heap, Resource.RETAINED: Use(2, 3, "memray"), Resource.RSS: Use(7, None, "vmhwm")}
    site = a_site(4, via=Frame("numpy/a.py", 3, "add"))
    change = SiteChange(ChangeKind.GROWN, 1, 4, site.file, site.function, site.line, site.source)
    record = replace(
        a_record(uses=uses, sites=(site,), worker="gw0"),
        provenance=PROVENANCE,
        changes=(change,),
        file="tests/test_vq.py",
        line=3,
        timeline=(Moment(0.0, 0, 9), Moment(0.25, 5, 16)),
        text="too much",
    )

    assert to_plain(record) == {
        "nodeid": "tests/test_vq.py::test_assign",
        "outcome": "WITHIN",
        "test_outcome": "passed",
        "isolated": False,
        "isolation_reason": None,
        "host": None,
        "worker": "gw0",
        "file": "tests/test_vq.py",
        "line": 3,
        "environment": "cpython-3.11-linux-x86_64",
        "measured_by": "memray 1.20.0",
        "mode": "exact, isolated",
        "failed_by_baseline": False,
        "ram": {
            "peak_bytes": 5,
            "outcome": "WITHIN",
            "budget_bytes": 10,
            "baseline_bytes": 4,
            "anchor_bytes": 3,
            "band_bytes": 2,
            "retained_bytes": 2,
            "retained_outcome": None,
            "retained_budget_bytes": 3,
            "retained_baseline_bytes": None,
            "retained_anchor_bytes": None,
            "retained_band_bytes": None,
            "source": "memray",
            "exact": True,
            "upper_bound": False,
            "may_miss_bytes": 0,
        },
        "rss": {
            "peak_bytes": 7,
            "source": "vmhwm",
            "exact": True,
            "upper_bound": False,
            "outcome": None,
            "budget_bytes": None,
            "baseline_bytes": None,
            "anchor_bytes": None,
            "band_bytes": None,
        },
        "vram": None,
        "seconds": 0.25,
        "sites": [
            {
                "bytes": 4,
                "file": "hotpaths/vq.py",
                "line": 7,
                "function": "assign_clusters",
                "source": "rows = [*rows]",
                "via": {"file": "numpy/a.py", "line": 3, "function": "add"},
            }
        ],
        "changes": [
            {
                "kind": "grown",
                "before_bytes": 1,
                "now_bytes": 4,
                "file": "hotpaths/vq.py",
                "function": "assign_clusters",
                "line": 7,
                "source": "rows = [*rows]",
            }
        ],
        "timeline": [[0.0, 0, 9], [0.25, 5, 16]],
        "phases": [],
        "reason": None,
        "text": "too much",
    }


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (Use(25, 100), 0.75),
        (Use(100, 100), 0.0),
        (Use(150, 100), -0.5),
        (Use(0, 0), 0.0),
        (Use(1, 0), -float("inf")),
        (Use(None, 100), None),
        (Use(5, None), None),
        (Use(), None),
    ],
)
def test_headroom(use: Use, expected: float | None) -> None:
    """The share of the budget that is left, where something was judged."""
    assert use.headroom == expected


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ({Resource.RAM: Use(10, 100), Resource.RSS: Use(20, 100)}, Resource.RSS),
        ({Resource.RAM: Use(10, 100), Resource.RSS: Use(200, None)}, Resource.RAM),
        ({Resource.RAM: Use(5, None), Resource.VRAM: Use(None, 100)}, Resource.VRAM),
        ({Resource.RAM: Use(None, 100), Resource.RSS: Use(1, 100)}, Resource.RSS),
        ({}, Resource.RAM),
    ],
)
def test_tightest(uses: dict[Resource, Use], expected: Resource) -> None:
    """The judged resource with the least headroom; failing that, one that was meant to be judged."""
    assert a_record(uses=uses).tightest is expected


def record_from(figures: dict[Resource, Figure], limits: dict[Resource, int | None]) -> TestRecord:
    """The record of a test with these figures and limits."""
    measurement = Measurement(figures, (a_site(),), 0.5)
    return record_of("a::b", "passed", measurement, judge(limits, measurement), "gw1")


def test_record_of_a_judged_test() -> None:
    """Figures and budgets meet, and what was measured without a budget stays."""
    record = record_from(
        {Resource.RAM: Reading(5, "memray, arenas", may_miss_bytes=9), Resource.RSS: Reading(7, "psutil", exact=False)},
        {Resource.RAM: MIB},
    )

    assert record == TestRecord(
        nodeid="a::b",
        test_outcome="passed",
        outcome=Outcome.WITHIN,
        uses={
            Resource.RAM: Use(5, MIB, "memray, arenas", may_miss_bytes=9, outcome=Outcome.WITHIN),
            Resource.RSS: Use(7, None, "psutil", exact=False),
        },
        sites=(a_site(),),
        seconds=0.5,
        worker="gw1",
    )


def test_record_of_a_test_without_a_budget() -> None:
    """It has figures and no outcome."""
    record = record_from({Resource.RSS: Reading(7, "vmhwm")}, {})

    assert record.outcome is None
    assert record.uses == {Resource.RSS: Use(7, None, "vmhwm")}


def test_record_of_a_test_that_could_not_be_measured() -> None:
    """Every reason is kept, each once, and the budget stands beside the missing figure."""
    none = Unavailable("memray cannot be imported")
    record = record_from(
        {Resource.RAM: none, Resource.RETAINED: none, Resource.RSS: Unavailable("no VmHWM")},
        {Resource.RAM: 5, Resource.RETAINED: 6, Resource.RSS: 7},
    )

    assert record.outcome is Outcome.NOT_MEASURED
    assert record.reason == "memray cannot be imported; no VmHWM"
    assert record.use(Resource.RAM) == Use(None, 5, outcome=Outcome.NOT_MEASURED)


def test_percentage_of_an_unknown_total_is_budgeted_all_the_same() -> None:
    """A resource with a budget is in the record even where nothing measured it."""
    record = record_from({}, {Resource.VRAM: None})

    assert record.uses == {Resource.VRAM: Use(outcome=Outcome.NOT_MEASURED)}
    assert record.outcome is Outcome.NOT_MEASURED


def test_from_plain_takes_what_json_gives() -> None:
    """A file that was written and read is as good as a report from a worker."""
    record = a_record(uses={**ram(5, 10), Resource.RETAINED: Use(2, None, "memray")})
    read: dict[str, Any] = json.loads(json.dumps(to_plain(record)))

    assert from_plain(read) == record
