"""Levels of GPU memory, and the device that a figure is of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.vram import Cadence, DeviceUse, highest, reading_of

devices = st.sampled_from(["cuda:0", "cuda:1", "cuda:2"])
levels = st.dictionaries(devices, st.integers(0, 2**40), max_size=3)
some_levels = st.dictionaries(devices, st.integers(0, 2**40), min_size=1, max_size=3)


def test_growth_of_the_worst_device() -> None:
    """Peak minus start, of the device where that is the most."""
    reading = reading_of("torch", {"a": 100, "b": 0}, {"a": 150, "b": 70}, cadence=None, cannot_see="the rest")

    assert (reading.bytes, reading.exact, reading.worst) == (70, True, DeviceUse("b", 0, 70))
    assert reading.by == "measured by torch on b"


def test_total_of_the_fullest_device() -> None:
    """With ``total`` the level at the peak counts, whoever it was before."""
    reading = reading_of(
        "nvml-process", {"a": 100}, {"a": 150, "b": 70}, cadence=Cadence(3, 0.01), cannot_see="", total=True
    )

    assert (reading.bytes, reading.exact, reading.worst.device) == (150, False, "a")
    assert reading.by == "sampled by nvml-process on a"


@given(levels, some_levels)
def test_growth_is_never_negative(starts: dict[str, int], peaks: dict[str, int]) -> None:
    """A peak is at least the level at the start, and the figure is that of one of the devices."""
    reading = reading_of("torch", starts, peaks, cadence=None, cannot_see="")

    assert reading.bytes == max(use.grown_bytes for use in reading.devices) >= 0
    assert {use.device for use in reading.devices} == {*starts, *peaks}


@given(levels, levels)
def test_highest(first: dict[str, int], second: dict[str, int]) -> None:
    """Device by device the higher level; the order does not matter."""
    found = highest(first, second)

    assert found == highest(second, first)
    assert all(found[device] >= level for device, level in [*first.items(), *second.items()])
