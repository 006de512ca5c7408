"""Where forking is not safe, an isolated test gets a fresh interpreter."""

from __future__ import annotations

import re

import pytest

from tests.project import Project, Run

# Any thread that runs when the tests begin makes a fork unsafe, wherever the suite runs.
A_THREAD = """
    import threading

    threading.Thread(target=threading.Event().wait, daemon=True, name="somebody's").start()
"""
WHY = "its marker says isolate=True; in a fresh interpreter, as another thread is running"


def test_a_fresh_interpreter_reports_like_the_session(project: Project) -> None:
    """Outcomes, output, warnings, properties, parameters and budgets come back; no file is written twice."""
    project.write(
        """
        import logging
        import os
        import sys
        import unittest
        import warnings

        import pytest

        pytestmark = pytest.mark.membudget("1MiB", isolate=True)

        def test_passes(tmp_path, record_property):
            record_property("session", os.environ["SESSION"])
            record_property("pid", os.getpid())
            (tmp_path / "file").touch()

        def test_fails():
            print("printed")
            logging.getLogger().warning("logged")
            assert 1 == 2

        def test_over_budget():
            held = bytearray(2**21)

        @pytest.mark.parametrize("value", ["ü[1]", "x::y"])
        def test_parameters(value):
            warnings.warn(f"of {value}")

        @pytest.mark.xfail(reason="known")
        def test_expected(): assert False

        class TestIt:
            def test_method(self): pass

        class TestCase(unittest.TestCase):
            def test_unittest(self): pass
        """,
        conftest=A_THREAD + "    import os\n    os.environ.setdefault('SESSION', str(os.getpid()))\n",
    )

    run = project.measure("--junitxml=junit.xml", "-rA")

    assert run.last_line == "2 failed, 5 passed, 1 xfailed"
    assert "2 warnings in" in run.lines[-1]
    assert {test["isolation_reason"] for test in run.tests.values()} == {WHY}
    assert run.outcomes["test_over_budget"] == "OVER_BUDGET"
    assert run.outcomes["test_fails"] == "WITHIN"
    assert "printed" in run.lines
    assert "WARNING  root:test_it.py:18 logged" in run.lines
    assert "at the peak:" in run.lines
    properties = dict(re.findall(r'name="(\w+)" value="(\d+)"', (project.path / "junit.xml").read_text()))
    assert properties["pid"] != properties["session"]


def test_a_fresh_interpreter_that_dies_is_one_failed_test(project: Project) -> None:
    """With the reason, the last figure and what it printed; one that cannot start says what stopped it."""
    project.write(
        """
        import os
        import sys

        import pytest

        pytestmark = pytest.mark.membudget("1MiB", isolate=True)

        def test_killed():
            held = b"x" * 2**25
            os.kill(os.getpid(), 9)

        def test_passes(): pass

        def test_gives_up():
            pytest.exit("enough", returncode=5)
        """,
        conftest=A_THREAD,
    )

    run = project.measure("-p", "no:faulthandler")

    assert run.exit_code == 5
    assert ".F" in run.out or "F." in run.out
    assert (
        "the test's own process was ended by SIGKILL, as the system does with a process when memory runs out, "
        "in its call phase" in run.lines
    )
    assert re.search(r"^the last known figure: its resident set was \S+ MiB at most$", run.out, re.MULTILINE)
    assert "! _pytest.outcomes.Exit: enough !" in run.out


def test_a_fresh_interpreter_that_cannot_collect_the_test_says_so(project: Project) -> None:
    """With the end of what it printed."""
    project.write(
        """
        import os
        import pytest

        if "SESSION" in os.environ:
            raise RuntimeError("a module that can be imported once")
        os.environ["SESSION"] = "1"

        @pytest.mark.membudget("1MiB", isolate=True)
        def test_unreachable(): pass
        """,
        conftest=A_THREAD,
    )

    run = project.measure()

    assert run.last_line == "1 error"
    assert "the fresh interpreter that was to run the test did not get as far as that" in run.lines
    assert "E   RuntimeError: a module that can be imported once" in run.out


def test_no_coverage_is_lost_in_a_fresh_interpreter(project: Project) -> None:
    """pytest-cov sees the lines that only a spawned test reaches."""
    project.write(
        """
        import pytest
        import covered

        @pytest.mark.membudget("1MiB", isolate=True)
        def test_isolated():
            covered.branch()
        """,
        conftest=A_THREAD,
        covered="def branch():\n    return 1\n",
    )

    run = project.measure("--cov=covered", "--cov-report=term-missing", plugins=("pytest_cov.plugin",))

    assert run.exit_code == pytest.ExitCode.OK
    assert "covered.py       2      0   100%" in run.lines
    assert [path.name for path in project.path.glob(".coverage*")] == [".coverage"]


def test_workers_of_xdist_start_fresh_interpreters_too(project: Project) -> None:
    """With the arguments of the whole run, which ask for workers: those are not started again."""
    project.write(
        """
        import pytest

        @pytest.mark.membudget("1MiB", isolate=True)
        @pytest.mark.parametrize("number", range(2))
        def test_alone(number, worker_id):
            pass
        """,
        conftest=A_THREAD,
    )

    run = project.measure("-n2", plugins=("xdist.plugin",))

    assert run.last_line == "2 passed"
    assert {(test["isolation_reason"], test["worker"]) for test in run.tests.values()} == {(WHY, "gw0"), (WHY, "gw1")}


def test_tests_go_on_in_fresh_interpreters_when_the_zygote_is_gone(project: Project) -> None:
    """The test that ended it is lost."""
    project.write("""
        import os

        import pytest

        pytestmark = pytest.mark.membudget("1MiB", isolate=True)

        def test_ends_it():
            os.kill(os.getppid(), 9)

        def test_after(): pass
    """)

    run = project.measure()

    assert run.last_line == "1 failed, 1 passed"
    assert _reason(run, "test_after") == (
        "its marker says isolate=True; in a fresh interpreter, as the process that tests are forked from has ended"
    )


def _reason(run: Run, name: str) -> str:
    reason: str = run.tests[name]["isolation_reason"]
    return reason
