"""What isolated tests share with the session around them, and what can end it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.project import Project

MIXED = """
    import os

    import pytest

    @pytest.fixture(scope="session")
    def server():
        yield os.getpid()

    @pytest.fixture(scope="module", autouse=True)
    def of_module(server):
        with open("log.txt", "a") as log:
            log.write(f"up in {'session' if os.getpid() == int(os.environ['SESSION']) else 'child'}\\n")
        yield
        with open("log.txt", "a") as log:
            log.write(f"down in {'session' if os.getpid() == int(os.environ['SESSION']) else 'child'}\\n")
        if os.environ.get("BREAK") == __name__ and os.getpid() == int(os.environ["SESSION"]):
            raise RuntimeError("broken for all of the module")
"""
FIRST = (
    MIXED
    + """
    def test_common():
        pass

    @pytest.mark.membudget("1MiB", isolate=True)
    def test_isolated(server):
        assert server == os.getpid() != int(os.environ["SESSION"])
"""
)
SECOND = (
    MIXED
    + """
    def test_common_again(server):
        assert server == os.getpid() == int(os.environ["SESSION"])
"""
)
CONFTEST = """
    import os
    os.environ["SESSION"] = str(os.getpid())
"""


def test_fixtures_are_set_up_in_each_process(project: Project) -> None:
    """An isolated test sets up those of its module and session itself; those of other tests end in their time."""
    project.write(conftest=CONFTEST, test_1=FIRST, test_2=SECOND)

    run = project.measure()

    assert run.last_line == "3 passed"
    assert (project.path / "log.txt").read_text().splitlines() == [
        *("up in session", "up in child", "down in child", "down in session"),
        *("up in session", "down in session"),
    ]


def test_a_module_fixture_that_breaks_after_an_isolated_test_is_an_error_of_that_test(project: Project) -> None:
    """As pytest puts it on the last test of the module."""
    project.write(conftest=CONFTEST, test_1=FIRST, test_2=SECOND)

    run = project.measure(environment={"BREAK": "test_1"})

    assert run.last_line == "3 passed, 1 error"
    assert "_ ERROR at teardown of test_isolated _" in run.out


def test_isolated_tests_share_the_folder_of_tmp_path(project: Project) -> None:
    """They number their folders in the one that the session made, and clean up nobody else's."""
    project.write("""
        import pytest

        def test_common(tmp_path_factory):
            (tmp_path_factory.mktemp("kept") / "file").touch()

        @pytest.mark.membudget("1MiB", isolate=True)
        @pytest.mark.parametrize("number", range(4))
        def test_isolated(number, tmp_path):
            (tmp_path / "file").touch()

        def test_others_are_there(tmp_path_factory):
            made = sorted(path.name for path in tmp_path_factory.getbasetemp().iterdir() if not path.is_symlink())
            assert made == ["kept0", *(f"test_isolated_{number}_0" for number in range(4))]
    """)

    run = project.run("--basetemp=temporary", "-o", "tmp_path_retention_policy=all")

    assert run.last_line == "6 passed"


def test_the_first_failure_ends_a_session_that_wants_that(project: Project) -> None:
    """``-x`` counts an isolated failure, and ``--lf`` runs that test again, alone."""
    project.write("""
        import pytest

        pytestmark = pytest.mark.membudget("1MiB", isolate=True)

        def test_passes(): pass
        def test_fails(): assert False
        def test_never_runs(): assert False
    """)

    first = project.measure("-x")
    assert first.last_line == "1 failed, 1 passed"
    again = project.measure("--lf")
    assert list(again.tests) == ["test_fails"]


def test_pytest_exit_in_an_isolated_test_ends_the_session(project: Project) -> None:
    """With its message and its exit status."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB", isolate=True)
        def test_gives_up():
            pytest.exit("no licence for the solver", returncode=9)

        def test_never_runs():
            pass
    """)

    run = project.run()

    assert run.exit_code == 9
    assert run.last_line == ""
    assert "! _pytest.outcomes.Exit: no licence for the solver !" in run.out
    assert "no tests ran" in run.out


# A shell's job in the background ignores the signal, and so would all that it starts.
INTERRUPTIBLE = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.main(["-p", "membudget"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_session(project: Project, number: signal.Signals) -> None:
    """Whether it is interrupted, with the whole of its group as a terminal does it, or killed."""
    project.write("""
        import os
        import time

        import pytest

        @pytest.mark.membudget("1MiB", isolate=True)
        def test_sleeps():
            with open("pids", "w") as pids:
                pids.write(f"{os.getpid()} {os.getppid()}\\n")
            try:
                time.sleep(60)
            finally:
                open("finalised", "w").close()
    """)
    session = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE],
        cwd=project.path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    pids = _wait_for_pids(project)

    if number == signal.SIGINT:
        os.killpg(session.pid, number)
    else:
        session.kill()
    exit_code = session.wait(timeout=30)

    assert exit_code == (pytest.ExitCode.INTERRUPTED if number == signal.SIGINT else -signal.SIGKILL)
    assert (project.path / "finalised").exists() is (number == signal.SIGINT)
    _wait_until_gone(pids)


def _wait_for_pids(project: Project) -> list[int]:
    for _ in range(1000):
        path = project.path / "pids"
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return [int(pid) for pid in text.split()]
        time.sleep(0.02)
    raise AssertionError("the isolated test never began")


def _wait_until_gone(pids: list[int]) -> None:
    for _ in range(500):
        if not any(_is_alive(pid) for pid in pids):
            return
        time.sleep(0.02)
    raise AssertionError(f"still there: {[pid for pid in pids if _is_alive(pid)]}")


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
