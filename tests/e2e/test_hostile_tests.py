"""Tests that pull the ground from under the measuring: a reason on that test, and the next one is measured again."""

from __future__ import annotations

import os

import pytest

from tests.project import MIB, Project

HOSTILE = """
    import gc, os, shutil, sys, tempfile, threading, time
    from pathlib import Path

    import pytest

    pytestmark = pytest.mark.membudget("1MiB")

    def allocate(): return bytearray(2 * 2**20)
    def captures(): return Path(tempfile.gettempdir()).glob("membudget-*")

    def test_changes_directory(tmp_path):
        os.chdir(tmp_path)
        allocate()

    def test_next_elsewhere(): allocate()

    def test_deletes_the_temporary_folder():
        for folder in captures(): shutil.rmtree(folder)
        allocate()

    def test_next_without_a_folder(): allocate()

    def test_points_to_no_temporary_folder(monkeypatch):
        monkeypatch.setenv("TMPDIR", "/nowhere")
        monkeypatch.setattr(tempfile, "tempdir", None)
        allocate()

    def test_replaces_the_capture():
        for capture in [capture for folder in captures() for capture in folder.iterdir()]:
            capture.unlink()
            capture.write_text("no capture")
        allocate()

    def test_forks():
        child = os.fork()
        if not child:
            allocate()
            os._exit(0)
        os.waitpid(child, 0)

    def test_forks_and_allocates():
        child = os.fork()
        if not child: os._exit(0)
        os.waitpid(child, 0)
        allocate()

    def test_removes_the_profiler():
        sys.setprofile(None)
        allocate()

    def test_sets_a_profiler():
        sys.setprofile(lambda *_: None)
        allocate()
        sys.setprofile(None)

    def test_next_after_profilers(): allocate()

    def test_leaves_threads_running():
        for _ in range(3):
            threading.Thread(target=lambda held: time.sleep(0.4), args=(allocate(),), daemon=True).start()

    def test_next_with_their_threads(): time.sleep(0.5)
    def test_turns_collection_off():
        gc.disable()
        allocate()

    def test_closes_the_capture():
        for number in os.listdir("/proc/self/fd"):
            name = f"/proc/self/fd/{number}"
            if os.path.exists(name) and "membudget-" in os.readlink(name): os.close(int(number))
        allocate()

    def test_next_with_another_capture(): allocate()

    def test_exits():
        allocate()
        sys.exit(3)

    def test_recurses():
        def deeper(): deeper()
        with pytest.raises(RecursionError): deeper()

    def test_asks_for_too_much():
        with pytest.raises(MemoryError): bytearray(2**60)

    def test_last(): allocate()
"""
REASONS = {
    "test_deletes_the_temporary_folder": "memray's capture cannot be read (Could not open file ",
    "test_replaces_the_capture": "memray's capture cannot be read (The provided input file does not look like a binary",
    "test_closes_the_capture": "memray's capture cannot be read (",
    "test_removes_the_profiler": (
        "memray's capture ends before the test did: the test set a profiler of its own (sys.setprofile, cProfile), or "
        "the disk was full"
    ),
    "test_sets_a_profiler": "memray's capture ends before the test did: the test set a profiler of its own",
}
WITHIN = {"test_forks", "test_next_with_their_threads", "test_recurses", "test_asks_for_too_much"}


def test_each_has_a_figure_or_a_reason(project: Project) -> None:
    """Whatever the test does to its process, the session goes on, and no folder is left behind."""
    project.write(HOSTILE)
    (project.path / "temporary").mkdir()

    run = project.measure("-pno:cacheprovider", environment={"TMPDIR": str(project.path / "temporary")})

    reasons = {name: test["reason"] for name, test in run.tests.items() if test["reason"]}
    assert reasons.keys() == REASONS.keys()
    assert all(reason.startswith(REASONS[name]) for name, reason in reasons.items())
    assert {name for name, outcome in run.outcomes.items() if outcome == "WITHIN"} == WITHIN
    assert all(
        abs(run.peak_bytes(name) - 2 * MIB) < 16 * 1024
        for name, outcome in run.outcomes.items()
        if outcome == "OVER_BUDGET" and name != "test_leaves_threads_running"
    )
    assert abs(run.peak_bytes("test_leaves_threads_running") - 6 * MIB) < 256 * 1024
    assert [name for name in os.listdir(project.path / "temporary") if name.startswith("membudget-")] == []
    assert "INTERNALERROR" not in run.out + run.err


@pytest.mark.parametrize("ending", ["os._exit(3)", "os.abort()", "os.closerange(3, 1000)"])
def test_a_worker_that_ends_in_a_test(project: Project, ending: str) -> None:
    """Under xdist the others are judged, and the lost test is named in the report and in the JSON."""
    project.write(f"""
        import os, pytest

        pytestmark = pytest.mark.membudget("1MiB")

        def test_before(): pass
        def test_ends(): {ending}
        def test_after(): held = bytearray(2 * 2**20)
    """)

    run = project.measure("-n1", "--membudget-report", plugins=("xdist",))

    assert "no figure, the process ended in the middle of the test: test_it.py::test_ends" in run.section
    assert run.outcomes == {"test_before": "WITHIN", "test_ends": None, "test_after": "OVER_BUDGET"}
    assert run.tests["test_ends"]["reason"] == "the process ended in the middle of the test"
    assert run.tests["test_ends"]["test_outcome"] == "failed"
    assert run.last_line == "2 failed, 1 passed"


def test_a_process_that_ends_in_a_test(project: Project) -> None:
    """Alone there is nobody left to report: the exit status is the test's own, and there is no half-written JSON."""
    project.write("""
        import os, pytest

        @pytest.mark.membudget("1MiB")
        def test_it(): os._exit(3)
    """)

    run = project.measure()

    assert run.exit_code == 3
    assert run.json_text is None


def test_closing_every_descriptor(project: Project) -> None:
    """Pytest's own capture and log files break with it; without those the test has a reason and the next a figure."""
    project.write("""
        import os, pytest

        pytestmark = pytest.mark.membudget("1MiB")

        def test_closes(): os.closerange(3, 1000)
        def test_after(): held = bytearray(2 * 2**20)
    """)

    run = project.run("-s", "-pno:logging")

    assert run.section[0] == "2 budgeted: 1 over budget, 1 not measured"
    assert run.section[1].startswith("not judged, memray's capture cannot be read (")
    assert run.section[1].endswith("test_it.py::test_closes")
    assert "1 failed, 1 passed" in run.out


def test_an_interrupt_while_tracking_begins(project: Project) -> None:
    """The tracker that it leaves running is ended by the next test, and that is measured."""
    project.write(
        conftest="""
            import threading

            import pytest

            join = threading.Thread.join

            def interrupted(thread, *args):
                join(thread, *args)
                raise AssertionError("from a signal")

            @pytest.hookimpl(wrapper=True, tryfirst=True)
            def pytest_runtest_call(item):
                threading.Thread.join = interrupted if item.name == "test_broken_off" else join
                try:
                    return (yield)
                finally:
                    threading.Thread.join = join
        """,
        test_it="""
            import pytest

            pytestmark = pytest.mark.membudget("1MiB")

            def test_broken_off(): pass
            def test_next(): held = bytearray(2 * 2**20)
        """,
    )

    run = project.measure()

    assert "AssertionError: from a signal" in run.failures["test_broken_off"]
    assert run.outcomes["test_next"] == "OVER_BUDGET"
