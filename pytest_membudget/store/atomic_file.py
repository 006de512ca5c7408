"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8; a reader sees the old file or the new one, never a part.

    A link is followed. What is there and is no regular file (a pipe, ``/dev/stdout``) is written to, not replaced.

    Raises
    ------
    OSError
        When the folder or the file cannot be written; nothing is left behind then.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    path = path.resolve()
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def append_text(path: Path, text: str) -> None:
    """Add ``text`` as UTF-8 to the end of a file that others write to as well.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _mode_for(path: Path) -> int:
    """Keep the mode of the file that is replaced; a new file gets what the user's umask allows."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
