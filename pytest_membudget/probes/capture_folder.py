"""The private folder that captures are written to, for as long as one process measures."""

from __future__ import annotations

import os
import shutil
import tempfile
from itertools import count
from pathlib import Path


class CaptureFolder:
    """Hands out fresh file names in a private temporary folder and removes it at the end.

    The folder is made at the first request, and made again if a test removed it. A forked child never touches it.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._owner: int | None = os.getpid()
        self._numbers = count()

    def new_file(self) -> Path:
        """Return a path that does not exist yet.

        Raises
        ------
        OSError
            When no folder can be made.
        """
        if self._folder is None or not self._folder.is_dir():
            self._folder = Path(tempfile.mkdtemp(prefix="membudget-"))
        return self._folder / f"{os.getpid()}-{next(self._numbers)}.bin"

    def adopt(self, folder: Path) -> None:
        """Use a folder that another process made, and leave it to that process to remove it."""
        self._folder, self._owner = folder, None

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        if self._folder is not None and os.getpid() == self._owner:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
