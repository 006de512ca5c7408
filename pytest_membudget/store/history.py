"""Asking git, where there is one, how old a file is."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=8)
def last_commit_of(path: Path) -> str | None:
    """Return the abbreviated commit that last changed a file, or None where that is not known.

    A shallow clone has forgotten it: there the oldest commit that is left appears to have made every file.
    """
    answer = _git(path.parent, "log", "-1", "--format=%h %p", "--", path.name)
    commit, _, parents = (answer or "").partition(" ")
    if not commit or (not parents and _git(path.parent, "rev-parse", "--is-shallow-repository") != "false"):
        return None
    return commit


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
