"""The files of a run: one list of writers, and one way of saying that a file could not be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_membudget.core.run import RunReport
from pytest_membudget.glue.options import Settings
from pytest_membudget.reports.html_report import render_html
from pytest_membudget.reports.json_report import render_json
from pytest_membudget.reports.markdown_report import MOST_BYTES, render_markdown
from pytest_membudget.store.atomic_file import append_text, write_atomically

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True)
class Output:
    """A file to write: who asked for it, where it lies, and how it comes about."""

    asked_by: str
    path: Path
    render: Callable[[RunReport], str]
    write: Callable[[Path, str], None] = write_atomically


def write_outputs(outputs: Iterable[Output], run: RunReport) -> list[str]:
    """Write the files; return one sentence on each that could not be written."""
    return [failure for output in outputs if (failure := _failure_of(output, run))]


def _failure_of(output: Output, run: RunReport) -> str | None:
    # A file name that is no valid text puts lone surrogates into node ids, which UTF-8 cannot hold.
    text = output.render(run).encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        output.write(output.path, text)
    except OSError as error:
        return f"{output.asked_by}: {str(output.path)!r} cannot be written ({error.strerror or error})"
    return None


def outputs_of(settings: Settings) -> list[Output]:
    """Return the files that were asked for, and the summary of the step when a report was asked for on GitHub."""
    wanted = (
        ("--membudget-json", settings.json_path, render_json),
        ("--membudget-markdown", settings.markdown_path, render_markdown),
        ("--membudget-html", settings.html_path, render_html),
    )
    outputs = [Output(asked_by, path, render) for asked_by, path, render in wanted if path is not None]
    summary = os.environ.get(STEP_SUMMARY)
    if summary and settings.reports:
        outputs.append(Output(f"${STEP_SUMMARY}", Path(summary), _rest_of(Path(summary)), append_text))
    return outputs


def _rest_of(summary: Path) -> Callable[[RunReport], str]:
    """Return a writer of what still fits: GitHub drops the summary of a step, all of it, when it is too large."""
    return lambda run: render_markdown(run, MOST_BYTES - (summary.stat().st_size if summary.exists() else 0))
