"""The processes that isolated tests run in: forked where that is safe, else fresh interpreters."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from pytest_membudget.core.isolation import Ending, Isolation
from pytest_membudget.glue.forked import Forked, Order
from pytest_membudget.glue.hazards import fork_hazard
from pytest_membudget.glue.outbox import read_messages
from pytest_membudget.glue.spawned import Spawner, last_lines, output_file
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.glue.visit import Visit
from pytest_membudget.glue.zygote import Zygote

_NO_ZYGOTE = "the process that tests are forked from has ended"
_NOT_COLLECTED = "it was not collected with the others"


class Processes:
    """Runs tests, one at a time, each in a process of its own, and keeps their files in a folder of its own."""

    def __init__(self, session: pytest.Session, toolbox: Toolbox, worker: str | None) -> None:
        self.most_seconds: float | None = None
        self._positions = {item: position for position, item in enumerate(session.items)}
        self._folder = Path(tempfile.mkdtemp(prefix="membudget-isolated-"))
        self._numbers = count()
        # Made before the first fork, or each process would make a folder for tmp_path and clean up those of others.
        self._spawner = Spawner(session.config, worker, folder_of_tmp_path(session.config) or self._folder)
        forked = Forked(session, toolbox, self._folder)
        self._hazard = fork_hazard()
        self._zygote = None if self._hazard else Zygote(forked.prepare, forked.run)

    def run(self, item: pytest.Item, isolation: Isolation) -> Visit:
        """Run a test and wait for the end of its process."""
        outbox = self._folder / str(next(self._numbers))
        # A test may have emptied the folder for temporary files.
        self._folder.mkdir(exist_ok=True)
        most_seconds, self.most_seconds = self.most_seconds, None
        if self._zygote is None or item not in self._positions:
            isolation = replace(isolation, reason=f"{isolation.reason}; in a fresh interpreter, as {self._why_spawn()}")
            ending = self._spawner.run(item, outbox, isolation.reason, most_seconds)
        else:
            ending = self._fork(Order(self._positions[item], outbox, isolation.reason, most_seconds))
        return Visit(ending, read_messages(outbox), isolation, last_lines(output_file(outbox)))

    def close(self) -> None:
        """End what is still running and remove the files."""
        if self._zygote is not None:
            self._zygote.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _fork(self, order: Order) -> Ending:
        assert self._zygote is not None
        if ending := self._zygote.run(order):
            return ending
        self._zygote.close()
        self._zygote, self._hazard = None, _NO_ZYGOTE
        return Ending(None, 0.0)

    def _why_spawn(self) -> str:
        return self._hazard or _NOT_COLLECTED


def folder_of_tmp_path(config: pytest.Config) -> Path | None:
    """Return the folder that ``tmp_path`` is made in, made if need be; None where that plugin is switched off.

    pytest-xdist finds the factory in the same way; there is no other before a fixture asks for it.
    """
    factory: pytest.TempPathFactory | None = getattr(config, "_tmp_path_factory", None)
    return factory.getbasetemp() if factory else None
