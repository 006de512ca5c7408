"""What a baseline of 20,000 entries costs a session: reading it and judging against it, and updating it.

Run as ``python benchmarks/baseline.py``. Each figure is the median processor time of several rounds, in milliseconds,
with the limit that it has to keep; the first is what a session of 20,000 tests takes more with a baseline than without.
The exit status is 1 when one is over its limit.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.budget import BaselineOnly, Budget
from pytest_membudget.core.measurement import Frame, Measurement, Reading, Resource, Site
from pytest_membudget.core.record import TestRecord, record_of
from pytest_membudget.core.recording import Update, recorded
from pytest_membudget.core.verdict import judge
from pytest_membudget.glue.baseline_options import BaselineSettings
from pytest_membudget.glue.comparing import Comparer
from pytest_membudget.store.baseline_file import read_baseline, render_baseline, rewrite_baseline
from pytest_membudget.store.environment import environment_key, heap_tool

ENTRIES = 20_000
ROUNDS = 7
LIMITS_MS = {"read and judge": 300, "update": 2000}
BUDGET = Budget({Resource.RAM: BaselineOnly()}, {Resource.RAM: "on the test"})
NODEIDS = [
    f"tests/unit/area_{n % 97}/test_module_{n % 731}.py::TestGroup::test_case[{n}-parameter]" for n in range(ENTRIES)
]
MEASUREMENT = Measurement(
    {Resource.RAM: Reading(26_012_672, "memray")},
    tuple(Site((5 - n) << 20, Frame(f"src/pkg/module_{n}.py", n, f"function_{n}"), "x = y") for n in range(5)),
)


def a_baseline() -> Baseline:
    """Return a baseline as a suite of that size would have it: five call sites an entry."""
    sites = {f"src/pkg/module_{n}.py:function_{n}": (5 - n) << 20 for n in range(5)}
    entry = Entry({"ram": 26_012_672}, heap_tool(), "exact, isolated", sites=sites)
    return Baseline({environment_key(): dict.fromkeys(NODEIDS, entry)})


def milliseconds(step: Callable[[], object]) -> float:
    """Return the median time of a step."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    return statistics.median(times) * 1000


def judge_all(path: Path, baseline: Baseline) -> list[TestRecord]:
    """Judge every test, and make its record."""
    comparer = Comparer(BaselineSettings(path, exists=bool(len(baseline))), baseline, path.parent, path.parent)
    limits = {Resource.RAM: None}
    records = []
    for nodeid in NODEIDS:
        verdict = judge(limits, MEASUREMENT, comparer.yardstick(nodeid, BUDGET, isolated=True))
        records.append(
            record_of(nodeid, "passed", MEASUREMENT, verdict, None, comparer.provenance(BUDGET, isolated=True))
        )
    return records


def update(path: Path, records: list[TestRecord]) -> None:
    """Record every figure of a run, all of them changed."""
    rewrite_baseline(path, lambda baseline: recorded(baseline, records, Update.ALL, run_failed=False).baseline)


def main() -> int:
    """Measure, and print a line for each figure."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "membudget-baseline.json")
        text = render_baseline(a_baseline())
        path.write_text(text, encoding="utf-8")
        records = judge_all(path, a_baseline())
        grown = [
            replace(record, uses={Resource.RAM: replace(record.use(Resource.RAM), peak_bytes=30_000_000 + n)})
            for n, record in enumerate(records)
        ]

        def update_afresh() -> None:
            path.write_text(text, encoding="utf-8")
            update(path, grown)

        sys.stdout.write(f"{ENTRIES:,} entries, {len(text) / 1e6:.1f} MB\n")
        without_ms = milliseconds(lambda: judge_all(path, Baseline()))
        with_ms = milliseconds(lambda: judge_all(path, read_baseline(path)))
        sys.stdout.write(f"{'of which read':<16}{milliseconds(lambda: read_baseline(path)):8.0f} ms\n")
        took_ms = {
            "read and judge": with_ms - without_ms,
            "update": milliseconds(update_afresh),
        }
    for name, took in took_ms.items():
        sys.stdout.write(f"{name:<16}{took:8.0f} ms, limit {LIMITS_MS[name]} ms\n")
    return int(any(took > LIMITS_MS[name] for name, took in took_ms.items()))


if __name__ == "__main__":
    sys.exit(main())
