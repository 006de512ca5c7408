"""What happens once a run: who measures, where records come together, what is written at the end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_membudget.glue.markers import has_budget
from pytest_membudget.glue.options import Settings

# The rest is imported when a test first calls for it: most runs of most suites budget nothing, and pay for nothing.
if TYPE_CHECKING:
    from pytest_membudget.core.record import Plain
    from pytest_membudget.core.run import RunReport
    from pytest_membudget.glue.fixture import Membudget
    from pytest_membudget.glue.planning import PlanPlugin
    from pytest_membudget.glue.runtest import MeasurePlugin
    from pytest_membudget.glue.toolbox import Toolbox
    from pytest_membudget.reports.terminal import Line, Style

XDIST_CONTROLLER = "dsession"
RECORD = "membudget"


class RunPlugin:
    """Starts measuring in this process as soon as a test calls for it, and cleans up at the end."""

    def __init__(self, config: pytest.Config, settings: Settings, worker: str | None) -> None:
        self._config = config
        self._settings = settings
        self._worker = worker
        self._toolbox: Toolbox | None = None
        self._measuring: MeasurePlugin | None = None
        self._planning: PlanPlugin | None = None

    def pytest_sessionstart(self) -> None:
        """Report from the start where that was asked for, or where other processes measure."""
        if self._settings.wants_every_test or self._config.pluginmanager.has_plugin(XDIST_CONTROLLER):
            self._start_reporting()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Wrap the tests' protocol only when there is something to measure."""
        if self._settings.measure_all or any(has_budget(item, self._settings) for item in session.items):
            self._start_planning()
        elif self._settings.wants_every_test:
            self._start_measuring()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Stand by for a marker that a fixture adds; the one hook that a suite without budgets pays for."""
        if self._planning is not None or not has_budget(item, self._settings):
            return (yield)
        fresh = self._measuring is None
        self._start_planning().take_late(item)
        # Hooks that were registered just now are not called for a phase that has begun already.
        return (yield from self._start_measuring().pytest_runtest_call(item)) if fresh else (yield)

    @pytest.fixture
    def membudget(self, request: pytest.FixtureRequest) -> Membudget:
        """Measure regions of this test: ``with membudget.track() as region: ...``."""
        from pytest_membudget.glue.fixture import new_membudget

        return new_membudget(request.node, self._tools())

    def pytest_unconfigure(self) -> None:
        """Clean up."""
        if self._toolbox is not None:
            self._toolbox.close()

    def _tools(self) -> Toolbox:
        from pytest_membudget.glue.toolbox import Toolbox

        self._toolbox = self._toolbox or Toolbox(self._config.rootpath, self._settings.freeze)
        return self._toolbox

    def _start_measuring(self) -> MeasurePlugin:
        from pytest_membudget.glue.runtest import MeasurePlugin
        from pytest_membudget.glue.verdicts import Judge

        if self._measuring is None:
            self._start_reporting()
            self._measuring = MeasurePlugin(self._tools(), Judge(self._settings.missing_fails), self._worker)
            self._config.pluginmanager.register(self._measuring, "membudget-measure")
        return self._measuring

    def _start_planning(self) -> PlanPlugin:
        from pytest_membudget.glue.planning import PlanPlugin
        from pytest_membudget.glue.verdicts import Judge

        if self._planning is None:
            self._start_measuring()
            self._planning = PlanPlugin(self._settings, self._tools(), Judge(self._settings.missing_fails))
            self._config.pluginmanager.register(self._planning, "membudget-plan")
        return self._planning

    def _start_reporting(self) -> None:
        plugins = self._config.pluginmanager
        if self._worker is None and not plugins.has_plugin("membudget-report"):
            plugins.register(ReportPlugin(self._config, self._settings), "membudget-report")


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
        if self._config.option.collectonly:
            return
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
