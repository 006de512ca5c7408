"""GPU figures across process borders and in the JSON report."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.measurement import Measurement, Resource
from pytest_membudget.core.record import from_plain, record_of, to_plain
from pytest_membudget.core.verdict import Outcome, judge
from pytest_membudget.core.vram import Cadence, VramReading, reading_of
from pytest_membudget.core.vram_record import device_lines, device_names

names = st.text("abc:019 ", min_size=1, max_size=6)
levels = st.dictionaries(names, st.integers(0, 2**50), min_size=1, max_size=3)
cadences = st.none() | st.builds(Cadence, st.integers(1, 10**6), st.floats(0, 1000))
plain_readings = st.builds(
    lambda starts, peaks, cadence, total: reading_of(
        "torch", starts, peaks, cadence=cadence, cannot_see="the rest", total=total
    ),
    levels,
    levels,
    cadences,
    st.booleans(),
)
readings = st.builds(
    lambda reading, beside, passed_over, unjudged: replace(
        reading,
        beside=tuple(replace(other, cannot_see="") for other in beside),
        passed_over=tuple(passed_over),
        unjudged=unjudged,
    ),
    plain_readings,
    st.lists(plain_readings, max_size=2),
    st.lists(st.tuples(names, names), max_size=2),
    st.none() | names,
)


@given(readings, st.none() | st.integers(0, 2**50))
def test_there_and_back(reading: VramReading, budget_bytes: int | None) -> None:
    """A record with a GPU figure is the same after it went through JSON."""
    measurement = Measurement({Resource.VRAM: reading})
    verdict = judge({Resource.VRAM: budget_bytes}, measurement)
    record = record_of("test_it.py::test_gpu", "passed", measurement, verdict)

    assert from_plain(json.loads(json.dumps(to_plain(record)))) == record


def test_unjudged_figure_has_no_headroom() -> None:
    """It is shown beside its budget, and decides nothing."""
    reading = replace(
        reading_of("nvml-device", {}, {"a": 5}, cadence=Cadence(2, 0.1), cannot_see=""), unjudged="shared"
    )
    measurement = Measurement({Resource.VRAM: reading})
    verdict = judge({Resource.VRAM: 1}, measurement)
    assert verdict is not None
    record = record_of("test_it.py::test_gpu", "passed", measurement, verdict)

    assert (verdict.outcome, verdict.reasons) == (Outcome.NOT_MEASURED, ("shared",))
    assert (record.use(Resource.VRAM).peak_bytes, record.use(Resource.VRAM).headroom) == (5, None)


def test_devices_of_a_run() -> None:
    """Each device once, sorted."""
    found = [reading_of("torch", {}, {device: 1}, cadence=None, cannot_see="") for device in ("b", "a", "b")]

    assert device_names(found) == ["a", "b"]


def test_lines_under_a_test() -> None:
    """Each device with its figure, its source, and how exact that is."""
    exact = reading_of("torch", {"cuda:0": 0}, {"cuda:0": 2**30, "cuda:1": 2**20}, cadence=None, cannot_see="")
    sampled = reading_of("nvml-process", {"a": 1}, {"a": 1 + 2**30}, cadence=Cadence(12, 0.0312), cannot_see="")
    slow = replace(sampled, cadence=Cadence(2, 3.25), total=True)

    assert device_lines(exact) == [
        "   1 GiB  vram of cuda:0, by torch, exact",
        "   1 MiB  vram of cuda:1, by torch, exact",
    ]
    assert device_lines(sampled) == ["   1 GiB  vram of a, by nvml-process, sampled 12 times, at most 31 ms apart"]
    assert device_lines(slow) == ["   1 GiB  vram of a, by nvml-process, sampled 2 times, at most 3.2 s apart"]
    assert device_lines(None) == []
