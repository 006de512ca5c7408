"""Options and ini keys of the baseline."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_membudget.core.errors import OptionError, SizeError
from pytest_membudget.core.tolerance import DEFAULT_TOLERANCES, Tolerances, parse_tolerance
from pytest_membudget.glue.option_reader import OptionReader

DEFAULT_NAME = "membudget-baseline.json"
UPDATES = ("new", "changed", "all")
DEFAULT_UPDATE = "changed"
WARN, FAIL, IGNORE = "warn", "fail", "ignore"
_OFF = ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class BaselineSettings:
    """What a run was told about the baseline.

    Attributes
    ----------
    path
        The file, whether or not it exists.
    exists
        Whether it did when the run began.
    update
        One of `UPDATES`, or None when the run records nothing.
    prune
        Whether to drop the entries of tests that are gone.
    required
        Whether a test needs an entry even where there is no file yet.
    missing
        What a missing entry means: ``warn``, ``fail`` or ``ignore``.
    tolerances
        The growth that does not count, for a test whose marker says nothing of it.
    command
        What to type, up to the node ids, to record changed figures in this file.
    """

    path: Path = Path(DEFAULT_NAME)
    exists: bool = False
    update: str | None = None
    prune: bool = False
    required: bool = False
    missing: str = WARN
    tolerances: Tolerances = field(default_factory=lambda: DEFAULT_TOLERANCES)
    command: str = f"pytest --membudget-update={DEFAULT_UPDATE}"

    @property
    def active(self) -> bool:
        """Whether the run compares with a baseline or records one."""
        return self.exists or self.required or self.writes

    @property
    def writes(self) -> bool:
        """Whether the run may change the file."""
        return self.update is not None or self.prune

    @property
    def accepts_growth(self) -> bool:
        """Whether a figure that grew is recorded rather than judged."""
        return self.update in ("changed", "all")

    @property
    def wants_entry(self) -> bool:
        """Whether a test with a budget in bytes needs an entry as well."""
        return (self.exists or self.required) and self.update is None and self.missing != IGNORE

    @property
    def missing_fails(self) -> bool:
        """Whether a test without an entry fails; one that is being recorded does not."""
        return self.update is None and self.missing == FAIL


NO_BASELINE = BaselineSettings()


class _UpdateAction(argparse.Action):
    """Takes ``--membudget-update=MODE`` as one word: what follows a bare ``--membudget-update`` stays a path."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse passes it
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,  # noqa: ARG002
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, (option_string or "").partition("=")[2] or DEFAULT_UPDATE)


def add_baseline_options(group: pytest.OptionGroup, parser: pytest.Parser) -> None:
    """Register the options and the ini keys; what changes the file is an option only, never a standing setting."""
    group.addoption(
        "--membudget-baseline",
        metavar="PATH",
        default=None,
        help=f"The baseline to compare with and to record (default: {DEFAULT_NAME} in rootdir, once it exists).",
    )
    group.addoption(
        "--membudget-update",
        *(f"--membudget-update={update}" for update in UPDATES),
        action=_UpdateAction,
        nargs=0,
        dest="membudget_update",
        default=None,
        help="Record what ran and passed: new: tests without an entry; changed (the default): also figures that "
        "changed by more than their tolerance; all: every figure.",
    )
    group.addoption(
        "--membudget-prune",
        action="store_true",
        default=None,
        help="Drop the entries of tests that no longer exist.",
    )
    group.addoption(
        "--membudget-require-baseline",
        action="store_true",
        default=None,
        help="Fail budgeted tests that have no entry for this environment.",
    )
    group.addoption(
        "--membudget-missing-baseline",
        metavar=f"{WARN}|{FAIL}|{IGNORE}",
        default=None,
        help=f"What a missing entry means once a baseline exists (default: {FAIL} where CI is set, else {WARN}).",
    )
    group.addoption(
        "--membudget-tolerance",
        metavar="TOLERANCE",
        default=None,
        help='Growth over the baseline that is fine, such as "5%%", "5%%+1MiB" or "ram=2%%, rss=20%%+32MiB".',
    )

    def add(name: str, text: str) -> None:
        parser.addini(name, text, type="string", default=None)

    add("membudget_baseline", f"The baseline, relative to rootdir (default: {DEFAULT_NAME}).")
    add("membudget_require_baseline", "Fail budgeted tests without an entry (default: false).")
    add("membudget_missing_baseline", f"What a missing entry means: {WARN}, {FAIL} or {IGNORE}.")
    add("membudget_tolerance", "Growth over the baseline that is fine.")


def read_baseline_settings(read: OptionReader, config: pytest.Config) -> BaselineSettings:
    """Return the settings of this run.

    Raises
    ------
    OptionError
        With the option or ini key, its value, and what to write instead.
    """
    update = config.getoption("membudget_update", None)
    path, command = _path(read, config, update)
    exists, required = path.is_file(), read.flag("membudget_require_baseline", False)
    return BaselineSettings(
        path=path,
        exists=exists,
        update=update,
        prune=read.flag("membudget_prune", False, ini=""),
        required=required,
        missing=_missing(read, exists, required),
        tolerances=_tolerances(read),
        command=command,
    )


def _path(read: OptionReader, config: pytest.Config, update: str | None) -> tuple[Path, str]:
    """Return the file, and the command that records in it."""
    found = read.text("membudget_baseline")
    if found is None:
        return _usable(config.rootpath / DEFAULT_NAME, DEFAULT_NAME, "the baseline"), NO_BASELINE.command
    value, where = found
    if not where.startswith("--"):
        return _usable(config.rootpath / value, value, where), NO_BASELINE.command
    path = config.invocation_params.dir / value
    # A worker on another host may have none: its tests then say that they were not compared.
    if not hasattr(config, "workerinput"):
        _usable(path, value, where)
        if update is None and not path.exists():
            raise OptionError(f"{where}: {value!r} does not exist: record it with --membudget-update")
    return path, f"{NO_BASELINE.command} {shlex.quote(f'{where}={value}')}"


def _usable(path: Path, value: str, where: str) -> Path:
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise OptionError(f"{where}: {value!r} is {what}: name a JSON file")
    if not path.parent.is_dir():
        raise OptionError(
            f"{where}: the folder {str(path.parent)!r} does not exist: create it, or choose another place"
        )
    return path


def _missing(read: OptionReader, exists: bool, required: bool) -> str:
    found = read.text("membudget_missing_baseline")
    if found is not None and found[0] not in (WARN, FAIL, IGNORE):
        raise OptionError(f"{found[1]}: {found[0]!r} is unknown: write {WARN}, {FAIL} or {IGNORE}")
    if required:
        return FAIL
    if found is not None:
        return found[0]
    return FAIL if exists and os.environ.get("CI", "").lower() not in _OFF else WARN


def _tolerances(read: OptionReader) -> Tolerances:
    found = read.text("membudget_tolerance")
    if found is None:
        return DEFAULT_TOLERANCES
    value, where = found
    try:
        return parse_tolerance(value).over(DEFAULT_TOLERANCES)
    except SizeError as error:
        raise OptionError(f"{where}: {error}") from None
