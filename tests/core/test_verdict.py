"""Judging a measurement."""

from __future__ import annotations

import pytest

from pytest_membudget.core.measurement import Figure, Measurement, Reading, Resource, Unavailable
from pytest_membudget.core.verdict import Finding, Outcome, Verdict, judge


def measured(**figures: Figure) -> Measurement:
    """A measurement of the named resources."""
    return Measurement({Resource(name): figure for name, figure in figures.items()})


def verdict(limits: dict[Resource, int | None], measurement: Measurement) -> Verdict:
    """The verdict, where there is something to judge."""
    judged = judge(limits, measurement)
    assert judged is not None
    return judged


@pytest.mark.parametrize(
    ("peak_bytes", "outcome"),
    [(99, Outcome.WITHIN), (100, Outcome.WITHIN), (101, Outcome.OVER_BUDGET), (0, Outcome.WITHIN)],
)
def test_a_peak_equal_to_its_budget_is_within(peak_bytes: int, outcome: Outcome) -> None:
    """One byte more is over."""
    judged = verdict({Resource.RAM: 100}, measured(ram=Reading(peak_bytes, "memray")))

    assert judged.outcome is outcome


def test_nothing_limited_is_not_judged() -> None:
    """No budget, no verdict: not even a pass."""
    assert judge({}, measured(ram=Reading(5, "memray"))) is None


def test_no_figure_is_never_a_pass() -> None:
    """The reason that there is none becomes the verdict's."""
    judged = verdict({Resource.RAM: 100}, measured(ram=Unavailable("memray cannot be imported")))

    assert judged.outcome is Outcome.NOT_MEASURED
    assert judged.reasons == ("memray cannot be imported",)


def test_resource_that_nothing_measured() -> None:
    """A resource without any figure says so in words."""
    judged = verdict({Resource.VRAM: 100}, Measurement())

    assert judged.outcome is Outcome.NOT_MEASURED
    assert judged.reasons == ("vram is not measured yet by this version",)


def test_limit_without_bytes_has_no_baseline() -> None:
    """Judged against a baseline alone, and there is none."""
    judged = verdict({Resource.RSS: None}, measured(rss=Reading(5, "vmhwm")))

    assert judged.outcome is Outcome.NO_BASELINE
    assert judged.reasons == ("there is no baseline yet",)


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        ((Outcome.WITHIN, Outcome.OVER_BUDGET, Outcome.NOT_MEASURED), Outcome.OVER_BUDGET),
        ((Outcome.WITHIN, Outcome.NOT_MEASURED), Outcome.NOT_MEASURED),
        ((Outcome.NOT_MEASURED, Outcome.NO_BASELINE), Outcome.NO_BASELINE),
        ((Outcome.NO_BASELINE, Outcome.REGRESSED), Outcome.REGRESSED),
        ((Outcome.REGRESSED, Outcome.OVER_BUDGET), Outcome.OVER_BUDGET),
    ],
)
def test_the_worst_resource_decides(outcomes: tuple[Outcome, ...], worst: Outcome) -> None:
    """A test is as good as the worst of its resources."""
    findings = tuple(Finding(Resource.RAM, outcome, Reading(1, "memray"), 1) for outcome in outcomes)

    assert Verdict(findings).outcome is worst


def test_each_reason_is_said_once() -> None:
    """RAM and retained memory fail to be measured together; the reader is told once."""
    none = Unavailable("memray cannot be imported")
    judged = verdict({Resource.RAM: 1, Resource.RETAINED: 1}, measured(ram=none, retained=none))

    assert judged.reasons == ("memray cannot be imported",)


def test_findings_of_one_outcome() -> None:
    """The texts pick the findings that they speak of."""
    judged = verdict({Resource.RAM: 1, Resource.RSS: 10}, measured(ram=Reading(2, "memray"), rss=Reading(2, "vmhwm")))

    assert [finding.resource for finding in judged.of(Outcome.OVER_BUDGET)] == [Resource.RAM]
    assert [finding.resource for finding in judged.of(Outcome.WITHIN)] == [Resource.RSS]
    assert judged.of(Outcome.NOT_MEASURED) == ()
