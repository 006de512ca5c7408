"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from pytest_membudget.store.atomic_file import write_atomically
from tests.own_interpreter import in_own_interpreter

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that does not exist yet, alone in its folder."""
    return tmp_path / "run.json"


def test_new_file(path: Path) -> None:
    """UTF-8 and plain line ends on every system, and nothing beside it."""
    write_atomically(path, "größe\n")

    assert path.read_bytes() == "größe\n".encode()
    assert os.listdir(path.parent) == ["run.json"]


def test_old_file_is_replaced(path: Path) -> None:
    """A shorter text leaves no tail of the longer one."""
    path.write_text("a much longer text")
    write_atomically(path, "new")

    assert path.read_text() == "new"
    assert os.listdir(path.parent) == ["run.json"]


@needs_modes
@pytest.mark.parametrize("wanted", [0o600, 0o644, 0o664])
def test_mode_is_kept(path: Path, wanted: int) -> None:
    """Whoever could read the old file can read the new one, and nobody else."""
    path.write_text("old")
    path.chmod(wanted)
    write_atomically(path, "new")

    assert mode(path) == wanted


def write_under_umask(path: str, umask: int) -> int:
    """Write a new file in a process with that mask; return the file's mode, if the mask was left as it is."""
    os.umask(umask)
    write_atomically(Path(path), "new")
    assert os.umask(umask) == umask
    return mode(Path(path))


@needs_modes
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_file_has_the_mode_that_the_umask_allows(path: Path, umask: int, expected: int) -> None:
    """As if the user had written it, not the private mode of temporary files."""
    assert in_own_interpreter(write_under_umask, str(path), umask) == expected


def test_failure_leaves_the_old_file_and_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills in the last moment."""
    path.write_text("old")

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space left on device"):
        write_atomically(path, "new")

    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["run.json"]


def write_on_a_small_disk(path: str) -> str:
    """Write more than files may hold in this process."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        write_atomically(Path(path), "x" * 100_000)
    except OSError as error:
        return error.strerror or ""
    return "written"


@needs_modes
def test_disk_that_fills(path: Path) -> None:
    """For real: the system refuses in the middle of the text."""
    path.write_text("old")

    assert in_own_interpreter(write_on_a_small_disk, str(path)) == "File too large"
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["run.json"]


def test_interrupt_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does Ctrl-C."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")

    assert os.listdir(path.parent) == []


def test_text_that_cannot_be_encoded_leaves_nothing(path: Path) -> None:
    """The old file stays as well."""
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\udc80")

    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["run.json"]


def test_missing_folder(tmp_path: Path) -> None:
    """The system's own error, for the option to put into words."""
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing" / "run.json", "new")

    assert os.listdir(tmp_path) == []


def test_folder_in_place_of_the_file(tmp_path: Path) -> None:
    """It is not written over, and not removed."""
    with pytest.raises(OSError, match="Is a directory" if sys.platform != "win32" else ""):
        write_atomically(tmp_path, "new")

    assert tmp_path.is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_link_is_followed(tmp_path: Path, path: Path) -> None:
    """The link stays a link, and the file that it leads to is replaced."""
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "real.json").write_text("old")
    path.symlink_to(target / "real.json")
    write_atomically(path, "new")

    assert path.is_symlink()
    assert (target / "real.json").read_text() == "new"
    assert os.listdir(target) == ["real.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_pipe_is_written_to(path: Path) -> None:
    """As with /dev/stdout: what is no regular file is never put out of its place."""
    os.mkfifo(path)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(path.read_text(encoding="utf-8")))
    reader.start()
    write_atomically(path, "new")
    reader.join()

    assert received == ["new"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_readers_never_see_a_part(path: Path) -> None:
    """While one writes again and again, another reads whole texts only."""
    texts = [letter * 200_000 for letter in "ab"]
    write_atomically(path, texts[0])
    done = threading.Event()
    seen: set[str] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for index in range(20):
        write_atomically(path, texts[index % 2])
    done.set()
    reader.join()

    assert seen <= set(texts)
    assert seen
