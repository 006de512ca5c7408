"""JSON and JUnit files of a real run, alone and on workers."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from tests.project import MIB, Project

SUITE = """
    import pytest

    def allocate(mib): return bytearray(mib * 2**20)

    @pytest.mark.membudget("4MiB")
    def test_within(record_property):
        record_property("mine", 1)
        allocate(2)

    @pytest.mark.membudget("1MiB", rss="1GiB", retained="1GiB")
    def test_over(): held = allocate(2)

    @pytest.mark.membudget("1MiB", vram="1GiB")
    def test_no_figure(): pass

    @pytest.mark.membudget("1MiB")
    def test_fails():
        allocate(2)
        assert False

    def test_unbudgeted(): pass

    @pytest.mark.skip(reason="no")
    def test_skipped(): pass
"""


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_junit(project: Project, plugins: tuple[str, ...]) -> None:
    """Each judged resource has its peak, budget and outcome as properties, beside those that the test records."""
    project.write(SUITE)

    project.run("--junitxml=junit.xml", *(("-n2",) if plugins else ()), plugins=plugins)

    cases = {case.get("name"): case for case in ET.parse(project.path / "junit.xml").iter("testcase")}
    properties = {
        name: {element.get("name"): element.get("value") for element in case.iter("property")}
        for name, case in cases.items()
    }
    within = properties["test_within"]
    assert abs(int(within.pop("membudget.ram.peak_bytes") or 0) - 2 * MIB) < 1024
    assert within == {
        "mine": "1",
        "membudget.ram.budget_bytes": str(4 * MIB),
        "membudget.ram.outcome": "WITHIN",
    }
    assert properties["test_over"]["membudget.ram.outcome"] == "OVER_BUDGET"
    assert properties["test_over"]["membudget.rss.outcome"] == "WITHIN"
    assert properties["test_over"]["membudget.retained.budget_bytes"] == str(1024 * MIB)
    assert properties["test_no_figure"]["membudget.vram.outcome"] == "NOT_MEASURED"
    assert "membudget.vram.peak_bytes" not in properties["test_no_figure"]
    assert properties["test_fails"]["membudget.ram.outcome"] == "OVER_BUDGET"
    assert properties["test_unbudgeted"] == properties["test_skipped"] == {}
    failure = cases["test_over"].find("failure")
    assert failure is not None
    assert (failure.text or "").splitlines()[0] == "ram: peak 2 MiB, budget 1 MiB: over by 1 MiB (2x)"


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_json(project: Project, plugins: tuple[str, ...]) -> None:
    """Every test that ran, sorted, with bytes as integers; the file is whole, ends in a line and leaves no other."""
    project.write(SUITE)
    (project.path / "out").mkdir()

    project.run("--membudget-json=out/run.json", *(("-n2",) if plugins else ()), plugins=plugins)

    text = (project.path / "out/run.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert text.endswith("}\n")
    assert [path.name for path in (project.path / "out").iterdir()] == ["run.json"]
    assert document["format"] == 1
    assert document["totals"] == {
        "tests": 6,
        "budgeted": 4,
        "over_budget": 2,
        "regressed": 0,
        "no_baseline": 0,
        "not_measured": 1,
    }
    assert {"pytest", "pytest-membudget", "memray"} <= document["tool"].keys()
    assert [test["nodeid"] for test in document["tests"]] == sorted(test["nodeid"] for test in document["tests"])
    tests = {test["nodeid"].partition("::")[2]: test for test in document["tests"]}
    over = tests["test_over"]
    assert (over["outcome"], over["test_outcome"]) == ("OVER_BUDGET", "failed")
    assert over["sites"][0] == {
        "bytes": over["sites"][0]["bytes"],
        "file": "test_it.py",
        "line": 3,
        "function": "allocate",
        "source": "def allocate(mib): return bytearray(mib * 2**20)",
        "via": None,
    }
    assert type(over["ram"]["peak_bytes"]) is int
    assert (tests["test_skipped"]["outcome"], tests["test_skipped"]["test_outcome"]) == (None, "skipped")
    assert (tests["test_unbudgeted"]["outcome"], tests["test_unbudgeted"]["ram"]) == (None, None)
    assert {test["worker"] is None for test in document["tests"]} == {not plugins}


def test_names_that_are_hard_to_write(project: Project) -> None:
    """Parameters and files with any characters do not stop the report."""
    project.write("""
        import pytest

        @pytest.mark.membudget("1MiB")
        @pytest.mark.parametrize("text", ["\\u00fc", "\\u2588", "a b", "\\ud800", "\\n", "[x]"])
        def test_it(text): pass
    """)
    project.write_file("test_ümlaut.py", "def test_it(): pass")

    run = project.measure("--membudget-report")

    assert "INTERNALERROR" not in run.out + run.err
    assert run.exit_code == pytest.ExitCode.OK
    assert len(run.document["tests"]) == 7
