"""An isolated test looks the same as any other to everything that listens to reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project import Project, Run

EVERY_KIND_OF_TEST = """
    import logging
    import sys
    import unittest
    import warnings

    import pytest

    pytestmark = pytest.mark.membudget("64MiB")

    @pytest.fixture
    def chatty(request):
        print("set up", request.node.name)
        yield
        print("torn down")

    @pytest.fixture
    def broken():
        raise RuntimeError("broken fixture")

    @pytest.fixture
    def breaks_later():
        yield
        raise RuntimeError("broken teardown")

    def test_passes(chatty, tmp_path, record_property):
        record_property("answer", 42)
        (tmp_path / "file").write_text("x")
        print("to standard output")
        print("to standard error", file=sys.stderr)
        logging.getLogger("it").warning("to the log")

    def test_fails(chatty):
        held = {"a": [1, 2]}
        assert held == {"a": [1, 3]}

    def test_fails_with_a_cause():
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ValueError("outer") from error

    @pytest.mark.membudget("1KiB")
    def test_over_budget():
        held = bytearray(2**20)

    @pytest.mark.xfail(reason="known")
    def test_expected_failure():
        assert False

    @pytest.mark.xfail(strict=True, reason="known")
    def test_unexpected_success():
        pass

    @pytest.mark.skip(reason="not today")
    def test_skipped():
        pass

    def test_skips_itself():
        pytest.skip("not now")

    def test_error_in_setup(broken):
        pass

    def test_error_in_teardown(breaks_later):
        pass

    def test_warns():
        warnings.warn("of a kind", DeprecationWarning)

    @pytest.mark.parametrize("value", [1, "[x]", "ü::"])
    def test_parameters(value):
        pass

    def test_subtests(subtests):
        for number in range(3):
            with subtests.test(f"number {number}"):
                assert number != 1

    class TestCase(unittest.TestCase):
        def test_unittest(self):
            self.assertEqual(1, 0)

    @pytest.mark.membudget("nonsense")
    def test_bad_marker():
        pass

    def test_late_answer(record_property):
        record_property("a type of its own", sys)
"""
OPTIONS = (
    "-rA", "-v", "--durations=0", "--durations-min=60", "--junitxml=junit.xml", "--log-file=log.txt", "--log-level=INFO"
)  # fmt: skip
_PASSING = re.compile(r"\d+\.\d+s|time=\"[^\"]*\"|timestamp=\"[^\"]*\"|0x[0-9a-f]+|<property name=\"membudget[^>]*>")


@pytest.fixture
def both(project: Project) -> tuple[Run, Run, dict[str, Path]]:
    """The same tests in the process of the session, and each in a process of its own."""
    project.write(EVERY_KIND_OF_TEST)
    runs, files = [], {}
    for mode in ("never", "always"):
        runs.append(project.measure(f"--membudget-isolate={mode}", *OPTIONS))
        files[mode] = project.path / mode
        files[mode].mkdir()
        for name in ("junit.xml", "log.txt"):
            (project.path / name).rename(files[mode] / name)
        (project.path / ".pytest_cache").rename(files[mode] / "cache")
    return runs[0], runs[1], files


def test_isolated_tests_look_the_same(both: tuple[Run, Run, dict[str, Path]]) -> None:
    """Terminal, JUnit file, log file and cache say the same, but for what they cost and where they ran."""
    common, isolated, files = both

    assert common.exit_code == isolated.exit_code == pytest.ExitCode.TESTS_FAILED
    assert _lasting(common.out) == _lasting(isolated.out)
    for name in ("junit.xml", "log.txt", "cache/v/cache/lastfailed", "cache/v/cache/nodeids"):
        one, other = ((files[mode] / name).read_text(encoding="utf-8") for mode in ("never", "always"))
        assert _lasting(one) == _lasting(other), name
    assert {test["isolated"] for name, test in isolated.tests.items() if name != "test_bad_marker"} == {True}


def _lasting(text: str) -> list[str]:
    """Return the lines without what differs from run to run, and without those that say where tests ran."""
    lines = _PASSING.sub("", text).replace("><", ">\n<").splitlines()
    return [line for line in lines if not line.startswith(("not isolated", "isolated"))]
