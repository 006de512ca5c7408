"""``scope="test"``: the setup and teardown of fixtures count as well."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project

SUITE = """
    import pytest

    def allocate(mib): return bytearray(mib * 2**20)

    @pytest.fixture
    def spike():
        allocate(4)
        yield

    @pytest.fixture
    def teardown_spike():
        yield
        allocate(5)

    @pytest.fixture(scope="class")
    def of_class(): yield allocate(3)

    @pytest.fixture(scope="module")
    def of_module(): yield allocate(3)

    @pytest.fixture(scope="session")
    def of_session(): yield allocate(6)

    @pytest.fixture
    def broken():
        allocate(2)
        raise ValueError("broken")

    WHOLE = pytest.mark.membudget("1MiB", scope="test")

    @WHOLE
    def test_empty(): pass

    @WHOLE
    def test_setup(spike): pass

    @pytest.mark.membudget("1MiB")
    def test_call_scope_leaves_fixtures_out(spike, teardown_spike): pass

    @WHOLE
    def test_teardown(teardown_spike): pass

    @WHOLE
    def test_body(): allocate(2)

    @WHOLE
    class TestClass:
        def test_pays_for_its_class(self, of_class): pass
        def test_finds_it_there(self, of_class): pass

    @WHOLE
    def test_pays_for_its_module(of_module): pass

    @WHOLE
    def test_module_is_there(of_module): pass

    @WHOLE
    def test_pays_for_the_session(of_session): pass

    @pytest.mark.membudget(lambda mib: (mib + 1) * 2**20, scope="test")
    @pytest.mark.parametrize("mib", [0, 2])
    def test_computed(mib): allocate(mib)

    @WHOLE
    def test_own_failure_wins(spike): assert False

    @WHOLE
    def test_broken_setup(broken): pass

    @WHOLE
    @pytest.mark.skip(reason="no")
    def test_skipped(spike): pass

    @WHOLE
    def test_last(): pass
"""
OVER = {
    "test_setup": 4,
    "test_teardown": 5,
    "test_body": 2,
    "TestClass::test_pays_for_its_class": 3,
    "test_pays_for_its_module": 3,
    "test_pays_for_the_session": 6,
    "test_own_failure_wins": 4,
}


@pytest.mark.parametrize("plugins", [(), ("xdist",)], ids=["alone", "xdist"])
def test_fixtures_count(project: Project, plugins: tuple[str, ...]) -> None:
    """Of every scope, for the test that sets them up or tears them down; what is there already costs nothing."""
    project.write(SUITE)

    run = project.measure(*(("-n1",) if plugins else ()), plugins=plugins)

    peaks = {name: run.peak_bytes(name) / MIB for name, outcome in run.outcomes.items() if outcome == "OVER_BUDGET"}
    assert peaks == pytest.approx(OVER, abs=1 / 64)
    within = {name for name, outcome in run.outcomes.items() if outcome == "WITHIN"}
    assert within == {
        "test_empty",
        "test_call_scope_leaves_fixtures_out",
        "TestClass::test_finds_it_there",
        "test_module_is_there",
        "test_computed[0]",
        "test_computed[2]",
        "test_last",
    }
    assert 0 <= run.peak_bytes("test_last") <= 1024
    assert run.failures["test_setup"].splitlines()[0 if not plugins else 1] == (
        "ram: peak 4 MiB, budget 1 MiB: over by 3 MiB (4x)"
    )
    assert "assert False" in run.failures["test_own_failure_wins"]
    assert "ValueError: broken" in run.failures["test_broken_setup"]
    assert run.exit_code == pytest.ExitCode.TESTS_FAILED
