"""The pytest plugin: registers, nothing else."""

from __future__ import annotations

import pytest

from pytest_membudget.core.errors import OptionError
from pytest_membudget.glue import hookspecs
from pytest_membudget.glue.marker_names import LIMIT_MEMORY_HELP, MARKER_HELP
from pytest_membudget.glue.options import add_options, read_settings
from pytest_membudget.glue.session import OffPlugin, RunPlugin, baseline_of
from pytest_membudget.glue.single_test import SINGLE_TEST, read_single_test
from pytest_membudget.glue.vram_tools import new_vram_tools


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register options and ini keys."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the hooks that others may implement."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """In an interpreter that was started for a single test, leave out of the arguments what is for all of them."""
    if test := read_single_test(config):
        from pytest_membudget.glue.spawned import narrow

        narrow(config, test)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings and register the plugins that act on them."""
    config.addinivalue_line("markers", MARKER_HELP)
    try:
        settings = read_settings(config)
        baseline = baseline_of(settings)
        vram = new_vram_tools(config, settings.vram)
    except OptionError as error:
        raise pytest.UsageError(f"pytest-membudget: {error}") from None
    alone = config.stash.get(SINGLE_TEST, None)
    worker = alone.worker if alone else getattr(config, "workerinput", {}).get("workerid")
    if settings.read_limit_memory:
        # The name is pytest-memray's: registered only where the user has asked for it to be read.
        config.addinivalue_line("markers", LIMIT_MEMORY_HELP)
    if not settings.enabled:
        config.pluginmanager.register(OffPlugin(), "membudget-off")
    else:
        config.pluginmanager.register(RunPlugin(config, settings, vram, worker, alone, baseline), "membudget-run")
    if alone:
        from pytest_membudget.glue.spawned import SpawnedPlugin

        config.pluginmanager.register(SpawnedPlugin(config, alone), "membudget-alone")
