"""Isolation beside the plugins that a suite is likely to have."""

from __future__ import annotations

import sqlite3
import sys

import pytest

from tests.project import Project

COVERED = """
    import os

    def branch(number):
        if number == 1:
            return "common"
        if number == 2:
            return "isolated"
        if number == 3:
            return "isolated too"
        return "never"
"""
COVERING = """
    import pytest
    import covered

    def test_common():
        covered.branch(1)

    @pytest.mark.membudget("1MiB", isolate=True)
    def test_isolated():
        covered.branch(2)

    @pytest.mark.membudget("1MiB", isolate=True)
    def test_isolated_too():
        covered.branch(3)
"""
# Line 10 is the one that no test reaches.
NOTHING_LOST = "covered.py       9      1    89%   10"


@pytest.mark.parametrize(
    ("arg", "plugins"),
    [
        pytest.param("--cov-context=test", (), id="alone"),
        pytest.param("-n2", ("xdist.plugin",), id="xdist"),
    ],
)
def test_no_coverage_is_lost_under_pytest_cov(project: Project, arg: str, plugins: tuple[str, ...]) -> None:
    """Lines that only an isolated test reaches are covered, and no data file is left lying about."""
    project.write(COVERING, covered=COVERED)

    run = project.run("--cov=covered", "--cov-report=term-missing", arg, plugins=("pytest_cov.plugin", *plugins))

    assert run.exit_code == pytest.ExitCode.OK
    assert NOTHING_LOST in run.lines
    assert [path.name for path in project.path.glob(".coverage*")] == [".coverage"]
    if arg == "--cov-context=test":
        assert "test_it.py::test_isolated|run" in _contexts(project)


def _contexts(project: Project) -> set[str]:
    with sqlite3.connect(project.path / ".coverage") as data:
        return {name for (name,) in data.execute("select context from context")}


def test_no_coverage_is_lost_under_coverage_run(project: Project, pytester: pytest.Pytester) -> None:
    """The data of ``coverage run -m pytest`` has the lines of isolated tests as well."""
    project.write(COVERING, covered=COVERED)

    run = project.run(interpreter=(sys.executable, "-m", "coverage", "run", "--include=covered.py"))
    report = pytester.run(sys.executable, "-m", "coverage", "report", "-m")

    assert run.exit_code == pytest.ExitCode.OK
    assert NOTHING_LOST in report.outlines


def test_each_xdist_worker_isolates_its_tests(project: Project) -> None:
    """Every isolated test has a process of its own under its worker, and a dead one leaves the worker alive."""
    project.write("""
        import os

        import pytest

        @pytest.mark.membudget("1GiB", isolate=True)
        @pytest.mark.parametrize("number", range(6))
        def test_alone(number, record_property, worker_id):
            record_property("pid", os.getpid())
            if number == 3:
                os._exit(3)

        @pytest.mark.parametrize("number", range(2))
        def test_common(number):
            pass
    """)

    run = project.measure("-n2", "--junitxml=junit.xml", plugins=("xdist.plugin",))

    assert run.last_line == "1 failed, 7 passed"
    assert "was ended" not in run.out
    assert "exit status 3" in run.out
    isolated = [test for name, test in run.tests.items() if "alone" in name]
    assert len(isolated) == 6
    assert all(test["isolated"] and test["worker"] in ("gw0", "gw1") for test in isolated)
    assert len(set(_pids(project))) == 5


def _pids(project: Project) -> list[str]:
    text = (project.path / "junit.xml").read_text(encoding="utf-8")
    return [part.partition('"')[0] for part in text.split('name="pid" value="')[1:]]


def test_reruns_happen_within_the_tests_own_process(project: Project) -> None:
    """Attempts are shown as pytest-rerunfailures shows them, and an attempt over budget is not undone."""
    project.write("""
        import pytest

        attempts = []
        pytestmark = pytest.mark.membudget("1MiB", isolate=True)

        def test_flaky():
            attempts.append(1)
            assert len(attempts) == 3

        def test_large_at_first():
            attempts.append(bytearray(2**21 if not attempts else 1))
    """)

    run = project.measure("--reruns=2", "-rR", plugins=("pytest_rerunfailures",))

    assert run.last_line == "1 failed, 1 passed, 4 rerun"
    assert "over budget in an earlier attempt, and a rerun does not undo that:" in run.out
    assert run.outcomes == {"test_flaky": "WITHIN", "test_large_at_first": "OVER_BUDGET"}
