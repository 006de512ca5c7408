"""The facts that make two figures comparable."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from pytest_membudget.store import environment
from pytest_membudget.store.environment import environment_key, read_environment


@pytest.fixture(autouse=True)
def _no_cache() -> Iterator[None]:
    """Each test reads anew."""
    read_environment.cache_clear()
    yield
    read_environment.cache_clear()


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, with nobody's settings."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git checkout with one commit."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "first")
    return tmp_path


def test_key() -> None:
    """Interpreter, version, system, processor: no version of the system, no name of the machine."""
    assert re.fullmatch(r"[a-z]+-\d+\.\d+-[a-z]+-\w+", environment_key())
    assert environment_key().split("-") == [
        sys.implementation.name,
        f"{sys.version_info.major}.{sys.version_info.minor}",
        platform.system().lower(),
        platform.machine().lower(),
    ]


def test_machine_and_tools(tmp_path: Path) -> None:
    """Read from the machine and from what is installed."""
    read = read_environment(tmp_path)

    assert read.key == environment_key()
    assert read.cpu_count == os.cpu_count()
    assert read.total_ram_bytes == psutil.virtual_memory().total
    assert read.tools["pytest"] == version("pytest")
    assert read.tools["pytest-membudget"] == version("pytest-membudget")
    assert list(read.tools) == [
        tool for tool in ("pytest-membudget", "pytest", "memray", "psutil") if tool in read.tools
    ]


def test_tool_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left out, rather than given a version."""
    monkeypatch.setattr(environment, "_TOOLS", ("pytest", "no-such-distribution"))

    assert list(read_environment(tmp_path).tools) == ["pytest"]


def test_commit(checkout: Path) -> None:
    """The one that is checked out, also from a folder inside."""
    inside = checkout / "tests"
    inside.mkdir()

    assert read_environment(checkout).commit == git(checkout, "rev-parse", "HEAD")
    assert read_environment(inside).commit == git(checkout, "rev-parse", "HEAD")


def test_no_commit_yet(tmp_path: Path) -> None:
    """A fresh repository has none."""
    git(tmp_path, "init", "--quiet")

    assert read_environment(tmp_path).commit is None


def test_outside_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed suite is in no repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    assert read_environment(tmp_path).commit is None


def test_without_git(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container often has none."""
    monkeypatch.setenv("PATH", "")

    assert read_environment(checkout).commit is None


def test_git_that_hangs(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository on a dead network drive does not hold up the report."""

    def hang(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 5)

    monkeypatch.setattr(subprocess, "run", hang)

    assert read_environment(checkout).commit is None
