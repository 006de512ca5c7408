"""How exact isolation is, and what it costs.

    python benchmarks/isolation.py exactness [--orders 12]
    python benchmarks/isolation.py cost [--rounds 5]

``exactness`` runs ``benchmarks/mixed_suite`` in random orders, under ``-n 2`` and test by test, and compares bytes.
``cost`` times the same small tests in the process of the session and each in one of its own, in turn, in a session
that holds 100 MiB; medians over rounds.
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

SUITE = Path(__file__).parent / "mixed_suite"
Peaks = dict[str, int]

# Held by the process of the session from before the fork, as modules and data of a real suite are.
_HELD = "HELD = b'x' * (100 * 2**20)\n"
_COST_TESTS = """
import pytest

@pytest.mark.membudget("1MiB", isolate={isolate})
@pytest.mark.parametrize("number", range({count}))
def test_small(number):
    held = bytearray(1000)
"""
_COUNT = 60


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("exactness").add_argument("--orders", type=int, default=12)
    commands.add_parser("cost").add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if args.command == "exactness":
        compare_bytes(args.orders)
    else:
        compare_times(args.rounds)


def compare_bytes(orders: int) -> None:
    """Print what differs between runs that should not."""
    # One that does not count: it compiles the modules, which the others read.
    _run_suite(0)
    runs = [_run_suite(seed) for seed in range(orders)]
    workers = _run_suite(0, "-n2", "-p", "xdist.plugin")
    alone = {name: _run_suite(0, name)[name] for name in runs[0]}
    identical = {name for name in runs[0] if len({run[name] for run in runs}) == 1}
    everywhere = {name for name in identical if workers[name] == alone[name] == runs[0][name]}
    print(f"{len(runs[0])} tests, {orders} random orders")
    print(f"identical to the byte in all orders: {len(identical)} ({len(identical) / len(runs[0]):.0%})")
    print(f"the same bytes under -n 2 and alone by node id as well: {len(everywhere)}")
    for name in sorted(set(runs[0]) - everywhere):
        seen = sorted({run[name] for run in runs})
        print(
            f"  {name}: {seen[0]:,} to {seen[-1]:,} bytes, {(seen[-1] - seen[0]) / seen[0]:.4%} apart; "
            f"-n 2: {workers[name] - seen[0]:+,}, alone: {alone[name] - seen[0]:+,}"
        )


def _run_suite(order: int, *args: str) -> Peaks:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "run.json"
        _pytest(SUITE, {"ORDER": str(order)}, f"--membudget-json={report}", *args)
        tests = json.loads(report.read_text(encoding="utf-8"))["tests"]
    return {test["nodeid"]: test["ram"]["peak_bytes"] for test in tests}


def compare_times(rounds: int) -> None:
    """Print what a process of its own adds to a test, the start of the zygote included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(_HELD)
        for isolate in (False, True):
            (folder / f"test_{isolate}.py").write_text(_COST_TESTS.format(isolate=isolate, count=_COUNT))
        variants = {str(isolate): ("-p", "membudget", f"test_{isolate}.py") for isolate in (False, True)}
        timing = run_rounds(variants, folder, rounds)
    for kind in ("wall", "cpu"):
        added = [(getattr(spent["True"], kind) - getattr(spent["False"], kind)) / _COUNT for spent in timing.rounds]
        common = [getattr(spent["False"], kind) / _COUNT for spent in timing.rounds]
        print(
            f"{kind}: isolation adds {statistics.median(added) * 1e3:.1f} ms to a test "
            f"(from {min(added) * 1e3:.1f} to {max(added) * 1e3:.1f} in {rounds} rounds); "
            f"in process a test and its share of the session take {statistics.median(common) * 1e3:.1f} ms"
        )


def _pytest(folder: Path, environment: dict[str, str], *args: str) -> None:
    settings = ["-c", os.devnull, f"--rootdir={folder}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "membudget", *settings, *args]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
