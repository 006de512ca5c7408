"""An option or ini key that cannot be used: one sentence that says which, why and what to write instead."""

from __future__ import annotations

import os

import pytest

from tests.project import Project

UNITS = "known units: B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB, KB"
WRITE = 'write bytes as an int, or a string such as "64MiB", "1.5 GB" or "50%"'

OPTIONS = {
    "--membudget-json=nowhere/run.json": (
        "--membudget-json: the folder '{here}/nowhere' does not exist: create it, or choose another place"
    ),
    "--membudget-json=.": "--membudget-json: '.' is a folder: name a file in it",
    "--membudget-top=-1": "--membudget-top: '-1' is not a number of tests: write 0 for all, or a whole number",
    "--membudget-top=ten": "--membudget-top: 'ten' is not a number of tests: write 0 for all, or a whole number",
    "--membudget-missing=never": "--membudget-missing: 'never' is unknown: write warn or fail",
    "--membudget-default=10MBfoo": f"--membudget-default: '10MBfoo' has the unknown unit 'MBfoo': {UNITS}",
    "--membudget-default=nan": f"--membudget-default: 'nan' is not a size: {WRITE}",
}
KEYS = {
    "membudget = maybe": "membudget in pytest.ini: 'maybe' is neither true nor false",
    "membudget_report = maybe": "membudget_report in pytest.ini: 'maybe' is neither true nor false",
    "membudget_all = 2": "membudget_all in pytest.ini: '2' is neither true nor false",
    "membudget_read_limit_memory = x": "membudget_read_limit_memory in pytest.ini: 'x' is neither true nor false",
    "membudget_gc_freeze = x": "membudget_gc_freeze in pytest.ini: 'x' is neither true nor false",
    "membudget_top = 1.5": (
        "membudget_top in pytest.ini: '1.5' is not a number of tests: write 0 for all, or a whole number"
    ),
    "membudget_missing = Fail": "membudget_missing in pytest.ini: 'Fail' is unknown: write warn or fail",
    "membudget_json = nowhere/run.json": (
        "membudget_json in pytest.ini: the folder '{here}/nowhere' does not exist: create it, or choose another place"
    ),
    "membudget_default = -1MiB": "membudget_default in pytest.ini: '-1MiB' is negative: a size is zero or more bytes",
    "membudget_paths = tests/io": (
        "membudget_paths in pytest.ini: 'tests/io' is not 'glob = size', as in 'tests/io/* = 64MiB'"
    ),
    "membudget_paths = x/* = 10MBfoo": (
        f"membudget_paths in pytest.ini: x/*: '10MBfoo' has the unknown unit 'MBfoo': {UNITS}"
    ),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_bad_option(project: Project, option: str) -> None:
    """The run ends before it begins, with the exit status of a usage error."""
    project.write("def test_it(): pass")

    run = project.run_here(option)

    assert run.err.strip() == f"ERROR: pytest-membudget: {OPTIONS[option].format(here=project.path)}"
    assert (run.exit_code, run.out) == (pytest.ExitCode.USAGE_ERROR, "")


@pytest.mark.parametrize("line", KEYS)
def test_bad_ini_key(project: Project, line: str) -> None:
    """The sentence names the key and the file it stands in."""
    project.write("def test_it(): pass")
    project.write_file("pytest.ini", f"[pytest]\n{line}")

    run = project.run_here()

    assert run.err.strip() == f"ERROR: pytest-membudget: {KEYS[line].format(here=project.path)}"
    assert run.exit_code == pytest.ExitCode.USAGE_ERROR


def test_bad_key_in_pyproject(project: Project) -> None:
    """There, too, the file is named."""
    project.write_file("pyproject.toml", '[tool.pytest.ini_options]\nmembudget_missing = "never"')

    run = project.run_here()

    assert run.err.strip() == (
        "ERROR: pytest-membudget: membudget_missing in pyproject.toml: 'never' is unknown: write warn or fail"
    )


def test_misspelt_options(project: Project) -> None:
    """Pytest itself refuses an unknown option, and an unknown key when it is asked to be strict."""
    project.write_file("pytest.ini", "[pytest]\nmembudget_raport = true")

    assert "unrecognized arguments: --membudget-raport" in project.run_here("--membudget-raport").err
    assert "Unknown config option: membudget_raport" in project.run_here("--strict-config").err


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_json_that_cannot_be_written(project: Project, plugins: tuple[str, ...]) -> None:
    """The verdicts are printed all the same, the exit status is that of a failure, and nothing is left behind."""
    project.write("""
        import os, pytest

        @pytest.mark.membudget("3MiB")
        def test_it():
            held = bytearray(2 * 2**20)
            os.rename("out", "out of the way") if os.path.exists("out") else None
    """)
    (project.path / "out").mkdir()

    run = project.run(
        "--membudget-json=out/run.json", "--membudget-report", *(("-n1",) if plugins else ()), plugins=plugins
    )

    assert (
        f"--membudget-json: '{project.path}/out/run.json' cannot be written (No such file or directory)" in run.section
    )
    assert "1 budgeted: 1 within" in run.section
    assert run.last_line == "1 passed"
    assert run.exit_code == pytest.ExitCode.TESTS_FAILED
    assert os.listdir(project.path / "out of the way") == []


def test_json_into_a_pipe(project: Project) -> None:
    """What is no regular file is written to, never put in its place."""
    project.write("def test_it(): pass")

    run = project.run("--membudget-json=/dev/stdout", "-s")

    assert '"format": 1,' in run.out
    assert os.path.exists("/dev/stdout")
    assert run.exit_code == pytest.ExitCode.OK
