"""A machine with GPUs: the C library, built once, and a state of its own for each test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.nvml.fake_gpu import STATE_VARIABLE, FakeGpus
from tests.project import Project, Run
from tests.project import project as project  # a fixture

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPILER = shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="session")
def library_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built library."""
    if COMPILER is None or not sys.platform.startswith("linux"):
        pytest.skip("the fake NVML library needs Linux and a C compiler")
    folder = tmp_path_factory.mktemp("nvml")
    name = "libnvidia-ml.so.1"
    flags = ["-O2", "-shared", "-fPIC", "-Wall", "-Werror", f"-Wl,-soname,{name}"]
    subprocess.run([COMPILER, *flags, "-o", str(folder / name), str(HERE / "fake_nvml.c")], check=True)
    return folder


@dataclass
class GpuProject:
    """A project whose tests run on a machine with GPUs that they can script."""

    project: Project
    gpus: FakeGpus
    library_folder: Path

    def write(self, source: str = "", **files: str) -> None:
        """Write ``test_it.py``; ``gpu`` is there for it, and the constants of sizes."""
        head = "import os, time, pytest\nfrom tests.nvml.fake_gpu import GIB, MIB, NOT_AVAILABLE, attached\n"
        self.project.write(**files, test_it=head + "gpu = attached()\n" + _dedent(source))

    def run(self, *args: str, environment: dict[str, str] | None = None, **how: Any) -> Run:
        """Run pytest with the JSON report, pynvml loading the fake library."""
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        machine = {
            "LD_LIBRARY_PATH": str(self.library_folder),
            STATE_VARIABLE: str(self.gpus.path),
            "PYTHONPATH": paths,
        }
        return self.project.measure(*args, environment={**machine, **(environment or {})}, **how)


def _dedent(source: str) -> str:
    from textwrap import dedent

    return dedent(source)


@pytest.fixture
def gpus(tmp_path: Path) -> FakeGpus:
    """One idle GPU."""
    return FakeGpus.create(tmp_path / "gpus.state")


@pytest.fixture
def gpu_project(project: Project, gpus: FakeGpus, library_folder: Path, monkeypatch: pytest.MonkeyPatch) -> GpuProject:
    """An empty project on a machine with one GPU."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    return GpuProject(project, gpus, library_folder)
