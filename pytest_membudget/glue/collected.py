"""Which tests there are, whether or not a run selects them: what pruning must know."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_membudget.store.environment import environment_key

NAME = "membudget-collected"
OUTPUT = "membudget_collected"


@dataclass
class Collected:
    """The files that one environment collected in whole, and the node ids of all tests that it found."""

    files: set[str] = field(default_factory=set)
    nodeids: set[str] = field(default_factory=set)

    def lacks(self, file: str, nodeid: str) -> bool:
        """Whether the file was collected in whole, and a test of that name was not in it."""
        return file in self.files and nodeid not in self.nodeids


class CollectedPlugin:
    """Notes what is collected, before anything is deselected.

    Under xdist the workers collect, and hand over what they noted when they end.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._collected = Collected()
        self._broken: set[str] = set()
        self.by_environment: dict[str, Collected] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Note a test."""
        self._collected.nodeids.add(item.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file, and whether a part of it was skipped or could not be collected."""
        file, inside, _ = report.nodeid.partition("::")
        if not report.passed:
            self._broken.add(file)
        elif not inside:
            self._collected.files.add(file)

    def pytest_collection_finish(self) -> None:
        """Count no file as collected in whole where the command line may have cut it short."""
        cut_short = self._config.getoption("lf", False) or any("::" in arg for arg in self._config.args)
        self._collected.files = set() if cut_short else self._collected.files - self._broken
        if self._collected.files:
            self.by_environment[environment_key()] = self._collected

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Hand over to the controller."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[OUTPUT] = {
                environment: [sorted(collected.files), sorted(collected.nodeids)]
                for environment, collected in self.by_environment.items()
            }
        return (yield)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over from a worker; of several in one environment only what all of them collected in whole."""
        handed: dict[str, Any] = getattr(node, "workeroutput", {}).get(OUTPUT, {})
        for environment, (files, nodeids) in handed.items():
            before = self.by_environment.get(environment, Collected(set(files)))
            self.by_environment[environment] = Collected(before.files & set(files), before.nodeids | set(nodeids))


def collected_by_environment(config: pytest.Config) -> dict[str, Collected]:
    """Return what was noted: nothing where nobody asked to prune."""
    plugin = config.pluginmanager.get_plugin(NAME)
    return plugin.by_environment if isinstance(plugin, CollectedPlugin) else {}
