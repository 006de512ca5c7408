"""Options and ini keys of GPU memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import pytest

from pytest_membudget.core.errors import OptionError

DEFAULT_SOURCE = "auto"
MISSING = ("warn", "skip", "fail")
SAMPLERS = ("thread", "process")
WARM_UPS = ("auto", "always", "never")
DEFAULT_INTERVAL_MS = 10
LONGEST_INTERVAL_MS = 60_000

Found = tuple[str, str] | None
"""A value and the place where it was written."""
Missing = Literal["warn", "skip", "fail"]
WarmUp = Literal["auto", "always", "never"]


@dataclass(frozen=True)
class VramOptions:
    """What was said about GPU memory; ``missing`` is None where nothing was, so that ``membudget_missing`` holds."""

    missing: Missing | None = None
    source: str = DEFAULT_SOURCE
    source_where: str = ""
    interval_seconds: float = DEFAULT_INTERVAL_MS / 1000
    own_process: bool = False
    warm_up: WarmUp = "auto"


def add_vram_options(group: pytest.OptionGroup, add_ini: Callable[[str, str], None]) -> None:
    """Register the options and ini keys."""
    group.addoption(
        "--membudget-vram-missing",
        metavar="|".join(MISSING),
        default=None,
        help="What a GPU budget without a figure means (default: as --membudget-missing says).",
    )
    group.addoption(
        "--membudget-vram-source",
        metavar="NAME",
        default=None,
        help="Where GPU figures come from: auto (default), torch, rmm, cupy, jax, tensorflow, nvml-process, "
        "nvml-device, or one that a plugin adds.",
    )
    add_ini("membudget_vram_missing", "What a GPU budget without a figure means: warn, skip or fail.")
    add_ini("membudget_vram_source", "Where GPU figures come from (default: auto).")
    add_ini("membudget_vram_interval", f"Milliseconds between GPU samples (default: {DEFAULT_INTERVAL_MS}).")
    add_ini("membudget_vram_sampler", "Where GPU samples are taken: thread (default) or process.")
    add_ini("membudget_vram_warmup", "Whether torch's CUDA context is made beforehand: auto (default), always, never.")


def read_vram_options(text: Callable[[str], Found], ini: Callable[[str], Found]) -> VramOptions:
    """Return the options.

    Parameters
    ----------
    text
        Looks an option up, then the ini key of the same name.
    ini
        Looks an ini key up.

    Raises
    ------
    OptionError
        With the option or ini key, its value, and what to write instead.
    """
    source, where = text("membudget_vram_source") or (DEFAULT_SOURCE, "")
    return VramOptions(
        missing=_choice(text("membudget_vram_missing"), MISSING, None),  # type: ignore[arg-type]  # one of MISSING
        source=source,
        source_where=where,
        interval_seconds=_interval_seconds(ini("membudget_vram_interval")),
        own_process=_choice(ini("membudget_vram_sampler"), SAMPLERS, SAMPLERS[0]) == "process",
        warm_up=_choice(ini("membudget_vram_warmup"), WARM_UPS, WARM_UPS[0]),  # type: ignore[arg-type]  # of WARM_UPS
    )


def check_source(options: VramOptions, known: Iterable[str]) -> None:
    """Refuse a source that nobody offers.

    Raises
    ------
    OptionError
        With the names that there are.
    """
    import difflib

    names = [DEFAULT_SOURCE, *known]
    if options.source not in names:
        close = difflib.get_close_matches(options.source, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known sources: {', '.join(names)}"
        raise OptionError(f"{options.source_where}: {options.source!r} is no source of GPU figures: {hint}")


def _choice(found: Found, choices: tuple[str, ...], default: str | None) -> str | None:
    if found is None:
        return default
    value, where = found
    if value not in choices:
        known = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise OptionError(f"{where}: {value!r} is unknown: write {known}")
    return value


def _interval_seconds(found: Found) -> float:
    value, where = found or (str(DEFAULT_INTERVAL_MS), "")
    try:
        milliseconds = float(value)
    except ValueError:
        milliseconds = math.nan
    if not 0 < milliseconds <= LONGEST_INTERVAL_MS:
        raise OptionError(f"{where}: {value!r} is not a number of milliseconds between 0 and {LONGEST_INTERVAL_MS}")
    return milliseconds / 1000
