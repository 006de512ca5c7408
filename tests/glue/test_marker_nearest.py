"""Which declaration a test is judged by: the nearest, resource by resource."""

from __future__ import annotations

from tests.project import MIB, Project


def test_each_level_yields_to_the_one_inside_it(project: Project) -> None:
    """Parameter over function over class over module over membudget_paths over membudget_default.

    Of two markers on one function the one that stands closer to it counts, as everywhere in pytest.
    """
    project.write_file(
        "pytest.ini",
        """
        [pytest]
        membudget_default = 7MiB
        membudget_paths =
            */narrow/* = 5MiB
            tests/* = 6MiB
        """,
    )
    project.write_file("test_default.py", "def test_it(): pass")
    project.write_file("tests/test_globbed.py", "def test_it(): pass")
    project.write_file("tests/narrow/test_first_match.py", "def test_it(): pass")
    project.write_file(
        "tests/test_levels.py",
        """
        import pytest
        m = pytest.mark.membudget
        pytestmark = m("4MiB")

        def test_module(): pass

        @m("3MiB")
        class TestIt:
            def test_class(self): pass

            @m("2MiB")
            def test_function(self): pass

            @m("2MiB")
            @pytest.mark.parametrize("n", [pytest.param(1, marks=m("1MiB")), 2])
            def test_parameter(self, n): pass

            class TestInner:
                def test_outer_class(self): pass

        @m("9MiB")
        @m("8MiB")
        def test_twice(): pass
        """,
    )

    run = project.measure()

    assert {test["nodeid"]: test["ram"]["budget_bytes"] / MIB for test in run.document["tests"]} == {
        "test_default.py::test_it": 7,
        "tests/test_globbed.py::test_it": 6,
        "tests/narrow/test_first_match.py::test_it": 5,
        "tests/test_levels.py::test_module": 4,
        "tests/test_levels.py::TestIt::test_class": 3,
        "tests/test_levels.py::TestIt::test_function": 2,
        "tests/test_levels.py::TestIt::test_parameter[1]": 1,
        "tests/test_levels.py::TestIt::test_parameter[2]": 2,
        "tests/test_levels.py::TestIt::TestInner::test_outer_class": 3,
        "tests/test_levels.py::test_twice": 8,
    }


def test_resources_and_settings_are_inherited_one_by_one(project: Project) -> None:
    """A function that limits the heap keeps the resident and retained limits, and the scope, of its class."""
    project.write("""
        import pytest

        @pytest.fixture
        def held(): return bytearray(2 * 2**20)

        @pytest.mark.membudget("64MiB", rss="32MiB", retained="16MiB", scope="test")
        class TestIt:
            @pytest.mark.membudget("1MiB", retained="8MiB")
            def test_it(self, held): pass
    """)

    run = project.measure()

    ram, rss = run.tests["TestIt::test_it"]["ram"], run.tests["TestIt::test_it"]["rss"]
    assert (ram["budget_bytes"], ram["retained_budget_bytes"], rss["budget_bytes"]) == (MIB, 8 * MIB, 32 * MIB)
    assert run.outcomes == {"TestIt::test_it": "OVER_BUDGET"}
    assert ram["peak_bytes"] > 2 * MIB


def test_a_base_class_and_a_subclass(project: Project) -> None:
    """The mark of the class that the test was collected from wins over that of its base."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB")
        class Base:
            def test_it(self): pass

        class TestPlain(Base): pass

        @pytest.mark.membudget("2MiB")
        class TestMarked(Base): pass
    """)

    run = project.measure()

    budgets = {name: test["ram"]["budget_bytes"] / MIB for name, test in run.tests.items()}
    assert budgets == {"TestPlain::test_it": 1, "TestMarked::test_it": 2}
