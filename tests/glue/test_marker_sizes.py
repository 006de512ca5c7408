"""Budgets that are worked out: from the test's arguments, and as a share of the machine."""

from __future__ import annotations

import psutil

from tests.project import MIB, Project


def test_budgets_from_the_tests_own_arguments(project: Project) -> None:
    """A function is given parameters and fixtures by name, and may return bytes, a string or a percentage."""
    project.write("""
        import functools
        import pytest
        m = pytest.mark.membudget

        @pytest.fixture
        def rows(): return 3

        @pytest.fixture(params=[5])
        def columns(request): return request.param

        class Whole:
            def __index__(self): return 2**20

        def budget_for(n, rows=10): return n * rows * 2**20

        @pytest.mark.parametrize("n", [1, 2])
        class TestIt:
            @m(lambda n: n * 2**20)
            def test_parameter(self, n): pass

            @m(lambda n, rows, columns: n * rows * columns * 2**20)
            def test_fixtures(self, n, rows, columns): pass

            @m(ram=budget_for)
            def test_default(self, n): pass

            @m(ram=budget_for)
            def test_default_replaced(self, n, rows): pass

            @m(ram=functools.partial(budget_for, rows=7))
            def test_partial(self, n): pass

            @m(lambda **everything: f"{everything.get('n', 11)}MiB")
            def test_string(self, n): pass

            @m(lambda: Whole())
            def test_whole_number_of_another_library(self, n): pass
    """)

    run = project.measure("-k", "2")

    budgets = {name.partition("::")[2]: test["ram"]["budget_bytes"] / MIB for name, test in run.tests.items()}
    assert budgets == {
        "test_parameter[2]": 2,
        "test_fixtures[5-2]": 30,
        "test_default[2]": 20,
        "test_default_replaced[2]": 6,
        "test_partial[2]": 14,
        "test_string[2]": 11,
        "test_whole_number_of_another_library[2]": 1,
    }


def test_percentages_are_of_this_machine(project: Project) -> None:
    """At most the memory that is there: a container's limit may be smaller."""
    project.write("""
        import pytest

        @pytest.mark.membudget("50%", rss="25%")
        def test_it(): pass

        @pytest.mark.membudget(lambda: "50%")
        def test_computed(): pass
    """)

    run = project.measure()

    half = run.tests["test_it"]["ram"]["budget_bytes"]
    assert 0 < half <= psutil.virtual_memory().total // 2
    assert run.tests["test_it"]["rss"]["budget_bytes"] == half // 2
    assert run.tests["test_computed"]["ram"]["budget_bytes"] == half
