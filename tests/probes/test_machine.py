"""How much memory there is: the machine's, or what the container may use of it."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from pytest_membudget.probes.machine import total_ram_bytes
from tests.fakes import GIB, MIB

MACHINE = psutil.virtual_memory().total
UNLIMITED_V1 = 9223372036854771712


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """The file in which the kernel names this process's cgroups."""
    return tmp_path / "cgroup"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder in which the cgroups lie."""
    return tmp_path / "sys"


def limit(file: Path, content: str) -> None:
    """Write one limit."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{content}\n", encoding="ascii")


def test_cgroup_v2(proc: Path, root: Path) -> None:
    """The limit of the process's own cgroup."""
    proc.write_text("0::/user.slice/job\n", encoding="ascii")
    limit(root / "user.slice/job/memory.max", str(100 * MIB))

    assert total_ram_bytes(proc, root) == 100 * MIB


def test_cgroup_v2_takes_the_smallest_of_all_that_enclose(proc: Path, root: Path) -> None:
    """A roomy cgroup inside a tight one is tight."""
    proc.write_text("0::/user.slice/job\n", encoding="ascii")
    limit(root / "user.slice/job/memory.max", "max")
    limit(root / "user.slice/memory.max", str(200 * MIB))
    limit(root / "memory.max", str(300 * MIB))

    assert total_ram_bytes(proc, root) == 200 * MIB


def test_cgroup_v2_in_a_container(proc: Path, root: Path) -> None:
    """The path is the host's, and does not exist inside; the root is the container's own."""
    proc.write_text("0::/docker/3f2c1ab\n", encoding="ascii")
    limit(root / "memory.max", str(150 * MIB))

    assert total_ram_bytes(proc, root) == 150 * MIB


def test_cgroup_v1(proc: Path, root: Path) -> None:
    """The memory controller's limit, wherever it stands in the list."""
    proc.write_text("9:cpu,cpuacct:/other\n8:hugetlb,memory:/job\n1:name=systemd:/\n", encoding="ascii")
    limit(root / "memory/job/memory.limit_in_bytes", str(100 * MIB))
    limit(root / "memory/memory.limit_in_bytes", str(UNLIMITED_V1))
    limit(root / "memory/other/memory.limit_in_bytes", str(50 * MIB))

    assert total_ram_bytes(proc, root) == 100 * MIB


def test_both_versions(proc: Path, root: Path) -> None:
    """A hybrid system has both; the smaller counts."""
    proc.write_text("4:memory:/job\n0::/job\n", encoding="ascii")
    limit(root / "memory/job/memory.limit_in_bytes", str(300 * MIB))
    limit(root / "job/memory.max", str(200 * MIB))

    assert total_ram_bytes(proc, root) == 200 * MIB


def test_path_with_colons(proc: Path, root: Path) -> None:
    """A container's name may hold the sign that separates the fields."""
    proc.write_text("0::/system.slice/a:b:c\n", encoding="ascii")
    limit(root / "system.slice/a:b:c/memory.max", str(100 * MIB))

    assert total_ram_bytes(proc, root) == 100 * MIB


@pytest.mark.parametrize("content", ["max", str(UNLIMITED_V1), "", "0", "-1", "rubbish", str(MACHINE + GIB)])
def test_limit_that_is_none(proc: Path, root: Path, content: str) -> None:
    """No limit, no number, or one above what the machine has."""
    proc.write_text("0::/\n", encoding="ascii")
    limit(root / "memory.max", content)

    assert total_ram_bytes(proc, root) == MACHINE


@pytest.mark.parametrize("content", ["", "0::/\n", "0::/nowhere\n", "7:cpu:/\n", "rubbish\n", "1:2\n"])
def test_no_limit_to_be_found(proc: Path, root: Path, content: str) -> None:
    """The machine's memory, then."""
    proc.write_text(content, encoding="ascii")

    assert total_ram_bytes(proc, root) == MACHINE


def test_system_without_cgroups(tmp_path: Path) -> None:
    """MacOS and Windows have neither file."""
    assert total_ram_bytes(tmp_path / "missing", tmp_path / "missing") == MACHINE


def test_this_machine() -> None:
    """Here, for real: something, and no more than there is."""
    assert 0 < total_ram_bytes() <= MACHINE
