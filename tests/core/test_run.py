"""A whole run, as outputs see it."""

from __future__ import annotations

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import Use
from pytest_membudget.core.run import one_per_test
from pytest_membudget.core.verdict import Outcome
from tests.fakes import a_record, a_run, ram


def test_budgeted_tests_by_headroom() -> None:
    """The worst first; those that could not be judged last; equal ones by name."""
    run = a_run(
        a_record("roomy", Outcome.WITHIN, ram(10, 100)),
        a_record("unmeasured", Outcome.NOT_MEASURED, ram(None, 100)),
        a_record("over", Outcome.OVER_BUDGET, ram(200, 100)),
        a_record("tight b", Outcome.WITHIN, ram(99, 100)),
        a_record("tight a", Outcome.WITHIN, ram(99, 100)),
        a_record("anything over nothing", Outcome.OVER_BUDGET, ram(1, 0)),
        a_record("unbudgeted", None, ram(5)),
    )

    assert [record.nodeid for record in run.budgeted] == [
        "anything over nothing",
        "over",
        "tight a",
        "tight b",
        "roomy",
        "unmeasured",
    ]


def test_the_tightest_resource_counts() -> None:
    """A test with room in its heap may have none in its resident set."""
    two = {Resource.RAM: Use(10, 100, "memray"), Resource.RSS: Use(95, 100, "vmhwm")}
    run = a_run(a_record("heap", Outcome.WITHIN, ram(90, 100)), a_record("rss", Outcome.WITHIN, two))

    assert [record.nodeid for record in run.budgeted] == ["rss", "heap"]


def test_unbudgeted_tests_stay_in_order() -> None:
    """As they ended."""
    run = a_run(a_record("b", None, ram(1)), a_record("judged"), a_record("a", None, ram(2)))

    assert [record.nodeid for record in run.unbudgeted] == ["b", "a"]


def test_tests_that_never_ran_are_not_listed() -> None:
    """A skipped test used nothing, and neither did one whose fixture broke."""
    run = a_run(
        a_record("skipped", None, ram(1), test_outcome="skipped"), a_record("broken", None, test_outcome="error")
    )

    assert run.unbudgeted == ()


def test_count() -> None:
    """Tests without a budget count as nothing."""
    run = a_run(a_record(outcome=Outcome.WITHIN), a_record(outcome=Outcome.WITHIN), a_record(outcome=None))

    assert run.count(Outcome.WITHIN) == 2
    assert run.count(Outcome.OVER_BUDGET) == 0


def test_attempts_are_one_test() -> None:
    """Of several attempts the worst figures count, with what the test came to in the end."""
    attempts = (
        a_record("a", Outcome.OVER_BUDGET, ram(200, 100), test_outcome="rerun"),
        a_record("b", None, ram(1)),
        a_record("a", Outcome.WITHIN, ram(50, 100), test_outcome="passed"),
    )
    merged = one_per_test(attempts)

    assert [record.nodeid for record in merged] == ["a", "b"]
    assert merged[0] == a_record("a", Outcome.OVER_BUDGET, ram(200, 100), test_outcome="passed")


def test_attempt_without_a_verdict_does_not_hide_one_with() -> None:
    """A last attempt that broke in its fixture was never judged."""
    merged = one_per_test(
        [a_record("a", Outcome.WITHIN, ram(50, 100), test_outcome="rerun"), a_record("a", None, test_outcome="error")]
    )

    assert merged == (a_record("a", Outcome.WITHIN, ram(50, 100), test_outcome="error"),)


def test_same_test_on_two_workers_is_two_tests() -> None:
    """As with --dist each."""
    records = (a_record("a", worker="gw0"), a_record("a", worker="gw1"), a_record("b", worker="gw1"))
    run = a_run(*one_per_test(records))

    assert run.records == records
    assert run.repeated == {"a"}
