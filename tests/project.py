"""A small project with tests of its own, run by a pytest of its own, as a user would run it.

memray allows one tracker in a process, so whatever is measured runs in a fresh interpreter.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import pytest

JSON = "run.json"
MIB = 2**20
Plain = dict[str, Any]
_HEADING = re.compile(r"_{3,} (?:ERROR at (?:setup|teardown) of )?(?P<name>\S.*?) _{3,}")


@dataclass(frozen=True)
class Run:
    """What came of one run of pytest."""

    exit_code: int
    out: str
    err: str
    json_text: str | None

    @property
    def lines(self) -> list[str]:
        """The lines that it printed."""
        return self.out.splitlines()

    @property
    def last_line(self) -> str:
        """Pytest's own count of outcomes, without the time and without warnings of other plugins."""
        return re.sub(r", \d+ warnings?", "", self.lines[-1].strip("= ").rpartition(" in ")[0])

    @property
    def section(self) -> list[str]:
        """The lines of the section on memory budgets."""
        begin = next(i for i, line in enumerate(self.lines) if line.strip("= ") == "memory budgets")
        end = next((i for i in range(begin + 1, len(self.lines)) if self.lines[i].startswith("=")), len(self.lines))
        return self.lines[begin + 1 : end]

    @property
    def document(self) -> Plain:
        """The JSON report."""
        assert self.json_text is not None
        document: Plain = json.loads(self.json_text)
        return document

    @property
    def tests(self) -> dict[str, Plain]:
        """The records of the JSON report by the part of the node id after the file."""
        return {test["nodeid"].partition("::")[2]: test for test in self.document["tests"]}

    @property
    def failures(self) -> dict[str, str]:
        """What pytest prints under the heading of each failure and error."""
        found: dict[str, list[str]] = {}
        name = None
        for line in self.lines:
            if heading := _HEADING.fullmatch(line):
                name = heading["name"]
                found[name] = []
            elif line.startswith("==="):
                name = None
            elif name is not None and line.strip():
                found[name].append(line)
        return {name: "\n".join(text) for name, text in found.items()}

    @property
    def outcomes(self) -> dict[str, str | None]:
        """The verdict on each test."""
        return {name: test["outcome"] for name, test in self.tests.items()}

    def peak_bytes(self, name: str) -> int:
        """Return the heap peak of a test."""
        peak_bytes: int = self.tests[name]["ram"]["peak_bytes"]
        return peak_bytes


class Project:
    """A folder that a run of pytest starts in.

    Only the plugins that a run names are loaded, so that one does not depend on what happens to be installed.
    """

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self._pytester = pytester
        self._environment = monkeypatch
        self.path = pytester.path

    def write(self, source: str = "", **files: str) -> None:
        """Write ``test_it.py``, and other Python files by name."""
        for name, text in (files | {"test_it": source} if source else files).items():
            self.write_file(f"{name}.py", text)

    def write_file(self, name: str, text: str) -> None:
        """Write a file of any kind, and the folders on the way to it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def _take_json(self) -> str | None:
        path = self.path / JSON
        if not path.exists():
            return None
        text = path.read_text(encoding="utf-8")
        path.unlink()
        return text

    def run(
        self,
        *args: str,
        plugins: tuple[str, ...] = (),
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        columns: int = 80,
        interpreter: tuple[str, ...] = (sys.executable,),
    ) -> Run:
        """Run pytest in the folder and wait for it."""
        variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": str(columns)} | dict(environment or {})
        for name, value in variables.items():
            self._environment.setenv(name, value)
        loaded = [arg for plugin in ("membudget", *plugins) for arg in ("-p", plugin)]
        result = self._pytester.run(*interpreter, "-m", "pytest", *loaded, *args, stdin=stdin, timeout=120)
        return Run(int(result.ret), result.stdout.str(), result.stderr.str(), self._take_json())

    def run_here(self, *args: str) -> Run:
        """Run pytest in this process: quick, for runs that measure nothing."""
        self._environment.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        result = self._pytester.runpytest_inprocess("-p", "membudget", *args)
        return Run(int(result.ret), result.stdout.str(), result.stderr.str(), self._take_json())

    def command(self, *command: str) -> str:
        """Run another command in the folder, and return what it printed."""
        return self._pytester.run(*command, timeout=120).stdout.str()

    def measure(self, *args: str, **how: Any) -> Run:
        """Run pytest with the JSON report, from which the figures can be read."""
        return self.run(f"--membudget-json={JSON}", *args, **how)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project."""
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "GITHUB_"))]:
        if name not in ("PYTEST_CURRENT_TEST", "PYTEST_DEBUG_TEMPROOT", "PYTEST_VERSION"):
            monkeypatch.delenv(name)
    return Project(pytester, monkeypatch)
