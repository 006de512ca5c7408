"""Command-line options and ini keys, read once into one frozen value."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_membudget.core.errors import OptionError, SizeError
from pytest_membudget.core.sizes import parse_size
from pytest_membudget.glue.vram_options import VramOptions, add_vram_options, read_vram_options

MISSING_CHOICES = ("warn", "fail")
DEFAULT_TOP = 20
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


@dataclass(frozen=True)
class DefaultBudget:
    """The budget of tests that nothing else gives one, and where it was written."""

    size: str
    where: str


@dataclass(frozen=True)
class PathBudget:
    """A default budget for the tests of the files that match a glob."""

    glob: str
    size: str

    def matches(self, relative_path: str) -> bool:
        """Whether the file of a test, relative to rootdir, falls under the glob."""
        return fnmatch.fnmatchcase(relative_path, self.glob)


@dataclass(frozen=True)
class Settings:
    """All that a run was told; every later step reads this and never pytest's config."""

    enabled: bool = True
    report: bool = False
    json_path: Path | None = None
    top: int = DEFAULT_TOP
    measure_all: bool = False
    missing_fails: bool = False
    default_budget: DefaultBudget | None = None
    path_budgets: tuple[PathBudget, ...] = ()
    read_limit_memory: bool = False
    freeze: bool = True
    vram: VramOptions = field(default_factory=VramOptions)

    @property
    def wants_every_test(self) -> bool:
        """Whether tests without a budget are to be measured too."""
        return self.enabled and (self.report or self.json_path is not None or self.measure_all)

    @property
    def budgets_by_default(self) -> bool:
        """Whether a test without a marker may have a budget."""
        return self.default_budget is not None or bool(self.path_budgets)


def add_options(parser: pytest.Parser) -> None:
    """Register the options; each default is None so that the ini key of the same name can speak."""
    group = parser.getgroup("membudget", "memory budgets (pytest-membudget)")
    group.addoption(
        "--membudget-report",
        action="store_true",
        default=None,
        help="Show a table of budgets, peaks and headroom at the end.",
    )
    group.addoption("--membudget-json", metavar="PATH", default=None, help="Write the whole run to PATH as JSON.")
    group.addoption(
        "--membudget-top",
        metavar="N",
        default=None,
        help=f"Unbudgeted tests to list in the report, the largest first (default: {DEFAULT_TOP}; 0: all).",
    )
    group.addoption(
        "--membudget-all", action="store_true", default=None, help="Measure the heap of tests without a budget too."
    )
    group.addoption(
        "--membudget-missing",
        metavar="|".join(MISSING_CHOICES),
        default=None,
        help="What a budget without a figure means (default: warn).",
    )
    group.addoption(
        "--membudget-default", metavar="SIZE", default=None, help="RAM budget of tests that no marker gives one."
    )
    group.addoption(
        "--no-membudget", action="store_true", default=None, help="Measure and judge nothing; markers stay registered."
    )
    _add_ini_keys(parser, group)


def _add_ini_keys(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    def add(name: str, text: str, kind: str = "string") -> None:
        parser.addini(name, text, type=kind, default=None)  # type: ignore[arg-type]  # pytest spells the kinds as literals

    add("membudget", "Whether to measure and judge at all (default: true).")
    add("membudget_report", "Show the table at the end (default: false).")
    add("membudget_json", "File to write the run to, relative to rootdir.")
    add("membudget_top", "Unbudgeted tests to list in the report.")
    add("membudget_all", "Measure the heap of every test (default: false).")
    add("membudget_missing", "What a budget without a figure means: warn or fail.")
    add("membudget_default", "RAM budget of tests that neither a marker nor membudget_paths gives one.")
    add("membudget_paths", "Default RAM budgets by file, one 'glob = size' a line; the first match counts.", "linelist")
    add("membudget_read_limit_memory", "Take pytest-memray's limit_memory markers as budgets (default: false).")
    add(
        "membudget_gc_freeze",
        "Keep garbage collection cheap by freezing what was alive at the first budgeted test (default: true).",
    )
    add_vram_options(group, add)


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of this run.

    Raises
    ------
    OptionError
        With the option or ini key, its value, and what to write instead.
    """
    read = _Reader(config)
    return Settings(
        enabled=not read.flag("no_membudget", False, ini="") and read.flag("", True, ini="membudget"),
        report=read.flag("membudget_report", False),
        json_path=_json_path(read, config),
        top=_top(read),
        measure_all=read.flag("membudget_all", False),
        missing_fails=_missing(read) == "fail",
        default_budget=_default_budget(read),
        path_budgets=_path_budgets(config),
        read_limit_memory=read.flag("", False, ini="membudget_read_limit_memory"),
        freeze=read.flag("", True, ini="membudget_gc_freeze"),
        vram=read_vram_options(read.text, lambda ini: read.text("", ini)),
    )


class _Reader:
    """Looks a setting up, on the command line before the ini file, and remembers where it was found."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def text(self, name: str, ini: str | None = None) -> tuple[str, str] | None:
        """Return the value and the place it was written, or None."""
        ini = name if ini is None else ini
        value = self._config.getoption(name, None) if name else None
        if value is not None:
            return str(value), f"--{name.replace('_', '-')}"
        value = self._config.getini(ini) if ini else None
        return None if value in (None, "") else (str(value), f"{ini} in {_ini_name(self._config)}")

    def flag(self, name: str, default: bool, ini: str | None = None) -> bool:
        """Return a yes-or-no setting."""
        found = self.text(name, ini)
        if found is None:
            return default
        value, where = found
        if value.lower() not in _BOOLEANS:
            raise OptionError(f"{where}: {value!r} is neither true nor false")
        return _BOOLEANS[value.lower()]


def _ini_name(config: pytest.Config) -> str:
    return config.inipath.name if config.inipath else "the ini file"


def _json_path(read: _Reader, config: pytest.Config) -> Path | None:
    found = read.text("membudget_json")
    if found is None:
        return None
    value, where = found
    base = config.invocation_params.dir if where.startswith("--") else config.rootpath
    path = base / value
    if path.is_dir():
        raise OptionError(f"{where}: {value!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise OptionError(
            f"{where}: the folder {str(path.parent)!r} does not exist: create it, or choose another place"
        )
    return path


def _top(read: _Reader) -> int:
    found = read.text("membudget_top")
    if found is None:
        return DEFAULT_TOP
    value, where = found
    if not value.isascii() or not value.isdigit():
        raise OptionError(f"{where}: {value!r} is not a number of tests: write 0 for all, or a whole number")
    return int(value)


def _missing(read: _Reader) -> str:
    found = read.text("membudget_missing")
    if found is None:
        return MISSING_CHOICES[0]
    value, where = found
    if value not in MISSING_CHOICES:
        raise OptionError(f"{where}: {value!r} is unknown: write {' or '.join(MISSING_CHOICES)}")
    return value


def _default_budget(read: _Reader) -> DefaultBudget | None:
    found = read.text("membudget_default")
    if found is None:
        return None
    value, where = found
    _check_size(value, where)
    return DefaultBudget(value, where)


def _path_budgets(config: pytest.Config) -> tuple[PathBudget, ...]:
    where = f"membudget_paths in {_ini_name(config)}"
    budgets = []
    for line in config.getini("membudget_paths") or ():
        glob, separator, size = (part.strip() for part in line.rpartition("="))
        if not separator or not glob:
            raise OptionError(f"{where}: {line!r} is not 'glob = size', as in 'tests/io/* = 64MiB'")
        _check_size(size, f"{where}: {glob}")
        budgets.append(PathBudget(glob, size))
    return tuple(budgets)


def _check_size(value: str, where: str) -> None:
    try:
        parse_size(value)
    except SizeError as error:
        raise OptionError(f"{where}: {error}") from None
