"""What the tests of one process need to have their GPU memory measured, made when the first of them asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_membudget.core.errors import OptionError
from pytest_membudget.glue.vram_options import DEFAULT_SOURCE, VramOptions, check_source

# The rest is imported when a test first calls for it: most runs of most suites budget no GPU memory.
if TYPE_CHECKING:
    from pytest_membudget.core.budget import Budget
    from pytest_membudget.probes.vram_plan import VramPlan
    from pytest_membudget.probes.vram_source import VramSource
    from pytest_membudget.probes.vram_workshop import VramWorkshop

Sources = tuple["VramSource", ...]


class VramTools:
    """Gives plans for measuring GPU memory.

    Parameters
    ----------
    added
        The sources that other plugins bring.
    workers
        How many processes run tests beside each other.
    """

    def __init__(self, options: VramOptions, added: Sources = (), workers: int = 1) -> None:
        self._options = options
        self._added = added
        self._workers = workers
        self._made: VramWorkshop | None = None

    def plan(self, budget: Budget, regions: bool, collect_garbage: Callable[[], None]) -> VramPlan | None:
        """Return what to measure for a test with this budget, or None; ``regions`` says that it may open some."""
        from pytest_membudget.core.measurement import Resource

        budgeted = Resource.VRAM in budget.limits
        if not budgeted and not regions:
            return None
        from pytest_membudget.probes.vram_plan import VramPlan

        prepare = partial(self._prepare, collect_garbage, may_fork=budget.children) if budgeted else None
        return VramPlan(self._workshop().meter, budget.vram_total, budgeted, prepare)

    def total_bytes(self) -> int | None:
        """Return the memory of the smallest GPU in sight, or None if it is not known."""
        return self._workshop().smallest_total_bytes()

    def own_processes(self) -> set[int]:
        """Return the ids of processes that measure, and are nobody's children."""
        return self._made.own_processes() if self._made is not None else set()

    def close(self) -> None:
        """Close what was opened."""
        if self._made is not None:
            self._made.close()

    def _prepare(self, collect_garbage: Callable[[], None], may_fork: bool) -> None:
        from pytest_membudget.probes.vram_housekeeping import bring_to_rest, warm_up

        bring_to_rest(collect_garbage)
        warm_up(self._options.warm_up, may_fork)

    def _workshop(self) -> VramWorkshop:
        from pytest_membudget.probes.vram_workshop import VramSettings, VramWorkshop

        if self._made is None:
            options = self._options
            self._made = VramWorkshop(
                VramSettings(options.source, options.interval_seconds, options.own_process, self._workers, self._added)
            )
        return self._made


def new_vram_tools(config: pytest.Config, options: VramOptions) -> VramTools:
    """Return the tools of this process.

    Raises
    ------
    OptionError
        What a hook offers is no source, or a source is pinned that nobody offers.
    """
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    added = _added_sources(config) if config.hook.pytest_membudget_vram_sources.get_hookimpls() else ()
    if options.source != DEFAULT_SOURCE:
        from pytest_membudget.probes.vram_workshop import BUILT_IN

        check_source(options, (*BUILT_IN, *(source.name for source in added)))
    return VramTools(options, added, workers)


def _added_sources(config: pytest.Config) -> Sources:
    """Return the sources of all plugins."""
    from pytest_membudget.probes.vram_source import VramSource

    offered = [source for some in config.hook.pytest_membudget_vram_sources(config=config) for source in _listed(some)]
    sources = tuple(source for source in offered if isinstance(source, VramSource))
    for stranger in (source for source in offered if not isinstance(source, VramSource)):
        raise OptionError(
            f"the hook pytest_membudget_vram_sources: {stranger!r} is no source of GPU figures: it needs name, exact, "
            "scope, cannot_see, unavailable(), reset(), in_use(), high_water() and close()"
        )
    return sources


def _listed(some: object) -> Iterable[object]:
    return some if isinstance(some, (list, tuple)) else [some]
