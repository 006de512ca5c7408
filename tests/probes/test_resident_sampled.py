"""The resident set's peak by sampling, where no kernel keeps it."""

from __future__ import annotations

import ctypes
import mmap
import threading

import psutil

from pytest_membudget.core.measurement import Reading, Unavailable
from pytest_membudget.probes.resident_meter import ResidentMeter
from pytest_membudget.probes.resident_sampled import SampledHighWater
from tests.fakes import MIB

NAME = "membudget resident-set sampler"
SIZE = 64 * MIB


def samplers() -> list[threading.Thread]:
    """The threads that sample."""
    return [thread for thread in threading.enumerate() if thread.name == NAME]


class RisingOnce:
    """A resident set with a peak that only another thread's samples can see."""

    def __init__(self) -> None:
        self.samples = 0
        self.sampled_twice = threading.Event()

    def __call__(self) -> int:
        """Return the resident set as the caller's thread sees it."""
        if threading.current_thread().name != NAME:
            return 10 * MIB
        self.samples += 1
        if self.samples == 2:
            self.sampled_twice.set()
        return 100 * MIB


def test_peak_between_two_readings() -> None:
    """A sample sees what is gone again at the end; the figure says that it was sampled."""
    resident_bytes = RisingOnce()
    meter = ResidentMeter(SampledHighWater(resident_bytes))
    meter.start()
    assert resident_bytes.sampled_twice.wait(10)

    assert meter.stop() == Reading(90 * MIB, "psutil", exact=False)


class SlowSample:
    """A resident set that shrinks while a sample of its height is on its way."""

    def __init__(self) -> None:
        self.taken = threading.Event()
        self.shrunk = threading.Event()

    def __call__(self) -> int:
        """Return the height, late, to the thread that samples."""
        if threading.current_thread().name != NAME:
            self.shrunk.set()
        if threading.current_thread().name != NAME or self.taken.is_set():
            return 10 * MIB
        self.taken.set()
        self.shrunk.wait(0.2)
        return 100 * MIB if self.shrunk.is_set() else 10 * MIB


def test_sample_from_before_a_reset() -> None:
    """A height that has passed is not entered after the mark was set back."""
    resident_bytes = SlowSample()
    high_water = SampledHighWater(resident_bytes)
    high_water.prepare()
    assert resident_bytes.taken.wait(10)
    high_water.reset()
    high_water.close()

    assert high_water._peak_bytes == 10 * MIB


def test_sample_that_cannot_be_taken() -> None:
    """A test that has every file open leaves none to read the resident set with: a reason, and no warning."""

    def no_file_left() -> int:
        if threading.current_thread().name == NAME:
            raise OSError(24, "Too many open files")
        return 10 * MIB

    meter = ResidentMeter(SampledHighWater(no_file_left))
    meter.start()
    for sampler in samplers():
        sampler.join()

    assert meter.stop() == Unavailable(
        "the resident peak cannot be read (the thread that samples the resident set has died)"
    )


def test_real_resident_set() -> None:
    """Psutil's figure of this process, at the end at the latest."""
    high_water = SampledHighWater()
    start_bytes = high_water.reset()
    with mmap.mmap(-1, SIZE) as mapping:
        for offset in range(0, SIZE, mmap.PAGESIZE):
            mapping[offset] = 1
        high_water.high_water_bytes()
    peak_bytes = high_water.high_water_bytes()
    high_water.close()

    assert abs(start_bytes - psutil.Process().memory_info().rss) < SIZE // 2
    assert abs(peak_bytes - start_bytes - SIZE) < SIZE // 4


def test_one_thread_for_all_stretches() -> None:
    """It runs while any stretch is open, and no longer."""
    meter = ResidentMeter(SampledHighWater())
    meter.start()
    meter.start()
    during = len(samplers())
    meter.stop()
    still = len(samplers())
    meter.stop()

    assert (during, still, len(samplers())) == (1, 1, 0)


def test_prepared_before_the_heap_is_tracked() -> None:
    """The thread is there beforehand, so that starting it counts for no test."""
    high_water = SampledHighWater()
    high_water.prepare()
    (prepared,) = samplers()
    high_water.reset()

    assert samplers() == [prepared]
    high_water.close()
    assert samplers() == []


def test_thread_that_the_test_killed() -> None:
    """A peak may have gone unseen, so there is no figure; the next stretch has one again."""
    meter = ResidentMeter(SampledHighWater())
    meter.start()
    (sampler,) = samplers()
    assert sampler.ident is not None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(sampler.ident), ctypes.py_object(SystemExit))
    sampler.join()
    figure = meter.stop()
    meter.start()
    following = meter.stop()

    assert figure == Unavailable("the resident peak cannot be read (the thread that samples the resident set has died)")
    assert isinstance(following, Reading)
