"""What a test that is over budget says: by how much, and which lines were holding the memory."""

from __future__ import annotations

import re

from tests.project import Project


def test_lines_of_the_project_and_library_frames_under_them(project: Project) -> None:
    """The project's lines with their source, the biggest first, and the library that allocated for them below."""
    project.write(
        hotpath="""
            import json


            def load(text):
                return json.loads(text)


            def double(rows):
                copies = list(rows)
                return copies * 64


            class Cache:
                def fill(self):
                    self.block = bytearray(3 * 2**20)
        """,
        test_it="""
            import pytest

            from hotpath import Cache, double, load

            TEXT = "[" + ",".join(map(str, range(300, 20_300))) + "]"

            @pytest.mark.membudget("1MiB")
            def test_it():
                cache = Cache()
                cache.fill()
                rows = load(TEXT)
                held = double(rows)
        """,
    )

    run = project.run()

    lines = run.failures["test_it"].splitlines()
    assert re.fullmatch(r"ram: peak 13\.\d MiB, budget 1 MiB: over by 12\.\d MiB \(14x\)", lines[0])
    assert lines[1] == "at the peak:"
    assert re.fullmatch(r"  9\.77 MiB  7\d%  hotpath\.py:10 in double  return copies \* 64", lines[2])
    assert re.fullmatch(
        r"     3 MiB  2\d%  hotpath\.py:15 in fill    self\.block = bytearray\(3 \* 2\*\*20\)", lines[3]
    )
    assert lines[4].endswith("hotpath.py:5 in load     return json.loads(text)")
    assert lines[5].strip().startswith("via json/")
    assert all(len(line) < 120 for line in lines)


def test_two_figures_that_round_to_one(project: Project) -> None:
    """Where rounding would hide the difference the bytes are written out, and a peak equal to the budget is within."""
    project.write("""
        import pytest

        def allocate(size): return bytearray(size - 57)

        @pytest.mark.parametrize("budget", [pytest.param(0, marks=pytest.mark.membudget(3 * 2**20 - 1024))])
        def test_just_over(budget): held = allocate(3 * 2**20)
    """)

    first_line = project.run().failures["test_just_over[0]"].splitlines()[0]

    assert first_line.startswith("ram: peak 3 MiB (3,14")
    assert ", budget 3 MiB (3,144,704 B): over by 1" in first_line


def test_several_resources_at_once(project: Project) -> None:
    """One line for each that is over; the lines of code follow."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB", rss="1MiB", retained="1KiB")
        def test_it(): test_it.held = b"x" * (64 * 2**20)
    """)

    lines = project.run().failures["test_it"].splitlines()

    assert lines[0] == "ram: peak 64 MiB, budget 1 MiB: over by 63 MiB (64x)"
    assert lines[1].startswith("rss: resident peak 6")
    assert lines[2] == "retained: still held at the end 64 MiB, budget 1 KiB: over by 64 MiB (65,536x)"
    assert lines[3:] == [
        "at the peak:",
        '    64 MiB 100%  test_it.py:4 in test_it  def test_it(): test_it.held = b"x" * (64 * 2**20)',
        "at the end:",
        '    64 MiB 100%  test_it.py:4 in test_it  def test_it(): test_it.held = b"x" * (64 * 2**20)',
    ]


def test_garbage_is_not_retained(project: Project) -> None:
    """What only a collection frees is no leak; what a global, a cache or a thread keeps is one."""
    project.write("""
        import functools, threading

        import pytest

        RETAINED = pytest.mark.membudget(retained="64KiB")
        KEPT = []

        @RETAINED
        def test_cycle():
            cycle = [bytearray(2 * 2**20)]
            cycle.append(cycle)

        @RETAINED
        def test_global(): KEPT.append(bytearray(2 * 2**20))

        @functools.cache
        def cached(n): return bytearray(n)

        @RETAINED
        def test_cache(): cached(2 * 2**20)

        @pytest.mark.membudget(retained="64KiB")
        def test_holds_little_of_much(membudget):
            passing = bytearray(16 * 2**20)
            with membudget.track(): KEPT.append(bytearray(2**20))

        @RETAINED
        def test_freed(): held = bytearray(2 * 2**20)

        @pytest.fixture
        def holder(): yield []

        @RETAINED
        def test_fixture_frees_it_too_late(holder): holder.append(bytearray(2 * 2**20))

        @pytest.mark.membudget(retained="64KiB", scope="test")
        def test_fixture_frees_it_in_time(holder): holder.append(bytearray(2 * 2**20))
    """)

    run = project.measure()

    assert run.failures["test_global"].splitlines() == [
        "retained: still held at the end 2 MiB, budget 64 KiB: over by 1.94 MiB (32x)",
        "at the end:",
        "     2 MiB 100%  test_it.py:14 in test_global  def test_global(): KEPT.append(bytearray(2 * 2**20))",
    ]
    assert "16 MiB" not in run.failures["test_holds_little_of_much"]
    assert "     1 MiB 100%  test_it.py:25 in " in run.failures["test_holds_little_of_much"]
    assert run.outcomes == {
        "test_cycle": "WITHIN",
        "test_global": "OVER_BUDGET",
        "test_cache": "OVER_BUDGET",
        "test_holds_little_of_much": "OVER_BUDGET",
        "test_freed": "WITHIN",
        "test_fixture_frees_it_too_late": "OVER_BUDGET",
        "test_fixture_frees_it_in_time": "WITHIN",
    }
