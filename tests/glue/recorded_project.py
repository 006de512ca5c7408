"""A project with a baseline: tests whose memory an environment variable sets."""

from __future__ import annotations

import json
from typing import Any

from tests.project import Project, Run

BASELINE = "membudget-baseline.json"
UPDATE = "--membudget-update"
SOURCE = """
    import os
    import pytest

    def load(mib):
        return bytearray(mib << 20)

    @pytest.mark.membudget("baseline")
    def test_load():
        data = load(int(os.environ.get("MIB", "4")))

    @pytest.mark.membudget("64MiB")
    def test_budget():
        data = load(8)
"""


def text_of(project: Project, name: str = BASELINE) -> str:
    """The file as it stands there."""
    return (project.path / name).read_text(encoding="utf-8")


def entries_of(project: Project, name: str = BASELINE) -> dict[str, dict[str, Any]]:
    """The entries of the one environment that there is, by the part of the node id after the file."""
    (tests,) = json.loads(text_of(project, name))["environments"].values()
    return {nodeid.partition("::")[2]: entry for nodeid, entry in tests.items()}


def ram_of(project: Project, test: str, name: str = BASELINE) -> int:
    """The recorded heap peak of a test."""
    size_bytes: int = entries_of(project, name)[test]["ram"]
    return size_bytes


def change_entry(project: Project, old: str, new: str) -> None:
    """Edit the file by hand."""
    text = text_of(project)
    assert old in text
    (project.path / BASELINE).write_text(text.replace(old, new), encoding="utf-8")


def with_mib(mib: int) -> dict[str, str]:
    """The environment in which the test takes that much."""
    return {"MIB": str(mib)}


def record(project: Project, *args: str, **how: Any) -> Run:
    """Record all that passes."""
    return project.run(UPDATE, *args, **how)
