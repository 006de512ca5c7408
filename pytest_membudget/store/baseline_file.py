"""The baseline in the repository: JSON that people review, merge and now and then edit.

One entry stands on one line, sorted, so that two branches that record different tests merge without a conflict and a
reviewer sees each figure that changed. Whatever a reader cannot be sure of is refused, with the file left as it is.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_membudget.core.baseline import Baseline, Entry, resource_of
from pytest_membudget.core.errors import BaselineError
from pytest_membudget.store.atomic_file import write_atomically

# 1: the first.
FORMAT = 1
MOST_SECONDS = 60
MOST_BYTES = 2**63 - 1
_CONFLICT = re.compile(r"^(<{7}|>{7}|={7}|\|{7})( |$)", re.MULTILINE)
_KEYS = frozenset(("anchor", "by", "mode", "sites"))
_RECORD_AGAIN = "restore the file from version control, or delete it and record anew with pytest --membudget-update"
Plain = dict[str, Any]


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file.

    Raises
    ------
    BaselineError
        A file that cannot be read or that is no baseline of this format: one sentence with the place and what to do.
    OSError
        When the file is missing or cannot be opened.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BaselineError(f"{path.name} is not UTF-8 text (byte {error.start}): {_RECORD_AGAIN}") from None
    return parse_baseline(text, path.name)


def parse_baseline(text: str, name: str) -> Baseline:
    """Return the baseline that ``text`` holds; ``name`` is what messages call it.

    Raises
    ------
    BaselineError
        As in `read_baseline`.
    """
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise BaselineError(
            f"{name} line {line}: a merge conflict: keep the lines of either side, delete the markers, then record "
            "what differs with pytest --membudget-update"
        )
    with _collector_paused():
        document = _parsed(text, name)
        environments = _checked_document(document, name)
        return Baseline({key: _tests(tests, f"{name}: {key}") for key, tests in environments.items()})


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Look for no garbage among a hundred thousand values that are all kept: that takes a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parsed(text: str, name: str) -> object:
    if not text.strip():
        raise BaselineError(f"{name} is empty: {_RECORD_AGAIN}")

    def unique(pairs: list[tuple[str, Any]]) -> Plain:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise BaselineError(f"{name}: {_short(twice)} stands there twice: delete one of the two")
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
            raise BaselineError(f"{name} line {error.lineno}: the file ends too early: {_RECORD_AGAIN}") from None
        raise BaselineError(
            f"{name} line {error.lineno} column {error.colno}: not JSON ({error.msg}): {_RECORD_AGAIN}"
        ) from None
    except (RecursionError, ValueError):
        raise BaselineError(f"{name} is not a baseline of pytest-membudget: {_RECORD_AGAIN}") from None


def _checked_document(document: object, name: str) -> Mapping[str, object]:
    """Return the environments of a document of this format."""
    if not isinstance(document, dict) or "format" not in document or "environments" not in document:
        run = isinstance(document, dict) and "tests" in document and "totals" in document
        what = "is a run (--membudget-json), not a baseline" if run else "is not a baseline of pytest-membudget"
        raise BaselineError(f"{name} {what}: give the path of a file that pytest --membudget-update wrote")
    version = document["format"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BaselineError(f'{name}: "format" is {_short(version)}: it is a whole number from 1')
    if version > FORMAT:
        raise BaselineError(
            f"{name} has format {version}, and this version reads up to {FORMAT}: update pytest-membudget"
        )
    if unknown := sorted(document.keys() - {"format", "environments"}):
        raise BaselineError(f"{name}: {_short(unknown[0])} is unknown: delete it")
    environments = document["environments"]
    if not isinstance(environments, dict):
        raise BaselineError(f'{name}: "environments" is {_short(environments)}: it is an object of environments')
    return environments


def _tests(tests: object, where: str) -> dict[str, Entry]:
    if not isinstance(tests, dict):
        raise BaselineError(f"{where}: {_short(tests)} is not an object of tests: {_RECORD_AGAIN}")
    return {nodeid: _entry(plain, where, nodeid) for nodeid, plain in tests.items()}


def _entry(plain: object, where: str, nodeid: str) -> Entry:
    if type(plain) is not dict or not plain:
        raise _refusal(where, nodeid, f"{_short(plain)} is not an entry")
    figures = {key: value for key, value in plain.items() if key not in _KEYS}
    for key, value in figures.items():
        if key not in _FIGURES and resource_of(key) is None:
            raise _refusal(where, nodeid, f"{_short(key)} is unknown")
        _check_bytes(value, key, where, nodeid)
    measured_by, mode = plain.get("by", ""), plain.get("mode", "")
    if type(measured_by) is not str or type(mode) is not str:
        raise _refusal(where, nodeid, '"by" and "mode" are texts')
    anchors = _table(plain, "anchor", where, nodeid)
    if anchors and (strange := sorted(anchors.keys() - figures.keys())):
        raise _refusal(where, nodeid, f"it has an anchor for {_short(strange[0])} and no figure of that name")
    return Entry(figures, measured_by, mode, anchors, _table(plain, "sites", where, nodeid))


_FIGURES = frozenset(("ram", "retained", "rss"))


def _table(plain: Plain, key: str, where: str, nodeid: str) -> dict[str, int]:
    table = plain.get(key)
    if table is None:
        return {}
    if type(table) is not dict:
        raise _refusal(where, nodeid, f'"{key}" is {_short(table)}: it is an object of sizes in bytes')
    for name, value in table.items():
        _check_bytes(value, name, where, nodeid)
    return table


def _check_bytes(value: object, key: str, where: str, nodeid: str) -> None:
    if type(value) is not int or not 0 <= value <= MOST_BYTES:
        raise _refusal(where, nodeid, f"{key} is {_short(value)}: it is a whole number of bytes, zero or more")


def _refusal(where: str, nodeid: str, why: str) -> BaselineError:
    return BaselineError(f"{where}: {_short(nodeid)}: {why}: correct the line, or delete it and record the test again")


def _short(value: object) -> str:
    """Show a value, and of a long one its beginning."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else f"{text[:117]}..."


def rewrite_baseline(path: Path, change: Callable[[Baseline], Baseline]) -> None:
    """Replace the file by what ``change`` makes of its content, whole or not at all; a new file begins empty.

    Runs that do this at the same time wait for one another, so that no entry is lost. A file that would stay as it is
    is not touched.

    Raises
    ------
    BaselineError
        A file that cannot be understood, or another run that has been writing for too long.
    OSError
        When the folder or the file cannot be written.
    """
    import filelock

    lock = filelock.FileLock(_lock_path(path), timeout=MOST_SECONDS)
    try:
        with lock:
            before = read_baseline(path) if path.exists() else Baseline()
            after = change(before)
            if after != before or (len(after) and not path.exists()):
                write_atomically(path, render_baseline(after))
    except filelock.Timeout:
        raise BaselineError(
            f"{path.name} has been in use by another run for {MOST_SECONDS} seconds: try again when that has ended"
        ) from None


def _lock_path(path: Path) -> Path:
    """Return a file outside the repository that stands for this baseline: nothing is left beside it."""
    digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()
    # A lock that another user made could not be opened.
    user = os.getuid() if hasattr(os, "getuid") else "me"
    return Path(tempfile.gettempdir(), f"pytest-membudget-{user}-{digest[:20]}.lock")


def render_baseline(baseline: Baseline) -> str:
    """Return the text of a baseline: sorted, one entry on one line, bytes as integers, a newline at the end."""
    return "".join(_lines(baseline))


def _lines(baseline: Baseline) -> Iterator[str]:
    yield f'{{\n"format": {FORMAT},\n"environments": {{'
    environments = sorted(baseline.environments.items())
    for position, (key, tests) in enumerate(environments):
        yield f"{',' if position else ''}\n{_json(key)}: {{"
        separator = "\n"
        for nodeid in sorted(tests):
            yield f"{separator}{_json(nodeid)}: {_json(_plain(tests[nodeid]))}"
            separator = ",\n"
        yield "\n}"
    yield "\n}\n}\n" if environments else "}\n}\n"


def _plain(entry: Entry) -> Plain:
    plain: Plain = dict(sorted(entry.figures.items()))
    optional = {
        "anchor": dict(sorted(entry.anchors.items())),
        "by": entry.measured_by,
        "mode": entry.mode,
        "sites": dict(entry.sites),
    }
    return {**plain, **{key: value for key, value in optional.items() if value}}


def _json(value: object) -> str:
    """Return readable JSON; half a surrogate pair, which UTF-8 cannot write, is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or text.isprintable() else json.dumps(value)
