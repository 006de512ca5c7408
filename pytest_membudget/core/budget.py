"""Budgets: what one marker says, and what several of them say together."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pytest_membudget.core.errors import MarkerError, SizeError
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.sizes import Percentage, parse_size
from pytest_membudget.core.tolerance import NO_ALLOWANCES, Allowances, parse_tolerance

BASELINE = "baseline"
RESOURCE_KEYS = tuple(resource.value for resource in (Resource.RAM, Resource.RSS, Resource.VRAM, Resource.RETAINED))
CHOICES = {"scope": ("call", "test"), "python_allocators": ("exact", "arenas")}
FLAGS = ("isolate", "children", "vram_total")
KEYS = (*RESOURCE_KEYS, "tolerance", *FLAGS, *CHOICES)


@dataclass(frozen=True)
class BaselineOnly:
    """No absolute budget: judged against the recorded baseline alone."""

    def __str__(self) -> str:
        return BASELINE


@dataclass(frozen=True)
class Computed:
    """A budget that a function of the test's own arguments gives."""

    function: Callable[..., object]

    def __str__(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)


Limit = int | Percentage | BaselineOnly | Computed


@dataclass(frozen=True)
class Declared:
    """One value of a marker or ini key, and the place that a user would look for it."""

    value: object
    where: str


@dataclass(frozen=True)
class Budget:
    """What a test may use; a setting that nobody declared keeps its default."""

    limits: Mapping[Resource, Limit] = field(default_factory=dict)
    where: Mapping[Resource, str] = field(default_factory=dict)
    scope: str = "call"
    python_allocators: str = "exact"
    isolate: bool = False
    children: bool = False
    tolerance: Allowances = NO_ALLOWANCES
    own_thread: bool = False
    vram_total: bool = False

    def __bool__(self) -> bool:
        return bool(self.limits)


def read_marker(args: tuple[object, ...], kwargs: Mapping[str, object], where: str) -> dict[str, Declared]:
    """Return what one ``membudget`` marker declares, by key.

    Raises
    ------
    MarkerError
        No argument, too many, or an unknown keyword; the message names all that is wrong with the call.
    """
    problems = [_unknown_keyword(key) for key in kwargs if key not in KEYS]
    if len(args) > 1:
        problems.append(
            f"it takes one positional argument, the RAM budget, and got {len(args)}: name the others, as in vram=..."
        )
    if args and "ram" in kwargs:
        problems.append("the RAM budget is given twice, by position and as ram=")
    if not args and not kwargs:
        problems.append('it says nothing: give a budget, as in membudget("64MiB")')
    if problems:
        raise MarkerError(f"membudget marker {where}: " + "; ".join(problems))
    declared = {"ram": args[0]} | dict(kwargs) if args else dict(kwargs)
    return {key: Declared(value, where) for key, value in declared.items()}


def _unknown_keyword(key: str) -> str:
    close = difflib.get_close_matches(key, KEYS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known keywords: {', '.join(KEYS)}"
    return f"unknown keyword {key!r}: {hint}"


def nearest(declarations: Iterable[Mapping[str, Declared]]) -> dict[str, Declared]:
    """Merge declarations key by key; the first one that speaks of a key wins."""
    merged: dict[str, Declared] = {}
    for declaration in declarations:
        merged = {**declaration, **merged}
    return merged


def budget_of(declared: Mapping[str, Declared]) -> Budget:
    """Return the budget that the merged declarations amount to.

    Raises
    ------
    MarkerError
        A value that its key does not take; the message says where it stands.
    """
    limits = {Resource(key): _limit(key, declared[key]) for key in RESOURCE_KEYS if key in declared}
    chosen = {key: _choice(key, declared[key]) for key in CHOICES if key in declared}
    flags = {key: _flag(key, declared[key]) for key in FLAGS if key in declared}
    if flags.get("vram_total") and Resource.VRAM not in limits:
        where = declared["vram_total"].where
        raise MarkerError(
            f"membudget marker {where}: vram_total=True says how vram= is judged, and no vram budget applies to this "
            "test"
        )
    return Budget(
        limits=limits,
        where={resource: declared[resource.value].where for resource in limits},
        tolerance=_tolerance(declared["tolerance"]) if "tolerance" in declared else NO_ALLOWANCES,
        own_thread="own_thread" in declared,
        **chosen,  # type: ignore[arg-type]  # the keys of CHOICES and of FLAGS are the fields of that name
        **flags,  # type: ignore[arg-type]
    )


def _limit(key: str, declared: Declared) -> Limit:
    if isinstance(declared.value, str) and declared.value == BASELINE:
        return BaselineOnly()
    if callable(declared.value):
        return Computed(declared.value)
    try:
        return parse_size(declared.value)
    except SizeError as error:
        raise MarkerError(f"{key} budget {declared.where}: {error}") from None


def _choice(key: str, declared: Declared) -> str:
    if isinstance(declared.value, str) and declared.value in CHOICES[key]:
        return declared.value
    known = " or ".join(repr(choice) for choice in CHOICES[key])
    raise MarkerError(f"membudget marker {declared.where}: {key}={declared.value!r}: write {known}")


def _flag(key: str, declared: Declared) -> bool:
    if isinstance(declared.value, bool):
        return declared.value
    raise MarkerError(f"membudget marker {declared.where}: {key}={declared.value!r}: write True or False")


def _tolerance(declared: Declared) -> Allowances:
    try:
        return parse_tolerance(declared.value)
    except SizeError as error:
        raise MarkerError(f"membudget marker {declared.where}: {error}") from None
