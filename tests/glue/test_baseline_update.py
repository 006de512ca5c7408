"""Recording a run."""

from __future__ import annotations

import pytest

from pytest_membudget.store.environment import environment_key, heap_tool
from tests.glue.recorded_project import (
    BASELINE,
    SOURCE,
    UPDATE,
    change_entry,
    entries_of,
    ram_of,
    record,
    text_of,
    with_mib,
)
from tests.project import Project

MIXED = """
    import os
    import pytest

    @pytest.mark.membudget("baseline")
    def test_passes():
        data = bytearray(int(os.environ.get("MIB", "4")) << 20)

    @pytest.mark.membudget("1MiB")
    def test_over():
        data = bytearray(2 << 20)

    @pytest.mark.membudget("baseline")
    def test_breaks():
        data = bytearray(2 << 20)
        assert os.environ.get("WHOLE")

    @pytest.mark.membudget("baseline")
    @pytest.mark.xfail
    def test_expected():
        data = bytearray(2 << 20)
        raise ValueError

    @pytest.mark.membudget("baseline")
    @pytest.mark.skip
    def test_skipped():
        pass

    def test_without_a_budget():
        data = bytearray(2 << 20)
"""


def test_the_first_recording(project: Project) -> None:
    """One entry on a line: the figure, the tool, the mode, and the call sites without their lines."""
    project.write(SOURCE)

    run = record(project)

    assert run.section == [
        "2 budgeted: 1 no baseline, 1 within",
        "not compared, no entry yet, this run records the first: test_it.py::test_load",
        f"{BASELINE}: 2 added; it holds 2 entries",
    ]
    assert run.exit_code == 0
    load, budget = ram_of(project, "test_load"), ram_of(project, "test_budget")
    tool = f'"by": "{heap_tool()}", "mode": "exact, isolated"'
    sites = [next(iter(entries_of(project)[test]["sites"].values())) for test in ("test_load", "test_budget")]
    assert text_of(project).splitlines() == [
        "{",
        '"format": 1,',
        '"environments": {',
        f'"{environment_key()}": {{',
        f'"test_it.py::test_budget": {{"ram": {budget}, {tool}, "sites": {{"test_it.py:load": {sites[1]}}}}},',
        f'"test_it.py::test_load": {{"ram": {load}, {tool}, "sites": {{"test_it.py:load": {sites[0]}}}}}',
        "}",
        "}",
        "}",
    ]


def test_only_what_passed_is_recorded(project: Project) -> None:
    """Not what failed, for whatever reason, nor what was skipped, expected to fail, or has no budget."""
    project.write(MIXED)

    run = record(project)

    assert list(entries_of(project)) == ["test_passes"]
    assert run.section[-1] == (
        "not recorded, the test did not pass: test_it.py::test_over, test_it.py::test_breaks, test_it.py::test_expected"
    )


def test_a_failed_run_raises_nothing(project: Project) -> None:
    """But the test that grew can be recorded by itself."""
    project.write(MIXED)
    record(project)
    before = text_of(project)

    run = record(project, environment=with_mib(8))

    assert text_of(project) == before
    assert (
        "not raised, because the run failed: test_it.py::test_passes: let it pass, or record these alone with "
        "pytest --membudget-update=changed and their names"
    ) in run.section
    record(project, "test_it.py::test_passes", environment=with_mib(8))
    assert ram_of(project, "test_passes") > 8 << 20


@pytest.mark.parametrize("stop", ["-x", "--maxfail=1"])
def test_a_run_that_was_stopped_raises_nothing(project: Project, stop: str) -> None:
    """The rest of it never ran, and nobody knows how it would have come out."""
    project.write(MIXED)
    record(project)
    before = text_of(project)

    record(project, stop, environment=with_mib(8))

    assert text_of(project) == before


def test_other_entries_stay(project: Project) -> None:
    """Of tests that were not selected, that failed this time, and of other environments."""
    project.write(MIXED)
    record(project, environment={"WHOLE": "1"})
    change_entry(project, '"environments": {', '"environments": {"cpython-3.9-plan9-mips": {"a": {"ram": 1}},')

    record(project, "-k", "test_passes or test_breaks", "--membudget-update=all", environment=with_mib(5))

    text = text_of(project)
    assert '"cpython-3.9-plan9-mips": {\n"a": {"ram": 1}\n}' in text
    assert '"test_it.py::test_breaks"' in text


@pytest.mark.parametrize(
    ("update", "mib", "grown"), [("new", 6, False), ("changed", 6, True), ("all", 6, True), ("new", 4, False)]
)
def test_modes(project: Project, update: str, mib: int, grown: bool) -> None:
    """New leaves entries alone, so growth is judged as ever."""
    project.write(SOURCE)
    record(project)
    before_bytes = ram_of(project, "test_load")

    run = project.run(f"{UPDATE}={update}", environment=with_mib(mib))

    assert (ram_of(project, "test_load") > before_bytes) is grown
    assert run.exit_code == (1 if update == "new" and mib > 4 else 0)


def test_a_path_after_the_option_is_a_path(project: Project) -> None:
    """It is not taken for the option's value."""
    project.write(SOURCE)
    project.write(test_other="def test_other(): pass\n")

    assert project.run(UPDATE, "test_it.py").last_line == "2 passed"


def test_unchanged_file_is_not_touched(project: Project) -> None:
    """No new time stamp, no diff."""
    project.write(SOURCE)
    record(project)
    before = (project.path / BASELINE).stat().st_mtime_ns

    run = record(project)

    assert (project.path / BASELINE).stat().st_mtime_ns == before
    assert run.section[-1] == f"{BASELINE}: no entry changed; it holds 2 entries"


def test_xdist_records_once(project: Project) -> None:
    """Workers read and judge, the controller writes."""
    project.write(SOURCE)

    run = record(project, "-n2", plugins=("xdist",))

    assert list(entries_of(project)) == ["test_budget", "test_load"]
    assert f"{BASELINE}: 2 added; it holds 2 entries" in run.section
    grown = project.run("-n2", plugins=("xdist",), environment=with_mib(6))
    assert grown.last_line == "1 failed, 1 passed"
    assert "ram: peak 6 MiB, baseline 4 MiB: grew by 2 MiB (+50%), 205 KiB tolerated" in grown.lines


def test_names_of_all_kinds(project: Project) -> None:
    """Unicode, spaces, brackets, quotes and thousands of characters come back as they were."""
    project.write(
        """
        import pytest

        NAMES = ["ünï cödé", "[a] {b}", 'quo"te', "back\\\\slash", "dollar$", "x" * 4000, "\U0001f600", "\\n"]

        @pytest.mark.membudget("baseline")
        @pytest.mark.parametrize("name", NAMES, ids=NAMES)
        def test_name(name):
            pass
        """
    )
    project.write_file(
        "pytest.ini", "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n"
    )

    run = record(project)

    assert f"{BASELINE}: 8 added; it holds 8 entries" in run.section
    assert project.run("--membudget-require-baseline").last_line == "8 passed"
    assert max(map(len, entries_of(project))) > 4000


def test_a_file_of_another_name(project: Project) -> None:
    """It is recorded where the option says, and the command to accept a change says so too."""
    project.write(SOURCE)
    option = "--membudget-baseline=my file.json"
    record(project, option)
    assert "test_load" in entries_of(project, "my file.json")

    run = project.run(option, environment=with_mib(6))

    assert (
        "to accept: pytest --membudget-update=changed '--membudget-baseline=my file.json' \"test_it.py::test_load\""
    ) in run.lines


def test_ini_key(project: Project) -> None:
    """Relative to rootdir, and part of no command: every run reads it."""
    project.write(SOURCE)
    project.write_file("pytest.ini", "[pytest]\nmembudget_baseline = memory/base.json\n")
    (project.path / "memory").mkdir()
    record(project)
    assert "test_load" in entries_of(project, "memory/base.json")

    run = project.run(environment=with_mib(6))

    assert 'to accept: pytest --membudget-update=changed "test_it.py::test_load"' in run.lines


def test_nothing_is_recorded_with_collect_only(project: Project) -> None:
    """No test ran."""
    project.write(SOURCE)

    record(project, "--collect-only")

    assert not (project.path / BASELINE).exists()
