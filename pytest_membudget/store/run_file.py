"""Reading back what ``--membudget-json`` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pytest_membudget.core.baseline import Baseline
from pytest_membudget.core.errors import BaselineError
from pytest_membudget.core.record import TestRecord, from_plain
from pytest_membudget.core.run import Environment, RunReport
from pytest_membudget.store.baseline_file import parse_baseline

FORMAT = 1


def read_run(path: Path) -> RunReport:
    """Return the run in a file.

    Raises
    ------
    BaselineError
        A file that is no run of this format: one sentence with the place and what to do.
    OSError
        When the file is missing or cannot be opened.
    """
    document = _document(path)
    if "environments" in document:
        raise BaselineError(f"{path.name} is a baseline, not a run: give a file that pytest --membudget-json wrote")
    return _run(document, path.name)


def read_run_or_baseline(path: Path) -> RunReport | Baseline:
    """Return what is in a file, be it a run or a baseline.

    Raises
    ------
    BaselineError, OSError
        As `read_run` does.
    """
    document = _document(path)
    if "environments" in document:
        return parse_baseline(path.read_bytes().decode("utf-8-sig"), path.name)
    return _run(document, path.name)


def _document(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path.name} is not JSON ({error}): was it written in full?") from None
    if not isinstance(document, dict) or "format" not in document or not document.keys() & {"tests", "environments"}:
        raise BaselineError(
            f"{path.name} is neither a run (pytest --membudget-json) nor a baseline (pytest --membudget-update)"
        )
    return document


def _run(document: Mapping[str, Any], name: str) -> RunReport:
    if (version := document["format"]) != FORMAT:
        raise BaselineError(f"{name} has format {version!r}, and this version reads {FORMAT}: update pytest-membudget")
    try:
        environment = _environment(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BaselineError(f"{name}: its environment cannot be read ({_why(error)})") from None
    if not isinstance(tests := document["tests"], list):
        raise BaselineError(f"{name}: its tests cannot be read (they are no list)")
    return RunReport(tuple(_record(plain, position, name) for position, plain in enumerate(tests)), environment)


def _environment(document: Mapping[str, Any]) -> Environment:
    known = {field.name for field in fields(Environment)}
    facts = {"tools": document["tool"], **document["environment"]}
    return Environment(**{name: value for name, value in facts.items() if name in known})


def _record(plain: Any, position: int, name: str) -> TestRecord:
    try:
        return from_plain(plain)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        which = plain.get("nodeid", position) if isinstance(plain, dict) else position
        raise BaselineError(f"{name}: test {which!r} cannot be read ({_why(error)})") from None


def _why(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
