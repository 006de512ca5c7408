"""Reading the facts about the machine and the tools that make two figures comparable."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytest_membudget.core.run import Environment

_TOOLS = ("pytest-membudget", "pytest", "memray", "psutil")


@lru_cache(maxsize=1)
def read_environment(rootpath: Path) -> Environment:
    """Return the environment of this process; the commit is None outside a git checkout."""
    import psutil

    return Environment(
        key=environment_key(),
        cpu_count=os.cpu_count() or 1,
        total_ram_bytes=int(psutil.virtual_memory().total),
        commit=_commit(rootpath),
        tools={tool: found for tool in _TOOLS if (found := _version(tool))},
    )


def environment_key() -> str:
    """Return what figures of different machines must share to be compared, such as ``cpython-3.11-linux-x86_64``."""
    python = f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}"
    return f"{python}-{platform.system().lower()}-{platform.machine().lower()}"


@lru_cache(maxsize=1)
def heap_tool() -> str:
    """Return what measures the heap, with its version, such as ``memray 1.20.0``; empty where there is nothing."""
    found = _version("memray")
    return f"memray {found}" if found else ""


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _commit(rootpath: Path) -> str | None:
    command = ["git", "-C", str(rootpath), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
