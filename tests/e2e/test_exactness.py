"""A number that can be trusted: nothing of the plugin's own in it, and the same bytes whatever ran before."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project

PLAIN = """
    import pytest

    pytestmark = pytest.mark.membudget("1GiB")

    def test_empty():
        pass

    def test_ten():
        held = bytearray(10 * 2**20)

    def test_ten_in_many():
        held = [bytearray(1024) for _ in range(10 * 1024)]

    class TestClass:
        def test_empty(self): pass

    @pytest.mark.parametrize("n", [1, 2])
    def test_empty_parametrised(n): pass

    @pytest.fixture
    def value(): return 1

    def test_empty_with_a_fixture(value): pass
"""


@pytest.mark.parametrize(
    "args",
    [(), ("--membudget-report",), ("-n2",), ("-p", "no:cacheprovider", "-s")],
    ids=["plain", "report", "xdist", "bare"],
)
def test_the_plugin_leaves_no_trace_in_the_figures(project: Project, args: tuple[str, ...]) -> None:
    """An empty test reads 0 to 200 bytes, one that holds 10 MiB reads 10 MiB within 1 KiB."""
    project.write(PLAIN)

    run = project.measure(*args, plugins=("xdist",) if "-n2" in args else ())

    assert {
        name: peak for name in run.tests if "empty" in name and not 0 <= (peak := run.peak_bytes(name)) <= 200
    } == {}
    assert abs(run.peak_bytes("test_ten") - 10 * MIB) <= 1024
    assert 10 * MIB < run.peak_bytes("test_ten_in_many") < 10.8 * MIB
    assert run.exit_code == pytest.ExitCode.OK


ORDERED = """
    import json, re

    import pytest

    pytestmark = pytest.mark.membudget("1GiB")
    PATTERN = re.compile("a+b")

    def kinds_of_work():
        yield lambda: [object() for _ in range(20_000)]
        yield lambda: {str(i): [i] for i in range(5_000)}
        yield lambda: bytearray(3 * 2**20)
        yield lambda: [bytes(300) for _ in range(2_000)]
        yield lambda: json.loads(json.dumps([{"a": i} for i in range(2_000)]))
        yield lambda: [PATTERN.match("aaab" + str(i)) for i in range(2_000)]
        yield lambda: "".join(str(i) for i in range(50_000)).encode() * 3
        yield lambda: [list(range(i % 50)) for i in range(4_000)]

    # What an interpreter keeps from the first time that code runs is a one-time cost, and not what this is about.
    for work in kinds_of_work():
        work()

    # The same tests in orders of their own, in one process.
    ORDERS = [[(start + step * index) % 8 for index in range(8)] for start in range(3) for step in (1, 3, 5, 7)]

    @pytest.mark.parametrize("place,which", [(place, which) for place, order in enumerate(ORDERS) for which in order])
    def test_it(place, which):
        work = list(kinds_of_work())[which]
        cycle = [work()]
        cycle.append(cycle)
"""


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_the_same_bytes_in_twelve_orders(project: Project, plugins: tuple[str, ...]) -> None:
    """Peaks of one and the same work agree within 0.3 % wherever in a run it stands, and on workers."""
    project.write(ORDERED)

    run = project.measure(*(("-n2",) if plugins else ()), plugins=plugins)

    peaks: dict[str, list[int]] = {}
    for name in run.tests:
        peaks.setdefault(name.rpartition("-")[2], []).append(run.peak_bytes(name))
    spread = {which: max(several) / min(several) - 1 for which, several in peaks.items()}
    assert all(len(several) == 12 for several in peaks.values())
    assert len(peaks) == 8
    assert {which: share for which, share in spread.items() if share > 0.003} == {}


def test_threads_count(project: Project) -> None:
    """What other threads allocate while a test runs counts for it, wherever they were started."""
    project.write("""
        import threading

        import pytest

        pytestmark = pytest.mark.membudget("1GiB")

        def test_threads():
            barrier = threading.Barrier(4)

            def work():
                held = bytearray(2 * 2**20)
                barrier.wait()

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
    """)

    run = project.measure()

    assert 8 * MIB <= run.peak_bytes("test_threads") < 8.3 * MIB


def test_a_package_in_subfolders(project: Project) -> None:
    """The lines of the tests' own package are the project's, in folders, with conftest files and under src."""
    project.write_file("src/lib/__init__.py", "")
    project.write_file("src/lib/work.py", "def work(): return bytearray(2 * 2**20)")
    project.write_file("tests/__init__.py", "")
    project.write_file("tests/unit/__init__.py", "")
    project.write_file("tests/unit/conftest.py", "import pytest")
    project.write_file("pytest.ini", "[pytest]\npythonpath = src")
    project.write_file(
        "tests/unit/test_work.py",
        """
        import pytest
        from lib.work import work

        @pytest.mark.membudget("1MiB")
        def test_it(): work()
        """,
    )

    run = project.measure("tests")

    assert "     2 MiB 100%  src/lib/work.py:1 in work  def work(): return bytearray(2 * 2**20)" in run.lines
    assert [test["nodeid"] for test in run.document["tests"]] == ["tests/unit/test_work.py::test_it"]
