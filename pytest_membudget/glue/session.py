"""What happens once a run: who measures, where records come together, what is written at the end."""

from __future__ import annotations

import sys

import pytest

from pytest_membudget.core.record import TestRecord, from_plain
from pytest_membudget.core.run import RunReport
from pytest_membudget.glue.fixture import FixturePlugin
from pytest_membudget.glue.markers import has_budget
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.runtest import RECORD, STATE, MeasurePlugin, WatchPlugin
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.probes.meter import Meter
from pytest_membudget.reports.json_report import render_json
from pytest_membudget.reports.terminal import Line, Style, summary_lines, table_lines
from pytest_membudget.store.atomic_file import write_atomically
from pytest_membudget.store.environment import read_environment


class RunPlugin:
    """Starts measuring in this process as soon as a test calls for it, and cleans up at the end."""

    def __init__(self, config: pytest.Config, settings: Settings, worker: str | None) -> None:
        self._plugins = config.pluginmanager
        self._settings = settings
        self._worker = worker
        self._toolbox = Toolbox(config.rootpath, settings.freeze)
        self._watch = WatchPlugin(self.start_measuring)
        self._plugins.register(self._watch, "membudget-watch")
        self._plugins.register(FixturePlugin(_running_meter, self._toolbox.new_region_meter), "membudget-fixture")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Wrap the tests' protocol only when there is something to measure."""
        if self._settings.wants_every_test or any(has_budget(item, self._settings) for item in session.items):
            self.start_measuring()

    def start_measuring(self) -> MeasurePlugin:
        """Register the hooks that measure, in place of the one that stands by."""
        measuring = MeasurePlugin(self._settings, self._toolbox, self._worker)
        self._plugins.unregister(self._watch)
        self._plugins.register(measuring, "membudget-measure")
        return measuring

    def pytest_unconfigure(self) -> None:
        """Clean up."""
        self._toolbox.close()


def _running_meter(item: pytest.Item) -> Meter | None:
    state = item.stash.get(STATE, None)
    return state.meter if state and state.meter.running and state.meter.measures_heap else None


class ReportPlugin:
    """Gathers the records of a run, in the one process that reports it."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings
        self._records: list[TestRecord] = []
        self._lost: list[str] = []
        self._notes: list[Line] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the record off a test's last report."""
        if plain := getattr(report, RECORD, None):
            self._records.append(from_plain(plain))
        elif report.when not in ("setup", "call", "teardown"):
            # xdist reports a test whose worker died as one report of the phase "???".
            self._lost.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files; a failure is said and shows in the exit status, and the verdicts stand."""
        if self._settings.json_path is None or self._config.option.collectonly:
            return
        try:
            write_atomically(self._settings.json_path, render_json(self._run()))
        except OSError as error:
            where = self._settings.json_path
            self._notes.append(Line(f"--membudget-json: {str(where)!r} cannot be written ({error.strerror})", "red"))
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table if it was asked for, and what nobody may miss in any case."""
        run = self._run()
        table = table_lines(run, self._style(), self._settings.top) if self._settings.report else []
        lines = [*table, *summary_lines(run, self._lost), *self._notes]
        if lines:
            terminalreporter.section("memory budgets")
        for line in lines:
            terminalreporter.write_line(line.text, **line.markup)

    def _style(self) -> Style:
        encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
        return Style(self._config.get_terminal_writer().fullwidth, encoding.lower().startswith("utf"))

    def _run(self) -> RunReport:
        return RunReport(tuple(self._records), read_environment(self._config.rootpath))


class OffPlugin:
    """Says that nothing was judged."""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line, so that a run without budgets never looks like one that kept them."""
        terminalreporter.write_line("membudget: off, no budget was judged")
