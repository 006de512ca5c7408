"""Do the figures depend on what ran before? The same tests in random orders, in one process, exact mode.

Run it with ``python benchmarks/order.py`` where pytest-membudget and numpy are installed; prints the spread of each
test's heap peak over the orders, and of pytest-memray's default beside it where that is installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ORDERS = 12
# One-time costs (imports, the first BLAS call, compiled patterns) are paid by ``conftest.py`` before any test.
CONFTEST = """
import json, re, random
import numpy as np
a = np.ones((64, 64)); a @ a
np.linalg.svd(np.random.default_rng(0).standard_normal((9, 9))); np.sort(a); json.loads(json.dumps({"a": [1.5, None]}))
def pytest_addoption(parser):
    parser.addoption("--order", type=int)
def pytest_collection_modifyitems(config, items):
    random.Random(config.getoption("--order")).shuffle(items)
"""
SUITE = """
import json, random
from dataclasses import dataclass
import numpy as np, pytest
pytestmark = MARK
@dataclass
class Point:
    x: float
    y: float
class Node:
    def __init__(self): self.me = self
def test_product(): a = np.ones((400, 400)); a @ a
def test_sort(): np.sort(np.arange(500_000)[::-1])
def test_svd(): np.linalg.svd(np.random.default_rng(0).standard_normal((120, 120)))
def test_dicts(): rows = [{"n": n, "square": n * n} for n in range(50_000)]
def test_strings(): words = [str(n) * 3 for n in range(80_000)]
def test_json(): json.loads(json.dumps([{"n": n, "half": n / 2} for n in range(10_000)]))
def test_points(): points = [Point(n / 3, n / 7) for n in range(40_000)]
def test_cycles():
    for _ in range(30_000): Node()
def test_sets(): numbers = {n * 7919 for n in range(60_000)}
def test_bytes(): blocks = [bytes(n % 900) for n in range(20_000)]
def test_concatenate(): np.concatenate([np.ones(20_000) for _ in range(40)])
"""


def peaks(folder: Path, order: int) -> dict[str, int]:
    """Return the heap peak of each test in one run, in bytes."""
    report = folder / "run.json"
    options = ["-p", "pytest_membudget.plugin", f"--membudget-json={report}", f"--order={order}"]
    run(folder, options, 'pytest.mark.membudget("2GiB")')
    tests = json.loads(report.read_text())["tests"]
    return {test["nodeid"].partition("::")[2]: test["ram"]["peak_bytes"] for test in tests}


def peaks_of_pytest_memray(folder: Path, order: int) -> dict[str, int]:
    """Return what pytest-memray says in its summary, in bytes as far as it rounds them."""
    options = ["-p", "pytest_memray.plugin", "--memray", "--most-allocations=0", f"--order={order}"]
    text = run(folder, options, 'pytest.mark.filterwarnings("default")')
    result = r"Allocation results for \S+::(\S+) .*?Total memory allocated: ([\d.]+)([KMG]?i?B)"
    found = re.findall(result, text, re.DOTALL)
    units = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
    return {name: int(float(number) * units[unit]) for name, number, unit in found}


def run(folder: Path, options: list[str], mark: str) -> str:
    """Run the suite once and return what pytest printed."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_order.py").write_text(SUITE.replace("MARK", mark))
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=folder).stdout


def spreads(runs: list[dict[str, int]]) -> dict[str, float]:
    """Return (largest - smallest) / smallest by test."""
    found = {name: [run[name] for run in runs] for name in runs[0]}
    return {name: (max(values) - min(values)) / max(min(values), 1) for name, values in found.items()}


def main() -> None:
    """Print a line per test."""
    orders = [random.Random(seed).randrange(10**6) for seed in range(ORDERS)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = spreads([peaks(folder, order) for order in orders])
        memray = importlib.util.find_spec("pytest_memray")
        theirs = spreads([peaks_of_pytest_memray(folder, order) for order in orders]) if memray else {}
    print(f"spread of the peak over {ORDERS} random orders (largest - smallest) / smallest")
    for test, spread in sorted(ours.items()):
        beside = f"   pytest-memray {theirs[test]:9.2%}" if test in theirs else ""
        print(f"  {test:18} {spread:9.4%}{beside}")
    print(f"largest: {max(ours.values()):.4%} (to reach: 0.3%)")


if __name__ == "__main__":
    main()
