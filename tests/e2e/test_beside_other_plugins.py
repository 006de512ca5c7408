"""Together with the plugins that people have: xdist, reruns, coverage, timeouts."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.project import Project

MODES = ("load", "loadscope", "loadfile", "loadgroup", "worksteal")
SUITE = """
    import pytest

    BUDGET = pytest.mark.membudget("1MiB")

    @BUDGET
    def test_within(): pass

    @BUDGET
    def test_over(): held = bytearray(2 * 2**20)

    @BUDGET
    @pytest.mark.xdist_group("together")
    def test_grouped(): pass

    @pytest.mark.membudget("1XB")
    def test_bad(): pass

    def test_unbudgeted(): pass
"""
TWO_FILES = {"test_one": SUITE, "test_two": SUITE}


@pytest.mark.parametrize("mode", MODES)
def test_every_way_of_distributing(project: Project, mode: str) -> None:
    """The verdicts, the report, the JSON and the JUnit file of a run without workers."""
    project.write(**TWO_FILES)

    run = project.measure("-n2", f"--dist={mode}", "--membudget-report", "--junitxml=junit.xml", plugins=("xdist",))

    # xdist marks grouped tests in their node ids, with some versions of pytest.
    outcomes = {test["nodeid"].partition("@")[0]: test["outcome"] for test in run.document["tests"]}
    assert outcomes == {
        f"test_{file}.py::test_{name}": outcome
        for file in ("one", "two")
        for name, outcome in [
            ("bad", None),
            ("grouped", "WITHIN"),
            ("over", "OVER_BUDGET"),
            ("unbudgeted", None),
            ("within", "WITHIN"),
        ]
    }
    assert {test["worker"] for test in run.document["tests"]} <= {"gw0", "gw1"}
    assert "6 budgeted: 2 over budget, 4 within" in run.section
    properties = [element.get("name") for element in ET.parse(project.path / "junit.xml").iter("property")]
    assert properties.count("membudget.ram.outcome") == 6
    assert run.last_line == "2 failed, 6 passed, 2 errors"


def test_each_worker_runs_all(project: Project) -> None:
    """With --dist=each a test has a row for each worker, and the rows tell which."""
    project.write(SUITE)

    run = project.measure("-n2", "--dist=each", "--membudget-report", plugins=("xdist",), columns=100)

    assert [line.split()[-2:] for line in run.section[1:7]] == [
        [f"test_it.py::test_{name}", f"[{worker}]"]
        for name in ("over", "grouped", "within")
        for worker in ("gw0", "gw1")
    ]
    assert sorted((test["nodeid"], test["worker"]) for test in run.document["tests"])[:2] == [
        ("test_it.py::test_bad", "gw0"),
        ("test_it.py::test_bad", "gw1"),
    ]
    assert run.section[-1] == "6 budgeted: 2 over budget, 4 within"


FLAKY = """
    import os

    import pytest

    BUDGET = pytest.mark.membudget("1MiB")

    def attempt(name):
        with open(name, "a") as file: file.write("x")
        return os.path.getsize(name)

    @BUDGET
    def test_over_once():
        held = bytearray((2 if attempt("over once") == 1 else 0) * 2**20)

    @BUDGET
    def test_flaky(): assert attempt("flaky") > 1

    @BUDGET
    def test_over_then_fails():
        held = bytearray((2 if attempt("over then fails") == 1 else 0) * 2**20)
        assert attempt("fails") == 1

    @pytest.mark.membudget("1MiB", scope="test")
    def test_whole_over_once():
        held = bytearray((2 if attempt("whole") == 1 else 0) * 2**20)

    def test_unbudgeted_flaky(): assert attempt("unbudgeted") > 1
"""
EARLIER = """\
over budget in an earlier attempt, and a rerun does not undo that:
ram: peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)
at the peak:"""


@pytest.mark.parametrize("plugins", [("rerunfailures",), ("rerunfailures", "xdist")], ids=["alone", "xdist"])
def test_reruns(project: Project, plugins: tuple[str, ...]) -> None:
    """A rerun does not hide an attempt that was over budget; a failure that is not about memory may still pass."""
    project.write(FLAKY)
    workers = ("-n2",) if "xdist" in plugins else ()

    run = project.measure("--reruns=2", "--membudget-report", *workers, plugins=plugins)

    assert EARLIER in run.failures["test_over_once"]
    assert "over budget in an earlier attempt" in run.failures["test_whole_over_once"]
    assert "assert attempt" in run.failures["test_over_then_fails"]
    assert {name: (test["outcome"], test["test_outcome"]) for name, test in run.tests.items()} == {
        "test_over_once": ("OVER_BUDGET", "failed"),
        "test_flaky": ("WITHIN", "passed"),
        "test_over_then_fails": ("OVER_BUDGET", "failed"),
        "test_whole_over_once": ("OVER_BUDGET", "error"),
        "test_unbudgeted_flaky": (None, "passed"),
    }
    assert len(run.document["tests"]) == 5
    assert run.section[-1] == "4 budgeted: 3 over budget, 1 within"
    assert run.exit_code == pytest.ExitCode.TESTS_FAILED


def test_coverage(project: Project) -> None:
    """Both see what they are there for, and the tracer does not show in the figures."""
    project.write(SUITE)

    run = project.measure("--cov=test_it", "--cov-report=term", plugins=("pytest_cov",))

    assert run.outcomes["test_over"] == "OVER_BUDGET"
    assert 0 <= run.peak_bytes("test_within") <= 200
    assert any(line.startswith("TOTAL") and "100%" not in line for line in run.lines) or "TOTAL" in run.out
    assert run.last_line == "1 failed, 3 passed, 1 error"


def test_timeout(project: Project) -> None:
    """A test that is stopped keeps its own failure, is measured up to there, and the next one is measured too."""
    project.write("""
        import time

        import pytest

        @pytest.mark.membudget("1MiB")
        def test_first(): pass

        @pytest.mark.membudget("1MiB")
        @pytest.mark.timeout(1)
        def test_hangs():
            held = bytearray(2 * 2**20)
            time.sleep(30)

        @pytest.mark.membudget("1MiB")
        def test_next(): held = bytearray(2 * 2**20)
    """)

    run = project.measure(plugins=("timeout",))

    assert "Timeout (>1.0s) from pytest-timeout." in run.failures["test_hangs"]
    assert run.outcomes == {"test_first": "WITHIN", "test_hangs": "OVER_BUDGET", "test_next": "OVER_BUDGET"}


def test_everything_that_is_installed(project: Project) -> None:
    """All plugins at once, as they load by themselves, on workers, with reruns and coverage."""
    project.write(SUITE)
    project.write_file("pytest.ini", "[pytest]\nasyncio_default_fixture_loop_scope = function")

    run = project.measure(
        "-pno:memray",
        "-n2",
        "--reruns=1",
        "--cov=.",
        "--timeout=60",
        environment={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""},
    )

    assert run.outcomes == {
        "test_within": "WITHIN",
        "test_over": "OVER_BUDGET",
        "test_grouped": "WITHIN",
        "test_bad": None,
        "test_unbudgeted": None,
    }
    assert run.peak_bytes("test_within") <= 200
