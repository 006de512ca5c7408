"""``--membudget-isolate``, the ini key, and what keeps tests in the process of the session."""

from __future__ import annotations

import sys

import pytest

from pytest_membudget.probes.memray_faults import tracker_fault
from tests.project import Project

ONE_OF_EACH = """
    import pytest

    @pytest.mark.membudget("1MiB", isolate=True)
    def test_marked():
        pass

    @pytest.mark.membudget("1MiB")
    def test_budgeted():
        pass

    def test_free():
        pass
"""
BY_MARKER, ALWAYS = "its marker says isolate=True", "membudget_isolate is always"
NOT_BUDGETED = (False, None)


@pytest.mark.parametrize(
    ("args", "ini", "expected"),
    [
        ((), "", {"test_marked": (True, BY_MARKER), "test_budgeted": (bool(tracker_fault()), tracker_fault())}),
        (("--membudget-isolate",), "", {"test_marked": (True, BY_MARKER), "test_budgeted": (True, ALWAYS)}),
        ((), "always", {"test_marked": (True, BY_MARKER), "test_budgeted": (True, ALWAYS)}),
        (
            ("--membudget-isolate=never",),
            "always",
            {"test_marked": (False, "membudget_isolate is never"), "test_budgeted": NOT_BUDGETED},
        ),
    ],
    ids=["auto", "option", "ini", "never"],
)
def test_who_is_isolated(project: Project, args: tuple[str, ...], ini: str, expected: dict[str, object]) -> None:
    """The marker asks for a test, ``always`` for all that have a budget, and ``never`` refuses every one."""
    project.write(ONE_OF_EACH)
    project.write_file("pytest.ini", f"[pytest]\nmembudget_isolate = {ini}\n")

    run = project.measure(*args)

    isolation = {name: (test["isolated"], test["isolation_reason"]) for name, test in run.tests.items()}
    assert isolation == {**expected, "test_free": NOT_BUDGETED}


@pytest.mark.parametrize(
    ("arg", "why"),
    [
        ("-s", "-s leaves the terminal to the tests"),
        ("--pdb", "--pdb debugs in the process of the session"),
        ("--membudget-isolate=never", "membudget_isolate is never"),
    ],
)
def test_a_test_that_stays_says_why(project: Project, arg: str, why: str) -> None:
    """It is judged in the process of the session, and the summary says so whether or not a report was asked for."""
    project.write("""
        import os

        import pytest

        PID = os.getpid()

        @pytest.mark.membudget("1MiB", isolate=True)
        def test_marked():
            assert os.getpid() == PID
    """)

    run = project.run(arg)

    assert run.section[-2:] == ["1 budgeted: 1 within", f"not isolated, {why}: test_it.py::test_marked"]


def test_a_marker_that_a_fixture_adds_comes_too_late(project: Project) -> None:
    """The test is judged where it is, and says that it had no process of its own."""
    project.write("""
        import pytest

        @pytest.fixture
        def budget(request):
            request.node.add_marker(pytest.mark.membudget("1MiB", isolate=True))

        def test_marked(budget):
            pass
    """)

    run = project.run()

    assert run.section[-2:] == [
        "1 budgeted: 1 within",
        "not isolated, its marker came while the test was set up, too late for a process of its own: "
        "test_it.py::test_marked",
    ]


def test_the_report_says_why_a_test_was_isolated(project: Project) -> None:
    """One line for each reason."""
    project.write(ONE_OF_EACH)

    run = project.run("--membudget-report", "--membudget-isolate")

    assert f"isolated, {BY_MARKER}: test_it.py::test_marked" in run.section
    assert f"isolated, {ALWAYS}: test_it.py::test_budgeted" in run.section


@pytest.mark.parametrize(
    ("args", "ini", "message"),
    [
        (
            ("--membudget-isolate", "test_it.py"),
            "",
            "--membudget-isolate: 'test_it.py' is unknown: write auto, always or never, "
            "as in --membudget-isolate=always tests",
        ),
        (
            (),
            "[pytest]\nmembudget_isolate = yes\n",
            "membudget_isolate in pytest.ini: 'yes' is unknown: write auto, always or never, "
            "as in --membudget-isolate=always tests",
        ),
    ],
)
def test_a_choice_that_is_unknown_is_refused(project: Project, args: tuple[str, ...], ini: str, message: str) -> None:
    """In one sentence, with what may have happened: the option took a path for its value."""
    project.write(ONE_OF_EACH)
    project.write_file("pytest.ini", ini)

    run = project.run(*args)

    assert run.exit_code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: pytest-membudget: {message}" in run.err.splitlines()


@pytest.mark.skipif(sys.version_info[:2] != (3, 12), reason="memray#999 is of Python 3.12")
def test_python_3_12_isolates_by_default(project: Project) -> None:
    """Where ending a tracker can crash the process, it is not the process of the session."""
    project.write(ONE_OF_EACH)

    run = project.run("--membudget-report")

    assert any(line.startswith("isolated, memray ") and "(memray#999)" in line for line in run.section)
