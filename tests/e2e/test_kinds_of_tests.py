"""Every kind of test that pytest runs is measured and judged."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project

SUITE = """
    import asyncio
    import unittest

    import anyio
    import pytest
    from hypothesis import given, settings, strategies

    BUDGET = pytest.mark.membudget("1MiB")

    def allocate(mib): return bytearray(mib * 2**20)

    @BUDGET
    def test_function(): allocate(2)

    class TestClass:
        @BUDGET
        def test_method(self): allocate(2)

        @classmethod
        @BUDGET
        def test_classmethod(cls): allocate(2)

        @staticmethod
        @BUDGET
        def test_staticmethod(): allocate(2)

    @BUDGET
    @pytest.mark.parametrize("mib", [0, 2])
    def test_parametrised(mib): allocate(mib)

    @BUDGET
    @pytest.mark.asyncio
    async def test_asyncio():
        await asyncio.sleep(0)
        held = allocate(2)
        await asyncio.sleep(0)

    @BUDGET
    @pytest.mark.asyncio
    async def test_asyncio_within(): await asyncio.sleep(0)

    @BUDGET
    @pytest.mark.anyio
    async def test_anyio(anyio_backend):
        await anyio.sleep(0)
        held = allocate(2)
        await anyio.sleep(0)

    @BUDGET
    @settings(max_examples=5, database=None, deadline=None)
    @given(strategies.integers(1, 2))
    def test_hypothesis(mib): allocate(mib)

    @BUDGET
    @settings(max_examples=5, database=None, deadline=None)
    @given(strategies.integers(0, 1))
    def test_hypothesis_fails(number):
        allocate(2)
        assert number < 0, "own failure"

    @BUDGET
    class TestUnit(unittest.TestCase):
        def setUp(self): self.held = bytearray(2**18)
        def test_within(self): pass
        def test_over(self): allocate(2)
        def test_fails(self):
            allocate(2)
            self.fail("own failure")
        def test_skips(self):
            allocate(2)
            self.skipTest("not today")
        @unittest.skip("never")
        def test_skipped(self): allocate(2)
        @unittest.expectedFailure
        def test_fails_as_expected(self):
            allocate(2)
            self.fail("own failure")
        def test_subtest(self):
            with self.subTest(number=1): allocate(2)

    class TestAsyncUnit(unittest.IsolatedAsyncioTestCase):
        @BUDGET
        async def test_over(self):
            await asyncio.sleep(0)
            allocate(2)

    class TestFixtures:
        @pytest.fixture(autouse=True, scope="class")
        def of_class(self): yield allocate(3)

        @pytest.fixture(autouse=True)
        def of_function(self): yield allocate(3)

        def setup_method(self): self.held = allocate(3)

        @BUDGET
        def test_within(self): pass
"""
DOCUMENTED = '''
    """A module with examples.

    >>> len(bytearray(2 * 2**20))
    2097152
    """

    def answer():
        """Return the answer.

        >>> answer()
        42
        """
        return 42

    def wrong():
        """Be wrong.

        >>> 1 + 1
        3
        """
'''
NOTES = """
    >>> len(bytearray(2 * 2**20))
    2097152
"""
OVER = {
    "test_function",
    "TestClass::test_method",
    "TestClass::test_classmethod",
    "TestClass::test_staticmethod",
    "test_parametrised[2]",
    "test_asyncio",
    "test_anyio[asyncio]",
    "test_anyio[trio]",
    "test_hypothesis",
    "test_hypothesis_fails",
    "TestUnit::test_over",
    "TestUnit::test_fails",
    "TestUnit::test_fails_as_expected",
    "TestUnit::test_subtest",
    "TestAsyncUnit::test_over",
    "documented",
    "notes.txt",
}
WITHIN = {
    "test_parametrised[0]",
    "test_asyncio_within",
    "TestUnit::test_within",
    "TestFixtures::test_within",
    "documented.answer",
    "documented.wrong",
}
OWN_FAILURES = {"test_hypothesis_fails", "TestUnit.test_fails"}
PLUGINS = ("asyncio", "anyio", "hypothesispytest")


@pytest.fixture
def kinds(project: Project) -> Project:
    """All kinds of tests, with a budget on each."""
    project.write(SUITE, documented=DOCUMENTED)
    project.write_file("notes.txt", NOTES)
    project.write_file("pytest.ini", "[pytest]\nmembudget_paths =\n  documented.py = 1MiB\n  notes.txt = 1MiB")
    return project


@pytest.mark.parametrize("plugins", [PLUGINS, (*PLUGINS, "xdist")], ids=["alone", "xdist"])
def test_every_kind(kinds: Project, plugins: tuple[str, ...]) -> None:
    """Functions, classes, async under every runner, unittest, doctests, hypothesis, parameters, fixtures."""
    workers = ("-n2",) if "xdist" in plugins else ()

    run = kinds.measure("--doctest-modules", "--doctest-glob=*.txt", *workers, plugins=plugins)

    assert {name for name, outcome in run.outcomes.items() if outcome == "OVER_BUDGET"} == OVER
    assert {name for name, outcome in run.outcomes.items() if outcome == "WITHIN"} == WITHIN
    assert {name for name, outcome in run.outcomes.items() if outcome is None} == {
        "TestUnit::test_skips",
        "TestUnit::test_skipped",
    }
    assert all(2 * MIB < run.peak_bytes(name) < 4.5 * MIB for name in OVER)
    assert all("own failure" in run.failures[name] and "ram:" not in run.failures[name] for name in OWN_FAILURES)
    assert run.last_line == "17 failed, 5 passed, 2 skipped, 1 xfailed"


def test_own_outcomes_stand_beside_the_verdicts(kinds: Project) -> None:
    """A test that fails or is expected to fail keeps that outcome, and its verdict is known all the same."""
    run = kinds.measure("-k", "TestUnit", plugins=PLUGINS)

    outcomes = {name.partition("::")[2]: test["test_outcome"] for name, test in run.tests.items()}
    assert outcomes == {
        "test_within": "passed",
        "test_over": "failed",
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_skipped": "skipped",
        "test_fails_as_expected": "xfailed",
        "test_subtest": "failed",
    }


def test_the_culprit_is_named_in_each_kind(kinds: Project) -> None:
    """The line that allocated, whatever ran the test."""
    run = kinds.measure("--doctest-modules", "--doctest-glob=*.txt", plugins=PLUGINS)

    blamed = {name: run.tests[name]["sites"][0] for name in OVER}
    assert {site["function"] for site in blamed.values()} == {"allocate", "<module>"}
    assert blamed["documented"]["file"] == "<doctest documented[0]>"
    assert blamed["test_anyio[trio]"]["source"] == "def allocate(mib): return bytearray(mib * 2**20)"
