"""Counting the processes that the kernel killed for lack of memory."""

from __future__ import annotations

from pathlib import Path

from pytest_membudget.probes.machine import out_of_memory_kills


def test_the_kernels_count_is_read(tmp_path: Path) -> None:
    """From the line of that name."""
    statistics = tmp_path / "vmstat"
    statistics.write_text("oom_kill_x 3\noom_kill 12\npgfault 5\n")

    assert out_of_memory_kills(statistics) == 12


def test_without_a_count_none_are_known(tmp_path: Path) -> None:
    """Other systems have no such file, older kernels no such line."""
    (tmp_path / "old").write_text("pgfault 5\n")

    assert out_of_memory_kills(tmp_path / "none") == 0
    assert out_of_memory_kills(tmp_path / "old") == 0
