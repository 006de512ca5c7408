"""What a run may write into a baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.measurement import Frame, Resource, Site
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.recording import Update, has_failures, may_enter, recorded
from pytest_membudget.core.verdict import Outcome
from tests.fakes import MIB, PROVENANCE, a_record

KEY = PROVENANCE.environment
MODES = list(Update)


def measured(
    nodeid: str = "a",
    ram_bytes: int = 10 * MIB,
    *,
    outcome: Outcome = Outcome.WITHIN,
    test_outcome: str = "passed",
    band_bytes: int | None = None,
) -> TestRecord:
    """A test with a heap budget."""
    uses = {Resource.RAM: Use(ram_bytes, None, "memray", outcome=outcome, band_bytes=band_bytes)}
    return replace(a_record(nodeid, outcome, uses, test_outcome=test_outcome), provenance=PROVENANCE)


def an_entry(ram_bytes: int = 10 * MIB, measured_by: str = "memray 1.20.0", **anchors: int) -> Entry:
    """What such a test is recorded with."""
    return Entry({"ram": ram_bytes}, measured_by, "exact, isolated", anchors)


def a_baseline(**entries: Entry) -> Baseline:
    """A baseline of this environment."""
    return Baseline({KEY: entries})


@pytest.mark.parametrize("mode", MODES)
def test_tests_without_an_entry_are_added(mode: Update) -> None:
    """In every mode, and entries of tests that did not run stay."""
    result = recorded(a_baseline(b=an_entry(5)), [measured("a")], mode, run_failed=False)

    assert result.baseline == a_baseline(a=an_entry(), b=an_entry(5))
    assert result.added == ("a",)
    assert result.changed


@pytest.mark.parametrize(
    ("mode", "ram_bytes", "recorded_bytes"),
    [
        (Update.NEW, 20 * MIB, 10 * MIB),
        (Update.CHANGED, 10 * MIB + 1, 10 * MIB),
        (Update.CHANGED, 20 * MIB, 20 * MIB),
        (Update.CHANGED, 5 * MIB, 5 * MIB),
        (Update.ALL, 10 * MIB + 1, 10 * MIB + 1),
    ],
)
def test_modes(mode: Update, ram_bytes: int, recorded_bytes: int) -> None:
    """New leaves what is there; changed takes what left its band; all takes everything."""
    result = recorded(a_baseline(a=an_entry()), [measured("a", ram_bytes)], mode, run_failed=False)

    entry = result.baseline.entry(KEY, "a")
    assert entry is not None
    assert entry.figures == {"ram": recorded_bytes}


def test_the_test_s_own_band_decides() -> None:
    """A marker with a tolerance of 1 KiB had the test regress, so its command must record it."""
    records = [measured("a", 10 * MIB + 2000, band_bytes=1024)]

    assert recorded(a_baseline(a=an_entry()), records, Update.CHANGED, run_failed=False).raised == ("a",)


@pytest.mark.parametrize(
    ("outcome", "test_outcome", "failed_by_baseline", "may"),
    [
        (Outcome.WITHIN, "passed", False, True),
        (Outcome.NO_BASELINE, "passed", False, True),
        (Outcome.REGRESSED, "failed", True, True),
        (Outcome.NO_BASELINE, "failed", True, True),
        (Outcome.REGRESSED, "failed", False, False),
        (Outcome.OVER_BUDGET, "failed", False, False),
        (Outcome.OVER_BUDGET, "xfailed", False, False),
        (Outcome.WITHIN, "failed", False, False),
        (Outcome.WITHIN, "error", False, False),
        (Outcome.WITHIN, "xfailed", False, False),
        (Outcome.WITHIN, "xpassed", False, False),
        (None, "passed", False, False),
    ],
)
def test_who_may_enter(outcome: Outcome | None, test_outcome: str, failed_by_baseline: bool, may: bool) -> None:
    """Tests that passed, or that nothing but the baseline failed; never one over its budget."""
    record = replace(a_record(outcome=outcome, test_outcome=test_outcome), failed_by_baseline=failed_by_baseline)

    assert may_enter(record) is may


def test_a_failed_run_raises_nothing() -> None:
    """What went wrong may be why a figure grew; what is new or lower is recorded all the same."""
    before = a_baseline(up=an_entry(), down=an_entry())
    records = [measured("up", 20 * MIB), measured("down", 5 * MIB), measured("fresh")]

    result = recorded(before, records, Update.ALL, run_failed=True)

    assert (result.held, result.lowered, result.added, result.raised) == (("up",), ("down",), ("fresh",), ())
    assert result.baseline == a_baseline(up=an_entry(), down=an_entry(5 * MIB), fresh=an_entry())


def test_what_makes_a_run_a_failed_one() -> None:
    """A test that only regressed is what the recording is about."""
    regressed = replace(measured(outcome=Outcome.REGRESSED, test_outcome="failed"), failed_by_baseline=True)

    assert not has_failures([measured(), regressed])
    assert has_failures([regressed, measured(test_outcome="failed")])
    assert has_failures([measured(test_outcome="error")])


def test_nothing_changed() -> None:
    """The same figures again: there is nothing to write."""
    before = a_baseline(a=an_entry())

    for mode in MODES:
        result = recorded(before, [measured()], mode, run_failed=False)
        assert (result.changed, result.baseline) == (False, before)


def test_another_tool_renews_the_entry() -> None:
    """Within the band as well: or the next real growth would be put down to the tool."""
    result = recorded(
        a_baseline(a=an_entry(measured_by="memray 1.19.1")), [measured()], Update.CHANGED, run_failed=False
    )

    assert (result.renewed, result.baseline) == (("a",), a_baseline(a=an_entry()))


def test_new_does_not_mix_two_ways_of_measuring() -> None:
    """An entry names one tool: a figure by another one waits until the entry is renewed."""
    both = replace(
        measured(),
        uses={
            Resource.RAM: Use(1, None, "memray", outcome=Outcome.WITHIN),
            Resource.RETAINED: Use(2, None, "memray", outcome=Outcome.WITHIN),
        },
    )
    old = a_baseline(a=an_entry(measured_by="memray 1.19.1"))

    assert not recorded(old, [both], Update.NEW, run_failed=False).changed
    assert recorded(a_baseline(a=an_entry()), [both], Update.NEW, run_failed=False).added == ("a",)


def test_only_what_has_a_budget_is_recorded() -> None:
    """The resident set is measured for every test; as long as nobody limits it, it is nobody's baseline."""
    record = replace(
        measured(), uses={**measured().uses, Resource.RSS: Use(7, None, "vmhwm"), Resource.VRAM: Use(None, 5)}
    )

    result = recorded(Baseline(), [record], Update.CHANGED, run_failed=False)

    assert result.baseline == a_baseline(a=an_entry())


def test_without_a_heap_figure_no_heap_tool_is_named() -> None:
    """An upgrade of memray is no news for an entry of the resident set."""
    uses = {Resource.RSS: Use(7, None, "vmhwm", outcome=Outcome.WITHIN)}

    result = recorded(Baseline(), [replace(measured(), uses=uses)], Update.CHANGED, run_failed=False)

    assert result.baseline == a_baseline(a=Entry({"rss": 7}, "", "exact, isolated"))


def test_call_sites_are_recorded_with_the_peak() -> None:
    """By file and function, without the line."""
    record = replace(measured(), sites=(Site(9 * MIB, Frame("pkg/io.py", 88, "read"), "return file.read()"),))

    result = recorded(Baseline(), [record], Update.CHANGED, run_failed=False)

    assert result.baseline == a_baseline(a=replace(an_entry(), sites={"pkg/io.py:read": 9 * MIB}))


def test_several_attempts_of_a_test() -> None:
    """The highest figure is the one that holds for all of them, in whatever order they ended."""
    attempts = [measured("a", 7), measured("a", 9), measured("a", 8)]

    assert recorded(Baseline(), attempts, Update.ALL, run_failed=False).baseline == a_baseline(a=an_entry(9))


def test_each_environment_has_its_own_entries() -> None:
    """A worker with another interpreter records for that one."""
    other = replace(measured("a", 7), provenance=replace(PROVENANCE, environment="cpython-3.13-linux-x86_64"))

    result = recorded(Baseline(), [measured("a", 9), other], Update.CHANGED, run_failed=False)

    assert result.baseline.environments == {
        KEY: {"a": an_entry(9)},
        "cpython-3.13-linux-x86_64": {"a": an_entry(7)},
    }


def test_accepted_growth_keeps_its_anchor() -> None:
    """Ten steps of 4 % are each accepted, and together visible."""
    baseline, size = a_baseline(a=an_entry(100 * MIB)), 100 * MIB
    for _ in range(10):
        size = size * 104 // 100
        baseline = recorded(baseline, [measured("a", size)], Update.ALL, run_failed=False).baseline

    assert baseline == a_baseline(a=an_entry(size, ram=100 * MIB))
