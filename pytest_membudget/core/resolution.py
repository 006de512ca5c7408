"""From a declared limit to the bytes that one test is judged by."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping

from pytest_membudget.core.budget import Budget, Computed, Limit
from pytest_membudget.core.errors import MarkerError, SizeError
from pytest_membudget.core.measurement import Resource, Unavailable
from pytest_membudget.core.sizes import Percentage, parse_size

ResolvedLimit = int | Unavailable | None
ResolvedLimits = Mapping[Resource, ResolvedLimit]
"""Bytes by resource; None where no number of bytes was declared, a reason where a percentage has no known total."""

Totals = Callable[[Resource], int | None]


def check_arguments(budget: Budget, known: frozenset[str]) -> None:
    """Refuse a computed budget that names an argument the test does not have.

    Parameters
    ----------
    known
        Names of the test's parameters and fixtures.

    Raises
    ------
    MarkerError
        With the name and the arguments that the test has.
    """
    for resource, limit in budget.limits.items():
        if isinstance(limit, Computed):
            label = _label(resource, budget)
            for name in sorted(set(_required(limit.function, label)) - known):
                has = ", ".join(sorted(known)) or "none"
                raise MarkerError(
                    f"{label}: the function asks for {name!r}, which this test has not got (it has: {has})"
                )


def resolve(budget: Budget, arguments: Mapping[str, object], total_bytes: Totals) -> ResolvedLimits:
    """Return each limit in bytes.

    Parameters
    ----------
    arguments
        Values of the test's parameters and fixtures, by name.
    total_bytes
        Gives the memory that a percentage of a resource is a share of; called only when there is one.

    Raises
    ------
    MarkerError
        A computed budget that raises, or that returns something other than a size.
    """
    return {
        resource: _in_bytes(_called(limit, _label(resource, budget), arguments), resource, total_bytes)
        for resource, limit in budget.limits.items()
    }


def _called(limit: Limit, label: str, arguments: Mapping[str, object]) -> Limit:
    return _computed(limit.function, label, arguments) if isinstance(limit, Computed) else limit


def _in_bytes(limit: Limit, resource: Resource, total_bytes: Totals) -> ResolvedLimit:
    if isinstance(limit, Percentage):
        total = total_bytes(resource)
        return Unavailable(f"{limit} of an unknown total") if total is None else limit.of(total)
    return limit if isinstance(limit, int) else None


def _computed(function: Callable[..., object], label: str, arguments: Mapping[str, object]) -> int | Percentage:
    wanted = {name: arguments[name] for name in _accepted(function) if name in arguments}
    try:
        value = function(**wanted)
    except Exception as error:
        raise MarkerError(f"{label}: the function raised {type(error).__name__}: {error}") from error
    try:
        return parse_size(value if isinstance(value, (str, bool)) else _as_int(value))
    except SizeError as error:
        raise MarkerError(f"{label}: the function's result {error}") from None


def _as_int(value: object) -> object:
    """Take whole numbers of any library (a numpy integer, say) as an int; leave the rest for the parser to refuse."""
    try:
        return operator.index(value)  # type: ignore[arg-type]  # the parser refuses what has no __index__
    except TypeError:
        return value


def _accepted(function: Callable[..., object]) -> list[str]:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind in named]


def _required(function: Callable[..., object], label: str) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise MarkerError(f"{label}: {function!r} has no readable signature: use a lambda or a def") from None
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [name for name, p in parameters.items() if p.default is p.empty and p.kind not in optional]


def _label(resource: Resource, budget: Budget) -> str:
    return f"{resource.value} budget {budget.where[resource]}"
