"""From what a marker says to the bytes that a test is judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pytest

from pytest_membudget.core.budget import BaselineOnly, Budget, Computed, Limit
from pytest_membudget.core.errors import MarkerError
from pytest_membudget.core.measurement import Resource, Unavailable
from pytest_membudget.core.resolution import ResolvedLimit, check_arguments, resolve
from pytest_membudget.core.sizes import Percentage
from tests.fakes import GIB

WHERE = "on tests/test_a.py::test_a (tests/test_a.py:3)"
EXAMPLES = 'write bytes as an int, or a string such as "64MiB", "1.5 GB" or "50%"'


def limited(limit: Limit | Callable[..., object], resource: Resource = Resource.RAM) -> Budget:
    """A budget of one resource."""
    return Budget({resource: Computed(limit) if callable(limit) else limit}, {resource: WHERE})


def resolved(
    limit: Limit | Callable[..., object],
    arguments: Mapping[str, object] | None = None,
    total_bytes: int | None = 16 * GIB,
) -> ResolvedLimit:
    """The bytes that the heap is limited to, on a machine of that much memory."""
    return resolve(limited(limit), arguments or {}, lambda _: total_bytes)[Resource.RAM]


def test_bytes_stay_bytes() -> None:
    """An absolute budget needs neither test nor machine."""
    assert resolved(4096) == 4096


def test_percentage_of_the_machine() -> None:
    """A share of the total, rounded down."""
    assert resolved(Percentage(Fraction(50))) == 8 * GIB


def test_percentage_of_an_unknown_total() -> None:
    """There is no number of bytes then, rather than a guess."""
    assert resolved(Percentage(Fraction(50)), total_bytes=None) == Unavailable("50% of an unknown total")


def test_total_is_asked_for_the_resource_and_only_for_percentages() -> None:
    """Looking at the machine costs, so a budget in bytes does not."""
    asked: list[Resource] = []

    def total_bytes(resource: Resource) -> int:
        asked.append(resource)
        return 1000

    limits: dict[Resource, Limit] = {
        Resource.RAM: 5,
        Resource.VRAM: Percentage(Fraction(10)),
        Resource.RSS: BaselineOnly(),
    }
    budget = Budget(limits, dict.fromkeys(limits, WHERE))

    assert resolve(budget, {}, total_bytes) == {Resource.RAM: 5, Resource.VRAM: 100, Resource.RSS: None}
    assert asked == [Resource.VRAM]


def test_function_gets_the_arguments_it_names() -> None:
    """By name, in any order, and no others."""
    assert resolved(lambda d, n: n * 10 + d, {"n": 4, "d": 2, "tmp_path": "unused"}) == 42


def test_function_keeps_its_defaults() -> None:
    """A parameter that the test has not got falls back to its default; one that it has takes the test's value."""
    assert resolved(lambda n, itemsize=8: n * itemsize, {"n": 4}) == 32
    assert resolved(lambda n, itemsize=8: n * itemsize, {"n": 4, "itemsize": 2}) == 8


def test_function_with_keyword_only_and_star_parameters() -> None:
    """Keyword-only parameters are filled, catch-alls get nothing."""

    def budget_bytes(*rest: int, n: int, **others: int) -> int:
        return n + len(rest) + len(others)

    assert resolved(budget_bytes, {"n": 7, "rest": 1, "others": 2, "d": 3}) == 7


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (np.int64(1024), 1024),
        (np.uint8(255), 255),
        ("64KiB", 65536),
        ("50%", 8 * GIB),
        (0, 0),
    ],
)
def test_function_returns(returned: object, expected: int) -> None:
    """Whatever a marker itself takes, and whole numbers of other libraries."""
    assert resolved(lambda: returned) == expected


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, f"the function's result None is not a size: {EXAMPLES}"),
        (True, f"the function's result True is not a size: {EXAMPLES}"),
        (1.5, f"the function's result 1.5 is not a size: {EXAMPLES}"),
        (float("nan"), f"the function's result nan is not a size: {EXAMPLES}"),
        (-5, "the function's result -5 is negative: a size is zero or more bytes"),
        (np.int64(-5), "the function's result -5 is negative: a size is zero or more bytes"),
        ("baseline", f"the function's result 'baseline' is not a size: {EXAMPLES}"),
        ("5 MiBB", "the function's result '5 MiBB' has the unknown unit 'MiBB': known units: "),
        (len, f"the function's result <built-in function len> is not a size: {EXAMPLES}"),
    ],
)
def test_function_that_returns_rubbish(returned: object, message: str) -> None:
    """The message says whose function it was and what came back."""
    with pytest.raises(MarkerError) as refused:
        resolved(lambda: returned)

    assert str(refused.value).startswith(f"ram budget {WHERE}: {message}")


def test_function_that_raises() -> None:
    """Its own error is quoted, and kept as the cause."""
    with pytest.raises(MarkerError) as refused:
        resolved(lambda n: 1 // n, {"n": 0})

    assert (
        str(refused.value)
        == f"ram budget {WHERE}: the function raised ZeroDivisionError: integer division or modulo by zero"
    )
    assert isinstance(refused.value.__cause__, ZeroDivisionError)


def test_function_that_names_an_argument_the_test_has_not_got() -> None:
    """Refused before anything is set up, with the arguments that there are."""
    budget = limited(lambda n, rows: n * rows, Resource.RSS)

    with pytest.raises(MarkerError) as refused:
        check_arguments(budget, frozenset({"n", "tmp_path"}))

    assert (
        str(refused.value)
        == f"rss budget {WHERE}: the function asks for 'rows', which this test has not got (it has: n, tmp_path)"
    )


def test_function_that_names_an_argument_of_a_test_without_any() -> None:
    """A test without parameters and fixtures has none."""
    with pytest.raises(MarkerError, match=r"the function asks for 'n', which this test has not got \(it has: none\)$"):
        check_arguments(limited(lambda n: n), frozenset())


def test_function_without_a_signature() -> None:
    """Some built-ins do not say what they take."""
    with pytest.raises(MarkerError) as refused:
        check_arguments(limited(max), frozenset())

    assert str(refused.value) == (f"ram budget {WHERE}: {max!r} has no readable signature: use a lambda or a def")


def test_optional_and_star_parameters_are_not_asked_for() -> None:
    """Only what a function cannot do without must be there."""

    def budget_bytes(n: int, d: int = 2, *rest: int, **others: int) -> int:
        return n * d + len(rest) + len(others)

    check_arguments(limited(budget_bytes), frozenset({"n"}))


def test_only_functions_have_arguments_to_check() -> None:
    """Any other limit is fine on any test."""
    check_arguments(limited(5), frozenset())
    check_arguments(limited(Percentage(Fraction(5))), frozenset())
