"""A run as annotations on the lines of a pull request: GitHub Actions' workflow commands.

Source of the format and of its escapes: the workflow commands page of GitHub's documentation, and ``command.ts`` of
``actions/toolkit``. GitHub keeps ten annotations of a kind for each step and drops the rest without a word.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence

from pytest_membudget.core.run import RunReport
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.row import Row, judged_rows

MOST_OF_A_KIND = 10
MOST_TITLE = 200


def annotation_lines(run: RunReport, rootdir: str = "") -> list[str]:
    """Return one workflow command a line: errors, warnings, and a notice where there are more than GitHub would keep.

    Parameters
    ----------
    rootdir
        Where pytest's rootdir lies in the repository, as GitHub wants paths from the repository's own root.
    """
    rows = [row for row in judged_rows(run) if row.record.outcome is not Outcome.WITHIN]
    kinds = {"error": [row for row in rows if row.fails], "warning": [row for row in rows if not row.fails]}
    lines: list[str] = []
    for kind, several in kinds.items():
        lines += [_annotation(kind, row, rootdir) for row in several[:MOST_OF_A_KIND]]
        if rest := several[MOST_OF_A_KIND:]:
            lines.append(_roll_up(rest))
    return lines


def _annotation(kind: str, row: Row, rootdir: str) -> str:
    record = row.record
    properties = {"title": f"{row.outcome}: {_shortened(row.name)}"}
    if record.file:
        file = posixpath.normpath(posixpath.join(rootdir, record.file))
        properties = {"file": file, "line": str(record.line or 1)} | properties
    return _command(kind, properties, record.text or record.reason or row.outcome)


def _roll_up(rest: Sequence[Row]) -> str:
    """Count what has no annotation of its own. A notice, for it would be the eleventh of its own kind."""
    counts = Counter(row.outcome for row in rest)
    said = ", ".join(f"{count:,} {word}" for word, count in counts.items())
    return _command("notice", {"title": "memory budgets"}, f"and without an annotation of their own: {said}")


def _shortened(nodeid: str) -> str:
    """Keep the end of a node id, which is what tells tests apart."""
    return nodeid if len(nodeid) <= MOST_TITLE else f"…{nodeid[1 - MOST_TITLE :]}"


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    written = ",".join(f"{name}={_escaped_property(value)}" for name, value in properties.items())
    return f"::{kind} {written}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
