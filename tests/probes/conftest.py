"""Meters as the plugin puts them together, over functions of a test module."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pytest_membudget
from pytest_membudget.core.attribution import CodeMap
from pytest_membudget.probes.capture_folder import CaptureFolder
from pytest_membudget.probes.garbage import Collector
from pytest_membudget.probes.heap_meter import HeapFigures, HeapMeter, HeapPlan
from pytest_membudget.probes.meter import depth_below

NewHeapMeter = Callable[[HeapPlan], HeapMeter]
Metered = Callable[..., HeapFigures]


@pytest.fixture
def code_map() -> CodeMap:
    """The tests here are the user's code, and the package's rings are the plugin's own."""
    tests, package = Path(__file__).parent.parent, Path(pytest_membudget.__file__).parent
    return CodeMap(
        root=str(tests.parent),
        project=(f"{tests}/",),
        library=(sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")),
        own=tuple(f"{package / ring}/" for ring in ("core", "probes", "glue")),
    )


@pytest.fixture
def folder() -> Iterator[CaptureFolder]:
    """A folder for captures that leaves nothing behind."""
    folder = CaptureFolder()
    yield folder
    folder.close()


@pytest.fixture
def new_heap_meter(folder: CaptureFolder, code_map: CodeMap) -> Iterator[NewHeapMeter]:
    """Make heap meters that share one folder and one collector."""
    collector = Collector()
    yield lambda plan: HeapMeter(plan, folder, collector, code_map)
    collector.close()


@pytest.fixture
def metered(new_heap_meter: NewHeapMeter) -> Metered:
    """Measure a function: ``metered(work, HeapPlan())``."""

    def metered(work: Callable[[], object], plan: HeapPlan | None = None) -> HeapFigures:
        meter = new_heap_meter(plan or HeapPlan())
        meter.start(depth_below(0))
        held = work()
        figures = meter.stop()
        del held
        return figures

    return metered
