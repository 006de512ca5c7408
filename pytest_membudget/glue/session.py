"""What happens once a run: measuring starts when a test calls for it, and is cleaned up after."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_membudget.glue.marker_names import has_budget
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.vram_tools import VramTools

# The rest is imported when a test first calls for it: most runs of most suites budget nothing, and pay for nothing.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_membudget.core.baseline import Baseline
    from pytest_membudget.glue.fixture import Membudget, MembudgetOff
    from pytest_membudget.glue.planning import PlanPlugin
    from pytest_membudget.glue.runtest import MeasurePlugin, Wrapper
    from pytest_membudget.glue.single_test import SingleTest
    from pytest_membudget.glue.toolbox import Toolbox
    from pytest_membudget.glue.verdicts import Judge

XDIST_CONTROLLER = "dsession"


class RunPlugin:
    """Starts measuring in this process as soon as a test calls for it, and cleans up at the end."""

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        vram: VramTools,
        worker: str | None,
        alone: SingleTest | None = None,
        baseline: Baseline | None = None,
    ) -> None:
        self._baseline = baseline
        self._config = config
        self._settings = settings
        self._vram = vram
        self._worker = worker
        # Started for a single test, on behalf of a session that reports.
        self._alone = alone
        self._toolbox: Toolbox | None = None
        self._measuring: MeasurePlugin | None = None
        self._planning: PlanPlugin | None = None
        self._watch = WatchPlugin(settings, self._start_measuring)
        config.pluginmanager.register(self._watch, "membudget-watch")

    def pytest_sessionstart(self) -> None:
        """Report from the start where that was asked for, or where other processes measure."""
        if self._settings.baseline.prune:
            self._note_what_is_collected()
        if (
            self._settings.wants_every_test
            or self._settings.baseline.writes
            or self._config.pluginmanager.has_plugin(XDIST_CONTROLLER)
        ):
            self._start_reporting()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Wrap the tests' protocol only when there is something to measure."""
        if self._settings.measure_all or any(has_budget(item, self._settings) for item in session.items):
            self._start_planning()
            self._start_isolating(session)
        elif self._settings.wants_every_test:
            self._start_measuring()

    @pytest.fixture
    def membudget(self, request: pytest.FixtureRequest) -> Iterator[Membudget]:
        """Measure regions of this test: ``with membudget.track() as region: ...``."""
        from pytest_membudget.glue.fixture import new_membudget

        membudget = new_membudget(request.node, self._tools())
        yield membudget
        membudget.close()

    def pytest_unconfigure(self) -> None:
        """Clean up."""
        if self._toolbox is not None:
            self._toolbox.close()

    def _tools(self) -> Toolbox:
        from pytest_membudget.glue.toolbox import Toolbox

        if self._toolbox is None:
            settings = self._settings
            self._toolbox = Toolbox(
                self._config.rootpath,
                settings.freeze,
                self._vram,
                settings.artifacts_folder,
                timelines=settings.json_path is not None or settings.html_path is not None,
            )
            if self._alone:
                self._toolbox.folder.adopt(Path(self._alone.folder))
        return self._toolbox

    @cached_property
    def _judge(self) -> Judge:
        from pytest_membudget.glue.comparing import new_comparer
        from pytest_membudget.glue.verdicts import Judge

        return Judge(new_comparer(self._config, self._settings, self._baseline))

    def _start_measuring(self) -> MeasurePlugin:
        from pytest_membudget.glue.runtest import MeasurePlugin

        if self._measuring is None:
            self._start_reporting()
            self._measuring = MeasurePlugin(self._tools(), self._judge, self._worker, self._plan_late)
            self._config.pluginmanager.unregister(self._watch)
            self._config.pluginmanager.register(self._measuring, "membudget-measure")
        return self._measuring

    def _start_planning(self) -> PlanPlugin:
        from pytest_membudget.glue.planning import PlanPlugin

        if self._planning is None:
            self._start_measuring()
            self._planning = PlanPlugin(self._settings, self._tools(), self._judge)
            self._config.pluginmanager.register(self._planning, "membudget-plan")
        return self._planning

    def _plan_late(self, item: pytest.Item) -> None:
        """Plan for a test that came by its marker while it was set up, in a run that knew of no budget before."""
        if self._planning is None and has_budget(item, self._settings):
            self._start_planning().take_late(item)

    def _start_isolating(self, session: pytest.Session) -> None:
        from pytest_membudget.glue.isolation_wanted import ISOLATION_PLUGIN, anybody_wants_isolation

        if self._alone or self._config.option.collectonly or not anybody_wants_isolation(session.items, self._settings):
            return
        from pytest_membudget.glue.isolation import IsolationPlugin

        isolation = IsolationPlugin(self._config, self._settings, self._tools(), self._worker)
        self._config.pluginmanager.register(isolation, ISOLATION_PLUGIN)

    def _note_what_is_collected(self) -> None:
        from pytest_membudget.glue.collected import NAME, CollectedPlugin

        self._config.pluginmanager.register(CollectedPlugin(self._config), NAME)

    def _start_reporting(self) -> None:
        from pytest_membudget.glue.reporting import ReportPlugin

        plugins = self._config.pluginmanager
        if self._worker is None and not self._alone and not plugins.has_plugin("membudget-report"):
            plugins.register(ReportPlugin(self._config, self._settings), "membudget-report")


class WatchPlugin:
    """Stands by for a marker that a fixture adds: the one hook per test that a suite without budgets pays for."""

    def __init__(self, settings: Settings, start_measuring: Callable[[], MeasurePlugin]) -> None:
        self._settings = settings
        self._start_measuring = start_measuring

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        """Begin to measure with this very test if it has come by a budget."""
        if not has_budget(item, self._settings):
            return (yield)
        # Hooks that are registered now are not called for a phase that has begun already.
        return (yield from self._start_measuring().pytest_runtest_call(item))


def baseline_of(settings: Settings) -> Baseline | None:
    """Return the baseline to compare with, if there is one.

    Raises
    ------
    OptionError
        A file that cannot be used.
    """
    if not (settings.enabled and settings.baseline.exists):
        return None
    from pytest_membudget.glue.comparing import load_baseline

    return load_baseline(settings.baseline.path)


class OffPlugin:
    """Says that nothing was judged, and keeps tests that use the fixture collectable."""

    @pytest.fixture
    def membudget(self) -> MembudgetOff:
        """Run regions without measuring them: the plugin is off."""
        from pytest_membudget.glue.fixture import MembudgetOff

        return MembudgetOff()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line, so that a run without budgets never looks like one that kept them."""
        terminalreporter.write_line("membudget: off, no budget was judged")
