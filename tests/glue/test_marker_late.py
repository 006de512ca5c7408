"""Markers that a test comes by after it was collected."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project

CONFTEST = """
    import pytest

    @pytest.fixture
    def tight(request):
        request.node.add_marker(pytest.mark.membudget("1MiB"), append=False)

    @pytest.fixture
    def wrong(request):
        request.node.add_marker(pytest.mark.membudget("1XB"))

    def pytest_collection_modifyitems(items):
        for item in items:
            if item.name == "test_modified":
                item.add_marker(pytest.mark.membudget("1MiB"))
"""
OVER = "ram: peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)"


@pytest.mark.parametrize("args", [(), ("--membudget-report",), ("-n2",)], ids=["plain", "report", "xdist"])
def test_a_fixture_gives_the_only_budget_of_a_run(project: Project, args: tuple[str, ...]) -> None:
    """A suite that budgets nothing else notices it all the same."""
    project.write(
        conftest=CONFTEST,
        test_it="""
            def test_it(tight): held = bytearray(2 * 2**20)
            def test_other(): held = bytearray(2 * 2**20)
        """,
    )

    run = project.run(*args, plugins=("xdist",) if "-n2" in args else ())

    assert OVER in run.failures["test_it"].splitlines()
    assert run.last_line == "1 failed, 1 passed"


def test_late_markers_among_others(project: Project) -> None:
    """A fixture's marker counts on top of a class's; one that cannot be read fails its test; hooks may add some."""
    project.write(
        conftest=CONFTEST,
        test_it="""
            import pytest

            def test_fixture(tight): held = bytearray(2 * 2**20)
            def test_wrong(wrong): pass
            def test_modified(): held = bytearray(2 * 2**20)

            class TestEnclosed:
                pytestmark = pytest.mark.membudget("64MiB", retained="32MiB")

                def test_it(self, tight): held = bytearray(2 * 2**20)

                @pytest.mark.membudget(scope="test")
                def test_whole(self, tight): held = bytearray(2 * 2**20)
        """,
    )

    run = project.measure()

    assert run.failures["test_wrong"].startswith("ram budget on test_it.py::test_wrong (test_it.py:4): '1XB' has")
    assert {name: outcome for name, outcome in run.outcomes.items() if name != "test_wrong"} == {
        "test_fixture": "OVER_BUDGET",
        "test_modified": "OVER_BUDGET",
        "TestEnclosed::test_it": "OVER_BUDGET",
        "TestEnclosed::test_whole": "OVER_BUDGET",
    }
    ram = run.tests["TestEnclosed::test_it"]["ram"]
    assert (ram["budget_bytes"], ram["retained_budget_bytes"]) == (MIB, 32 * MIB)
