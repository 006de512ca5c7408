"""Dropping the entries of tests that are gone, and of no others."""

from __future__ import annotations

import pytest

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.store.baseline_file import render_baseline
from pytest_membudget.store.environment import environment_key
from tests.glue.recorded_project import BASELINE, change_entry, text_of
from tests.project import Project

PRUNE = "--membudget-prune"
TWO = """
    import pytest

    @pytest.mark.membudget("baseline")
    def test_stays():
        pass

    @pytest.mark.membudget("baseline")
    def test_goes():
        pass
"""
ONE = TWO.replace("def test_goes", "def renamed_away")
SKIPPED = "    import pytest\n    pytest.skip('not here', allow_module_level=True)\n" + ONE


@pytest.fixture
def recorded(project: Project) -> Project:
    """Two files with two tests each, recorded; in the first one test is gone since."""
    names = [f"{file}.py::{test}" for file in ("test_it", "test_other") for test in ("test_stays", "test_goes")]
    baseline = Baseline({environment_key(): dict.fromkeys(names, Entry({"ram": 1 << 20}))})
    project.write_file(BASELINE, render_baseline(baseline))
    project.write(test_it=ONE, test_other=TWO)
    return project


def pruned(project: Project) -> list[str]:
    """The tests that are recorded no more."""
    text = text_of(project)
    all_tests = [f"{file}.py::{test}" for file in ("test_it", "test_other") for test in ("test_stays", "test_goes")]
    return [test for test in all_tests if f'"{test}"' not in text]


@pytest.mark.parametrize(
    "how", [(), ("-n2",), ("-k", "stays"), ("test_it.py",), ("--deselect", "test_it.py::test_stays")]
)
def test_a_test_that_is_gone(recorded: Project, how: tuple[str, ...]) -> None:
    """Its file was collected and it was not in it, whatever was then selected to run."""
    run = recorded.run(PRUNE, *how, plugins=("xdist",))

    assert pruned(recorded) == ["test_it.py::test_goes"]
    assert run.section[-1] == "pruned: 1 entry of tests that are gone: test_it.py::test_goes"


@pytest.mark.parametrize(
    "how",
    [("test_other.py",), ("test_it.py::test_stays",), ("--lf",), ("--ignore=test_it.py",)],
)
def test_a_test_that_was_not_looked_for(recorded: Project, how: tuple[str, ...]) -> None:
    """A path, a node id, --lf: what is not collected may be there all the same."""
    recorded.write("def test_fails(): assert False\n", test_fails="def test_fails(): assert False\n")
    recorded.write(ONE)
    recorded.run()

    run = recorded.run(PRUNE, *how)

    assert pruned(recorded) == []
    assert run.section[-1] == "pruned: no entry, every test still exists"


@pytest.mark.parametrize("source", [SKIPPED, "import missing_module\n", ONE + "\n    syntax error\n"])
def test_a_file_that_cannot_be_collected(recorded: Project, source: str) -> None:
    """What was in it is not known."""
    recorded.write(source)

    recorded.run(PRUNE)

    assert pruned(recorded) == []


def test_a_file_that_is_gone(recorded: Project) -> None:
    """Its tests are gone in every environment; a test gone from a file, only where that was collected."""
    change_entry(
        recorded,
        '"environments": {',
        '"environments": {"plan9": {"test_it.py::test_goes": {"ram": 1}, "test_other.py::test_stays": {"ram": 1}},',
    )
    (recorded.path / "test_other.py").unlink()

    recorded.run(PRUNE)

    text = text_of(recorded)
    assert pruned(recorded) == ["test_other.py::test_stays", "test_other.py::test_goes"]
    assert '"plan9": {\n"test_it.py::test_goes": {"ram": 1}\n}' in text
    assert f'"{environment_key()}": {{\n"test_it.py::test_stays"' in text


def test_another_rootdir(recorded: Project) -> None:
    """From there none of the tests would seem to exist: that is a mistake, and no reason to drop them all."""
    (recorded.path / "sub").mkdir()
    recorded.write_file("sub/test_sub.py", "def test_sub(): pass\n")
    before = text_of(recorded)

    run = recorded.run(PRUNE, "--rootdir=sub", f"--membudget-baseline={BASELINE}", "sub")

    assert text_of(recorded) == before
    assert run.section[-1].startswith(
        "nothing was pruned: none of the 2 files that the baseline's tests stand in exists under "
    )


def test_pruning_and_recording(recorded: Project) -> None:
    """Both in one run."""
    recorded.write(ONE + TWO.replace("test_stays", "test_fresh").replace("test_goes", "test_too"))

    run = recorded.run(PRUNE, "--membudget-update")

    assert run.section[-2].startswith(f"{BASELINE}: 2 added, ")
    assert run.section[-1] == "pruned: 1 entry of tests that are gone: test_it.py::test_goes"
