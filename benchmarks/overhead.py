"""What the plugin costs, beside plain pytest and beside pytest-memray.

Run it with ``python benchmarks/overhead.py`` where pytest-membudget, pytest-memray and numpy are installed. Ratios are
of processor seconds of whole pytest runs, medians over rounds (``--rounds``, five unless told).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rounds import Timing, run_rounds

OURS = ("-p", "pytest_membudget.plugin")
THEIRS = ("-p", "pytest_memray.plugin")
TRIVIAL, BUDGETED, WORKING = 2000, 300, 12

ARRAYS = """
import numpy as np
x = np.random.default_rng(0).standard_normal((600, 600))
{mark}
@pytest.mark.parametrize("i", range({count}))
def test_arrays(i):
    y = x @ x
    for _ in range(12):
        y = (y - y.mean(axis=0)) / y.std(axis=0) @ x
"""
OBJECTS = """
{mark}
@pytest.mark.parametrize("i", range({count}))
def test_objects(i):
    rows = [{{"n": n, "name": str(n), "parts": [n, n + 1]}} for n in range(60_000)]
    assert sum(row["n"] for row in rows)
"""


def trivial(count: int, mark: str = "") -> str:
    """Return a module of empty tests."""
    return f"import pytest\n{mark}\n" + "\n".join(f"def test_{i}(): pass" for i in range(count))


def working(body: str, mark: str) -> str:
    """Return a module of tests that do some work."""
    return "import pytest\n" + body.format(mark=mark, count=WORKING)


def write_suites(folder: Path) -> None:
    """Write the measured suites."""
    marks = {
        "plain": "",
        "ours": '@pytest.mark.membudget("4GiB")',
        "arenas": '@pytest.mark.membudget("4GiB", python_allocators="arenas")',
        "theirs": '@pytest.mark.limit_memory("4GB")',
    }
    (folder / "test_trivial.py").write_text(trivial(TRIVIAL))
    for name, mark in marks.items():
        module_mark = mark.replace("@", "pytestmark = ")
        (folder / f"test_budgeted_{name}.py").write_text(trivial(BUDGETED, module_mark))
        (folder / f"test_arrays_{name}.py").write_text(working(ARRAYS, mark))
        (folder / f"test_objects_{name}.py").write_text(working(OBJECTS, mark))


def time_idle(folder: Path, rounds: int) -> None:
    """Print what a suite without budgets pays."""
    variants = {
        "plain": ["test_trivial.py"],
        "installed": [*OURS, "test_trivial.py"],
        "report": [*OURS, "--membudget-report", "test_trivial.py"],
    }
    timing = run_rounds(variants, folder, rounds)
    say(f"{TRIVIAL} trivial tests, nothing budgeted, to plain pytest", timing.ratio("installed", "plain"), 1.02)
    say("the same with --membudget-report", timing.ratio("report", "plain"), 1.15)


def time_budgeted(folder: Path, rounds: int) -> None:
    """Print what a budgeted trivial test costs above an unbudgeted one, to pytest-memray."""
    variants = {
        "plain": ["test_budgeted_plain.py"],
        "ours": [*OURS, "test_budgeted_ours.py"],
        "theirs": [*THEIRS, "test_budgeted_theirs.py"],
    }
    timing = run_rounds(variants, folder, rounds)
    say(f"{BUDGETED} budgeted trivial tests, to pytest-memray", timing.ratio("ours", "theirs", less="plain"), 0.75)
    each = {name: (timing.median(name) - timing.median("plain")) / BUDGETED * 1e3 for name in ("ours", "theirs")}
    print(f"    each: {each['ours']:.1f} ms, pytest-memray {each['theirs']:.1f} ms")


def time_working(folder: Path, rounds: int) -> None:
    """Print what measuring costs code that works on arrays, and code that makes objects."""
    traced = "--trace-python-allocators"
    for work, exact_to, bound in (("arrays", "theirs", 1.1), ("objects", "theirs traced", 1.0)):
        variants = {
            "ours": [*OURS, f"test_{work}_ours.py"],
            "arenas": [*OURS, f"test_{work}_arenas.py"],
            "theirs": [*THEIRS, f"test_{work}_theirs.py"],
            "theirs traced": [*THEIRS, traced, f"test_{work}_theirs.py"],
        }
        timing: Timing = run_rounds(variants, folder, rounds)
        what = "default" if exact_to == "theirs" else traced
        say(f"{work}: exact, to pytest-memray's {what}", timing.ratio("ours", exact_to), bound)
        say(f"{work}: arenas, to pytest-memray's default", timing.ratio("arenas", "theirs"), 1.0)


def say(what: str, ratio: float, bound: float) -> None:
    """Print a ratio beside what it is to reach."""
    print(f"{what}: {ratio:.3f}x (to reach: {bound:.2f}x){'' if ratio <= bound else '  MISSED'}", flush=True)


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suites(folder)
        for compare in (time_idle, time_budgeted, time_working):
            compare(folder, rounds)


if __name__ == "__main__":
    main()
