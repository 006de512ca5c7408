"""What a user reads when a test grew, or when there was nothing to compare it with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_membudget.core.baseline import Entry
from pytest_membudget.core.growth import Growth
from pytest_membudget.core.growth_wording import Reference, change, share_of
from pytest_membudget.core.measurement import Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.verdict import Yardstick, judge
from pytest_membudget.core.wording import Strictness, failure_text
from tests.fakes import KIB, MIB, PROVENANCE

REFERENCE = Reference(
    PROVENANCE.environment, 'pytest --membudget-update=changed "tests/test_io.py::test_load"', "3f2c1ab"
)
SITES = (
    Site(38 * MIB, Frame("pkg/io.py", 88, "read_all"), "return file.read()"),
    Site(6 * MIB, Frame("pkg/io.py", 41, "parse"), "rows.append(row)"),
)
ENTRY = Entry(
    {"ram": 10 * MIB},
    PROVENANCE.measured_by,
    PROVENANCE.mode,
    sites={"pkg/io.py:parse": 5 * MIB, "pkg/io.py:old": 2 * MIB},
)


def text(
    ram_bytes: int,
    budget_bytes: int | None = None,
    *,
    entry: Entry | None = ENTRY,
    sites: tuple[Site, ...] = SITES,
    reference: Reference = REFERENCE,
    no_baseline_fails: bool = False,
) -> str | None:
    """The text that fails a test with that heap peak."""
    measurement = Measurement({Resource.RAM: Reading(ram_bytes, "memray")}, sites)
    yardstick = Yardstick(entry, PROVENANCE, why_no_entry="no entry in membudget-baseline.json for cpython")
    verdict = judge({Resource.RAM: budget_bytes}, measurement, yardstick)
    assert verdict is not None
    return failure_text(verdict, measurement, Strictness(no_baseline=no_baseline_fails), lambda: reference)


def test_regressed() -> None:
    """By how much, what did it, and what to type if it is meant to be."""
    assert (
        text(44 * MIB)
        == """\
ram: peak 44 MiB, baseline 10 MiB: grew by 34 MiB (+340%), 512 KiB tolerated
against the baseline of 3f2c1ab (cpython-3.11-linux-x86_64): +34 MiB (+340%)
    +38 MiB  new   pkg/io.py:88 in read_all  return file.read()
     +1 MiB  grew  pkg/io.py:41 in parse     (from 5 MiB)  rows.append(row)
     -2 MiB  gone  pkg/io.py in old
to accept: pytest --membudget-update=changed "tests/test_io.py::test_load\""""
    )


def test_over_budget_and_grown() -> None:
    """The budget comes first; recording the growth would not help."""
    assert (
        text(44 * MIB, 20 * MIB)
        == """\
ram: peak 44 MiB, budget 20 MiB: over by 24 MiB (2.2x)
at the peak:
    38 MiB  86%  pkg/io.py:88 in read_all  return file.read()
     6 MiB  14%  pkg/io.py:41 in parse     rows.append(row)
against the baseline of 3f2c1ab (cpython-3.11-linux-x86_64): +34 MiB (+340%)
    +38 MiB  new   pkg/io.py:88 in read_all  return file.read()
     +1 MiB  grew  pkg/io.py:41 in parse     (from 5 MiB)  rows.append(row)
     -2 MiB  gone  pkg/io.py in old"""
    )


def test_an_entry_without_call_sites() -> None:
    """Then those at the peak are all there is to show; outside git there is no commit to name."""
    failure = text(44 * MIB, entry=replace(ENTRY, sites={}), sites=SITES[:1], reference=replace(REFERENCE, commit=None))

    assert (
        failure
        == """\
ram: peak 44 MiB, baseline 10 MiB: grew by 34 MiB (+340%), 512 KiB tolerated
at the peak:
    38 MiB  86%  pkg/io.py:88 in read_all  return file.read()
against the baseline (cpython-3.11-linux-x86_64): +34 MiB (+340%)
to accept: pytest --membudget-update=changed "tests/test_io.py::test_load\""""
    )


def test_the_resident_set_has_no_call_sites() -> None:
    """Its growth is said, and how to accept it; lines of the heap are shown as what they are."""
    entry = Entry({"rss": 100 * MIB}, "", PROVENANCE.mode)
    measurement = Measurement({Resource.RSS: Reading(130 * MIB, "psutil", exact=False)})
    verdict = judge({Resource.RSS: None}, measurement, Yardstick(entry, PROVENANCE))
    assert verdict is not None

    assert failure_text(verdict, measurement, reference=lambda: REFERENCE) == (
        "rss: resident peak 130 MiB, baseline 100 MiB: grew by 30 MiB (+30%), 20 MiB tolerated\n"
        'to accept: pytest --membudget-update=changed "tests/test_io.py::test_load"'
    )


def test_missing_entry_where_one_is_required() -> None:
    """The reason, and the command that records the test."""
    assert text(5, entry=None) is None
    assert text(5, entry=None, no_baseline_fails=True) == (
        "ram: not compared: no entry in membudget-baseline.json for cpython\n"
        'to accept: pytest --membudget-update=changed "tests/test_io.py::test_load"'
    )


def test_nobody_is_asked_for_a_reference_that_is_not_shown() -> None:
    """It costs a look into git."""

    def fail() -> Reference:
        raise AssertionError

    measurement = Measurement({Resource.RAM: Reading(1, "memray")})
    verdict = judge({Resource.RAM: 5}, measurement)
    assert verdict is not None

    assert failure_text(verdict, measurement, reference=fail) is None


@pytest.mark.parametrize(
    ("before_bytes", "now_bytes", "expected"),
    [
        (100, 200, "+100 B (+100%)"),
        (1000, 1045, "+45 B (+4.5%)"),
        (MIB, MIB - KIB, "-1 KiB (-0.1%)"),
        (100, 1100, "+1000 B (11x)"),
        (0, 5, "+5 B"),
        (5, 5, "0 B (+0.0%)"),
    ],
)
def test_changes_in_words(before_bytes: int, now_bytes: int, expected: str) -> None:
    """Signed, with a share of what was there, and large ones as a factor."""
    assert change(Growth(before_bytes, now_bytes, 0)) == expected


def test_growth_beyond_reading() -> None:
    """A factor of thousands has its commas."""
    assert share_of(Growth(1, 12345, 0)) == "12,345x"
