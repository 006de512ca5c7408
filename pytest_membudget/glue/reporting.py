"""Gathering the records of a run in one process, and reporting them."""

from __future__ import annotations

import sys

import pytest

from pytest_membudget.core.record import Plain, TestRecord, from_plain, to_plain
from pytest_membudget.core.run import RunReport, one_per_test
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.runtest import RECORD
from pytest_membudget.reports.terminal import LOST, Line, Style, summary_lines, table_lines


class ReportPlugin:
    """Gathers the records of a run, in the one process that reports it."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings
        self._records: list[Plain] = []
        self._lost: list[str] = []
        self._notes: list[Line] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the record off a test's last report."""
        if plain := getattr(report, RECORD, None):
            self._records.append(plain)
        elif report.when not in ("setup", "call", "teardown"):
            # xdist reports a test whose worker died as one report of the phase "???".
            self._lost.append(report.nodeid)
            self._records.append(to_plain(TestRecord(report.nodeid, "failed", reason=LOST)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files; a failure is said and shows in the exit status, and the verdicts stand."""
        if self._settings.json_path is None or self._config.option.collectonly:
            return
        from pytest_membudget.reports.json_report import render_json
        from pytest_membudget.store.atomic_file import write_atomically
        from pytest_membudget.store.environment import read_environment

        run = RunReport(self._one_per_test(), read_environment(self._config.rootpath))
        try:
            write_atomically(self._settings.json_path, render_json(run))
        except OSError as error:
            where = self._settings.json_path
            self._notes.append(Line(f"--membudget-json: {str(where)!r} cannot be written ({error.strerror})", "red"))
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table if it was asked for, and what nobody may miss in any case."""
        if self._config.option.collectonly:
            return
        run = RunReport(self._one_per_test())
        table = table_lines(run, self._style(), self._settings.top) if self._settings.report else []
        lines = [*table, *summary_lines(run, self._lost), *self._notes]
        if lines:
            terminalreporter.write_sep("=", "memory budgets")
        for line in lines:
            terminalreporter.write_line(line.text, **line.markup)

    def _style(self) -> Style:
        encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
        return Style(self._config.get_terminal_writer().fullwidth, encoding.lower().startswith("utf"))

    def _one_per_test(self) -> tuple[TestRecord, ...]:
        return one_per_test(map(from_plain, self._records))
