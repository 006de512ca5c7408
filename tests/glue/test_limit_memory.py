"""A suite written for pytest-memray, run on this plugin as it stands."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project

READ = "--override-ini=membudget_read_limit_memory=true"
SUITE = """
    import threading

    import pytest

    def allocate(mib):
        return bytearray(int(mib * 1024 * 1024))

    @pytest.mark.limit_memory("3 MB")
    def test_within(): allocate(2)

    @pytest.mark.limit_memory("1 MB")
    def test_over(): allocate(2)

    @pytest.mark.limit_memory("2048KB")
    def test_kilobytes_of_1024(): allocate(1.99)

    @pytest.mark.limit_memory("0.5 gb")
    def test_lower_case(): pass

    @pytest.mark.limit_memory("1 MB")
    class TestClass:
        def test_of_class(self): allocate(2)

        @pytest.mark.limit_memory("3 MB")
        def test_nearest(self): allocate(2)

    @pytest.mark.parametrize("mib", [pytest.param(2, marks=pytest.mark.limit_memory("1MB")), 0])
    def test_parameter(mib): allocate(mib)

    @pytest.mark.limit_memory("1 MB", current_thread_only=True)
    def test_peak_of_this_thread_alone():
        allocate(5)
        other = threading.Thread(target=allocate, args=(10,))
        other.start()
        other.join()

    @pytest.mark.limit_memory("1 MB", current_thread_only=True)
    def test_other_threads_do_not_count():
        other = threading.Thread(target=allocate, args=(10,))
        other.start()
        other.join()

    @pytest.mark.limit_memory("1 MB")
    def test_all_threads_count():
        other = threading.Thread(target=allocate, args=(10,))
        other.start()
        other.join()
"""
OVER = {
    "test_over",
    "TestClass::test_of_class",
    "test_parameter[2]",
    "test_peak_of_this_thread_alone",
    "test_all_threads_count",
}


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_suite_written_for_pytest_memray(project: Project, plugins: tuple[str, ...]) -> None:
    """Unmodified, with every warning an error and strict markers: its limits are budgets, its MB is 1024**2 bytes."""
    project.write(SUITE)

    run = project.measure(READ, "-Werror", "--strict-markers", *(("-n2",) if plugins else ()), plugins=plugins)

    assert {name for name, outcome in run.outcomes.items() if outcome == "OVER_BUDGET"} == OVER
    assert {name for name, outcome in run.outcomes.items() if outcome is None} == {"test_parameter[0]"}
    assert run.tests["test_over"]["ram"]["budget_bytes"] == MIB
    assert run.tests["test_lower_case"]["ram"]["budget_bytes"] == 512 * MIB
    assert abs(run.peak_bytes("test_peak_of_this_thread_alone") - 5 * MIB) < 8192
    assert run.peak_bytes("test_other_threads_do_not_count") < 64 * 1024
    assert run.last_line == "5 failed, 6 passed"


def test_without_the_ini_key_the_markers_are_nobodys(project: Project) -> None:
    """Pytest warns that it does not know them, and nothing is judged."""
    project.write(SUITE)

    run = project.measure()

    assert set(run.outcomes.values()) == {None}
    assert "PytestUnknownMarkWarning: Unknown pytest.mark.limit_memory" in run.out
    assert "limit_memory" not in project.run("--markers").out


def test_both_kinds_of_marker_on_one_test(project: Project) -> None:
    """Each is a budget: of each resource the nearest marker that speaks of it counts."""
    project.write("""
        import pytest

        @pytest.mark.limit_memory("1 MB")
        class TestIt:
            @pytest.mark.membudget("3MiB")
            def test_ours_is_nearer(self): pass

            @pytest.mark.membudget(rss="1GiB")
            def test_ours_is_of_something_else(self): pass
    """)

    run = project.measure(READ)

    budgets = {name.partition("::")[2]: test["ram"]["budget_bytes"] / MIB for name, test in run.tests.items()}
    assert budgets == {"test_ours_is_nearer": 3, "test_ours_is_of_something_else": 1}


def test_bad_limits(project: Project) -> None:
    """What pytest-memray crashes on, or accepts by mistake, is an error of the test with a sentence."""
    project.write("""
        import pytest

        @pytest.mark.limit_memory("10 MiB")
        def test_unit(): pass
        @pytest.mark.limit_memory("10MBogus")
        def test_trailing(): pass
        @pytest.mark.limit_memory("-10 MB")
        def test_negative(): pass
        @pytest.mark.limit_memory(10485760)
        def test_int(): pass
        @pytest.mark.limit_memory()
        def test_nothing(): pass
        @pytest.mark.limit_memory("1 MB", "2 MB")
        def test_two(): pass
        @pytest.mark.limit_memory("1 MB", current_thread=True)
        def test_keyword(): pass
        @pytest.mark.limit_memory(limit="1 MB")
        def test_by_name(): pass
    """)

    run = project.run(READ)

    units = "is not a number with one of the units B, KB, MB, GB, TB, PB"
    write = 'write limit_memory("25 MB"), and current_thread_only=True if wanted'
    assert run.failures == {
        "test_unit": f"limit_memory marker on test_it.py::test_unit (test_it.py:3): '10 MiB' {units}",
        "test_trailing": f"limit_memory marker on test_it.py::test_trailing (test_it.py:5): '10MBogus' {units}",
        "test_negative": f"limit_memory marker on test_it.py::test_negative (test_it.py:7): '-10 MB' {units}",
        "test_int": f"limit_memory marker on test_it.py::test_int (test_it.py:9): {write}",
        "test_nothing": f"limit_memory marker on test_it.py::test_nothing (test_it.py:11): {write}",
        "test_two": f"limit_memory marker on test_it.py::test_two (test_it.py:13): {write}",
        "test_keyword": f"limit_memory marker on test_it.py::test_keyword (test_it.py:15): {write}",
    }
    assert run.last_line == "1 passed, 7 errors"
