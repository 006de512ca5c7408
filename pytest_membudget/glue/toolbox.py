"""What all tests of one process share: the folder of captures, the collector, the map of whose code is whose."""

from __future__ import annotations

import sys
import sysconfig
from dataclasses import dataclass, field, replace
from pathlib import Path

import pluggy
import pytest

import pytest_membudget
from pytest_membudget.core.attribution import CodeMap
from pytest_membudget.core.budget import Budget
from pytest_membudget.core.measurement import Resource, Unavailable
from pytest_membudget.glue.foreign_trackers import foreign_tracker
from pytest_membudget.glue.vram_tools import VramTools
from pytest_membudget.probes.capture_folder import CaptureFolder
from pytest_membudget.probes.child_processes import ChildProcesses
from pytest_membudget.probes.children_meter import ChildrenMeter
from pytest_membudget.probes.garbage import Collector
from pytest_membudget.probes.heap_meter import HeapMeter, HeapPlan
from pytest_membudget.probes.machine import total_ram_bytes
from pytest_membudget.probes.meter import Meter
from pytest_membudget.probes.resident_meter import new_resident_meter

FIXTURE = "membudget"
_HEAP = (Resource.RAM, Resource.RETAINED)
# What pytest and unittest run between our hook and the test, and what that calls in turn.
_STDLIB_HARNESS = (
    "unittest/case.py",
    "contextlib.py",
    "inspect.py",
    "pathlib.py",
    "functools.py",
    "logging/__init__.py",
)
# What a worker says to its controller between the phases of a test, and what its receiving thread takes in.
_WORKER_PACKAGES = ("execnet", "xdist")


@dataclass
class Toolbox:
    """Makes the meters of a process and cleans up after the last of them."""

    rootpath: Path
    freeze: bool
    vram: VramTools
    artifacts_folder: Path | None = None
    timelines: bool = True
    folder: CaptureFolder = field(default_factory=CaptureFolder)

    def __post_init__(self) -> None:
        self.collector = Collector(self.freeze)
        self._base_map = _code_map(self.rootpath)
        # One for all, so that a region inside a test does not set back the mark that the test is measured by.
        self._resident = new_resident_meter()
        self.resident_only = Meter(None, self._resident)
        self._maps: dict[Path, CodeMap] = {}

    def new_meter(self, item: pytest.Item, budget: Budget, measure_all: bool) -> Meter:
        """Return a meter for all that this test's budget needs."""
        wants_heap = measure_all or any(resource in budget.limits for resource in _HEAP)
        heap = self._heap_meter(item, budget) if wants_heap else None
        vram = self.vram.plan(budget, _opens_regions(item), self.collector.collect)
        children = ChildrenMeter(ChildProcesses(self.vram.own_processes)) if budget.children else None
        return Meter(heap, self._resident, vram, children)

    def new_region_meter(self, item: pytest.Item) -> Meter:
        """Return a meter for the regions of a test whose heap nobody else measures."""
        vram = self.vram.plan(Budget(), True, self.collector.collect)
        return Meter(self._heap_meter(item, Budget()), self._resident, vram)

    def total_bytes(self, resource: Resource) -> int | None:
        """Return what a percentage of a resource is a share of, or None if that is not known."""
        return self.vram.total_bytes() if resource is Resource.VRAM else total_ram_bytes()

    def close(self) -> None:
        """Remove what was written, unfreeze what was frozen."""
        self.folder.close()
        self.collector.close()
        self.vram.close()

    def _heap_meter(self, item: pytest.Item, budget: Budget) -> HeapMeter | Unavailable:
        if foreign := foreign_tracker(item):
            return foreign
        plan = HeapPlan(
            python_allocators="arenas" if budget.python_allocators == "arenas" else "exact",
            regions=_opens_regions(item),
            own_thread=budget.own_thread,
            holders=Resource.RETAINED in budget.limits,
            keep_capture=self.artifacts_folder is not None,
            children=budget.children,
            timeline=self.timelines,
        )
        return HeapMeter(plan, self.folder, self.collector, self._map_for(item))

    def _map_for(self, item: pytest.Item) -> CodeMap:
        """Count the package that a test belongs to as the project, wherever it is installed."""
        folder = item.path.parent
        if folder not in self._maps:
            self._maps[folder] = replace(self._base_map, project=(*self._base_map.project, f"{_package_of(folder)}/"))
        return self._maps[folder]


def _opens_regions(item: pytest.Item) -> bool:
    return FIXTURE in getattr(item, "fixturenames", ())


def _package_of(folder: Path) -> Path:
    """Return the outermost folder of the package that ``folder`` belongs to, or ``folder`` itself."""
    while (folder / "__init__.py").exists() and (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _code_map(rootpath: Path) -> CodeMap:
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    stdlib = sysconfig.get_path("stdlib")
    package = Path(pytest_membudget.__file__).parent
    harness_packages = {Path(module.__file__).parent for module in (pytest, pluggy) if module.__file__}
    harness_packages |= {folder.parent / "_pytest" for folder in harness_packages}
    return CodeMap(
        root=str(rootpath),
        project=(f"{rootpath}/",),
        library=tuple(sorted(str(path) for path in paths if path)),
        harness=(
            *(f"{folder}/" for folder in sorted(harness_packages)),
            *(f"{stdlib}/{name}" for name in _STDLIB_HARNESS),
        ),
        own=(*(f"{package / ring}/" for ring in ("core", "probes", "glue")), *_loaded(_WORKER_PACKAGES)),
    )


def _loaded(packages: tuple[str, ...]) -> list[str]:
    """Return the folders of those packages that are in use."""
    modules = [module for name in packages if (module := sys.modules.get(name))]
    return [f"{Path(module.__file__).parent}/" for module in modules if module.__file__]
