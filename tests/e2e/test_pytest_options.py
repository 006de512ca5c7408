"""The switches of pytest itself, and its outcomes, mean with budgets what they mean without."""

from __future__ import annotations

import pytest

from tests.project import Project

SUITE = """
    import pytest

    BUDGET = pytest.mark.membudget("1MiB")

    @BUDGET
    def test_within(): pass

    @BUDGET
    def test_over():
        held = bytearray(2 * 2**20)

    @BUDGET
    def test_last(): pass
"""
OVER = "ram: peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)"


def test_stop_and_last_failed(project: Project) -> None:
    """-x stops at a test that is over budget, --lf runs it again, and both report what ran."""
    project.write(SUITE)

    stopped = project.measure("-x")
    again = project.measure("--lf")

    assert stopped.outcomes == {"test_within": "WITHIN", "test_over": "OVER_BUDGET"}
    assert again.outcomes == {"test_over": "OVER_BUDGET"}


def test_without_the_cache(project: Project) -> None:
    """-p no:cacheprovider takes nothing away."""
    project.write(SUITE)

    run = project.measure("-pno:cacheprovider", "-pno:terminal")

    assert run.outcomes == {"test_within": "WITHIN", "test_over": "OVER_BUDGET", "test_last": "WITHIN"}


def test_debugger(project: Project) -> None:
    """--pdb stops after the verdict, a breakpoint inside a measured test works, and both go on afterwards."""
    project.write(SUITE)

    run = project.measure("--pdb", stdin=b"p 20 + 22\nc\n")

    assert OVER in run.lines
    assert "(Pdb) 42" in run.out
    assert run.outcomes["test_last"] == "WITHIN"

    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB")
        def test_stops():
            breakpoint()
            held = bytearray(2 * 2**20)
    """)

    run = project.measure(stdin=b"p 20 + 22\nc\n")

    assert "(Pdb) 42" in run.out
    assert run.outcomes == {"test_stops": "OVER_BUDGET"}


@pytest.mark.parametrize("option", ["--collect-only", "--setup-only", "--setup-plan"])
def test_runs_that_run_no_test(project: Project, option: str) -> None:
    """Nothing is judged, listed or written as if it had been."""
    project.write(SUITE)

    run = project.measure(option, "--membudget-report")

    assert run.exit_code == pytest.ExitCode.OK
    assert "budgeted" not in run.out
    if option == "--collect-only":
        assert "memory budgets" not in run.out
        assert run.json_text is None
    else:
        assert run.section == ["no test ran"]
        assert run.tests == {}


def test_setup_show_and_trace_config(project: Project) -> None:
    """--setup-show, --durations and -vv print what they print, and the verdicts stand."""
    project.write(SUITE)

    run = project.measure("--setup-show", "--durations=1", "-vv")

    assert run.outcomes == {"test_within": "WITHIN", "test_over": "OVER_BUDGET", "test_last": "WITHIN"}


def test_nothing_to_run(project: Project) -> None:
    """A report over no test says so; pytest's own exit status stays."""
    project.write(SUITE)

    run = project.measure("-k", "nothing", "--membudget-report")

    assert run.section == ["no test ran"]
    assert run.document["totals"]["tests"] == 0
    assert run.exit_code == pytest.ExitCode.NO_TESTS_COLLECTED


OUTCOMES = """
    import pytest

    BUDGET = pytest.mark.membudget("1MiB")

    def allocate(): return bytearray(2 * 2**20)

    @BUDGET
    @pytest.mark.xfail(strict=True)
    def test_known_over(): allocate()

    @BUDGET
    @pytest.mark.xfail
    def test_known_over_loosely(): allocate()

    @BUDGET
    @pytest.mark.xfail(strict=True)
    def test_unexpectedly_within(): pass

    @BUDGET
    @pytest.mark.xfail
    def test_loosely_within(): pass

    @BUDGET
    @pytest.mark.xfail(raises=ValueError, strict=True)
    def test_another_failure_expected(): allocate()

    @BUDGET
    @pytest.mark.xfail(run=False)
    def test_not_to_be_run(): allocate()

    @BUDGET
    @pytest.mark.skip(reason="not today")
    def test_marked_skip(): allocate()

    @BUDGET
    def test_skips_itself():
        allocate()
        pytest.skip("not here")

    @pytest.fixture
    def broken(): raise ValueError("broken setup")

    @BUDGET
    def test_setup_breaks(broken): allocate()

    @pytest.fixture
    def breaks():
        yield
        raise ValueError("broken teardown")

    @BUDGET
    def test_teardown_breaks(breaks): allocate()

    @BUDGET
    def test_own_failure():
        allocate()
        assert False, "own failure"
"""


def test_outcomes(project: Project) -> None:
    """Expected failures both ways, strict and loose, skips, errors around the test and a failure of its own."""
    project.write(OUTCOMES)

    run = project.measure("--membudget-report")

    assert {name: (test["outcome"], test["test_outcome"]) for name, test in run.tests.items()} == {
        "test_known_over": ("OVER_BUDGET", "xfailed"),
        "test_known_over_loosely": ("OVER_BUDGET", "xfailed"),
        "test_unexpectedly_within": ("WITHIN", "failed"),
        "test_loosely_within": ("WITHIN", "xpassed"),
        "test_another_failure_expected": ("OVER_BUDGET", "failed"),
        "test_not_to_be_run": (None, "xfailed"),
        "test_marked_skip": (None, "skipped"),
        "test_skips_itself": (None, "skipped"),
        "test_setup_breaks": (None, "error"),
        "test_teardown_breaks": ("OVER_BUDGET", "error"),
        "test_own_failure": ("OVER_BUDGET", "failed"),
    }
    assert run.failures["test_another_failure_expected"].startswith(OVER)
    assert "own failure" in run.failures["test_own_failure"]
    assert OVER not in run.failures["test_own_failure"]
    assert "without a budget:" not in run.section
    assert run.section[-1] == "7 budgeted: 5 over budget, 2 within"
    assert run.last_line == "4 failed, 2 skipped, 3 xfailed, 1 xpassed, 2 errors"


def test_interrupted(project: Project) -> None:
    """After Ctrl-C the verdicts so far are reported and written."""
    project.write("""
        import pytest

        pytestmark = pytest.mark.membudget("1MiB")

        def test_over(): held = bytearray(2 * 2**20)
        def test_interrupted(): raise KeyboardInterrupt
        def test_never(): pass
    """)

    run = project.measure("--membudget-report")

    assert run.exit_code == pytest.ExitCode.INTERRUPTED
    assert run.outcomes == {"test_over": "OVER_BUDGET"}
    assert "1 budgeted: 1 over budget" in run.section
