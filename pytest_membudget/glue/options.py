"""Command-line options and ini keys, read once into one frozen value."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_membudget.core.errors import OptionError, SizeError
from pytest_membudget.core.sizes import parse_size
from pytest_membudget.glue.baseline_options import (
    NO_BASELINE,
    BaselineSettings,
    add_baseline_options,
    read_baseline_settings,
)
from pytest_membudget.glue.option_reader import OptionReader, ini_name
from pytest_membudget.glue.vram_options import VramOptions, add_vram_options, read_vram_options

MISSING_CHOICES = ("warn", "fail")
ISOLATE_CHOICES = ("auto", "always", "never")
DEFAULT_TOP = 20


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
    html_path: Path | None = None
    markdown_path: Path | None = None
    artifacts_folder: Path | None = None
    top: int = DEFAULT_TOP
    measure_all: bool = False
    missing_fails: bool = False
    default_budget: DefaultBudget | None = None
    path_budgets: tuple[PathBudget, ...] = ()
    read_limit_memory: bool = False
    freeze: bool = True
    baseline: BaselineSettings = NO_BASELINE
    isolate: str = ISOLATE_CHOICES[0]
    vram: VramOptions = field(default_factory=VramOptions)

    @property
    def wants_every_test(self) -> bool:
        """Whether tests without a budget are to be measured too."""
        return self.enabled and (self.measure_all or self.reports)

    @property
    def reports(self) -> bool:
        """Whether the whole run is to be shown, on the terminal or in a file."""
        return self.report or any((self.json_path, self.html_path, self.markdown_path))

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
    group.addoption("--membudget-html", metavar="PATH", default=None, help="Write one self-contained page to PATH.")
    group.addoption(
        "--membudget-markdown", metavar="PATH", default=None, help="Write tables for a pull request to PATH."
    )
    group.addoption(
        "--membudget-artifacts",
        metavar="DIR",
        default=None,
        help="Keep the memray capture and a flame graph of each failed test in DIR.",
    )
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
        "--membudget-isolate",
        metavar="|".join(ISOLATE_CHOICES),
        nargs="?",
        const="always",
        default=None,
        help="Run budgeted tests each in a process of its own (default: auto, where figures are compared with others).",
    )
    group.addoption(
        "--no-membudget", action="store_true", default=None, help="Measure and judge nothing; markers stay registered."
    )
    _add_ini_keys(parser, group)
    add_baseline_options(group, parser)


def _add_ini_keys(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    def add(name: str, text: str, kind: str = "string") -> None:
        parser.addini(name, text, type=kind, default=None)  # type: ignore[arg-type]  # pytest spells the kinds as literals

    add("membudget", "Whether to measure and judge at all (default: true).")
    add("membudget_report", "Show the table at the end (default: false).")
    add("membudget_json", "File to write the run to, relative to rootdir.")
    add("membudget_html", "File to write the page to, relative to rootdir.")
    add("membudget_markdown", "File to write the tables for a pull request to, relative to rootdir.")
    add("membudget_artifacts", "Folder for captures and flame graphs of failed tests, relative to rootdir.")
    add("membudget_top", "Unbudgeted tests to list in the report.")
    add("membudget_all", "Measure the heap of every test (default: false).")
    add("membudget_missing", "What a budget without a figure means: warn or fail.")
    add("membudget_isolate", "Which budgeted tests get a process of their own: auto, always or never.")
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
    read = OptionReader(config)
    return Settings(
        enabled=not read.flag("no_membudget", False, ini="") and read.flag("", True, ini="membudget"),
        report=read.flag("membudget_report", False),
        json_path=_output_path("membudget_json", read, config),
        html_path=_output_path("membudget_html", read, config),
        markdown_path=_output_path("membudget_markdown", read, config),
        artifacts_folder=_artifacts_folder(read, config),
        top=_top(read),
        measure_all=read.flag("membudget_all", False),
        missing_fails=_choice(read, "membudget_missing", MISSING_CHOICES) == "fail",
        default_budget=_default_budget(read),
        path_budgets=_path_budgets(config),
        read_limit_memory=read.flag("", False, ini="membudget_read_limit_memory"),
        freeze=read.flag("", True, ini="membudget_gc_freeze"),
        baseline=read_baseline_settings(read, config),
        # An option whose value may be left out takes the next argument for it, which is often a path.
        isolate=_choice(read, "membudget_isolate", ISOLATE_CHOICES, ", as in --membudget-isolate=always tests"),
        vram=read_vram_options(read.text, lambda ini: read.text("", ini)),
    )


def _output_path(name: str, read: OptionReader, config: pytest.Config) -> Path | None:
    found = read.text(name)
    if found is None:
        return None
    value, where = found
    path = _placed(value, where, config)
    if path.is_dir():
        raise OptionError(f"{where}: {value!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise OptionError(
            f"{where}: the folder {str(path.parent)!r} does not exist: create it, or choose another place"
        )
    return path


def _artifacts_folder(read: OptionReader, config: pytest.Config) -> Path | None:
    found = read.text("membudget_artifacts")
    if found is None:
        return None
    value, where = found
    folder = _placed(value, where, config)
    if not folder.is_dir() and any(path.exists() and not path.is_dir() for path in (folder, *folder.parents)):
        raise OptionError(f"{where}: {value!r} is, or lies under, a file: name a folder")
    return folder


def _placed(value: str, where: str, config: pytest.Config) -> Path:
    """Take a path of the command line from where pytest was called, and one of the ini file from rootdir."""
    return (config.invocation_params.dir if where.startswith("--") else config.rootpath) / value


def _top(read: OptionReader) -> int:
    found = read.text("membudget_top")
    if found is None:
        return DEFAULT_TOP
    value, where = found
    if not value.isascii() or not value.isdigit():
        raise OptionError(f"{where}: {value!r} is not a number of tests: write 0 for all, or a whole number")
    return int(value)


def _choice(read: OptionReader, name: str, choices: tuple[str, ...], example: str = "") -> str:
    """Return one of the choices, the first unless something else was written."""
    found = read.text(name)
    if found is None:
        return choices[0]
    value, where = found
    if value not in choices:
        known = _one_of(choices) + example
        raise OptionError(f"{where}: {value!r} is unknown: write {known}")
    return value


def _one_of(choices: tuple[str, ...]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def _default_budget(read: OptionReader) -> DefaultBudget | None:
    found = read.text("membudget_default")
    if found is None:
        return None
    value, where = found
    _check_size(value, where)
    return DefaultBudget(value, where)


def _path_budgets(config: pytest.Config) -> tuple[PathBudget, ...]:
    where = f"membudget_paths in {ini_name(config)}"
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
