"""The console script: what to do with runs and baselines once pytest has ended."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pytest_membudget import __version__
from pytest_membudget.core.baseline import Baseline
from pytest_membudget.core.comparison import Comparison, Relation, compare, entries_of_run
from pytest_membudget.core.errors import BaselineError, SizeError
from pytest_membudget.core.recording import Update, has_failures, recorded
from pytest_membudget.core.run import merged
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES, parse_tolerance
from pytest_membudget.reports.baseline_lines import recorded_lines
from pytest_membudget.reports.baseline_table import baseline_table
from pytest_membudget.reports.comparison_text import comparison_text
from pytest_membudget.reports.exports import FORMATS, export
from pytest_membudget.reports.html_report import render_html
from pytest_membudget.reports.json_report import render_json
from pytest_membudget.store.atomic_file import write_atomically
from pytest_membudget.store.baseline_file import read_baseline, rewrite_baseline
from pytest_membudget.store.run_file import read_run, read_run_or_baseline

SAME, REGRESSED, MISSING, IMPROVED = 0, 2, 3, 4
# As sysexits.h has them, well away from what a comparison can come to.
BAD_USAGE, BAD_DATA, NO_INPUT, CANNOT_CREATE = 64, 65, 66, 73
DEFAULT_BASELINE = "membudget-baseline.json"

_COMPARE_EXITS = """\
exit status:
  0  the same, within the tolerance
  2  a figure has grown
  3  no growth, but figures that only one side has, or that were measured in another way
  4  nothing but improvements
 64  and above: it could not be compared
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors do not exit with 2, which means something else here."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_USAGE, f"{self.prog}: {message}\n{self.format_usage()}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` ask for; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except FileNotFoundError as error:
        return _fail(NO_INPUT, f"{error.filename}: there is no such file")
    except OSError as error:
        return _fail(NO_INPUT, f"{error.filename}: cannot be opened ({error.strerror})")
    except BaselineError as error:
        return _fail(BAD_DATA, str(error))
    except SizeError as error:
        return _fail(BAD_USAGE, str(error))
    return status


def _fail(status: int, message: str) -> int:
    sys.stderr.write(f"membudget: {message}\n")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="membudget",
        description="Compare, merge and export the memory figures that pytest-membudget measured, and keep a baseline "
        "of them. Runs are files that pytest --membudget-json wrote; baselines are files that pytest "
        "--membudget-update wrote.",
        epilog="membudget COMMAND --help says more.",
    )
    parser.add_argument("--version", action="version", version=f"pytest-membudget {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_compare(commands)
    _add_merge(commands)
    _add_export(commands)
    _add_html(commands)
    _add_baseline(commands)
    return parser


_Commands = argparse._SubParsersAction  # argparse has no public name for it


def _add_compare(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "compare",
        help="say what grew from one run or baseline to another",
        description="Say what grew from OLD to NEW, each a run or a baseline.",
        epilog=_COMPARE_EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", metavar="OLD", type=Path)
    parser.add_argument("new", metavar="NEW", type=Path)
    parser.add_argument(
        "--tolerance",
        metavar="TOLERANCE",
        help='growth that is fine, such as "5%%", "5%%+1MiB" or "ram=2%%, rss=20%%"',
    )
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    tolerances = DEFAULT_TOLERANCES
    if options.tolerance is not None:
        tolerances = parse_tolerance(options.tolerance).over(DEFAULT_TOLERANCES)
    sides = read_run_or_baseline(options.old), read_run_or_baseline(options.new)
    # A baseline knows nothing of tests without a budget, so beside one they are no news.
    heap_of_all = not any(isinstance(side, Baseline) for side in sides)
    old, new = (side if isinstance(side, Baseline) else entries_of_run(side.records, heap_of_all) for side in sides)
    comparison = compare(old, new, tolerances)
    sys.stdout.write(comparison_text(comparison))
    if old.environments and new.environments and not old.environments.keys() & new.environments.keys():
        sys.stdout.write(
            f"the two have no environment in common: {options.old.name} was measured on "
            f"{', '.join(sorted(old.environments))}, {options.new.name} on {', '.join(sorted(new.environments))}\n"
        )
    return _status(comparison)


def _status(comparison: Comparison) -> int:
    if comparison.of(Relation.REGRESSED):
        return REGRESSED
    if comparison.of(Relation.MISSING_IN_OLD, Relation.MISSING_IN_NEW, Relation.INCOMPARABLE):
        return MISSING
    return IMPROVED if comparison.of(Relation.IMPROVED) else SAME


def _add_merge(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "merge",
        help="make one run of several, such as the shards of a CI matrix",
        description="Make one run of several, such as the shards of a CI matrix.",
    )
    parser.add_argument("files", metavar="RUN", type=Path, nargs="+")
    _add_output(parser, required=True)
    parser.set_defaults(run=_merge)


def _merge(options: argparse.Namespace) -> int:
    return _write(options.output, render_json(merged([read_run(file) for file in options.files])))


def _add_export(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "export",
        help="write a run in the format of a service that draws figures over time",
        description="Write the figures of a run's budgeted tests in the format of a service that draws them over time.",
    )
    parser.add_argument("file", metavar="RUN", type=Path)
    parser.add_argument("--format", choices=sorted(FORMATS), required=True, help="the service")
    _add_output(parser)
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    return _write(options.output, export(read_run(options.file), options.format))


def _add_html(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "html",
        help="write a run as a page, as pytest --membudget-html does",
        description="Write a run as one self-contained page, as pytest --membudget-html does.",
    )
    parser.add_argument("file", metavar="RUN", type=Path)
    _add_output(parser, required=True)
    parser.set_defaults(run=_html)


def _html(options: argparse.Namespace) -> int:
    return _write(options.output, render_html(read_run(options.file)))


def _add_baseline(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "baseline",
        help="show a baseline, or record runs in it",
        description="Show a baseline, or record runs in it.",
    )
    actions = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = actions.add_parser("show", help="list the entries", description="List the entries of a baseline.")
    show.add_argument("file", metavar="BASELINE", type=Path, nargs="?", default=Path(DEFAULT_BASELINE), help=_DEFAULT)
    show.add_argument("--environment", metavar="KEY", help="of one environment alone, as in cpython-3.11-linux-x86_64")
    show.set_defaults(run=_show)
    update = actions.add_parser(
        "update-from",
        help="record runs that were measured elsewhere, such as in CI",
        description="Record runs that were measured elsewhere, such as in CI. What passed is recorded, and what failed "
        "for nothing but its baseline. If anything else failed in a run, no entry is raised.",
    )
    update.add_argument("files", metavar="RUN", type=Path, nargs="+")
    update.add_argument("--baseline", metavar="PATH", type=Path, default=Path(DEFAULT_BASELINE), help=_DEFAULT)
    update.add_argument(
        "--mode",
        choices=[update.value for update in Update],
        default=Update.CHANGED.value,
        help="new: tests without an entry; changed: also figures that left their tolerance; all: every figure "
        "(default: changed)",
    )
    update.set_defaults(run=_update_from)


_DEFAULT = f"default: {DEFAULT_BASELINE}"


def _show(options: argparse.Namespace) -> int:
    baseline = read_baseline(options.file)
    if options.environment is not None and options.environment not in baseline.environments:
        known = ", ".join(sorted(baseline.environments)) or "none"
        return _fail(BAD_USAGE, f"{options.file.name} has no environment {options.environment!r}: it has {known}")
    sys.stdout.write(baseline_table(baseline, options.environment))
    return SAME


def _update_from(options: argparse.Namespace) -> int:
    runs = [read_run(file) for file in options.files]
    said: list[str] = []
    command = f"membudget baseline update-from --mode {options.mode}"

    def change(baseline: Baseline) -> Baseline:
        for file, run in zip(options.files, runs, strict=True):
            result = recorded(baseline, run.records, Update(options.mode), has_failures(run.records))
            lines = recorded_lines(f"{file.name} into {options.baseline.name}", result, command)
            said.extend(f"{line.text}\n" for line in lines)
            baseline = result.baseline
        return baseline

    try:
        rewrite_baseline(options.baseline, change)
    except OSError as error:
        return _fail(CANNOT_CREATE, f"{options.baseline}: cannot be written ({error.strerror or error})")
    sys.stdout.writelines(said)
    return SAME


def _add_output(parser: argparse.ArgumentParser, required: bool = False) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        required=required,
        help="the file to write" + ("" if required else " (default: standard output)"),
    )


def _write(path: Path | None, text: str) -> int:
    if path is None:
        sys.stdout.write(text)
        return SAME
    try:
        write_atomically(path, text)
    except OSError as error:
        return _fail(CANNOT_CREATE, f"{path}: cannot be written ({error.strerror})")
    return SAME
