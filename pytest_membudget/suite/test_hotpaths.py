"""Every hot path: the lean form within its budget, the naive form over it, the results the same."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_membudget.suite.catalogue import CASES
from pytest_membudget.suite.free_ram import shortage
from pytest_membudget.suite.hotpath import KEPT_BYTES, Case

every_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=str(case), marks=getattr(pytest.mark, case.label)) for case in CASES]
)


@pytest.fixture
def lean_fits(case: Case) -> None:
    """Skip where the lean form and its inputs do not fit."""
    if reason := shortage(case.footprint.input_bytes + case.footprint.peak_bytes):
        pytest.skip(reason)


@pytest.fixture
def naive_fits(case: Case) -> None:
    """Skip where the naive form and its inputs do not fit."""
    if reason := shortage(case.footprint.input_bytes + case.footprint.naive_bytes):
        pytest.skip(reason)


@every_case
@pytest.mark.usefixtures("lean_fits")
@pytest.mark.membudget(ram=lambda case: case.budget_bytes, retained=KEPT_BYTES)
def test_lean_within_budget(case: Case, inputs: dict[str, Any]) -> None:
    """The lean form needs no more than its byte formula and a little air."""
    case.path.lean(**inputs)


@every_case
@pytest.mark.usefixtures("naive_fits")
def test_naive_breaks_budget(case: Case, inputs: dict[str, Any], membudget: Any) -> None:
    """The naive form breaks the same budget, in the line that the document blames."""
    with membudget.track() as region:
        case.path.naive(**inputs)

    assert region.ram_peak_bytes > case.budget_bytes
    assert region.sites[0].source in case.path.blamed


@every_case
@pytest.mark.usefixtures("lean_fits")
def test_lean_agrees_with_float64(case: Case, inputs: dict[str, Any]) -> None:
    """The lean form gives the result of a calculation in float64."""
    found = case.path.lean(**inputs)

    assert case.path.error(found, case.path.reference(**inputs)) <= case.path.tolerance


@every_case
@pytest.mark.usefixtures("lean_fits")
def test_lean_keeps_only_its_result(case: Case, inputs: dict[str, Any], membudget: Any) -> None:
    """When the lean form has returned, its result lives and nothing else."""
    with membudget.track() as region:
        result = case.path.lean(**inputs)

    assert region.ram_left_bytes <= case.footprint.output_bytes + KEPT_BYTES
    del result
