"""Does the baseline cry wolf, and does it sleep? The mixed suite against its own baseline.

Run it with ``python benchmarks/alarms.py [--runs 20]``. Half of the runs change nothing, in random orders, with a
tolerance of 0.5 %: no test may be accused. In the other half every test whose peak is over 2 MiB holds 6 % more, with
the 5 % that are tolerated unless told otherwise: each must be accused.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LEAST_BYTES = 2 * 2**20
GROWTH = 0.06


def main() -> None:
    """Print how many runs were right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, 0, {}, "--membudget-update=all")
        peaks = run(folder, 0, {}, "--membudget-update=all")
        large = {nodeid: int(size * GROWTH) for nodeid, (size, _) in peaks.items() if size > LEAST_BYTES}
        quiet = [accused(run(folder, order, {}, "--membudget-tolerance=0.5%")) for order in range(runs)]
        grown = [accused(run(folder, order, large)) for order in range(runs)]
    print(f"unchanged, tolerance 0.5 %: {quiet.count(set())} runs of {runs} accuse nobody", *filter(None, quiet))
    right = sum(found >= set(large) for found in grown)
    print(f"6 % more in {len(large)} tests over 2 MiB, tolerance 5 %: {right} runs of {runs} accuse all of them")


def run(folder: Path, order: int, growth: dict[str, int], *options: str) -> dict[str, tuple[int, str]]:
    """Return peak and outcome of each test."""
    report = folder / "run.json"
    settings = ["-c", os.devnull, f"--rootdir={HERE / 'mixed_suite'}", "-p", "no:cacheprovider"]
    plugins = ["-p", "membudget", "-p", "inject_growth"]
    files = [f"--membudget-baseline={folder / 'baseline.json'}", f"--membudget-json={report}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *settings, *plugins, *files, *options, "."],
        cwd=HERE / "mixed_suite",
        env=os.environ
        | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(HERE), "OPENBLAS_NUM_THREADS": "1"}
        | {"ORDER": str(order or ""), "GROWTH": json.dumps(growth)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    tests = json.loads(report.read_text(encoding="utf-8"))["tests"]
    return {test["nodeid"]: (test["ram"]["peak_bytes"], test["outcome"]) for test in tests}


def accused(tests: dict[str, tuple[int, str]]) -> set[str]:
    """Return the tests that are said to have regressed."""
    return {nodeid for nodeid, (_, outcome) in tests.items() if outcome == "REGRESSED"}


if __name__ == "__main__":
    main()
