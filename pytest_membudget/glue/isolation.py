"""Running tests each in a process of its own, so that nothing that ran before can be seen in their figures."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_membudget.core.isolation import Isolation
from pytest_membudget.glue.coverage_handover import take_over
from pytest_membudget.glue.delivery import deliver, end_session_if_told, log_report, tear_down_until
from pytest_membudget.glue.isolation_wanted import ISOLATION, isolation_for, stays_because
from pytest_membudget.glue.lost_process import lost_record, missing_reports
from pytest_membudget.glue.marker_names import has_budget
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.processes import Processes
from pytest_membudget.glue.toolbox import Toolbox
from pytest_membudget.glue.visit import Visit

# For pytest-timeout to end a test by itself, which says more than that it was killed.
GRACE_SECONDS = 3.0


class IsolationPlugin:
    """Takes over the protocol of each test that is to have a process of its own."""

    def __init__(self, config: pytest.Config, settings: Settings, toolbox: Toolbox, worker: str | None) -> None:
        self._config = config
        self._settings = settings
        self._toolbox = toolbox
        self._worker = worker
        self._stays = stays_because(config, settings)
        self._processes: Processes | None = None
        self._coverage: list[bytes] = []

    # Innermost: a process forked here has all that other plugins set up around the tests, such as the log file.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Be ready to start processes before the first test, and clear up after the last."""
        if self._stays is None:
            try:
                self._processes = Processes(session, self._toolbox, self._worker)
            except OSError as error:
                self._stays = f"no process can be started ({error.strerror})"
        try:
            return (yield)
        finally:
            if self._processes is not None:
                self._processes.close()
            take_over(self._coverage)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> bool | None:
        """Leave the timer to the test's own process; this one only sees to it that the process ends."""
        if not self._takes(item):
            return None
        assert self._processes is not None
        self._processes.most_seconds = settings.timeout + GRACE_SECONDS
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run the test elsewhere, and let everybody hear its reports as if it had run here."""
        if not self._takes(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self._run(item, item.stash[ISOLATION])
        tear_down_until(item, nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _takes(self, item: pytest.Item) -> bool:
        isolation = isolation_for(item, self._settings, self._stays)
        return isolation is not None and isolation.isolated

    def _run(self, item: pytest.Item, isolation: Isolation) -> None:
        assert self._processes is not None
        visit = self._processes.run(item, isolation)
        deliver(item, visit.messages)
        if seen := visit.told.get("coverage"):
            self._coverage.append(seen)
        end_session_if_told(visit.messages)
        if "finished" not in visit.told:
            self._report_lost(item, visit)

    def _report_lost(self, item: pytest.Item, visit: Visit) -> None:
        record = lost_record(item, visit, has_budget(item, self._settings), self._worker)
        for report in missing_reports(item, visit, record):
            log_report(item, report)
