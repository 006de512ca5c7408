"""The files of a run, and what GitHub Actions reads off it: asked for by options, ini keys and the surroundings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.project import Project

SUITE = """
    import time
    import pytest

    @pytest.mark.membudget("1MiB")
    def test_over():
        held = bytearray(3 * 2**20)
        time.sleep(0.02)

    @pytest.mark.membudget("1MiB", vram="1GiB")
    def test_unmeasured(): pass

    @pytest.mark.membudget("8MiB")
    def test_within(): held = bytearray(2 * 2**20)

    def test_plain(): held = bytearray(5 * 2**20)
"""
NAMES = ("test_over", "test_unmeasured", "test_within", "test_plain")
FILES = ("--membudget-json=all.json", "--membudget-markdown=all.md", "--membudget-html=all.html")
ON_GITHUB = {"GITHUB_ACTIONS": "true"}


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_one_run_is_written_in_every_form(project: Project, plugins: tuple[str, ...]) -> None:
    """Each form has every test of every worker."""
    project.write(SUITE)
    project.run("--membudget-report", *FILES, *(("-n2",) if plugins else ()), plugins=plugins)
    forms = [(project.path / name).read_text(encoding="utf-8") for name in ("all.json", "all.md", "all.html")]

    assert all(f"test_it.py::</span><wbr>{name}" in forms[2] for name in NAMES)
    assert all(f"`test_it.py::{name}`" in forms[1] for name in NAMES)
    assert all(f'"nodeid": "test_it.py::{name}"' in forms[0] for name in NAMES)
    assert "**1 over budget**, 1 not measured, 1 within (3 budgeted of 4 tests on `" in forms[1]


def test_ini_keys_name_files_relative_to_rootdir(project: Project) -> None:
    """While an option is relative to where pytest was called."""
    project.write_file(
        "pytest.ini", "[pytest]\nmembudget_html = a.html\nmembudget_markdown = a.md\nmembudget_artifacts = a"
    )
    project.write(SUITE)
    project.write_file("elsewhere/keep.txt", "")
    project.run("--rootdir=.", "--membudget-html=elsewhere/b.html")

    assert (project.path / "a.md").exists()
    assert len(list((project.path / "a").iterdir())) == 2
    assert not (project.path / "a.html").exists()
    assert (project.path / "elsewhere/b.html").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--membudget-html=.", "--membudget-html: '.' is a folder: name a file in it"),
        (
            "--membudget-markdown=no/all.md",
            "--membudget-markdown: the folder '{here}/no' does not exist: create it, or choose another place",
        ),
        (
            "--membudget-artifacts=test_it.py",
            "--membudget-artifacts: 'test_it.py' is, or lies under, a file: name a folder",
        ),
        (
            "--membudget-artifacts=test_it.py/a",
            "--membudget-artifacts: 'test_it.py/a' is, or lies under, a file: name a folder",
        ),
    ],
)
def test_place_that_cannot_be_is_refused(project: Project, option: str, message: str) -> None:
    """Before anything runs."""
    project.write(SUITE)
    run = project.run(option)

    assert run.err.strip() == f"ERROR: pytest-membudget: {message.format(here=project.path)}"
    assert run.exit_code == pytest.ExitCode.USAGE_ERROR


def test_files_that_cannot_be_written_are_named_one_by_one(project: Project) -> None:
    """Verdicts stand, the files that can be written are, and the exit status is that of a failure."""
    project.write("""
        import os, pytest

        @pytest.mark.membudget("3MiB")
        def test_it(): os.rename("out", "out of the way")
    """)
    (project.path / "out").mkdir()
    run = project.run("--membudget-html=out/all.html", "--membudget-markdown=out/all.md", "--membudget-json=all.json")

    assert run.section[-2:] == [
        f"--membudget-markdown: '{project.path}/out/all.md' cannot be written (No such file or directory)",
        f"--membudget-html: '{project.path}/out/all.html' cannot be written (No such file or directory)",
    ]
    assert run.last_line == "1 passed"
    assert run.exit_code == pytest.ExitCode.TESTS_FAILED
    assert (project.path / "all.json").exists()
    assert os.listdir(project.path / "out of the way") == []


def test_summary_of_the_step_is_added_to(project: Project) -> None:
    """What other commands of the step have written stays."""
    summary = project.path / "summary.md"
    summary.write_text("# Mine\n")
    project.write(SUITE)
    project.run("--membudget-report", environment={"GITHUB_STEP_SUMMARY": str(summary)})

    assert summary.read_text(encoding="utf-8").startswith("# Mine\n## Memory budgets\n")


def test_summary_of_the_step_is_left_alone_without_a_report(project: Project) -> None:
    """A run that nobody asked to report does not."""
    summary = project.path / "summary.md"
    project.write(SUITE)
    project.run(environment={"GITHUB_STEP_SUMMARY": str(summary)})

    assert not summary.exists()


def test_summary_of_the_step_that_is_nearly_full(project: Project) -> None:
    """GitHub drops a summary of more than a MiB, with all that others wrote: what fits is added, and no more."""
    summary = project.path / "summary.md"
    summary.write_text("x" * (2**20 - 1500))
    project.write(SUITE)
    project.run("--membudget-report", environment={"GITHUB_STEP_SUMMARY": str(summary)})
    text = summary.read_text(encoding="utf-8")

    assert len(text.encode()) <= 2**20
    assert "Left out, as this page may hold" in text


def test_summary_of_the_step_that_cannot_be_written(project: Project) -> None:
    """Named like any other file."""
    project.write("def test_it(): pass")
    run = project.run("--membudget-report", environment={"GITHUB_STEP_SUMMARY": "nowhere/summary.md"})

    assert run.section[-1] == "$GITHUB_STEP_SUMMARY: 'nowhere/summary.md' cannot be written (No such file or directory)"


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_annotations_stand_on_the_markers_line(project: Project, plugins: tuple[str, ...]) -> None:
    """On GitHub Actions, for what fails and for what was not judged, with the path from the root of the repository."""
    project.write(SUITE)
    workspace = {"GITHUB_WORKSPACE": str(project.path.parent)}
    options = ("--membudget-vram-source=torch", *(("-n2",) if plugins else ()))
    run = project.run(*options, environment=ON_GITHUB | workspace, plugins=plugins)
    commands = [line for line in run.lines if line.startswith("::")]
    folder = project.path.name

    assert len(commands) == 2
    assert commands[0].startswith(
        f"::error file={folder}/test_it.py,line=4,title=over budget%3A test_it.py%3A%3Atest_over::"
        "ram: peak 3 MiB, budget 1 MiB: over by 2 MiB (3x)%0Aat the peak:%0A"
    )
    assert commands[1] == (
        f"::warning file={folder}/test_it.py,line=9,title=not measured%3A test_it.py%3A%3Atest_unmeasured::"
        "no GPU figure: torch is not imported"
    )


def test_annotations_are_for_github_alone(project: Project) -> None:
    """On a terminal they would be noise."""
    project.write(SUITE)

    assert [line for line in project.run("--membudget-report").lines if line.startswith("::")] == []


def test_collecting_writes_nothing(project: Project) -> None:
    """There is no run to tell of."""
    project.write(SUITE)
    summary = project.path / "summary.md"
    project.run("--collect-only", *FILES, environment={"GITHUB_STEP_SUMMARY": str(summary)} | ON_GITHUB)

    assert [path.name for path in project.path.iterdir() if path.suffix in (".json", ".md", ".html")] == []


def test_name_that_is_no_text_is_written_as_an_escape(project: Project) -> None:
    """In all forms: no traceback, no half-written file."""
    source = b"import pytest\n@pytest.mark.membudget('1MiB')\ndef test_it(): pass\n"
    Path(os.fsdecode(bytes(project.path) + b"/test_caf\xe9.py")).write_bytes(source)
    # Node ids of this kind are too much for pytest's own cache.
    run = project.run(*FILES, "-p", "no:cacheprovider", environment={"PYTHONIOENCODING": "utf-8:backslashreplace"})

    assert run.exit_code == pytest.ExitCode.OK
    assert all("caf\\udce9" in (project.path / f"all.{kind}").read_text("utf-8") for kind in ("json", "md", "html"))


def test_timeline_follows_the_heap(project: Project) -> None:
    """From nothing to the peak and no higher, over the time that the test took."""
    project.write("""
        import time
        import pytest

        @pytest.mark.membudget("64MiB")
        def test_steps(membudget):
            held = []
            for _ in range(4):
                held.append(bytearray(2**20))
                time.sleep(0.1)
            with membudget.track():
                held.append(bytearray(4 * 2**20))
                time.sleep(0.1)
    """)
    run = project.measure()
    test = run.tests["test_steps"]
    seconds, heap, resident = zip(*test["timeline"], strict=True)

    assert seconds[0] == 0
    assert list(seconds) == sorted(seconds)
    assert seconds[-1] >= 0.3
    assert max(heap) == test["ram"]["peak_bytes"]
    assert {round(size / 2**20) for size in heap} <= {0, 1, 2, 3, 4, 8}
    assert min(resident) > 2**20
