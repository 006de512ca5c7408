"""--membudget-artifacts: what a failed test leaves for a closer look."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project

SUITE = """
    import pytest

    @pytest.mark.membudget("1MiB")
    def test_over(): held = bytearray(3 * 2**20)

    @pytest.mark.membudget("8MiB")
    def test_breaks():
        held = bytearray(2 * 2**20)
        raise ValueError

    @pytest.mark.membudget("8MiB")
    def test_within(): held = bytearray(2 * 2**20)

    @pytest.mark.membudget("1MiB", scope="test")
    def test_fixture(large): pass

    @pytest.fixture
    def large(): return bytearray(3 * 2**20)

    @pytest.mark.membudget("1MiB")
    def test_regions(membudget):
        small = bytearray(2**19)
        with membudget.track():
            large = bytearray(5 * 2**20)
        del large

    @pytest.mark.xfail
    @pytest.mark.membudget("1MiB")
    def test_expected(): held = bytearray(3 * 2**20)

    def test_plain(): raise ValueError
"""
KEPT = ["test_breaks", "test_fixture", "test_over", "test_regions"]


def _peak_bytes(capture: Path) -> int:
    from memray import FileReader

    reader = FileReader(capture)
    peak_bytes = sum(record.size for record in reader.get_high_watermark_allocation_records())
    reader.close()
    return peak_bytes


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_failed_tests_leave_capture_and_flame_graph(project: Project, plugins: tuple[str, ...]) -> None:
    """Of every test whose heap was measured and that failed, for its memory or by itself, and of no other."""
    project.write(SUITE)
    run = project.run("--membudget-artifacts=kept/of run", *(("-n2",) if plugins else ()), plugins=plugins)
    folder = project.path / "kept" / "of run"
    captures = {path.name.split("-")[1]: path for path in sorted(folder.glob("*.bin"))}
    pages = {path.name.split("-")[1]: path for path in sorted(folder.glob("*.html"))}

    assert (sorted(captures), sorted(pages)) == (KEPT, KEPT)
    assert all("<title>memray" in page.read_text(encoding="utf-8") for page in pages.values())
    assert [round(_peak_bytes(captures[name]) / 2**20) for name in KEPT] == [2, 3, 3, 5]
    assert f"capture: {captures['test_over']}" in run.lines
    assert f"flame graph: {pages['test_over']}" in run.lines


def test_same_test_replaces_its_own(project: Project) -> None:
    """A second run leaves no second set."""
    project.write(SUITE)
    project.run("--membudget-artifacts=kept", "-k", "over")
    names = sorted(path.name for path in (project.path / "kept").iterdir())
    project.run("--membudget-artifacts=kept", "-k", "over")

    assert sorted(path.name for path in (project.path / "kept").iterdir()) == names
    assert len(names) == 2


def test_folder_that_cannot_be_written_is_a_sentence_at_the_failure(project: Project) -> None:
    """The verdict stands, and nothing else goes wrong."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB")
        def test_over():
            held = bytearray(3 * 2**20)
            open("kept", "w").close()
    """)
    run = project.run("--membudget-artifacts=kept")

    assert f"capture: cannot be written to '{project.path}/kept' (File exists)" in run.lines
    assert "flame graph: none without a capture" in run.lines
    assert run.last_line == "1 failed"


def test_nothing_is_left_where_nobody_asked(project: Project) -> None:
    """Captures live in a temporary folder and go with the run."""
    project.write(SUITE)
    temporary = project.path / "temporary"
    temporary.mkdir()
    project.run("--membudget-artifacts=kept", "-k", "within or expected", environment={"TMPDIR": str(temporary)})

    assert [path.name for path in temporary.iterdir() if path.name.startswith("membudget-")] == []
    assert not (project.path / "kept").exists()
