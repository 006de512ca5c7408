"""Recording a run in the baseline and pruning it: once, by the process that reports the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pytest_membudget.core.baseline import Baseline
from pytest_membudget.core.errors import BaselineError
from pytest_membudget.core.record import TestRecord
from pytest_membudget.core.recording import Recorded, Update, may_enter, recorded
from pytest_membudget.glue.baseline_options import BaselineSettings
from pytest_membudget.glue.collected import Collected
from pytest_membudget.reports.baseline_lines import pruned_line, recorded_lines
from pytest_membudget.reports.terminal import Line, named
from pytest_membudget.store.baseline_file import rewrite_baseline


def write_baseline(
    settings: BaselineSettings,
    rootpath: Path,
    records: Sequence[TestRecord],
    run_failed: bool,
    collected: Mapping[str, Collected],
) -> tuple[list[Line], bool]:
    """Write what the run was asked to write; return what to tell the user, and whether it was done."""
    lines: list[Line] = []

    def change(baseline: Baseline) -> Baseline:
        # Another run may have written since this one began, so what is there now is what counts.
        if settings.update:
            result = recorded(baseline, records, Update(settings.update), run_failed)
            lines.extend(_recorded_lines(settings, result, records))
            baseline = result.baseline
        return _pruned(baseline, rootpath, collected, lines) if settings.prune else baseline

    try:
        rewrite_baseline(settings.path, change)
    except BaselineError as error:
        return [Line(f"nothing was recorded: {error}", "red")], False
    except OSError as error:
        why = error.strerror or str(error)
        return [Line(f"nothing was recorded: {str(settings.path)!r} cannot be written ({why})", "red")], False
    return lines, True


def _recorded_lines(settings: BaselineSettings, result: Recorded, records: Iterable[TestRecord]) -> list[Line]:
    lines = recorded_lines(settings.path.name, result, settings.command)
    if failed := [record.nodeid for record in records if record.outcome is not None and not may_enter(record)]:
        lines.append(Line(f"not recorded, the test did not pass: {named(failed)}", "yellow"))
    return lines


def _pruned(baseline: Baseline, rootpath: Path, collected: Mapping[str, Collected], lines: list[Line]) -> Baseline:
    files = {_file_of(nodeid) for tests in baseline.environments.values() for nodeid in tests}
    existing = {file for file in files if (rootpath / file).exists()}
    if files and not existing:
        lines.append(
            Line(
                f"nothing was pruned: none of the {len(files)} files that the baseline's tests stand in exists under "
                f"{str(rootpath)!r}: is that the rootdir it was recorded with?",
                "red",
            )
        )
        return baseline

    def is_gone(environment: str, nodeid: str) -> bool:
        file = _file_of(nodeid)
        here = collected.get(environment)
        return file not in existing or (here is not None and here.lacks(file, nodeid))

    kept = baseline.pruned(is_gone)
    gone = [
        nodeid
        for environment, tests in baseline.environments.items()
        for nodeid in tests
        if kept.entry(environment, nodeid) is None
    ]
    lines.append(pruned_line(gone))
    return kept


def _file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]
