"""What is said of a test whose process ended before the test did: the reports that it could not send itself."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use, to_plain
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.glue.runtest import RECORD
from pytest_membudget.glue.visit import PHASES, Phase, Visit
from pytest_membudget.glue.whereabouts import placed

_SOURCE = "wait4"


def missing_reports(item: pytest.Item, visit: Visit, record: TestRecord) -> list[pytest.TestReport]:
    """Return what has to follow the reports that came, so that the test is one that failed where its process ended."""
    reports = []
    for when in PHASES:
        if when == visit.phase:
            sections = _captured(item.config, when)
            failure = f"{visit.why_lost}\n{visit.last_words}"
            reports.append(_report(item, when, failure, visit.ending.seconds, sections))
        elif when not in visit.reported and when != "call":
            reports.append(_report(item, when))
    setattr(reports[-1], RECORD, to_plain(record))
    return reports


def lost_record(item: pytest.Item, visit: Visit, budgeted: bool, worker: str | None) -> TestRecord:
    """Return what is known of the test: that it was not judged, and by how much its resident set had grown."""
    grown_bytes = visit.grown_bytes
    record = TestRecord(
        nodeid=item.nodeid,
        test_outcome="failed" if visit.phase == "call" else "error",
        outcome=Outcome.NOT_MEASURED if budgeted else None,
        uses={} if grown_bytes is None else {Resource.RSS: Use(grown_bytes, source=_SOURCE)},
        seconds=visit.ending.seconds,
        reason=visit.why_lost if budgeted else None,
        worker=worker,
    )
    return placed(record, visit.isolation)


def _report(
    item: pytest.Item, when: Phase, failure: str | None = None, seconds: float = 0.0, sections: Any = ()
) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="failed" if failure else "passed",
        longrepr=failure,
        when=when,
        sections=sections,
        duration=seconds,
    )


def _captured(config: pytest.Config, phase: Phase) -> list[tuple[str, str]]:
    """Return what the test had printed: with pytest's default capturing it is in a file that both processes have."""
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is None:
        return []
    texts = zip(("stdout", "stderr"), capture.read_global_capture(), strict=True)
    return [(f"Captured {stream} {phase}", text) for stream, text in texts if text]
