"""A run in the formats of services that draw figures over time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.sizes import format_size


def _github_action_benchmark(run: RunReport) -> object:
    """Return github-action-benchmark's ``customSmallerIsBetter``."""
    return [
        {"name": f"{name} {resource.value}", "unit": "bytes", "value": use.peak_bytes, "extra": _extra(use)}
        for name, record in _named(run)
        for resource, use in _figures(record)
    ]


def _bencher(run: RunReport) -> object:
    """Return the Bencher Metric Format: measures by benchmark."""
    return {
        name: {f"{resource.value}-bytes": {"value": use.peak_bytes} for resource, use in figures}
        for name, record in _named(run)
        if (figures := list(_figures(record)))
    }


FORMATS: Mapping[str, Callable[[RunReport], object]] = {
    "bencher": _bencher,
    "github-action-benchmark": _github_action_benchmark,
}


def export(run: RunReport, format_name: str) -> str:
    """Return the figures of a run's budgeted tests in one of `FORMATS`."""
    return json.dumps(FORMATS[format_name](run), indent=2) + "\n"


def _named(run: RunReport) -> Iterator[tuple[str, TestRecord]]:
    """Yield the judged tests with names that stay apart where several environments ran them."""
    records = sorted(
        (record for record in run.records if record.outcome is not None),
        key=lambda record: (record.nodeid, record.provenance.environment),
    )
    several = len({record.provenance.environment for record in records}) > 1
    for record in records:
        yield (f"{record.nodeid} [{record.provenance.environment}]" if several else record.nodeid), record


def _figures(record: TestRecord) -> Iterator[tuple[Resource, Use]]:
    for resource, use in record.uses.items():
        if use.is_judged and use.peak_bytes is not None:
            yield resource, use


def _extra(use: Use) -> str:
    budget = "the baseline" if use.budget_bytes is None else format_size(use.budget_bytes)
    return f"budget: {budget}; source: {use.source}"
