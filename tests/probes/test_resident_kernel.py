"""The kernel's own high-water mark, each time in a process that has no other peaks."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("only Linux keeps a mark that can be set back", allow_module_level=True)

from pytest_membudget.core.measurement import Reading
from pytest_membudget.probes import resident_kernel
from pytest_membudget.probes.resident_kernel import KernelHighWater
from pytest_membudget.probes.resident_meter import ResidentMeter, new_resident_meter
from tests.fakes import MIB
from tests.own_interpreter import in_own_interpreter

SIZE = 64 * MIB


def grown_bytes(meter: ResidentMeter) -> int:
    """End the innermost stretch; return its figure."""
    figure = meter.stop()
    assert isinstance(figure, Reading)
    assert (figure.source, figure.exact) == ("vmhwm", True)
    return figure.bytes


def _touched(size_bytes: int) -> None:
    # Page by page: a buffer to write from would be resident too.
    with mmap.mmap(-1, size_bytes) as mapping:
        for offset in range(0, size_bytes, mmap.PAGESIZE):
            mapping[offset] = 1


def touch_and_release(size_bytes: int) -> int:
    """Measure memory that is resident for a moment only."""
    meter = new_resident_meter()
    meter.start()
    _touched(size_bytes)
    return grown_bytes(meter)


def test_memory_that_was_touched_and_released() -> None:
    """64 MiB read 64 MiB within 1 MiB, though nothing of them is left when the mark is read."""
    assert abs(in_own_interpreter(touch_and_release, SIZE) - SIZE) < MIB


def test_nothing_touched() -> None:
    """A process that does nothing does not grow."""
    assert in_own_interpreter(touch_and_release, mmap.PAGESIZE) < MIB


def touch_after_a_higher_peak() -> list[int]:
    """Measure three stretches, the second after one that went higher."""
    meter = new_resident_meter()
    found = []
    for size_bytes in (SIZE, SIZE // 4, SIZE // 2):
        meter.start()
        _touched(size_bytes)
        found.append(grown_bytes(meter))
    return found


def test_each_stretch_has_its_own_mark() -> None:
    """An earlier, higher peak does not hide in a later, lower one."""
    found = in_own_interpreter(touch_after_a_higher_peak)

    assert [round(size / MIB) for size in found] == [64, 16, 32]


def nested_stretches() -> list[int]:
    """Measure a stretch inside another, with peaks before, inside and after it."""
    meter = new_resident_meter()
    meter.start()
    _touched(SIZE)
    meter.start()
    _touched(SIZE // 4)
    inner = grown_bytes(meter)
    _touched(SIZE // 2)
    return [inner, grown_bytes(meter)]


def test_nested_stretches() -> None:
    """Setting the mark back for the inner one loses nothing of the outer one's peak."""
    inner, outer = in_own_interpreter(nested_stretches)

    assert abs(inner - SIZE // 4) < MIB
    assert abs(outer - SIZE) < MIB


def untouched_memory() -> int:
    """Map memory without writing to it."""
    meter = new_resident_meter()
    meter.start()
    with mmap.mmap(-1, SIZE):
        return grown_bytes(meter)


def test_memory_that_is_only_asked_for() -> None:
    """The resident set is what was used; asking for more is the heap's figure."""
    assert in_own_interpreter(untouched_memory) < MIB


def marks_of_parent_and_child() -> list[int]:
    """Fork after a peak, touch memory in the child, and measure it there."""
    high_water = KernelHighWater()
    _touched(2 * SIZE)
    high_water.reset()
    high_water.high_water_bytes()
    receiver, sender = os.pipe()
    if os.fork() == 0:
        start_bytes = high_water.reset()
        _touched(SIZE)
        os.write(sender, str(high_water.high_water_bytes() - start_bytes).encode())
        os._exit(0)
    os.wait()
    return [int(os.read(receiver, 100))]


def test_forked_child_has_its_own_mark() -> None:
    """What the parent knew of its account does not hold for the child's."""
    (child_bytes,) = in_own_interpreter(marks_of_parent_and_child)

    assert abs(child_bytes - SIZE) < 2 * MIB


def agree_with_status() -> list[int]:
    """Compare the mark with what the kernel prints, stretch by stretch."""
    high_water = KernelHighWater()
    differences = []
    for size_bytes in (SIZE, SIZE // 8, SIZE // 2, MIB):
        high_water.reset()
        _touched(size_bytes)
        mark_bytes = high_water.high_water_bytes()
        status = Path("/proc/self/status").read_text(encoding="ascii")
        printed_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        differences.append(printed_kib * 1024 - mark_bytes)
    return differences


def test_mark_is_the_kernels() -> None:
    """The cheaper way to read it tells the same as /proc."""
    assert all(0 <= difference <= MIB // 4 for difference in in_own_interpreter(agree_with_status))


def test_kernel_that_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some sandboxes leave the line out."""
    status = tmp_path / "status"
    status.write_text("Name:\tpython\nVmRSS:\t  100 kB\n", encoding="ascii")
    monkeypatch.setattr(resident_kernel, "_STATUS", str(status))

    with pytest.raises(OSError, match=rf"^{status} has no VmHWM$"):
        KernelHighWater().high_water_bytes()


def test_kernel_that_does_not_reset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a process may not set its mark back, the resident set is sampled."""
    monkeypatch.setattr(resident_kernel, "_CLEAR_REFS", str(tmp_path / "missing"))
    meter = new_resident_meter()
    meter.start()
    figure = meter.stop()

    assert isinstance(figure, Reading)
    assert (figure.source, figure.exact) == ("psutil", False)
