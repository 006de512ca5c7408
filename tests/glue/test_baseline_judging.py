"""Judging against a recorded baseline."""

from __future__ import annotations

import pytest

from pytest_membudget.store.environment import environment_key, heap_tool
from tests.glue.recorded_project import BASELINE, SOURCE, change_entry, entries_of, ram_of, record, with_mib
from tests.project import Project

KEY = environment_key()


@pytest.fixture
def recorded(project: Project) -> Project:
    """A project whose tests were recorded."""
    project.write(SOURCE)
    assert record(project).exit_code == 0
    return project


def test_growth_fails_the_test_and_says_what_grew(recorded: Project) -> None:
    """The figures, the line, and the command that accepts it."""
    run = recorded.measure("--membudget-report", environment=with_mib(6))

    begin = run.lines.index(next(line for line in run.lines if line.startswith("ram: peak")))
    assert run.lines[begin : begin + 4] == [
        "ram: peak 6 MiB, baseline 4 MiB: grew by 2 MiB (+50%), 205 KiB tolerated",
        f"against the baseline ({KEY}): +2 MiB (+50%)",
        "     +2 MiB  grew  test_it.py:5 in load  (from 4 MiB)  return bytearray(mib << 20)",
        'to accept: pytest --membudget-update=changed "test_it.py::test_load"',
    ]
    assert run.outcomes == {"test_load": "REGRESSED", "test_budget": "WITHIN"}
    assert run.section[0].split() == ["peak", "budget", "used", "outcome", "rss", "change", "test"]
    assert "GREW" in run.section[2]
    assert "+50%" in run.section[2]
    assert run.section[-1] == "2 budgeted: 1 regressed, 1 within"
    assert run.exit_code == 1


def test_the_record_of_a_regression(recorded: Project) -> None:
    """All that an output needs to show it."""
    test = recorded.measure(environment=with_mib(6)).tests["test_load"]

    entry_bytes = ram_of(recorded, "test_load")
    assert test["ram"]["baseline_bytes"] == test["ram"]["anchor_bytes"] == entry_bytes
    assert test["ram"]["band_bytes"] == entry_bytes // 20
    assert test["failed_by_baseline"] is True
    assert (test["environment"], test["measured_by"]) == (KEY, heap_tool())
    (change,) = test["changes"]
    assert change.pop("now_bytes") - change.pop("before_bytes") == 2 << 20
    assert change == {
        "kind": "grown",
        "file": "test_it.py",
        "function": "load",
        "line": 5,
        "source": "return bytearray(mib << 20)",
    }


def test_the_command_of_the_failure_accepts_it(recorded: Project) -> None:
    """Typed as it stands there, it leads to a run that passes; the anchor tells of the growth."""
    before_bytes = ram_of(recorded, "test_load")

    update = recorded.run("--membudget-update=changed", "test_it.py::test_load", environment=with_mib(6))

    assert update.section == [
        "1 budgeted: 1 within",
        f"{BASELINE}: 1 raised; it holds 2 entries",
        "raised: test_it.py::test_load",
    ]
    assert ram_of(recorded, "test_load") > before_bytes
    assert entries_of(recorded)["test_load"]["anchor"] == {"ram": before_bytes}
    again = recorded.run("--membudget-report", environment=with_mib(6))
    assert again.exit_code == 0
    assert "grown since first recorded: test_it.py::test_load (+50%)" in again.section


def test_unchanged_code_says_nothing(recorded: Project) -> None:
    """Not even in a summary; the report shows that the figures are the same."""
    assert recorded.run().section == ["2 budgeted: 2 within"]
    report = recorded.run("--membudget-report", columns=120).section
    assert "same" in report[1]
    assert report[3:] == [
        "isolated, its figures are compared with a baseline or recorded in one: "
        "test_it.py::test_load, test_it.py::test_budget",
        "budgets more than 4x what was measured: test_it.py::test_budget (8 MiB of 64 MiB)",
        "2 budgeted: 2 within",
    ]


def test_improvement(recorded: Project) -> None:
    """It passes, and the command that holds on to it is said."""
    run = recorded.run(environment=with_mib(1))

    assert run.section == [
        "2 budgeted: 2 within",
        "improved: test_it.py::test_load (-75%): record it with pytest --membudget-update=changed",
    ]
    assert run.exit_code == 0


@pytest.mark.parametrize(
    ("args", "exit_code"),
    [(("--membudget-tolerance=60%",), 0), (("--membudget-tolerance=ram=3MiB",), 0), (("--membudget-tolerance=1%",), 1)],
)
def test_tolerance_option(recorded: Project, args: tuple[str, ...], exit_code: int) -> None:
    """It decides for every test that says nothing itself."""
    assert recorded.run(*args, environment=with_mib(6)).exit_code == exit_code


def test_tolerance_of_ini_and_marker(project: Project) -> None:
    """The marker is nearer than the option, the option than the ini key."""
    project.write(SOURCE.replace('("baseline")', '("baseline", tolerance="70%")'))
    project.write_file("pytest.ini", "[pytest]\nmembudget_tolerance = 1%\n")
    record(project)

    assert project.run("--membudget-tolerance=2%", environment=with_mib(6)).exit_code == 0
    assert project.run(environment=with_mib(8)).exit_code == 1


def test_expected_failure(recorded: Project) -> None:
    """A known regression is marked as any other known failure."""
    recorded.write(SOURCE.replace("    @pytest.mark", "    @pytest.mark.xfail(strict=True)\n    @pytest.mark", 1))

    assert recorded.run(environment=with_mib(6)).last_line == "1 passed, 1 xfailed"


def test_over_budget_shows_the_growth_too(recorded: Project) -> None:
    """The baseline's lines stand under the budget's, without a command: recording would not help."""
    source = SOURCE.replace('"64MiB"', '"6MiB"')
    recorded.write(source)
    change_entry(recorded, f'"ram": {ram_of(recorded, "test_budget")}', '"ram": 4194304')

    out = recorded.run().out

    assert "ram: peak 8 MiB, budget 6 MiB: over by 2 MiB (1.3x)\nat the peak:\n" in out
    assert f"against the baseline ({KEY}): +4 MiB (+100%)" in out
    assert "to accept" not in out


def test_another_memray_asks_for_a_new_entry(recorded: Project) -> None:
    """Growth that may be the tool's accuses nobody; a figure within the band is still compared."""
    change_entry(recorded, f'"by": "{heap_tool()}"', '"by": "memray 0.9"')

    same = recorded.run()
    grown = recorded.measure(environment=with_mib(6))

    assert same.section == ["2 budgeted: 2 within"]
    assert grown.outcomes == {"test_load": "NO_BASELINE", "test_budget": "WITHIN"}
    assert grown.section == [
        "2 budgeted: 1 no baseline, 1 within",
        "not compared, the baseline entry was measured by memray 0.9 (exact, isolated), this run by "
        f"{heap_tool()} (exact, isolated): test_it.py::test_load",
        "to record what was not compared: pytest --membudget-update=changed",
    ]
    assert grown.exit_code == 0


def test_entries_of_other_environments(recorded: Project) -> None:
    """They stay, they are not compared with, and the reason says where there are some."""
    change_entry(recorded, KEY, "cpython-3.9-plan9-mips")

    run = recorded.measure()

    assert run.outcomes == {"test_load": "NO_BASELINE", "test_budget": "NO_BASELINE"}
    assert run.section[1] == (
        f"not compared, no entry in {BASELINE} for {KEY}, only for cpython-3.9-plan9-mips: "
        "test_it.py::test_budget, test_it.py::test_load"
    )


def test_the_baseline_s_commit_is_named(recorded: Project) -> None:
    """In a repository a reader sees how old the entry is."""
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init"], ["add", BASELINE], ["commit", "-m", "x"]):
        recorded.command(*git, *command)
    commit = recorded.command(*git, "rev-parse", "--short", "HEAD").strip()

    assert f"against the baseline of {commit} ({KEY}): +2 MiB" in recorded.run(environment=with_mib(6)).out
