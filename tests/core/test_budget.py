"""Reading markers: what one says, and what several say together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pytest_membudget.core.budget import BaselineOnly, Budget, Computed, Declared, budget_of, nearest, read_marker
from pytest_membudget.core.errors import MarkerError
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.sizes import Percentage
from pytest_membudget.core.tolerance import NO_ALLOWANCES, Allowance, Allowances
from tests.fakes import GIB, MIB

WHERE = "on tests/test_a.py::test_a (tests/test_a.py:3)"
EXAMPLES = 'write bytes as an int, or a string such as "64MiB", "1.5 GB" or "50%"'
KNOWN = "ram, rss, vram, retained, tolerance, isolate, children, vram_total, scope, python_allocators"


def budget(*args: object, **kwargs: object) -> Budget:
    """The budget of a test that has one marker."""
    return budget_of(read_marker(args, kwargs, WHERE))


def test_positional_argument_is_ram() -> None:
    """A bare size limits the heap's peak."""
    assert read_marker(("2GiB",), {}, WHERE) == {"ram": Declared("2GiB", WHERE)}
    assert budget("2GiB").limits == {Resource.RAM: 2 * GIB}
    assert budget("2GiB").where == {Resource.RAM: WHERE}


def test_every_keyword() -> None:
    """All resources and settings can be given at once."""
    read = budget(
        "64MiB",
        rss="256MiB",
        vram="4GiB",
        retained=0,
        tolerance="5%",
        isolate=True,
        children=True,
        scope="test",
        python_allocators="arenas",
    )

    assert read.limits == {
        Resource.RAM: 64 * MIB,
        Resource.RSS: 256 * MIB,
        Resource.VRAM: 4 * GIB,
        Resource.RETAINED: 0,
    }
    assert read.tolerance == Allowances(Allowance(Fraction(1, 20)))
    assert read.isolate
    assert read.children
    assert (read.scope, read.python_allocators) == ("test", "arenas")


def test_defaults() -> None:
    """The call phase alone, every object traced, in this process."""
    read = budget(1)

    assert (read.scope, read.python_allocators) == ("call", "exact")
    assert (read.isolate, read.children, read.own_thread) == (False, False, False)
    assert read.tolerance == NO_ALLOWANCES


def test_settings_alone_limit_nothing() -> None:
    """A marker may carry a setting for a budget that stands elsewhere; by itself it is no budget."""
    assert not budget(isolate=True)
    assert budget(0)


def test_percentage_baseline_and_function_wait_for_the_test() -> None:
    """What cannot be bytes yet is kept as what it is."""

    def of_rows(n: int) -> int:
        return n * 4

    read = budget("50%", rss="baseline", retained=of_rows)

    assert read.limits == {
        Resource.RAM: Percentage(Fraction(50)),
        Resource.RSS: BaselineOnly(),
        Resource.RETAINED: Computed(of_rows),
    }
    assert [str(limit) for limit in read.limits.values()] == ["50%", "baseline", "of_rows"]


@pytest.mark.parametrize(
    ("args", "kwargs", "problem"),
    [
        ((), {}, 'it says nothing: give a budget, as in membudget("64MiB")'),
        (
            (1, 2),
            {},
            "it takes one positional argument, the RAM budget, and got 2: name the others, as in vram=...",
        ),
        ((1,), {"ram": 2}, "the RAM budget is given twice, by position and as ram="),
        ((1,), {"vramm": 2}, "unknown keyword 'vramm': did you mean 'vram'?"),
        ((1,), {"isolated": True}, "unknown keyword 'isolated': did you mean 'isolate'?"),
        ((1,), {"zzz": 2}, f"unknown keyword 'zzz': known keywords: {KNOWN}"),
        (
            (1, 2),
            {"scop": "test", "rsss": 3},
            "unknown keyword 'scop': did you mean 'scope'?; unknown keyword 'rsss': did you mean 'rss'?; "
            "it takes one positional argument, the RAM budget, and got 2: name the others, as in vram=...",
        ),
    ],
)
def test_call_that_cannot_be_read(args: tuple[object, ...], kwargs: dict[str, object], problem: str) -> None:
    """The message names the marker's place, all that is wrong, and the nearest right spelling."""
    with pytest.raises(MarkerError) as refused:
        read_marker(args, kwargs, WHERE)

    assert str(refused.value) == f"membudget marker {WHERE}: {problem}"


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"ram": "10 MBfoo"}, f"ram budget {WHERE}: '10 MBfoo' has the unknown unit 'MBfoo': known units: "),
        ({"ram": "-1MiB"}, f"ram budget {WHERE}: '-1MiB' is negative: a size is zero or more bytes"),
        ({"ram": "nan"}, f"ram budget {WHERE}: 'nan' is not a size: {EXAMPLES}"),
        ({"ram": ""}, f"ram budget {WHERE}: '' is not a size: {EXAMPLES}"),
        ({"ram": None}, f"ram budget {WHERE}: None is not a size: {EXAMPLES}"),
        ({"ram": True}, f"ram budget {WHERE}: True is not a size: {EXAMPLES}"),
        ({"rss": 1.5}, f"rss budget {WHERE}: 1.5 is not a size: {EXAMPLES}"),
        ({"vram": "1001%"}, f"vram budget {WHERE}: '1001%' is over 1000%: write a share of what the machine has, "),
        ({"retained": "Baseline"}, f"retained budget {WHERE}: 'Baseline' is not a size: {EXAMPLES}"),
        ({"ram": np.arange(2)}, f"ram budget {WHERE}: array([0, 1]) is not a size: {EXAMPLES}"),
        ({"scope": "module"}, f"membudget marker {WHERE}: scope='module': write 'call' or 'test'"),
        ({"scope": None}, f"membudget marker {WHERE}: scope=None: write 'call' or 'test'"),
        (
            {"python_allocators": ["exact"]},
            f"membudget marker {WHERE}: python_allocators=['exact']: write 'exact' or 'arenas'",
        ),
        ({"isolate": 1}, f"membudget marker {WHERE}: isolate=1: write True or False"),
        ({"children": "yes"}, f"membudget marker {WHERE}: children='yes': write True or False"),
        ({"tolerance": 0.05}, f"membudget marker {WHERE}: tolerance 0.05: 0.05 is not a size: {EXAMPLES}"),
        (
            {"tolerance": "5"},
            f"membudget marker {WHERE}: tolerance '5': '5' has no unit: write \"5B\" for bytes, or \"5MiB\"",
        ),
    ],
)
def test_value_that_its_keyword_does_not_take(kwargs: dict[str, object], message: str) -> None:
    """The message names the keyword, the place, the value and what to write instead."""
    with pytest.raises(MarkerError) as refused:
        budget(**kwargs)

    assert str(refused.value).startswith(message)


def test_nearest_wins_key_by_key() -> None:
    """Function over class over module; a resource that the nearer one is silent on comes from further out."""
    function = read_marker(("1MiB",), {}, "on the function")
    cls = read_marker(("2MiB",), {"rss": "20MiB"}, "on the class")
    module = read_marker(("3MiB",), {"rss": "30MiB", "scope": "test"}, "on the module")

    merged = budget_of(nearest([function, cls, module]))

    assert merged.limits == {Resource.RAM: MIB, Resource.RSS: 20 * MIB}
    assert merged.where == {Resource.RAM: "on the function", Resource.RSS: "on the class"}
    assert merged.scope == "test"


def test_nothing_declared() -> None:
    """Without any declaration there is no budget."""
    assert budget_of(nearest([])) == Budget()
    assert not Budget()


def test_name_of_a_function_object() -> None:
    """A callable object without a name goes by its type."""

    class PerRow:
        def __call__(self, n: int) -> int:
            return n

    assert str(Computed(PerRow())) == "PerRow"
