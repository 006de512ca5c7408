"""The private folder that captures are written to."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_membudget.probes.capture_folder import CaptureFolder
from tests.own_interpreter import in_own_interpreter


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_made_at_the_first_request(temporary: Path) -> None:
    """A run that captures nothing makes nothing."""
    folder = CaptureFolder()
    before = os.listdir(temporary)
    path = folder.new_file()

    assert before == []
    assert os.listdir(temporary) == [path.parent.name]
    assert path.parent.name.startswith("membudget-")
    folder.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_private(temporary: Path) -> None:
    """What a test allocates is nobody else's business."""
    folder = CaptureFolder()

    assert folder.new_file().parent.stat().st_mode & 0o777 == 0o700
    folder.close()
    assert os.listdir(temporary) == []


def test_every_name_is_new() -> None:
    """Memray refuses to write over a file."""
    folder = CaptureFolder()
    names = [folder.new_file() for _ in range(100)]

    assert len(set(names)) == 100
    assert not any(name.exists() for name in names)
    folder.close()


def test_removed_with_all_that_is_in_it(temporary: Path) -> None:
    """A second time does no harm, and nor does never having been used."""
    folder = CaptureFolder()
    folder.new_file().write_bytes(b"capture")
    folder.close()
    folder.close()
    CaptureFolder().close()

    assert os.listdir(temporary) == []


def test_made_again_after_a_test_removed_it(temporary: Path) -> None:
    """The next test has a place to write to."""
    folder = CaptureFolder()
    shutil.rmtree(folder.new_file().parent)
    path = folder.new_file()
    path.write_bytes(b"capture")

    assert path.exists()
    folder.close()
    assert os.listdir(temporary) == []


def test_usable_after_closing(temporary: Path) -> None:
    """A plugin that is configured twice starts with a fresh folder."""
    folder = CaptureFolder()
    first = folder.new_file().parent
    folder.close()
    second = folder.new_file().parent

    assert first != second
    folder.close()
    assert os.listdir(temporary) == []


def test_no_room_for_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The system's own error comes through, for the meter to put into words."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))

    with pytest.raises(FileNotFoundError):
        CaptureFolder().new_file()


def close_in_a_forked_child() -> list[bool]:
    """Let a child close its copy of the folder; return whether the parent's stood before and after its own closing."""
    folder = CaptureFolder()
    path = folder.new_file().parent
    if os.fork() == 0:
        folder.close()
        os._exit(0)
    os.wait()
    after_the_child = path.is_dir()
    folder.close()
    return [after_the_child, path.is_dir()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_forked_child_leaves_it_alone() -> None:
    """A test that forks does not take the parent's captures away."""
    assert in_own_interpreter(close_in_a_forked_child) == [True, False]
