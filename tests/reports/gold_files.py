"""Whole outputs as they were last looked at and found good.

``python -m tests.reports.gold_files`` in the root of the repository writes them anew: look at the difference first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pytest_membudget.core.run import RunReport
from pytest_membudget.reports.github import annotation_lines
from pytest_membudget.reports.html_report import render_html
from pytest_membudget.reports.json_report import render_json
from pytest_membudget.reports.markdown_report import render_markdown
from tests.reports.sample_run import SAMPLE

FOLDER = Path(__file__).parent / "gold"


def _page_without_parts(run: RunReport) -> str:
    """Leave out style and script, which are files of their own, and the script's hash."""
    page = re.sub(r"(<style>|<script>)\n?.*?(</style>|</script>)", r"\1\2", render_html(run), flags=re.DOTALL)
    return re.sub("'sha256-[^']+'", "'sha256-'", page)


WRITERS: dict[str, Callable[[RunReport], str]] = {
    "run.json": render_json,
    "run.md": render_markdown,
    "run.html": _page_without_parts,
    "annotations.txt": lambda run: "\n".join(annotation_lines(run, "packages/vq")) + "\n",
}


if __name__ == "__main__":
    for name, write in WRITERS.items():
        (FOLDER / name).write_text(write(SAMPLE), encoding="utf-8")
