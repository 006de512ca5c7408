"""Gathering the records of a run in one process, and reporting them."""

from __future__ import annotations

import os
import sys

import pytest

from pytest_membudget.core.record import Plain, TestRecord, from_plain, to_plain
from pytest_membudget.core.run import RunReport, one_per_test
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.runtest import RECORD
from pytest_membudget.reports.terminal import LOST, Line, Style, summary_lines, table_lines

_UNBROKEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


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
        if self._config.option.collectonly:
            return
        written = [self._write_baseline(session), self._write_outputs()]
        if not all(written) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_baseline(self, session: pytest.Session) -> bool:
        settings = self._settings.baseline
        if not settings.writes:
            return True
        from pytest_membudget.glue.baseline_writing import write_baseline
        from pytest_membudget.glue.collected import collected_by_environment

        run_failed = bool(self._lost) or session.exitstatus not in _UNBROKEN
        collected = collected_by_environment(self._config)
        lines, done = write_baseline(settings, self._config.rootpath, self._one_per_test(), run_failed, collected)
        self._notes += lines
        return done

    def _write_outputs(self) -> bool:
        if not self._settings.reports:
            return True
        from pytest_membudget.glue.outputs import outputs_of, write_outputs
        from pytest_membudget.store.environment import read_environment

        outputs = outputs_of(self._settings)
        if not outputs:
            return True
        run = RunReport(self._one_per_test(), read_environment(self._config.rootpath))
        failures = write_outputs(outputs, run)
        self._notes += [Line(failure, "red") for failure in failures]
        return not failures

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table if it was asked for, and what nobody may miss in any case."""
        if self._config.option.collectonly:
            return
        run = RunReport(self._one_per_test())
        lines = [*self._table(run), *summary_lines(run, self._lost), *self._on_the_baseline(run), *self._notes]
        if lines:
            terminalreporter.write_sep("=", "memory budgets")
        for line in lines:
            terminalreporter.write_line(line.text, **line.markup)
        for command in self._annotations(run):
            terminalreporter.write_line(command)

    def _annotations(self, run: RunReport) -> list[str]:
        """Return what GitHub Actions reads off the output of a step."""
        if os.environ.get("GITHUB_ACTIONS") != "true":
            return []
        from pytest_membudget.reports.github import annotation_lines

        rootpath = self._config.rootpath
        workspace = os.environ.get("GITHUB_WORKSPACE", "")
        inside = workspace and rootpath.is_relative_to(workspace)
        return annotation_lines(run, rootpath.relative_to(workspace).as_posix() if inside else "")

    def _table(self, run: RunReport) -> list[Line]:
        """Return the report, if it was asked for."""
        if not self._settings.report:
            return []
        from pytest_membudget.reports.baseline_lines import drift_lines, loose_lines

        return [*table_lines(run, self._style(), self._settings.top), *drift_lines(run), *loose_lines(run)]

    def _on_the_baseline(self, run: RunReport) -> list[Line]:
        """Return what a user may want to record, unless that has just been done."""
        settings = self._settings.baseline
        if settings.accepts_growth or not run.budgeted:
            return []
        from pytest_membudget.reports.baseline_lines import improved_lines, unrecorded_lines

        return [*unrecorded_lines(run, settings.command), *improved_lines(run, settings.command)]

    def _style(self) -> Style:
        encoding = getattr(sys.__stdout__, "encoding", None) or "ascii"
        return Style(self._config.get_terminal_writer().fullwidth, encoding.lower().startswith("utf"))

    def _one_per_test(self) -> tuple[TestRecord, ...]:
        return one_per_test(map(from_plain, self._records))
