"""Running variants of a command side by side: in turn, round after round, and compared round by round.

A machine's speed drifts, so a time by itself says little. Each round runs every variant once, ratios are taken within a
round, and the median over the rounds is what counts.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Spent:
    """Seconds that one run of a command took, by the clock and of the processor, its children included."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Timing:
    """All rounds of all variants."""

    rounds: tuple[Mapping[str, Spent], ...]

    def median(self, variant: str) -> float:
        """Return the median processor seconds of a variant."""
        return statistics.median(spent[variant].cpu for spent in self.rounds)

    def ratio(self, variant: str, to: str, less: str | None = None) -> float:
        """Return the median over the rounds of one variant's processor time over another's.

        ``less`` names a variant that is taken off both first: what the measured work costs without either.
        """
        return statistics.median(
            (spent[variant].cpu - (spent[less].cpu if less else 0)) / (spent[to].cpu - (spent[less].cpu if less else 0))
            for spent in self.rounds
        )


def run_rounds(variants: Mapping[str, Sequence[str]], folder: Path, rounds: int) -> Timing:
    """Run pytest with the arguments of each variant, in turn, ``rounds`` times after one round that does not count."""
    done = [{name: _run(arguments, folder) for name, arguments in variants.items()} for _ in range(rounds + 1)]
    return Timing(tuple(done[1:]))


def _run(arguments: Sequence[str], folder: Path) -> Spent:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    # Only the plugins that a variant names; one BLAS thread, since two make small products noisy.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OPENBLAS_NUM_THREADS": "1"}
    started = time.perf_counter()
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=silent, stderr=silent)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Spent(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)
