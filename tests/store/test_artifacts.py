"""What is kept of a failed test: file names, and reasons in the place of files."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.store.artifacts import file_name, keep_artifacts


@given(st.text(max_size=5000))
def test_file_name_fits_any_file_system(nodeid: str) -> None:
    """Short, of plain characters, and not hidden."""
    name = file_name(nodeid)

    assert len(name) <= 100
    assert name.isascii()
    assert not set(name) & set('/\\:*?"<>| ')
    assert not name.startswith(".")


def test_file_name_tells_tests_apart() -> None:
    """What differs only in characters that a file name cannot have is still two files."""
    assert file_name("a.py::test[x/y]") != file_name("a.py::test[x:y]")


def test_file_name_can_be_read() -> None:
    """And is the same in every run."""
    assert file_name("tests/test_vq.py::test_assign[28000x64]") == "tests-test_vq.py-test_assign-28000x64-cf3252c9"


def test_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    """The verdict on the test stands, and the reason takes the place of the paths."""
    capture = tmp_path / "0.bin"
    capture.write_bytes(b"")
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "artifacts"
    kept = keep_artifacts(folder, "a.py::test", capture)

    assert kept.text == (
        f"capture: cannot be written to {str(folder)!r} (Not a directory)\nflame graph: none without a capture"
    )


def test_capture_that_memray_cannot_read_is_a_sentence(tmp_path: Path) -> None:
    """The capture is kept all the same."""
    capture = tmp_path / "0.bin"
    capture.write_bytes(b"no capture")
    kept = keep_artifacts(tmp_path / "kept", "a.py::test", capture)

    assert kept.capture == str(tmp_path / "kept" / "a.py-test-c306e4cc.bin")
    assert Path(kept.capture).read_bytes() == b"no capture"
    assert kept.flame_graph.startswith("none (memray: ")
