"""A process that ends before its test does is one failed test, and the session goes on."""

from __future__ import annotations

import re

import pytest

from tests.project import MIB, Project, Run

DEADLY_TESTS = """
    import os
    import signal
    import time

    import pytest

    pytestmark = pytest.mark.membudget("1GiB", isolate=True)
    HELD = 64 * 2**20

    def ends_by(number):
        held = b"x" * HELD
        print("the last that it said")
        os.kill(os.getpid(), number)

    @pytest.fixture
    def deadly_setup():
        ends_by(signal.SIGKILL)

    @pytest.fixture
    def deadly_teardown():
        yield
        os._exit(7)

    def test_segmentation_fault():
        ends_by(signal.SIGSEGV)

    def test_killed():
        ends_by(signal.SIGKILL)

    def test_exits():
        os._exit(0)

    def test_dies_in_setup(deadly_setup):
        pass

    def test_dies_in_teardown(deadly_teardown):
        pass

    def test_no_descendant_reports_twice():
        if os.fork() == 0:
            raise RuntimeError("a process that the test forked")
        os.wait()

    def test_passes():
        pass
"""
HANGING_TESTS = """
    import signal
    import time

    import pytest

    pytestmark = pytest.mark.membudget("1GiB", isolate=True)

    @pytest.mark.timeout(1, method="signal")
    def test_interrupted():
        time.sleep(60)

    @pytest.mark.timeout(1, method="thread")
    def test_ended():
        time.sleep(60)

    @pytest.mark.timeout(1, method="signal")
    def test_deaf():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(60)

    @pytest.mark.timeout(60)
    def test_passes():
        pass
"""


def test_a_process_that_dies_is_one_failed_test(project: Project) -> None:
    """Each says how it ended, in which phase, what it had printed and by how much it had grown."""
    project.write(DEADLY_TESTS)

    run = project.measure("-p", "no:faulthandler")

    assert run.exit_code == pytest.ExitCode.TESTS_FAILED
    assert run.last_line == "3 failed, 3 passed, 2 errors"
    assert (
        _failure(run, "test_segmentation_fault")[0] == "the test's own process was ended by SIGSEGV, in its call phase"
    )
    assert _failure(run, "test_killed")[0] == (
        "the test's own process was ended by SIGKILL, as the system does with a process when memory runs out, "
        "in its call phase"
    )
    assert _failure(run, "test_killed")[2:] == [
        "----------------------------- Captured stdout call -----------------------------",
        "the last that it said",
    ]
    assert _failure(run, "test_exits")[0] == (
        "the test's own process ended by itself with exit status 0 (os._exit or the like), in its call phase"
    )
    assert _failure(run, "test_dies_in_setup")[0].endswith("in its setup phase")
    assert _failure(run, "test_dies_in_teardown")[0] == (
        "the test's own process ended by itself with exit status 7 (os._exit or the like), in its teardown phase"
    )
    assert len(run.document["tests"]) == 7


def test_the_last_known_figure_of_a_dead_process_is_its_resident_growth(project: Project) -> None:
    """It is in the failure and in the record, and the test counts as not measured for that reason."""
    project.write(DEADLY_TESTS)

    run = project.measure("-p", "no:faulthandler", "-k", "test_killed")

    record = run.tests["test_killed"]
    grown = re.fullmatch(
        r"the last known figure: its resident set had grown by (\S+) MiB", _failure(run, "test_killed")[1]
    )
    assert grown
    assert 64 <= float(grown[1]) <= 96
    assert 64 * MIB <= record["rss"]["peak_bytes"] <= 96 * MIB
    assert record["rss"]["source"] == "wait4"
    assert (record["outcome"], record["test_outcome"], record["isolated"]) == ("NOT_MEASURED", "failed", True)
    assert run.section[1] == f"not judged, {record['reason']}: test_it.py::test_killed"


def test_a_test_that_hangs_fails_under_pytest_timeout(project: Project) -> None:
    """By its signal, by its thread that ends the process, and by the waiting process where neither is heard."""
    project.write(HANGING_TESTS)

    run = project.measure(plugins=("pytest_timeout",))

    assert run.last_line == "3 failed, 1 passed"
    assert "Failed: Timeout (>1.0s) from pytest-timeout." in run.out
    for name in ("test_ended", "test_deaf"):
        assert _failure(run, name)[0] == (
            "the test's own process was ended because the test was not over after 1 s (pytest-timeout), "
            "in its call phase"
        )


def _failure(run: Run, name: str) -> list[str]:
    """Return the lines under the heading of a failed test."""
    begin = next(i for i, line in enumerate(run.lines) if line.strip("_ ").split(" ")[-1] == name and "__" in line)
    end = next(i for i in range(begin + 1, len(run.lines)) if run.lines[i].startswith(("___", "===")))
    return run.lines[begin + 1 : end]
