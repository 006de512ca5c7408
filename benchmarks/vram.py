"""What measuring GPU memory costs, and that an exact figure is exact.

Run it with ``python benchmarks/vram.py`` in a checkout, on Linux with a C compiler; no GPU is needed. Three figures:
without a GPU, plain and marked suites of 2,000 empty tests; with NVML's stand-in of the tests, a budgeted test under
sampling every 10 ms and the calls of the process list; with torch's stand-in, the byte that is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rounds import run_rounds

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

from tests.nvml.fake_gpu import STATE_VARIABLE, FakeGpus  # noqa: E402  # found through the line above

TRIVIAL = 2000
OURS = ("-p", "pytest_membudget.plugin")
FAKE = ROOT / "tests" / "nvml" / "fake_nvml.c"
MOVES = 20
WORKING = f"""
import time, pytest
from tests.nvml.fake_gpu import MIB, attached
gpu = attached()

def work():
    begun = time.process_time()
    total = 0
    for move in range({MOVES}):
        gpu.take(MIB)
        total += sum(n * n for n in range(400_000))
    return time.process_time() - begun

@pytest.mark.parametrize("n", range(5))
{{mark}}
def test_work(n, record_property):
    lists = gpu.state.list_calls
    record_property("seconds", work())
    record_property("lists", gpu.state.list_calls - lists)
"""
EXACT = """
import pytest
from tests.nvml.standin_torch import install
torch = install()
GIB, MIB = 2**30, 2**20

def taken():
    torch.empty(GIB)
    return torch.empty(256 * MIB)

@pytest.mark.membudget(vram="2GiB")
def test_first():
    held = taken()

@pytest.mark.membudget(vram="2GiB")
def test_from_the_reserve():
    held = taken()
"""


def cost_without_a_gpu(rounds: int) -> None:
    """Print ratio and milliseconds per test of suites with and without the marker."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tests = "\n".join(f"def test_{i}(): pass" for i in range(TRIVIAL))
        marks = {"unmarked": "", "rss": 'membudget(rss="64GiB")', "vram": 'membudget(vram="1GiB")'}
        for variant, mark in marks.items():
            module_mark = f"pytestmark = pytest.mark.{mark}\n" if mark else ""
            (folder / f"test_{variant}.py").write_text(f"import pytest\n{module_mark}{tests}\n")
        variants = {
            "without the plugin": ("test_unmarked.py",),
            "unmarked": (*OURS, "test_unmarked.py"),
            "rss": (*OURS, "test_rss.py"),
            "vram": (*OURS, "test_vram.py"),
        }
        timing = run_rounds(variants, folder, rounds)
    print(f"no GPU, vram= on none of {TRIVIAL:,} tests: {timing.ratio('unmarked', 'without the plugin'):.3f}x")
    for variant, base in (("vram", "without the plugin"), ("vram", "rss")):
        extra = (timing.median(variant) - timing.median(base)) / TRIVIAL * 1000
        print(f"no GPU, vram= on all: {extra:+.3f} ms per test beside {base}")


def cost_of_sampling(rounds: int) -> None:
    """Print how much longer a sampled test takes, and how often the process list was read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "libnvidia-ml.so.1"
        flags = ["-O2", "-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
        subprocess.run(["cc", *flags, "-o", str(library), str(FAKE)], check=True)
        marks = {"plain": "", "sampled": '@pytest.mark.membudget(vram="1GiB")'}
        for variant, mark in marks.items():
            (folder / f"test_{variant}.py").write_text(WORKING.format(mark=mark))
        ratios, lists = [], 0.0
        for _ in range(rounds):
            seconds = {}
            for variant in marks:
                seconds[variant], lists = _work(folder, variant)
            ratios.append(seconds["sampled"] / seconds["plain"])
    print(f"sampling every 10 ms: a test takes {statistics.median(ratios):.3f}x as long")
    print(f"process lists per change of the counter: {lists / MOVES:.2f}")


def _work(folder: Path, variant: str) -> tuple[float, float]:
    """Run one variant; return the least seconds of its tests, and the most lists that one of them read."""
    state = FakeGpus.create(folder / "gpus.state")
    environment = {"LD_LIBRARY_PATH": str(folder), STATE_VARIABLE: str(state.path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", *OURS, f"--junitxml={variant}.xml", f"test_{variant}.py"]
    _run(command, folder, environment)
    text = (folder / f"{variant}.xml").read_text()
    values = {key: [float(part.split('"')[0]) for part in text.split(f'name="{key}" value="')[1:]] for key in KEYS}
    return min(values["seconds"]), max(values["lists"])


KEYS = ("seconds", "lists")


def error_of_exact_sources() -> None:
    """Print by how many bytes the exact figure is off."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_exact.py").write_text(EXACT)
        command = [sys.executable, "-m", "pytest", "-q", *OURS, "--membudget-json=run.json", "test_exact.py"]
        _run(command, folder, {"PYTHONPATH": str(ROOT)})
        for test in json.loads((folder / "run.json").read_text())["tests"]:
            print(f"{test['nodeid']}: off by {test['vram']['peak_bytes'] - 2**30} bytes, by {test['vram']['source']}")


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    variables = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment
    subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    error_of_exact_sources()
    cost_of_sampling(given.rounds)
    cost_without_a_gpu(given.rounds)
