"""What a user installs."""

from __future__ import annotations

import re
import sys
import zipfile
from importlib.metadata import distribution, entry_points, metadata
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import pytest_membudget
from tests.own_interpreter import in_own_interpreter

ROOT = Path(__file__).parent.parent
HEAVY = ("memray", "numpy", "torch", "psutil", "pynvml", "pytest_membudget.probes")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from the checkout."""
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    return zipfile.ZipFile(built)


def test_entry_point() -> None:
    """Pytest finds the plugin by itself."""
    (found,) = [point for point in entry_points(group="pytest11") if point.name == "membudget"]

    assert found.value == "pytest_membudget.plugin"


def test_metadata() -> None:
    """What the package index shows, and what pip goes by."""
    found = metadata("pytest-membudget")

    assert found["Name"] == "pytest-membudget"
    assert found["Requires-Python"] == ">=3.10"
    assert found["License-Expression"] == "MIT"
    assert "Framework :: Pytest" in found.get_all("Classifier", [])
    assert "Typing :: Typed" in found.get_all("Classifier", [])


def test_requirements() -> None:
    """Light ones for everybody, memray where it exists, numpy for the bundled suite alone."""
    required = distribution("pytest-membudget").requires or []
    by_name = {re.split(r"[^\w-]", requirement, maxsplit=1)[0]: requirement for requirement in required}

    assert set(by_name) == {"pytest", "psutil", "nvidia-ml-py", "filelock", "jinja2", "memray", "numpy"}
    assert by_name["pytest"] == "pytest>=8.2"
    assert by_name["memray"].startswith("memray>=1.19.1; platform_python_implementation == 'CPython' and ")
    assert "extra == 'suite'" in by_name["numpy"].replace('"', "'")


def test_version() -> None:
    """The installed version, and no other name springs into being."""
    assert pytest_membudget.__version__ == distribution("pytest-membudget").version
    with pytest.raises(AttributeError, match=r"^module 'pytest_membudget' has no attribute 'nothing'$"):
        _ = pytest_membudget.nothing


def test_public_names() -> None:
    """All of them are there."""
    assert [name for name in pytest_membudget.__all__ if getattr(pytest_membudget, name, None) is None] == []
    assert sorted(pytest_membudget.__all__) == pytest_membudget.__all__


def imported_by(module: str) -> list[str]:
    """Import a module; return the heavy ones that came with it."""
    __import__(module)
    return [name for name in HEAVY if name in sys.modules]


@pytest.mark.parametrize("module", ["pytest_membudget", "pytest_membudget.plugin"])
def test_importing_is_light(module: str) -> None:
    """A run that measures nothing loads nothing: pytest imports the plugin at every start."""
    assert in_own_interpreter(imported_by, module) == []


def use_a_public_name() -> list[str]:
    """Use what an annotation in a test would."""
    assert issubclass(pytest_membudget.NotMeasuredError, Exception)
    assert isinstance(pytest_membudget.Region, type)
    return imported_by("pytest_membudget")


def test_public_names_are_light() -> None:
    """A test that names the region's type does not pay for memray."""
    assert in_own_interpreter(use_a_public_name) == []


def test_wheel_has_the_marks_of_a_typed_package(wheel: zipfile.ZipFile) -> None:
    """Type checkers look for this file."""
    assert "pytest_membudget/py.typed" in wheel.namelist()


def test_wheel_has_the_schema(wheel: zipfile.ZipFile) -> None:
    """The one that describes the JSON report, as it is in the checkout."""
    name = "pytest_membudget/reports/run.schema.json"

    assert wheel.read(name) == (ROOT / name).read_bytes()


def test_wheel_has_every_module_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    """No tests, no caches."""
    package = ROOT / "pytest_membudget"
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}

    assert found == expected
