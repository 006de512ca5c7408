"""Running one function in an interpreter of its own: for limits, marks and exits that a process has only once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

_ROOT = Path(__file__).resolve().parent.parent
_PROGRAM = """
import importlib, json, sys
sys.path.append({root!r})
result = getattr(importlib.import_module({module!r}), {name!r})(*{arguments!r})
sys.stdout.write("result: " + json.dumps(result))
"""


def in_own_interpreter(
    function: Callable[..., Result], *arguments: object, environment: Mapping[str, str] | None = None
) -> Result:
    """Return what a module's function returns in a fresh interpreter; arguments and result are of JSON's types."""
    program = _PROGRAM.format(
        root=str(_ROOT), module=_importable_name(function), name=function.__name__, arguments=arguments
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **(environment or {})},
    )
    printed, found, result = done.stdout.rpartition("result: ")
    assert found, f"exit status {done.returncode}\n{printed}\n{done.stderr}"
    value: Result = json.loads(result)
    return value


def _importable_name(function: Callable[..., object]) -> str:
    file = Path(function.__code__.co_filename).resolve()
    return ".".join(file.relative_to(_ROOT).with_suffix("").parts)
