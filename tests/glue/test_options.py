"""Every option and ini key really works, from every kind of file."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project

SUITE = """
    import pytest

    @pytest.mark.membudget("3MiB")
    def test_marked(): held = bytearray(2 * 2**20)

    @pytest.mark.membudget("1MiB", vram="1GiB")
    def test_unmeasured(): pass

    def test_one(): held = bytearray(2 * 2**20)
    def test_two(): pass
"""
KEYS = {
    "membudget_report": "true",
    "membudget_json": "reports/run.json",
    "membudget_top": "1",
    "membudget_all": "yes",
    "membudget_missing": "fail",
    "membudget_gc_freeze": "false",
    "membudget_vram_source": "torch",
}


def _as_ini(keys: dict[str, str]) -> str:
    return "\n".join(["[pytest]", *(f"{key} = {value}" for key, value in keys.items())])


def _as_toml(keys: dict[str, str]) -> str:
    return "\n".join(["[tool.pytest.ini_options]", *(f'{key} = "{value}"' for key, value in keys.items())])


@pytest.mark.parametrize(("name", "written"), [("pytest.ini", _as_ini), ("pyproject.toml", _as_toml)])
def test_ini_keys(project: Project, name: str, written: object) -> None:
    """Report, JSON relative to rootdir, top, all, missing and gc_freeze from pytest.ini and from pyproject.toml."""
    assert callable(written)
    project.write_file(name, written(KEYS))
    project.write(SUITE)
    project.write_file("reports/keep.txt", "")
    project.write_file("elsewhere/keep.txt", "")

    run = project.run("--rootdir=.")

    assert (project.path / "reports/run.json").exists()
    assert "without a budget, the largest 1 of 2:" in run.section
    assert "     rss      heap  test" in run.section
    assert run.failures["test_unmeasured"] == (
        "vram: not judged: no GPU figure: torch is not imported (membudget_missing = fail)"
    )
    assert run.last_line == "1 failed, 3 passed"


@pytest.mark.parametrize(("name", "written"), [("pytest.ini", _as_ini), ("pyproject.toml", _as_toml)])
def test_default_budgets_from_ini(project: Project, name: str, written: object) -> None:
    """membudget_default, membudget_paths (a list in TOML) and membudget_read_limit_memory."""
    assert callable(written)
    text = written({"membudget_default": "1MiB", "membudget_read_limit_memory": "on"})
    paths = (
        'membudget_paths = ["test_big*=3MiB"]' if name == "pyproject.toml" else "membudget_paths =\n  test_big* = 3MiB"
    )
    project.write_file(name, f"{text}\n{paths}")
    project.write(
        test_big="def test_it(): held = bytearray(2 * 2**20)",
        test_it="""
            import pytest

            def test_default(): held = bytearray(2 * 2**20)

            @pytest.mark.limit_memory("4 MB")
            def test_limit(): held = bytearray(2 * 2**20)
        """,
    )

    run = project.measure()

    assert {test["nodeid"]: test["ram"]["budget_bytes"] / MIB for test in run.document["tests"]} == {
        "test_big.py::test_it": 3,
        "test_it.py::test_default": 1,
        "test_it.py::test_limit": 4,
    }
    assert run.last_line == "1 failed, 2 passed"


def test_the_command_line_overrules_the_ini_file(project: Project) -> None:
    """Each option speaks before the key of the same name; its JSON path is relative to where pytest was started."""
    project.write_file(
        "pytest.ini",
        _as_ini(KEYS | {"membudget_report": "false", "membudget_all": "false", "membudget_default": "9MiB"}),
    )
    project.write(SUITE)

    run = project.measure(
        "--membudget-report",
        "--membudget-top=0",
        "--membudget-missing=warn",
        "--membudget-default=1MiB",
        "--membudget-all",
    )

    assert run.outcomes == {
        "test_marked": "WITHIN",
        "test_unmeasured": "NOT_MEASURED",
        "test_one": "OVER_BUDGET",
        "test_two": "WITHIN",
    }
    assert run.tests["test_one"]["ram"]["budget_bytes"] == MIB
    assert run.last_line == "1 failed, 3 passed"
    assert not (project.path / "reports").exists()


@pytest.mark.parametrize("how", ["--no-membudget", "-omembudget=false", "-pno:membudget"])
def test_off(project: Project, how: str) -> None:
    """Nothing is judged and the summary says so, bad markers and all; with the plugin away pytest says what it says."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB")
        def test_over(): held = bytearray(2 * 2**20)

        @pytest.mark.membudget("1XB")
        def test_bad(): pass
    """)

    run = project.run(
        how, *(() if "-p" in how else ("--strict-markers", "--membudget-report", "--membudget-json=r.json"))
    )

    assert run.last_line.startswith("2 passed")
    assert ("membudget: off, no budget was judged" in run.lines) == ("-p" not in how)
    assert "memory budgets" not in run.out
    assert not (project.path / "r.json").exists()


def test_all_measures_the_heap_of_every_test(project: Project) -> None:
    """With --membudget-all an unbudgeted test has a heap peak and still no verdict."""
    project.write(SUITE)

    run = project.measure("--membudget-all", "-k", "one or two")

    assert run.outcomes == {"test_one": None, "test_two": None}
    assert abs(run.peak_bytes("test_one") - 2 * MIB) <= 1024
    assert run.tests["test_one"]["ram"]["budget_bytes"] is None


def test_help_names_every_option_and_key(project: Project) -> None:
    """What can be set can be found with --help, and the marker with --markers, the fixture with --fixtures."""
    helped = project.run("--help").out

    for option in ("report", "json", "top", "all", "missing", "default"):
        assert f"--membudget-{option}" in helped
        assert f"  membudget_{option} " in helped
    for rest in (
        "--no-membudget",
        "membudget_paths",
        "membudget_read_limit_memory",
        "membudget_gc_freeze",
        "  membudget ",
    ):
        assert rest in helped
    assert "@pytest.mark.membudget(ram, *, rss, vram, retained" in project.run("--markers").out
    assert "membudget -- " in project.run("--fixtures").out
