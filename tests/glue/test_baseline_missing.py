"""What it means that a test has no entry."""

from __future__ import annotations

import pytest

from pytest_membudget.store.environment import environment_key
from tests.glue.recorded_project import BASELINE, SOURCE, record
from tests.project import Project

FRESH = """
    import pytest

    @pytest.mark.membudget("1MiB")
    def test_fresh():
        pass
"""
NO_ENTRY = f"no entry in {BASELINE} for {environment_key()}"


@pytest.fixture
def recorded(project: Project) -> Project:
    """A project with a baseline, and a test that came later."""
    project.write(SOURCE)
    record(project)
    project.write(test_fresh=FRESH)
    return project


def test_no_baseline_at_all(project: Project) -> None:
    """Before the first recording a test with a budget in bytes is judged by that; the other says what it lacks."""
    project.write(SOURCE)

    run = project.measure()

    assert run.outcomes == {"test_load": "NO_BASELINE", "test_budget": "WITHIN"}
    assert run.section == [
        "2 budgeted: 1 no baseline, 1 within",
        f"not compared, there is no baseline yet ({BASELINE}): test_it.py::test_load",
        "to record what was not compared: pytest --membudget-update=changed",
    ]
    assert run.exit_code == 0


def test_a_warning_at_a_desk(recorded: Project) -> None:
    """Whoever writes a test records it when it is done."""
    run = recorded.run()

    assert run.section == [
        "3 budgeted: 1 no baseline, 2 within",
        f"not compared, {NO_ENTRY}: test_fresh.py::test_fresh",
        "to record what was not compared: pytest --membudget-update=changed",
    ]
    assert run.exit_code == 0


@pytest.mark.parametrize(
    ("args", "environment"), [((), {"CI": "true"}), (("--membudget-require-baseline",), {}), (("-c", "strict.ini"), {})]
)
def test_a_failure_where_nobody_would_read_a_warning(
    recorded: Project, args: tuple[str, ...], environment: dict[str, str]
) -> None:
    """In CI, or where it is asked for; with the command that records the test."""
    recorded.write_file("strict.ini", "[pytest]\nmembudget_require_baseline = true\n")

    run = recorded.run("-rN", *args, environment=environment)

    begin = run.lines.index(f"ram: not compared: {NO_ENTRY}")
    assert run.lines[begin + 1] == 'to accept: pytest --membudget-update=changed "test_fresh.py::test_fresh"'
    assert run.last_line == "1 failed, 2 passed"


@pytest.mark.parametrize(
    ("args", "environment", "last_line"),
    [
        (("--membudget-missing-baseline=fail",), {}, "1 failed, 2 passed"),
        (("--membudget-missing-baseline=warn",), {"CI": "1"}, "3 passed"),
        ((), {"CI": "false"}, "3 passed"),
        (("--membudget-missing-baseline=ignore", "--membudget-require-baseline"), {}, "1 failed, 2 passed"),
        (("--membudget-missing-baseline=ignore",), {"CI": "1"}, "3 passed"),
    ],
)
def test_it_can_be_configured(
    recorded: Project, args: tuple[str, ...], environment: dict[str, str], last_line: str
) -> None:
    """What is said aloud goes before what CI implies, and what is required goes before all."""
    assert recorded.run(*args, environment=environment).last_line == last_line


def test_ignoring_leaves_the_budget(recorded: Project) -> None:
    """A test with a budget in bytes is judged by it, and nothing is said."""
    assert recorded.run("--membudget-missing-baseline=ignore").section == ["3 budgeted: 3 within"]


def test_required_before_there_is_a_file(project: Project) -> None:
    """CI without a baseline would be green by accident."""
    project.write(SOURCE)

    run = project.run("--membudget-require-baseline")

    assert run.last_line == "2 failed"
    assert f"ram: not compared: there is no baseline yet ({BASELINE})" in run.lines


def test_ci_without_a_file_is_no_failure(project: Project) -> None:
    """A suite that keeps no baseline has nothing to miss, but for a test that has nothing else."""
    project.write(SOURCE)

    assert project.run(environment={"CI": "true"}).last_line == "2 passed"
