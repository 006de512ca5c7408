"""What happens in the zygote, and in the process that it forks for a test."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_membudget.core.isolation import Isolation
from pytest_membudget.glue.coverage_handover import begin_coverage, end_coverage
from pytest_membudget.glue.isolation_wanted import ISOLATION, ISOLATION_PLUGIN
from pytest_membudget.glue.outbox import Outbox, interruption, silence_other_reporters
from pytest_membudget.glue.process_end import own_resident_peak_bytes
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.probes.heap_capture import CaptureError, HeapCapture


@dataclass(frozen=True)
class Order:
    """What the zygote is asked to run.

    Parameters
    ----------
    position
        Of the test in the order of collection.
    outbox
        The file that the test's process writes its messages to.
    reason
        Why the test has a process of its own.
    most_seconds
        When to kill the process, None to let it run.
    """

    position: int
    outbox: Path
    reason: str
    most_seconds: float | None = None


@dataclass
class Forked:
    """Runs the tests of a session that were collected before the fork."""

    session: pytest.Session
    toolbox: Toolbox
    folder: Path
    outbox: Outbox = field(init=False)

    def __post_init__(self) -> None:
        self.outbox = Outbox(self.session.config)

    def prepare(self) -> None:
        """Do once what each test's process would have to do else, and leave the reporting to the session's."""
        # A tracker that never starts: importing memray and making its first one costs the same in each process.
        with contextlib.suppress(CaptureError):
            HeapCapture(self.folder / "first", "exact")
        plugins = self.session.config.pluginmanager
        # From here on a test's protocol is to run, not to be handed to a process.
        plugins.unregister(name=ISOLATION_PLUGIN)
        silence_other_reporters(plugins)
        plugins.register(self.outbox, "membudget-outbox")
        self.toolbox.folder.adopt(self.folder)
        # The patterns that collecting compiled are not the same where a test is collected alone.
        re.purge()
        self.toolbox.collector.collect()

    def run(self, order: Order) -> None:
        """Run a test's whole protocol: set up, call and tear down, with the fixtures of its module and session too."""
        config, item = self.session.config, self.session.items[order.position]
        self.outbox.open(order.outbox)
        self.outbox.put("began", own_resident_peak_bytes())
        item.stash[ISOLATION] = Isolation(True, order.reason)
        begin_coverage(config, order.outbox.with_suffix(".coverage"))
        try:
            config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except (KeyboardInterrupt, pytest.exit.Exception) as error:
            self.outbox.put(*interruption(error))
        self.outbox.put("coverage", end_coverage())
        self.outbox.put("finished")
        # Workers of pytest-xdist have no terminal.
        if config.pluginmanager.has_plugin("terminalreporter"):
            config.get_terminal_writer().flush()
