"""The line that an annotation of a test points at."""

from __future__ import annotations

from tests.project import Project


def test_place_is_the_markers_line_else_the_tests(project: Project) -> None:
    """A marker on a class, a module or a parameter, and any other budget, leave the test's own line."""
    project.write_file(
        "pkg/test_it.py",
        """
        import pytest

        @pytest.mark.parametrize("n", [1])
        @pytest.mark.membudget("1MiB")
        def test_decorated(n): pass

        @pytest.mark.membudget(
            "1MiB",
            rss="1GiB",
        )
        @pytest.mark.parametrize("n", [1])
        async def test_several_lines(n): pass

        @pytest.mark.membudget("1MiB")
        class TestMarked:
            def test_of_class(self): pass

            @pytest.mark.membudget("2MiB")
            def test_of_its_own(self): pass

        def test_plain(): pass

        @pytest.mark.parametrize("n", [
            pytest.param(1, marks=pytest.mark.membudget("1MiB")),
        ])
        def test_parameter(n): pass

        def of_a_factory():
            @pytest.mark.membudget("1MiB")
            def test_made(): pass
            return test_made

        test_made = of_a_factory()
        """,
    )
    project.write_file("doc.txt", ">>> 1\n1\n")
    run = project.measure("pkg", "doc.txt", "--doctest-glob=*.txt", "-W", "ignore", "--membudget-default=1MiB")
    places = {name: (test["file"], test["line"]) for name, test in run.tests.items()}

    assert places == {
        "test_decorated[1]": ("pkg/test_it.py", 4),
        "test_several_lines[1]": ("pkg/test_it.py", 7),
        "TestMarked::test_of_class": ("pkg/test_it.py", 16),
        "TestMarked::test_of_its_own": ("pkg/test_it.py", 18),
        "test_plain": ("pkg/test_it.py", 21),
        "test_parameter[1]": ("pkg/test_it.py", 23),
        "test_made": ("pkg/test_it.py", 29),
        "doc.txt": ("doc.txt", 1),
    }
