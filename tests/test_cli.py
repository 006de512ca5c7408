"""The console script, as a shell calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pytest_membudget.cli import main
from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.json_report import render_json
from pytest_membudget.store.baseline_file import read_baseline, render_baseline
from pytest_membudget.store.run_file import read_run
from tests.fakes import MIB, PROVENANCE, a_record, a_run

BASELINE = "membudget-baseline.json"
KEY = PROVENANCE.environment


@dataclass(frozen=True)
class Called:
    """What came of a call."""

    status: int
    out: str
    err: str


Membudget = Callable[..., Called]


@pytest.fixture
def membudget(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Membudget:
    """The script, called in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: str) -> Called:
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
        return Called(status, *capsys.readouterr())

    return call


def measured(
    nodeid: str = "a", ram_bytes: int = 10 * MIB, outcome: Outcome = Outcome.WITHIN, **changes: object
) -> TestRecord:
    """A test with a heap budget."""
    use = Use(ram_bytes, None, "memray", outcome=outcome)
    return replace(a_record(nodeid, outcome, {Resource.RAM: use}), **changes)  # type: ignore[arg-type]


def write_run(name: str, *records: TestRecord) -> None:
    """A file that --membudget-json wrote."""
    Path(name).write_text(render_json(a_run(*records)), encoding="utf-8")


def write_baseline(name: str = BASELINE, **entries: int) -> None:
    """A file that --membudget-update wrote."""
    tests = {nodeid: Entry({"ram": size}, "memray 1.20.0", "exact, isolated") for nodeid, size in entries.items()}
    Path(name).write_text(render_baseline(Baseline({KEY: tests})), encoding="utf-8")


def recorded() -> dict[str, int]:
    """The heap figures in the baseline."""
    return {nodeid: entry.figures["ram"] for nodeid, entry in read_baseline(Path(BASELINE)).environments[KEY].items()}


def test_help(membudget: Membudget) -> None:
    """What it is for, what it reads, and the commands that there are."""
    called = membudget("--help")

    assert called.status == 0
    assert called.out.startswith("usage: membudget [-h] [--version] COMMAND ...\n")
    for line in (
        "    compare   say what grew from one run or baseline to another",
        "    merge     make one run of several, such as the shards of a CI matrix",
        "    export    write a run in the format of a service that draws figures over",
        "    baseline  show a baseline, or record runs in it",
    ):
        assert line in called.out.splitlines()


@pytest.mark.parametrize(
    ("now_bytes", "status", "last_line"),
    [
        (10 * MIB, 0, "1 same"),
        (10 * MIB + 1, 0, "1 same"),
        (20 * MIB, 2, "1 regressed"),
        (5 * MIB, 4, "1 improved"),
    ],
)
@pytest.mark.parametrize("old_is_run", [True, False])
def test_compare(membudget: Membudget, now_bytes: int, status: int, last_line: str, old_is_run: bool) -> None:
    """Runs and baselines alike; the exit status says what a script wants to know."""
    if old_is_run:
        write_run("old.json", measured())
    else:
        write_baseline("old.json", a=10 * MIB)
    write_run("new.json", measured(ram_bytes=now_bytes))

    called = membudget("compare", "old.json", "new.json")

    assert (called.status, called.out.splitlines()[-1], called.err) == (status, last_line, "")


def test_compare_where_a_side_lacks_a_test(membudget: Membudget) -> None:
    """Status 3, unless something has grown as well."""
    write_baseline("old.json", a=10 * MIB, gone=5)
    write_run("same.json", measured(), measured("fresh"))
    write_run("grown.json", measured(ram_bytes=20 * MIB), measured("fresh"))

    assert membudget("compare", "old.json", "same.json").status == 3
    assert membudget("compare", "old.json", "grown.json").status == 2


def test_compare_leaves_out_what_a_baseline_cannot_know(membudget: Membudget) -> None:
    """A run with --membudget-all has heap peaks of tests without a budget: news beside a run only."""
    heap = a_record("no budget", None, {Resource.RAM: Use(MIB, None, "memray")})
    write_baseline("old.json", a=10 * MIB)
    write_run("old-run.json", measured())
    write_run("new.json", measured(), heap)

    assert membudget("compare", "old.json", "new.json").status == 0
    assert membudget("compare", "old-run.json", "new.json").status == 3


def test_compare_two_interpreters(membudget: Membudget) -> None:
    """There is nothing to compare, and the last line says why."""
    write_run("old.json", measured())
    write_run("new.json", measured(provenance=replace(PROVENANCE, environment="cpython-3.12-linux-x86_64")))

    called = membudget("compare", "old.json", "new.json")

    assert called.status == 3
    assert called.out.splitlines()[-1] == (
        "the two have no environment in common: old.json was measured on cpython-3.11-linux-x86_64, new.json on "
        "cpython-3.12-linux-x86_64"
    )


def test_compare_with_a_tolerance(membudget: Membudget) -> None:
    """As --membudget-tolerance takes it; a wrong one is a usage error."""
    write_run("old.json", measured())
    write_run("new.json", measured(ram_bytes=11 * MIB))

    assert membudget("compare", "old.json", "new.json", "--tolerance", "20%").status == 0
    wrong = membudget("compare", "old.json", "new.json", "--tolerance", "20")
    assert wrong.status == 64
    assert wrong.err.startswith("membudget: tolerance '20': '20' has no unit: ")


def test_merge(membudget: Membudget) -> None:
    """The shards of a matrix as one run."""
    write_run("one.json", measured("a"))
    write_run("two.json", measured("b"))

    called = membudget("merge", "one.json", "two.json", "-o", "all.json")

    assert called == Called(0, "", "")
    assert [record.nodeid for record in read_run(Path("all.json")).records] == ["a", "b"]
    assert json.loads(Path("all.json").read_text())["totals"]["tests"] == 2


def test_export(membudget: Membudget) -> None:
    """To standard output, or to a file."""
    write_run("run.json", measured())

    printed = membudget("export", "--format", "bencher", "run.json")
    membudget("export", "--format", "bencher", "run.json", "-o", "bmf.json")

    assert json.loads(printed.out) == {"a": {"ram-bytes": {"value": 10 * MIB}}}
    assert Path("bmf.json").read_text() == printed.out


def test_html(membudget: Membudget) -> None:
    """The page of a run that was written as JSON."""
    Path("run.json").write_text(render_json(a_run(measured("tests/test_a.py::test_a"))), encoding="utf-8")

    assert membudget("html", "run.json", "-o", "report.html") == Called(0, "", "")
    assert "<wbr>test_a<" in Path("report.html").read_text(encoding="utf-8")


def test_show(membudget: Membudget) -> None:
    """The baseline of this folder, unless another is named."""
    write_baseline(a=5)

    assert membudget("baseline", "show").out == f"{KEY}: 1 test\n       5 B  ram       a\n"
    assert membudget("baseline", "show", BASELINE, "--environment", KEY).status == 0
    other = membudget("baseline", "show", "--environment", "plan9")
    assert other == Called(64, "", f"membudget: {BASELINE} has no environment 'plan9': it has {KEY}\n")


def test_update_from_a_run_of_ci(membudget: Membudget) -> None:
    """What only regressed there, or had no entry, is accepted; what failed otherwise is not."""
    write_baseline(grew=10 * MIB, stays=7)
    write_run(
        "run.json",
        measured("grew", 20 * MIB, Outcome.REGRESSED, test_outcome="failed", failed_by_baseline=True),
        measured("fresh", 5, Outcome.NO_BASELINE, test_outcome="failed", failed_by_baseline=True),
    )

    called = membudget("baseline", "update-from", "run.json")

    assert called.out.splitlines() == [
        f"run.json into {BASELINE}: 1 added, 1 raised; it holds 3 entries",
        "raised: grew",
    ]
    assert recorded() == {"fresh": 5, "grew": 20 * MIB, "stays": 7}


def test_update_from_a_run_that_failed(membudget: Membudget) -> None:
    """It raises nothing."""
    write_baseline(grew=10 * MIB)
    write_run("run.json", measured("grew", 20 * MIB), measured("broken", test_outcome="failed"))

    called = membudget("baseline", "update-from", "run.json", "--mode", "all")

    assert called.out.splitlines()[-1].startswith("not raised, because the run failed: grew: ")
    assert recorded() == {"grew": 10 * MIB}


def test_update_begins_a_baseline(membudget: Membudget) -> None:
    """From several runs at once, where it is told to."""
    write_run("one.json", measured("a", 1))
    write_run("two.json", measured("b", 2))

    assert membudget("baseline", "update-from", "one.json", "two.json", "--baseline", BASELINE).status == 0
    assert recorded() == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("compare", "no.json", "run.json"), 66, "membudget: no.json: there is no such file"),
        (("compare", ".", "run.json"), 66, "membudget: .: cannot be opened (Is a directory)"),
        (
            ("compare", "text.txt", "run.json"),
            65,
            "membudget: text.txt is not JSON (Expecting value: line 1 column 1 (char 0)): was it written in full?",
        ),
        (
            ("merge", "run.json", BASELINE, "-o", "x.json"),
            65,
            f"membudget: {BASELINE} is a baseline, not a run: give a file that pytest --membudget-json wrote",
        ),
        (
            ("baseline", "show", "run.json"),
            65,
            "membudget: run.json is a run (--membudget-json), not a baseline: give the path of a file that pytest "
            "--membudget-update wrote",
        ),
        (
            ("merge", "run.json", "-o", "no/x.json"),
            73,
            "membudget: no/x.json: cannot be written (No such file or directory)",
        ),
        (
            ("baseline", "update-from", "run.json", "--baseline", "no/x.json"),
            73,
            "membudget: no/x.json: cannot be written (No such file or directory)",
        ),
    ],
)
def test_files_that_cannot_be_used(membudget: Membudget, arguments: tuple[str, ...], status: int, message: str) -> None:
    """One sentence, a status of 64 or more, and nothing written."""
    write_run("run.json", measured())
    write_baseline(a=5)
    Path("text.txt").write_text("nothing")

    assert membudget(*arguments) == Called(status, "", f"{message}\n")
    assert sorted(os.listdir()) == [BASELINE, "run.json", "text.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "membudget: the following arguments are required: COMMAND"),
        (("baseline",), "membudget baseline: the following arguments are required: COMMAND"),
        (("compare", "a"), "membudget compare: the following arguments are required: NEW"),
        (("merge", "a"), "membudget merge: the following arguments are required: -o/--output"),
    ],
)
def test_usage_errors(membudget: Membudget, arguments: tuple[str, ...], message: str) -> None:
    """Status 64: argparse's own 2 would say that a figure has grown."""
    called = membudget(*arguments)

    assert (called.status, called.err.splitlines()[0]) == (64, message)
    assert called.err.splitlines()[1].startswith("usage: membudget")


@pytest.mark.parametrize("arguments", [("frob",), ("export", "--format", "csv", "run.json")])
def test_unknown_commands_and_formats(membudget: Membudget, arguments: tuple[str, ...]) -> None:
    """Those that there are are named."""
    called = membudget(*arguments)

    assert called.status == 64
    assert "invalid choice" in called.err
    assert "bencher" in called.err or "compare" in called.err


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    """``membudget ... | head`` ends without a word."""
    baseline = Baseline({KEY: {f"t{number}": Entry({"ram": number}) for number in range(20_000)}})
    path = tmp_path / BASELINE
    path.write_text(render_baseline(baseline), encoding="utf-8")
    program = "import sys; from pytest_membudget.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "baseline", "show", str(path)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith(KEY)
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 0
