"""A fresh interpreter for a single test, where a process cannot be forked safely.

It runs pytest with the arguments of the session, except that it collects that one test, reports to the process that
waits, and writes none of the files that the session writes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

from pytest_membudget.core.isolation import Ending, Isolation
from pytest_membudget.glue.coverage_handover import coverage_settings, end_coverage
from pytest_membudget.glue.isolation_wanted import ISOLATION
from pytest_membudget.glue.outbox import Outbox, interruption
from pytest_membudget.glue.process_end import Watch
from pytest_membudget.glue.single_test import VARIABLE, SingleTest

if TYPE_CHECKING:
    from resource import struct_rusage

# Nothing of ours is imported before pytest, which wants to rewrite the assertions of plugins as they are imported.
_BOOT = """
import json, sys
given = json.loads(sys.argv.pop(1))
sys.path[:] = given["path"]
if given["coverage"]:
    import coverage
    coverage.Coverage(**given["coverage"]).start()
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
# What would start workers, write files or clear the cache; each is the session's own business.
_INTERVAL_SECONDS = 0.01
_MOST_LINES = 10
_OFF: dict[str, object] = {
    "numprocesses": None,
    "dist": "no",
    "tx": [],
    "xmlpath": None,
    "htmlpath": None,
    "cacheclear": False,
}


class Spawner:
    """Starts fresh interpreters; ``tmp_path`` of each lies in a folder of its own below ``base_temp``."""

    def __init__(self, config: pytest.Config, worker: str | None, base_temp: Path) -> None:
        self._config = config
        self._worker = worker
        self._base_temp = base_temp

    def run(self, item: pytest.Item, outbox: Path, reason: str, most_seconds: float | None) -> Ending:
        """Run a test and wait for the end of its process."""
        test = SingleTest(str(item.path), item.nodeid, str(outbox), str(outbox.parent), reason, self._worker)
        watch = Watch()
        with output_file(outbox).open("wb") as output:
            try:
                process = self._start(test, output)
            except OSError as error:
                output.write(str(error).encode())
                return Ending(None, 0.0)
            return _wait_for(process, watch, most_seconds)

    def _start(self, test: SingleTest, output: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command(Path(test.outbox)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=self._config.invocation_params.dir,
            env={**os.environ, VARIABLE: json.dumps(asdict(test))},
        )

    def _command(self, outbox: Path) -> list[str]:
        given = {"path": sys.path, "coverage": coverage_settings(outbox.with_suffix(".coverage"))}
        command = [sys.executable, "-c", _BOOT, json.dumps(given), *map(str, self._config.invocation_params.args)]
        if given["coverage"] and self._config.pluginmanager.has_plugin("_cov"):
            command.append("--no-cov")
        return [*command, f"--basetemp={self._base_temp / f'isolated-{outbox.stem}'}"]


def output_file(outbox: Path) -> Path:
    """Return where the interpreter prints to that has this outbox."""
    return outbox.with_suffix(".txt")


def last_lines(output: Path) -> str:
    """Return the end of what an interpreter printed, nothing if there is no such file."""
    if not output.exists():
        return ""
    return "\n".join(output.read_text(encoding="utf-8", errors="replace").splitlines()[-_MOST_LINES:])


def _wait_for(process: subprocess.Popen[bytes], watch: Watch, most_seconds: float | None) -> Ending:
    """Wait for the process to end, and kill it when its time is up or nobody waits any more."""
    overdue, usage = False, None
    try:
        overdue, usage = _wait(process, most_seconds)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    return watch.ended(process.returncode, usage, overdue)


def _wait(process: subprocess.Popen[bytes], most_seconds: float | None) -> tuple[bool, struct_rusage | None]:
    """Return whether the process was late, and what the system accounted to it, where that can be asked."""
    ends_at = float("inf") if most_seconds is None else time.monotonic() + most_seconds
    while time.monotonic() < ends_at:
        if not hasattr(os, "wait4"):
            if process.poll() is not None:
                return False, None
        else:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return False, usage
        time.sleep(_INTERVAL_SECONDS)
    return True, None


class SpawnedPlugin:
    """In the fresh interpreter: runs the test that it was started for and reports it to the process that waits."""

    def __init__(self, config: pytest.Config, test: SingleTest) -> None:
        self._test = test
        self._outbox = Outbox(config)
        self._outbox.open(Path(test.outbox))
        config.pluginmanager.register(self._outbox, "membudget-outbox")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Keep the test, whatever other plugins would make of a collection of one."""
        chosen = [item for item in items if item.nodeid == self._test.nodeid][:1]
        yield
        items[:] = chosen

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Note where the test runs."""
        item.stash[ISOLATION] = Isolation(True, self._test.reason)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Pass on that the session is to end."""
        self._outbox.put(*interruption(excinfo.value))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        """Say when all is done."""
        result = yield
        self._outbox.put("coverage", end_coverage())
        self._outbox.put("finished")
        self._outbox.close()
        return result


def narrow(config: pytest.Config, test: SingleTest) -> None:
    """Turn the session's arguments, which this interpreter was given, into those for a single test."""
    for name, value in _OFF.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    _, separator, names = test.nodeid.partition("::")
    config.args = [f"{test.path}{separator}{names}"]
