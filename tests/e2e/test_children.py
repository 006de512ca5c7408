"""``children=True``: forked children by their own captures, others by their resident peak."""

from __future__ import annotations

from tests.project import MIB, Project

SUITE = """
    import multiprocessing, os, signal, subprocess, sys
    import pytest

    MIB = 2**20

    def hold(mebibytes):
        held = bytearray(mebibytes * MIB)

    def in_process(mebibytes, method="fork"):
        process = multiprocessing.get_context(method).Process(target=hold, args=(mebibytes,))
        process.start()
        process.join()

    def forked(mebibytes, end):
        pid = os.fork()
        if pid == 0:
            hold(mebibytes)
            end()
        os.waitpid(pid, 0)

    @pytest.mark.membudget("64MiB")
    def test_not_asked_for():
        in_process(80)

    @pytest.mark.membudget("64MiB", children=True)
    def test_over():
        in_process(80)

    @pytest.mark.membudget("200MiB", children=True)
    def test_several():
        own = bytearray(10 * MIB)
        in_process(50)
        forked(30, lambda: os._exit(0))
        forked(20, lambda: os.kill(os.getpid(), signal.SIGKILL))
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.map(hold, [40])

    @pytest.mark.membudget("200MiB", children=True)
    def test_grandchild():
        forked(1, lambda: (forked(60, lambda: os._exit(0)), os._exit(0)))

    @pytest.mark.membudget("1MiB", children=True)
    def test_none():
        pass

    @pytest.mark.membudget("1GiB", rss="1GiB", children=True)
    def test_program():
        program = "import time; held = b'x' * (50 * 2**20); time.sleep(0.3)"
        subprocess.run([sys.executable, "-c", program])
        subprocess.run([sys.executable, "-c", program], preexec_fn=lambda: None)

    @pytest.mark.membudget("1GiB", children=True)
    def test_server(server):
        server.stdin.write("80\\n")
        server.stdin.flush()
        server.stdout.readline()

    @pytest.fixture
    def server():
        program = "held = b'x' * (50 * 2**20); print(); more = b'x' * (int(input()) * 2**20); print(); input()"
        with subprocess.Popen(
            [sys.executable, "-uc", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            process.stdout.readline()
            yield process
            process.stdin.close()
"""


def test_children(project: Project) -> None:
    """Each way in which a child can be made and can end; nothing of the captures is left behind."""
    project.write(SUITE)

    run = project.measure("-oaddopts=--basetemp=kept", environment={"TMPDIR": str(project.path)})

    assert run.outcomes == {
        "test_not_asked_for": "WITHIN",
        "test_over": "OVER_BUDGET",
        "test_several": "WITHIN",
        "test_grandchild": "WITHIN",
        "test_none": "WITHIN",
        "test_program": "WITHIN",
        "test_server": "WITHIN",
    }
    over = run.failures["test_over"].splitlines()
    assert over[0] == (
        "ram: peak 80 MiB, budget 64 MiB: over by 16 MiB (1.3x), an upper bound by memray, with 1 forked child"
    )
    assert over[2].split()[:4] == ["80", "MiB", "100%", "test_it.py:7"]
    several, none = run.tests["test_several"]["ram"], run.tests["test_none"]["ram"]
    assert several["peak_bytes"] // MIB == 150
    assert several["source"] == "memray, with 4 forked children"
    assert (several["exact"], several["upper_bound"]) == (False, True)
    assert run.tests["test_grandchild"]["ram"]["peak_bytes"] // MIB == 61
    assert (none["peak_bytes"], none["exact"], none["upper_bound"], none["source"]) == (0, True, False, "memray")
    for figure in (run.tests["test_program"]["ram"], run.tests["test_program"]["rss"]):
        assert 100 <= figure["peak_bytes"] // MIB <= 200
        assert figure["source"].endswith(", with the resident peak of 2 other children")
    assert 80 <= run.tests["test_server"]["ram"]["peak_bytes"] // MIB <= 100
    assert list(project.path.glob("membudget-*")) == []
