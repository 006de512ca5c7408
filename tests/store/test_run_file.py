"""Reading a run back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.errors import BaselineError
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import Use
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.json_report import render_json
from pytest_membudget.store.baseline_file import render_baseline
from pytest_membudget.store.run_file import read_run, read_run_or_baseline
from tests.fakes import PROVENANCE, a_record, a_run, a_site, ram, rss

RUN = a_run(
    replace(
        a_record("a", uses={**ram(5, 10), Resource.RETAINED: Use(2, None, "memray")}, sites=(a_site(),)),
        provenance=PROVENANCE,
    ),
    a_record("b", None, rss(7), worker="gw1"),
    a_record("c", Outcome.NO_BASELINE, rss(7), reason="no entry", test_outcome="failed"),
)


def written(folder: Path, text: str) -> Path:
    """A file that somebody gives to the console script."""
    path = folder / "run.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_round_trip(tmp_path: Path) -> None:
    """What --membudget-json wrote is the run again."""
    path = written(tmp_path, render_json(RUN))

    assert read_run(path) == RUN
    assert read_run_or_baseline(path) == RUN


def test_a_baseline_is_told_from_a_run(tmp_path: Path) -> None:
    """Where both will do, either is read; where a run is wanted, the sentence says what it got."""
    baseline = Baseline({"cpython": {"a": Entry({"ram": 1})}})
    path = written(tmp_path, render_baseline(baseline))

    assert read_run_or_baseline(path) == baseline
    with pytest.raises(BaselineError) as refused:
        read_run(path)
    assert str(refused.value) == "run.json is a baseline, not a run: give a file that pytest --membudget-json wrote"


def changed(**changes: Any) -> str:
    """The run with other values at its top."""
    return json.dumps({**json.loads(render_json(RUN)), **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run.json is not JSON (Expecting value: line 1 column 1 (char 0)): was it written in full?"),
        (
            render_json(RUN)[:-3],
            "run.json is not JSON (Expecting ',' delimiter: line {end} column 4 (char {chars})): "
            "was it written in full?",
        ),
        (
            "[]",
            "run.json is neither a run (pytest --membudget-json) nor a baseline (pytest --membudget-update)",
        ),
        (
            '{"tests": []}',
            "run.json is neither a run (pytest --membudget-json) nor a baseline (pytest --membudget-update)",
        ),
        (changed(format=2), "run.json has format 2, and this version reads 1: update pytest-membudget"),
        (changed(environment={}), "run.json: its environment cannot be read ("),
        (changed(environment=5), "run.json: its environment cannot be read ("),
        (changed(tests=5), "run.json: its tests cannot be read ("),
        (changed(tests=[5]), "run.json: test 0 cannot be read ("),
        (changed(tests=[{"nodeid": "a::b"}]), "run.json: test 'a::b' cannot be read (it has no 'test_outcome')"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """One sentence: which file, which test, what is wrong."""
    with pytest.raises(BaselineError) as refused:
        read_run(written(tmp_path, text))

    end = {"end": text.count("\n") + 1, "chars": len(text)}
    assert str(refused.value).startswith(message.format(**end))
