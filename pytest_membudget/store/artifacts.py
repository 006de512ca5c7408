"""What a failed test leaves for a closer look: memray's capture, and the flame graph that memray makes of it."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_MOST_NAME = 80
_MOST_SECONDS = 120
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Artifacts:
    """What was kept of a test: paths, or reasons why there is none."""

    capture: str
    flame_graph: str

    @property
    def text(self) -> str:
        """Both, one a line."""
        return f"capture: {self.capture}\nflame graph: {self.flame_graph}"


def keep_artifacts(folder: Path, nodeid: str, capture: Path) -> Artifacts:
    """Move ``capture`` to ``folder`` and make a flame graph of its peak there; the same test replaces its own.

    A failure to write is a sentence in the result: the verdict on the test stands whatever becomes of its artifacts.
    """
    kept = folder / f"{file_name(nodeid)}.bin"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(capture, kept)
    except OSError as error:
        reason = f"cannot be written to {str(folder)!r} ({error.strerror or error})"
        return Artifacts(reason, "none without a capture")
    return Artifacts(str(kept), _flame_graph(kept))


def file_name(nodeid: str) -> str:
    """Return a name that every file system takes, readable and different for each node id."""
    digest = hashlib.sha256(nodeid.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{_UNFIT.sub('-', nodeid)[-_MOST_NAME:].strip('-.')}-{digest}"


def _flame_graph(capture: Path) -> str:
    """Let memray make the page, in a process of its own so that the tests that follow are measured as before."""
    page = capture.with_suffix(".html")
    command = [sys.executable, "-m", "memray", "flamegraph", "--force", "--no-web", "--output", str(page), str(capture)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MOST_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"none ({error})"
    if done.returncode == 0:
        return str(page)
    return f"none (memray: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]})"
