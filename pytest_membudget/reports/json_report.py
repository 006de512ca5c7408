"""The whole run as JSON."""

from __future__ import annotations

import json

from pytest_membudget.core.record import to_plain
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.core.vram_record import device_names

# 1: the first.
FORMAT = 1


def render_json(run: RunReport) -> str:
    """Return the run in the format that ``run.schema.json`` describes, one test a line; all sizes are bytes."""
    environment = run.environment
    assert environment is not None, "a file without its environment compares with nothing"
    document = {
        "format": FORMAT,
        "tool": dict(environment.tools),
        "environment": {
            "key": environment.key,
            "cpu_count": environment.cpu_count,
            "total_ram_bytes": environment.total_ram_bytes,
            "commit": environment.commit,
            "devices": device_names(use.vram for record in run.records for use in record.uses.values() if use.vram),
        },
        "totals": {
            "tests": len(run.records),
            "budgeted": len(run.budgeted),
            "over_budget": run.count(Outcome.OVER_BUDGET),
            "regressed": run.count(Outcome.REGRESSED),
            "no_baseline": run.count(Outcome.NO_BASELINE),
            "not_measured": run.count(Outcome.NOT_MEASURED),
        },
    }
    records = sorted(run.records, key=lambda record: (record.nodeid, record.worker or ""))
    head = json.dumps(document, indent=2, ensure_ascii=False).removesuffix("\n}")
    rows = ",\n".join("    " + json.dumps(to_plain(record), ensure_ascii=False) for record in records)
    text = f'{head},\n  "tests": [\n{rows}\n  ]\n}}\n'
    # A file name that is no valid text puts lone surrogates into node ids, which UTF-8 cannot hold but JSON can escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
