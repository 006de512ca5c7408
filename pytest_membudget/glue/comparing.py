"""What each test is held against beside its budget: read once in every process that judges."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from pytest_membudget.core.baseline import Baseline
from pytest_membudget.core.budget import Budget
from pytest_membudget.core.errors import BaselineError, OptionError
from pytest_membudget.core.growth_wording import Reference
from pytest_membudget.core.provenance import Provenance, mode_of
from pytest_membudget.core.verdict import NO_BASELINE_FILE, Yardstick
from pytest_membudget.core.wording import Strictness
from pytest_membudget.glue.baseline_options import BaselineSettings
from pytest_membudget.glue.options import Settings
from pytest_membudget.glue.test_state import NO_BUDGET
from pytest_membudget.store.baseline_file import read_baseline
from pytest_membudget.store.environment import environment_key, heap_tool
from pytest_membudget.store.history import last_commit_of

_BEING_RECORDED = "no entry yet, this run records the first"
_PLAIN_IN_DOUBLE_QUOTES = re.compile(r"[^\"$`\\!%]*")


def load_baseline(path: Path) -> Baseline:
    """Return the baseline in a file.

    Raises
    ------
    OptionError
        A file that is no baseline, or that cannot be read.
    """
    try:
        return read_baseline(path)
    except BaselineError as error:
        raise OptionError(str(error)) from None
    except OSError as error:
        raise OptionError(f"the baseline {str(path)!r} cannot be read ({error.strerror})") from None


@dataclass(frozen=True)
class Comparer:
    """Finds what a test is compared with, and says how to record it anew."""

    settings: BaselineSettings
    baseline: Baseline
    rootpath: Path
    invocation_dir: Path
    unmeasured_fails: bool = False
    vram_missing: str | None = None

    @cached_property
    def environment(self) -> str:
        """The key of the environment that this process measures in."""
        return environment_key()

    @property
    def strictness(self) -> Strictness:
        """What fails a test beside a figure that is too high."""
        return Strictness(self.unmeasured_fails, self.settings.missing_fails, self.vram_missing)

    def provenance(self, budget: Budget, isolated: bool) -> Provenance:
        """Return where and how a test with that budget is measured."""
        if not budget and not isolated:
            return self._usual
        return Provenance(self.environment, heap_tool(), mode_of(budget, isolated))

    @cached_property
    def _usual(self) -> Provenance:
        """Of tests without a budget: in a report of all tests, nearly all of them."""
        return Provenance(self.environment, heap_tool(), mode_of(NO_BUDGET, isolated=False))

    def yardstick(self, nodeid: str, budget: Budget, isolated: bool) -> Yardstick:
        """Return what a test's figures are held against."""
        settings = self.settings
        entry = self.baseline.entry(self.environment, nodeid)
        return Yardstick(
            entry=entry,
            provenance=self.provenance(budget, isolated),
            tolerances=budget.tolerance.over(settings.tolerances) if budget.tolerance else settings.tolerances,
            why_no_entry="" if entry else self._why_no_entry(nodeid),
            wants_entry=settings.wants_entry,
            accepts_growth=settings.accepts_growth,
        )

    def reference(self, nodeid: str) -> Reference:
        """Return where a test's entry comes from, and the command that records it anew."""
        commit = last_commit_of(self.settings.path) if self.settings.exists else None
        return Reference(self.environment, f"{self.settings.command} {self._argument(nodeid)}", commit)

    def _why_no_entry(self, nodeid: str) -> str:
        if self.settings.update:
            return _BEING_RECORDED
        if not self.settings.exists:
            return f"{NO_BASELINE_FILE} ({self.settings.path.name})"
        others = ", ".join(self.baseline.environments_of(nodeid))
        but = f", only for {others}" if others else ""
        return f"no entry in {self.settings.path.name} for {self.environment}{but}"

    def _argument(self, nodeid: str) -> str:
        """Return the node id as a shell takes it, relative to where pytest was called."""
        file, separator, rest = nodeid.partition("::")
        with contextlib.suppress(ValueError):  # on another drive
            file = os.path.relpath(self.rootpath / file, self.invocation_dir).replace(os.sep, "/")
        argument = f"{file}{separator}{rest}"
        if argument.isprintable() and _PLAIN_IN_DOUBLE_QUOTES.fullmatch(argument):
            return f'"{argument}"'
        return shlex.quote(argument)


def new_comparer(config: pytest.Config, settings: Settings, baseline: Baseline | None) -> Comparer:
    """Return the comparer of this process."""
    return Comparer(
        settings.baseline,
        baseline or Baseline(),
        config.rootpath,
        config.invocation_params.dir,
        settings.missing_fails,
        settings.vram.missing,
    )
