"""A run in the formats of services that draw figures over time."""

from __future__ import annotations

import json
from dataclasses import replace

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import Use
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.exports import export
from tests.fakes import MIB, PROVENANCE, a_record, a_run

HEAP = {
    Resource.RAM: Use(5, MIB, "memray", outcome=Outcome.WITHIN),
    Resource.RSS: Use(7, None, "vmhwm", outcome=Outcome.WITHIN),
    Resource.VRAM: Use(None, 9, outcome=Outcome.NOT_MEASURED),
}
RUN = a_run(
    replace(a_record("b", uses=HEAP), provenance=PROVENANCE),
    replace(a_record("a", uses={Resource.RAM: Use(3, 4, "memray", outcome=Outcome.WITHIN)}), provenance=PROVENANCE),
    a_record("no budget", None, {Resource.RAM: Use(3)}),
    a_record("no figure", Outcome.NOT_MEASURED, {Resource.RAM: Use(None, 4, outcome=Outcome.NOT_MEASURED)}),
)


def test_github_action_benchmark() -> None:
    """Its customSmallerIsBetter: one number a name."""
    assert json.loads(export(RUN, "github-action-benchmark")) == [
        {"name": "a ram", "unit": "bytes", "value": 3, "extra": "budget: 4 B; source: memray"},
        {"name": "b ram", "unit": "bytes", "value": 5, "extra": "budget: 1 MiB; source: memray"},
        {"name": "b rss", "unit": "bytes", "value": 7, "extra": "budget: the baseline; source: vmhwm"},
    ]


def test_bencher() -> None:
    """Its metric format: measures by benchmark."""
    assert json.loads(export(RUN, "bencher")) == {
        "a": {"ram-bytes": {"value": 3}},
        "b": {"ram-bytes": {"value": 5}, "rss-bytes": {"value": 7}},
    }


def test_environments_are_named_where_there_are_several() -> None:
    """A merged run has the same test more than once."""
    twice = [
        replace(a_record("a", uses=HEAP), provenance=replace(PROVENANCE, environment=environment))
        for environment in ("cpython-3.12", "cpython-3.11")
    ]

    assert list(json.loads(export(a_run(*twice), "bencher"))) == ["a [cpython-3.11]", "a [cpython-3.12]"]
