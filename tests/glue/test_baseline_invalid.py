"""A baseline, or an option of it, that cannot be used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.glue.recorded_project import BASELINE, SOURCE, UPDATE, entries_of, record, text_of
from tests.project import Project

CONFLICT = '{\n"format": 1,\n<<<<<<< HEAD\n"environments": {}\n=======\n>>>>>>> x\n}\n'


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--membudget-baseline=nowhere.json",),
            "--membudget-baseline: 'nowhere.json' does not exist: record it with --membudget-update",
        ),
        (("--membudget-baseline=.",), "--membudget-baseline: '.' is a folder: name a JSON file"),
        (
            ("--membudget-missing-baseline=no",),
            "--membudget-missing-baseline: 'no' is unknown: write warn, fail or ignore",
        ),
        (
            ("--membudget-tolerance=5",),
            "--membudget-tolerance: tolerance '5': '5' has no unit: write \"5B\" for bytes, or \"5MiB\"; "
            'write "5%", "1MiB", "5%+64KiB" or, by resource, "ram=5%+64KiB, rss=20%"',
        ),
    ],
)
def test_options(project: Project, args: tuple[str, ...], message: str) -> None:
    """One sentence, and no test runs."""
    project.write(SOURCE)

    run = project.run(*args)

    assert run.err.strip() == f"ERROR: pytest-membudget: {message}"
    assert run.exit_code == 4


def test_a_folder_that_does_not_exist(project: Project) -> None:
    """Said before the tests run, and not after."""
    project.write(SOURCE)

    run = project.run("--membudget-baseline=no/where.json", UPDATE)

    assert run.err.startswith("ERROR: pytest-membudget: --membudget-baseline: the folder '")
    assert run.err.strip().endswith("does not exist: create it, or choose another place")


def test_unknown_mode(project: Project) -> None:
    """The usage error shows the modes there are."""
    project.write(SOURCE)

    run = project.run(f"{UPDATE}=everything")

    assert (
        "argument --membudget-update/--membudget-update=new/--membudget-update=changed/--membudget-update=all: ignored "
        "explicit argument 'everything'"
    ) in run.err
    assert run.exit_code == 4


@pytest.mark.parametrize("how", [(), (UPDATE,), ("-n2",)])
def test_a_file_that_is_refused(project: Project, how: tuple[str, ...]) -> None:
    """Before any test runs, with one sentence, untouched."""
    project.write(SOURCE)
    project.write_file(BASELINE, CONFLICT)

    run = project.run(*how, plugins=("xdist",))

    assert run.err.strip() == (
        f"ERROR: pytest-membudget: {BASELINE} line 3: a merge conflict: keep the lines of either side, delete the "
        "markers, then record what differs with pytest --membudget-update"
    )
    assert run.exit_code == 4
    assert text_of(project) == CONFLICT


def test_switched_off(project: Project) -> None:
    """Then nobody reads it."""
    project.write(SOURCE)
    project.write_file(BASELINE, CONFLICT)

    assert project.run("--no-membudget").last_line == "2 passed"


def test_a_file_that_breaks_while_the_tests_run(project: Project) -> None:
    """A merge in another window: the run says that it recorded nothing, and fails for it."""
    project.write(
        f"""
        import pathlib
        import pytest

        @pytest.mark.membudget("baseline")
        def test_merges():
            pathlib.Path({BASELINE!r}).write_text({CONFLICT!r})
        """
    )

    run = project.run(UPDATE)

    assert run.section[-1].startswith(f"nothing was recorded: {BASELINE} line 3: a merge conflict")
    assert run.exit_code == 1
    assert text_of(project) == CONFLICT


def test_a_baseline_that_cannot_be_written(project: Project) -> None:
    """A folder in its place, made while the tests run: said at the end, and the run fails for it."""
    project.write(
        f"""
        import pathlib
        import pytest

        @pytest.mark.membudget("baseline")
        def test_blocks():
            pathlib.Path({BASELINE!r}).mkdir()
        """
    )

    run = project.run(UPDATE)

    assert run.section[-1].startswith("nothing was recorded: '")
    assert run.section[-1].endswith(f"{BASELINE}' cannot be written (Is a directory)")
    assert run.exit_code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to the superuser")
def test_a_read_only_folder(project: Project) -> None:
    """Nothing is lost, and nothing half written stays behind."""
    project.write(SOURCE)
    record(project)
    before = text_of(project)
    project.path.chmod(0o555)
    try:
        run = project.run(f"{UPDATE}=all", environment={"MIB": "6"})
    finally:
        project.path.chmod(0o755)

    assert run.section[-1].endswith("cannot be written (Permission denied)")
    assert text_of(project) == before


def test_two_runs_at_once(project: Project) -> None:
    """Each waits for the other: both leave all of their entries."""
    body = "import pytest\n@pytest.mark.membudget('baseline')\n@pytest.mark.parametrize('n', range(20))\n"
    project.write_file("test_one.py", f"{body}def test_one(n): pass\n")
    project.write_file("test_two.py", f"{body}def test_two(n): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "membudget", UPDATE]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    runs = [
        subprocess.Popen([*command, file], cwd=project.path, env=environment, stdout=subprocess.DEVNULL)
        for file in ("test_one.py", "test_two.py")
    ]

    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    assert len(entries_of(project)) == 40


_KILLED = """
import os, signal, sys
from pathlib import Path
from pytest_membudget.core.baseline import Baseline
from pytest_membudget.store import atomic_file
from pytest_membudget.store.baseline_file import rewrite_baseline

atomic_file.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
rewrite_baseline(Path(sys.argv[1]), lambda _: Baseline())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_in_the_middle_of_writing(project: Project) -> None:
    """The old file is whole, and the next run is not kept waiting."""
    project.write(SOURCE)
    record(project)
    before = text_of(project)

    killed = subprocess.run([sys.executable, "-c", _KILLED, str(Path(project.path, BASELINE))], check=False)

    assert killed.returncode == -signal.SIGKILL
    assert text_of(project) == before
    assert record(project).exit_code == 0
