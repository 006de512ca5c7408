"""How much RAM is free, from files as Linux writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_membudget.suite import free_ram
from pytest_membudget.suite.free_ram import free_ram_bytes, shortage
from pytest_membudget.suite.hotpath import KIB, MIB

GIB = 1024 * MIB


def _proc(folder: Path, available_kib: int) -> Path:
    text = f"MemTotal:       99999999 kB\nMemFree:          12345 kB\nMemAvailable:   {available_kib} kB\n"
    (folder / "meminfo").write_text(text)
    return folder


def _cgroup(folder: Path, limit: str, used: int, inactive: int) -> Path:
    (folder / "memory.max").write_text(limit + "\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {inactive}\nactive_file 5\n")
    return folder


def test_machine_without_a_container(tmp_path: Path) -> None:
    """What the kernel says is available counts."""
    assert free_ram_bytes(_proc(tmp_path, 2048), tmp_path / "none") == 2048 * KIB


def test_limit_of_the_container(tmp_path: Path) -> None:
    """The limit less the use counts where it is tighter; cached files can be given back."""
    proc = _proc(tmp_path, 4 * 1024 * 1024)

    assert free_ram_bytes(proc, _cgroup(tmp_path, str(GIB), 700 * MIB, 100 * MIB)) == GIB - 600 * MIB
    assert free_ram_bytes(proc, _cgroup(tmp_path, "max", 700 * MIB, 0)) == 4 * GIB


def test_unreadable_figures_are_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of another shape are passed over, and the system is asked."""
    monkeypatch.setattr(os, "sysconf", {"SC_AVPHYS_PAGES": 3, "SC_PAGE_SIZE": 4096}.__getitem__)
    (tmp_path / "meminfo").write_text("MemTotal: 5 kB\n")
    (tmp_path / "memory.max").write_text("rubbish")
    (tmp_path / "memory.current").write_text("rubbish")

    assert free_ram_bytes(tmp_path, tmp_path) == 3 * 4096


def test_a_system_that_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a figure there is none, rather than a guess."""
    monkeypatch.delattr(os, "sysconf")

    assert free_ram_bytes(tmp_path, tmp_path) is None


@pytest.mark.parametrize(
    ("free_bytes", "reason"),
    [
        (13 * GIB, None),
        (8 * GIB, "needs 12.5 GiB of free RAM, this machine has 8.0 GiB"),
        (None, "needs 12.5 GiB of free RAM, and this system does not tell how much it has"),
    ],
)
def test_shortage(monkeypatch: pytest.MonkeyPatch, free_bytes: int | None, reason: str | None) -> None:
    """The reason carries both figures; half a GiB stays free for the rest."""
    monkeypatch.setattr(free_ram, "free_ram_bytes", lambda: free_bytes)

    assert shortage(12 * GIB) == reason
