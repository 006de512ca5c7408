"""Letting the plugins of this process hear what happened to a test in another one."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_membudget.glue.visit import Message


def deliver(item: pytest.Item, messages: list[Message]) -> None:
    """Call the hooks for reports and warnings in the order in which they came up."""
    for kind, content in messages:
        if kind == "report":
            log_report(item, _report(item.config, content))
        elif kind == "warning":
            _log_warning(item, content)


def log_report(item: pytest.Item, report: pytest.TestReport) -> None:
    """Let everybody hear of a report."""
    item.ihook.pytest_runtest_logreport(report=report)


def _report(config: pytest.Config, data: dict[str, Any]) -> pytest.TestReport:
    report: pytest.TestReport = config.hook.pytest_report_from_serializable(config=config, data=data)
    return report


def _log_warning(item: pytest.Item, content: dict[str, Any]) -> None:
    warning = {**content, "warning_message": content["warning_message"].restore()}
    item.ihook.pytest_warning_recorded.call_historic(kwargs=warning)


def end_session_if_told(messages: list[Message]) -> None:
    """Raise what the test raised to end the session."""
    told = dict(messages)
    if "exit" in told:
        reason, code = told["exit"]
        pytest.exit(reason, code)
    if "interrupt" in told:
        raise KeyboardInterrupt


def tear_down_until(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Tear down what earlier tests of this process left set up and ``nextitem`` does not share.

    They left it for ``item``, which has not come here; an error in it is a report of ``item``'s.
    """
    plugins = item.config.pluginmanager
    needed = (plugins.get_plugin("runner"), plugins.get_plugin("capturemanager"))
    others = [plugin for plugin in plugins.get_plugins() if plugin not in needed]
    hook = plugins.subset_hook_caller("pytest_runtest_teardown", others)
    call = pytest.CallInfo.from_call(
        lambda: hook(item=item, nextitem=nextitem),
        when="teardown",
        reraise=(KeyboardInterrupt, pytest.exit.Exception),
    )
    if call.excinfo is not None:
        log_report(item, pytest.TestReport.from_item_and_call(item, call))
