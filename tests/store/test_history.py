"""How old a file is, as git has it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pytest_membudget.store.history import last_commit_of


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path, name: str) -> str:
    """Change a file, commit it, and return the commit."""
    with (folder / name).open("a") as file:
        file.write("x")
    git(folder, "add", name)
    git(folder, "commit", "-m", name)
    return git(folder, "rev-parse", "--short", "HEAD")


def test_the_commit_that_changed_the_file_last(tmp_path: Path) -> None:
    """Not the one that is checked out."""
    git(tmp_path, "init")
    recorded = commit(tmp_path, "baseline.json")
    commit(tmp_path, "other.py")

    assert last_commit_of(tmp_path / "baseline.json") == recorded
    assert last_commit_of(tmp_path / "never-committed.json") is None


def test_outside_git(tmp_path: Path) -> None:
    """There is nothing to name."""
    assert last_commit_of(tmp_path / "baseline.json") is None


def test_a_shallow_clone_has_forgotten(tmp_path: Path) -> None:
    """Its only commit looks as if it had made every file: better none than that one."""
    origin, shallow = tmp_path / "origin", tmp_path / "shallow"
    origin.mkdir()
    git(origin, "init")
    commit(origin, "baseline.json")
    commit(origin, "other.py")
    git(tmp_path, "clone", "--depth", "1", origin.as_uri(), str(shallow))

    assert last_commit_of(shallow / "baseline.json") is None
