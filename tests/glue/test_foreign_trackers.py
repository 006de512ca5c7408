"""memray allows one tracker in a process: whoever else wants it, the run goes on and says so."""

from __future__ import annotations

import sys

import pytest

from tests.project import Project

OWN = "the test uses memray.Tracker itself, and memray allows one tracker at a time"
OTHER = "another memray tracker is active in this process, and memray allows one at a time"
PYTEST_MEMRAY = (
    "pytest-memray measures this test, and memray allows one tracker at a time: switch it off with -p no:memray"
)


def test_tests_that_open_a_tracker(project: Project) -> None:
    """However the test comes by it, its tracker works; the heap has a reason in place of a figure, and RSS is there."""
    project.write(
        helper="""
            import memray

            def track(path):
                with memray.Tracker(path):
                    held = b"x" * (32 * 2**20)
                assert memray.FileReader(path).metadata.peak_memory > 32 * 2**20
        """,
        test_it="""
            import gc
            import importlib
            import threading

            import memray
            import pytest
            from memray import Tracker

            import helper
            from helper import track

            pytestmark = pytest.mark.membudget("1MiB")

            @pytest.fixture
            def path(tmp_path): return tmp_path / "own.bin"

            @pytest.fixture
            def tracked(path):
                with memray.Tracker(path): yield

            @pytest.fixture
            def tracking(path): return lambda: track(path)

            def test_attribute(path):
                with memray.Tracker(path): pass

            def test_imported_name(path):
                with Tracker(path): pass

            def test_imported_inside(path):
                from memray import Tracker as Other
                with Other(path): pass

            def test_found_by_name(path):
                with getattr(importlib.import_module("mem" + "ray"), "Tracker")(path): pass

            def test_helper(path): track(path)
            def test_helper_module(path): helper.track(path)
            def test_function_of_a_fixture(tracking): tracking()
            def test_in_a_thread(path):
                thread = threading.Thread(target=track, args=(path,))
                thread.start()
                thread.join()

            def test_region(path, membudget):
                with membudget.track() as region: track(path)
                assert region.rss_peak_bytes > 0
                with pytest.raises(Exception, match="^not measured: the test uses memray.Tracker itself"):
                    region.ram_peak_bytes

            def test_fixture(tracked): pass
            def test_next(): held = bytearray(2 * 2**20)
        """,
    )

    run = project.measure()

    reasons = {name: test["reason"] for name, test in run.tests.items()}
    assert reasons.pop("test_fixture") == OTHER
    assert reasons.pop("test_next") is None
    assert set(reasons.values()) == {OWN}
    assert len(reasons) == 9
    assert all(test["rss"]["peak_bytes"] is not None for test in run.tests.values())
    assert run.outcomes["test_next"] == "OVER_BUDGET"
    assert run.last_line == "1 failed, 10 passed"


def test_a_test_that_ends_the_tracker(project: Project) -> None:
    """Found through the garbage collector and ended: that test has a reason, the next one a figure."""
    project.write("""
        import gc, sys

        import pytest

        pytestmark = pytest.mark.membudget("1MiB")

        def test_first(): pass

        def test_ends_it():
            trackers = [thing for thing in gc.get_objects() if type(thing).__name__ == "Tracker"]
            assert trackers
            trackers[0].__exit__(None, None, None)
            held = bytearray(2 * 2**20)

        def test_next(): held = bytearray(2 * 2**20)
    """)

    run = project.measure()

    assert run.outcomes == {"test_first": "WITHIN", "test_ends_it": "NOT_MEASURED", "test_next": "OVER_BUDGET"}
    assert run.tests["test_ends_it"]["reason"] == OWN


@pytest.mark.parametrize("args", [("--memray",), ()], ids=["all tests", "its markers"])
def test_beside_pytest_memray(project: Project, args: tuple[str, ...]) -> None:
    """What it measures is left to it, with the switch to write; what it does not measure is judged."""
    project.write("""
        import pytest

        @pytest.mark.limit_memory("1 MB")
        @pytest.mark.membudget("1MiB")
        def test_limit(): held = bytearray(2 * 2**20)

        @pytest.mark.limit_leaks("1 MB")
        @pytest.mark.membudget("1MiB")
        def test_leaks(): held = bytearray(2 * 2**20)

        @pytest.mark.membudget("1MiB")
        def test_ours(): held = bytearray(2 * 2**20)
    """)

    run = project.measure(*args, plugins=("memray",))

    assert run.failures["test_limit"].startswith("Test was limited to 1.0MiB but allocated 2.0MiB")
    assert run.tests["test_limit"]["reason"] == run.tests["test_leaks"]["reason"] == PYTEST_MEMRAY
    assert run.outcomes["test_ours"] == ("NOT_MEASURED" if args else "OVER_BUDGET")
    assert run.exit_code == pytest.ExitCode.TESTS_FAILED


def test_under_memray_run(project: Project) -> None:
    """``memray run -m pytest`` keeps its tracker; every budget has a reason, and a failure where that is asked for."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB", rss="1GiB")
        def test_it(): held = b"x" * (32 * 2**20)
    """)

    run = project.measure(
        "-o", "membudget_missing=fail", interpreter=(sys.executable, "-m", "memray", "run", "-o", "whole.bin")
    )

    assert run.failures == {"test_it": f"ram: not judged: {OTHER} (membudget_missing = fail)"}
    assert run.tests["test_it"]["rss"]["peak_bytes"] > 0
    assert (project.path / "whole.bin").exists()
