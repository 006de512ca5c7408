"""The report of a real run, word for word, in every kind of terminal."""

from __future__ import annotations

import re

import pytest

from tests.project import Project

SUITE = """
    import pytest

    def allocate(mib): return bytearray(int(mib * 2**20))

    @pytest.mark.membudget("4MiB")
    def test_half(): allocate(2)

    @pytest.mark.membudget("1MiB")
    def test_over(): allocate(2)

    @pytest.mark.membudget("1KiB")
    def test_far_over_with_a_long_name_that_does_not_fit(): allocate(20)

    @pytest.mark.membudget("1MiB")
    def test_empty(): pass

    @pytest.mark.membudget("1MiB", vram="1GiB")
    def test_no_figure(): allocate(0.75)

    @pytest.mark.membudget("64MiB", retained="1KiB")
    def test_keeps(): test_keeps.held = allocate(1)

    def test_plain(): pass
    def test_plainer(): pass
"""
NARROW = """\
    peak    budget  used         outcome         rss  test
  20 MiB     1 KiB  ██████ many  OVER              *  …ng_name_that_does_not_fit
   1 MiB     1 KiB  ██████ many  OVER              *  …py::test_keeps (retained)
   2 MiB     1 MiB  ██████ 200%  OVER              *  test_it.py::test_over
   2 MiB     4 MiB  ███░░░  50%  within            *  test_it.py::test_half
     0 B     1 MiB  ░░░░░░   0%  within            *  test_it.py::test_empty
       -     1 GiB            -  no figure         *  …py::test_no_figure (vram)
without a budget:
     rss  test
       *  test_it.py::test_plain
       *  test_it.py::test_plainer
budgets more than 4x what was measured: test_it.py::test_keeps (1 MiB of 64 MiB)
6 budgeted: 3 over budget, 1 not measured, 2 within
not judged, no GPU figure: torch is not imported: test_it.py::test_no_figure"""
ASCII_ONLY = {"█": "#", "░": ".", "…ng_": "..._", "…py:": "...:"}


def _without_rss(lines: list[str]) -> str:
    """Put a star for each resident peak: it depends on what the process had resident before."""
    rows = [re.sub(r"(?<=(OVER     |within   |no figure)  ) *[\d.]+ \w+(?=  )", f"{'*':>8}", line) for line in lines]
    return "\n".join(re.sub(r"^ *[\d.]+ (B|KiB|MiB)(?=  \S+$)", f"{'*':>8}", line) for line in rows)


@pytest.fixture
def suite(project: Project) -> Project:
    """Tests of all outcomes."""
    project.write(SUITE)
    project.write_file("pytest.ini", "[pytest]\nmembudget_vram_source = torch")
    return project


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_eighty_columns(suite: Project, plugins: tuple[str, ...]) -> None:
    """The least headroom first, names shortened from the left, nothing wider than the terminal."""
    run = suite.run("--membudget-report", *(("-n2",) if plugins else ()), plugins=plugins)

    assert _without_rss(run.section) == NARROW
    assert max(map(len, run.section[:10])) <= 80
    assert "\x1b" not in run.out


def test_wide(suite: Project) -> None:
    """A wide terminal has room for whole names and a longer bar."""
    run = suite.run("--membudget-report", columns=160)

    assert _without_rss(run.section[:3]).splitlines() == [
        "    peak    budget  used               outcome         rss  test",
        "  20 MiB     1 KiB  ████████████ many  OVER              *  "
        "test_it.py::test_far_over_with_a_long_name_that_does_not_fit",
        "   1 MiB     1 KiB  ████████████ many  OVER              *  test_it.py::test_keeps (retained)",
    ]


def test_colours(suite: Project) -> None:
    """Red over budget, green within, yellow where there is no figure; the text is the same."""
    run = suite.run("--membudget-report", "--color=yes")

    red, green, yellow = "\x1b[31m", "\x1b[32m", "\x1b[33m"
    assert [line[:5] for line in run.section[1:7]] == [red, red, red, green, green, yellow]
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in run.section[: NARROW.count("\n") + 1]]
    assert _without_rss(plain) == NARROW


def test_ascii_only(suite: Project) -> None:
    """Where the output takes no other characters the bars are made of what it takes."""
    run = suite.run("--membudget-report", environment={"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"})

    expected = NARROW
    for character, instead in ASCII_ONLY.items():
        expected = expected.replace(character, instead)
    assert _without_rss(run.section) == expected
    assert run.out.isascii()
    assert "INTERNALERROR" not in run.out + run.err


def test_quiet(suite: Project) -> None:
    """Without --membudget-report one line of totals and the reasons remain, whatever -q says."""
    loud, quiet, quieter = suite.run(), suite.run("-q"), suite.run("-qq")

    assert loud.section == NARROW.splitlines()[-2:]
    assert quiet.section == quieter.section == loud.section


def test_top(project: Project) -> None:
    """Twenty unbudgeted tests are listed, or as many as --membudget-top says."""
    project.write("import pytest\n@pytest.mark.parametrize('n', range(30))\ndef test_it(n): pass")

    default = project.run("--membudget-report").section
    three = project.run("--membudget-report", "--membudget-top=3").section
    every = project.run("--membudget-report", "--membudget-top=0").section

    assert (default[0], len(default)) == ("without a budget, the largest 20 of 30:", 22)
    assert (three[0], len(three)) == ("without a budget, the largest 3 of 30:", 5)
    assert (every[0], len(every)) == ("without a budget:", 32)


def test_arenas_mode_states_its_bound(project: Project) -> None:
    """What such a figure may have missed stands beside it and in the JSON; an exact one misses nothing."""
    project.write("""
        import pytest

        @pytest.mark.membudget("4MiB", python_allocators="arenas")
        def test_arenas(): held = bytearray(2 * 2**20)

        @pytest.mark.membudget("4MiB")
        def test_exact(): held = bytearray(2 * 2**20)
    """)

    run = project.measure("--membudget-report", columns=120)

    assert re.search(r"arenas \(may miss [\d.]+ [KM]iB\)$", run.out, re.MULTILINE)
    assert run.tests["test_arenas"]["ram"]["may_miss_bytes"] > 0
    assert run.tests["test_arenas"]["ram"]["source"] == "memray, arenas"
    assert run.tests["test_exact"]["ram"]["may_miss_bytes"] == 0
    assert abs(run.peak_bytes("test_arenas") - run.peak_bytes("test_exact")) < 1024
