"""What a test in a process of its own tells the process that waits for it.

It goes through a file, one pickle after another: a process that dies while it writes leaves a torn last message and
cannot hold anybody up, and what it had said before stands.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_membudget.glue.visit import Message

_PLAIN = (str, int, float, bool, bytes, type(None))
_LOG_HOOKS = ("pytest_runtest_logstart", "pytest_runtest_logreport", "pytest_runtest_logfinish")


class Outbox:
    """A plugin of the test's process that writes down what other plugins of the waiting one have to hear of."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._owner: int | None = None

    def open(self, path: Path) -> None:
        """Write to that file from now on; what comes before is dropped."""
        self._file = path.open("ab", buffering=0)
        self._owner = os.getpid()

    def close(self) -> None:
        """Write nothing more."""
        if self._owner is not None:
            self._file.close()
            self._owner = None

    def put(self, kind: str, content: object = None) -> None:
        """Write one message; a process that the test forked writes nothing."""
        if os.getpid() == self._owner:
            self._file.write(pickle.dumps((kind, content)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Note the phase, so that its name is known should the process end in it."""
        self.put("phase", "setup")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        """Note the phase."""
        self.put("phase", "call")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Note the phase."""
        self.put("phase", "teardown")

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, settings: Any) -> None:
        """Note the limit that pytest-timeout is about to set."""
        self.put("limit", (float(settings.timeout), settings.method == "thread"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Pass on a report."""
        # Asking for the status is what makes pytest fail a test whose subtests failed, and it has counted them here.
        self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self.put("report", portable(data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        """Pass on a warning."""
        plain = PlainWarning.of(warning_message)
        self.put("warning", {"warning_message": plain, "when": when, "nodeid": nodeid, "location": location})


def interruption(error: BaseException) -> Message:
    """Return the message that the session is to end, for what a test raised to end it."""
    if isinstance(error, pytest.exit.Exception):
        return "exit", (error.msg, error.returncode)
    return "interrupt", None


def silence_other_reporters(plugins: pytest.PytestPluginManager) -> None:
    """Leave it to the waiting process to report: here nobody hears of a report but what is registered afterwards.

    Each reporter would act twice on the same report otherwise, and two processes would write to one terminal, file or
    connection.
    """
    for name in _LOG_HOOKS:
        for implementation in getattr(plugins.hook, name).get_hookimpls():
            wraps = implementation.wrapper or implementation.hookwrapper
            implementation.function = _pass_on if wraps else _do_nothing


def _pass_on(*_: object) -> Iterator[None]:
    yield


def _do_nothing(*_: object) -> None:
    pass


def read_messages(path: Path) -> list[Message]:
    """Return the messages up to the end, or up to the one that was torn; none if the test removed the file."""
    messages: list[Message] = []
    with contextlib.suppress(EOFError, FileNotFoundError, pickle.UnpicklingError), path.open("rb") as file:
        while True:
            messages.append(pickle.load(file))
    return messages


@dataclass(frozen=True)
class PlainWarning:
    """A warning without the objects that it came with; they may not fit through a pipe."""

    text: str
    module: str
    name: str
    file: str
    line: int

    @classmethod
    def of(cls, message: warnings.WarningMessage) -> PlainWarning:
        """Return what can be told of a warning."""
        category = message.category
        return cls(str(message.message), category.__module__, category.__qualname__, message.filename, message.lineno)

    def restore(self) -> warnings.WarningMessage:
        """Return a warning that reads the same, of the same category if this process has it."""
        found = getattr(sys.modules.get(self.module), self.name, None)
        category = found if isinstance(found, type) and issubclass(found, Warning) else Warning
        return warnings.WarningMessage(Warning(self.text), category, self.file, self.line)


def portable(value: object) -> object:
    """Return the value with everything but plain types in it as text, which is what reporters make of it anyway.

    An object of any other type might need a module that the waiting process has not got.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {portable(key): portable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(portable, value)) if type(value) in (list, tuple) else list(map(portable, value))
    return str(value)
