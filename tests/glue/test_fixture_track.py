"""The ``membudget`` fixture: regions inside a test, in bytes."""

from __future__ import annotations

from tests.project import MIB, Project

SUITE = """
    import asyncio

    import pytest

    from pytest_membudget import NotMeasuredError

    MIB = 2**20
    NEAR = 4096

    def allocate(mib):
        return bytearray(int(mib * MIB))

    def near(size_bytes, mib):
        return abs(size_bytes - mib * MIB) < NEAR

    def test_without_a_marker(membudget):
        with membudget.track() as region: held = allocate(3)
        assert near(region.ram_peak_bytes, 3)
        assert near(region.ram_left_bytes, 3)
        assert region.rss_peak_bytes >= 0
        assert region.seconds > 0
        assert (region.sites[0].file, region.sites[0].function) == ("test_it.py", "allocate")
        assert region.sites[0].source == "return bytearray(int(mib * MIB))"

    def test_one_after_the_other(membudget):
        with membudget.track() as first: allocate(3)
        between = allocate(8)
        with membudget.track() as second: allocate(1)
        assert near(first.ram_peak_bytes, 3)
        assert near(first.ram_left_bytes, 0)
        assert near(second.ram_peak_bytes, 1)

    @pytest.mark.membudget("6MiB")
    def test_inside_a_budget(membudget):
        held = allocate(3)
        with membudget.track() as region: allocate(2)
        assert near(region.ram_peak_bytes, 2)

    @pytest.mark.membudget("4MiB")
    def test_inside_a_broken_budget(membudget):
        held = allocate(3)
        with membudget.track() as region: allocate(2)

    @pytest.mark.membudget("64MiB")
    def test_nested(membudget):
        with membudget.track() as outer:
            first = allocate(1)
            with membudget.track() as inner: second = allocate(2)
            del first
            third = allocate(0.5)
        assert near(inner.ram_peak_bytes, 2)
        assert near(outer.ram_peak_bytes, 3)
        assert near(outer.ram_left_bytes, 2.5)

    def test_frees_what_came_before(membudget):
        with membudget.track() as outer:
            held = allocate(4)
            with membudget.track() as inner: del held
        assert near(inner.ram_peak_bytes, 0)
        assert near(inner.ram_left_bytes, -4)

    def test_exception_inside(membudget):
        with pytest.raises(ValueError, match="inside"):
            with membudget.track() as region:
                allocate(2)
                raise ValueError("inside")
        assert near(region.ram_peak_bytes, 2)
        with membudget.track() as region: allocate(1)
        assert near(region.ram_peak_bytes, 1)

    def test_still_open(membudget):
        with membudget.track() as region:
            with pytest.raises(NotMeasuredError) as raised: region.ram_peak_bytes
        assert str(raised.value) == (
            "not measured: the region is still open: read its figures after the with block"
        )

    @pytest.mark.parametrize("budget", ["none", pytest.param("own", marks=pytest.mark.membudget("64MiB"))])
    def test_never_closed(membudget, budget):
        membudget.track().__enter__()
        allocate(3)

    @pytest.mark.membudget("64MiB")
    def test_after_one_that_was_never_closed(membudget):
        with membudget.track() as region: allocate(1)
        assert near(region.ram_peak_bytes, 1)

    def test_closed_out_of_order(membudget):
        outer, inner = membudget.track(), membudget.track()
        outer_region, inner_region = outer.__enter__(), inner.__enter__()
        allocate(1)
        outer.__exit__(None, None, None)
        inner.__exit__(None, None, None)
        assert near(outer_region.ram_peak_bytes, 1)
        assert near(inner_region.ram_peak_bytes, 1)

    @pytest.fixture
    def built(membudget):
        with membudget.track() as region: allocate(1)
        return region

    @pytest.mark.membudget("64MiB")
    def test_region_of_a_fixture(built): assert near(built.ram_peak_bytes, 1)

    @pytest.mark.membudget("64MiB", scope="test")
    def test_region_of_a_fixture_that_counts(built, membudget):
        with membudget.track() as region: allocate(2)
        assert near(built.ram_peak_bytes, 1)
        assert near(region.ram_peak_bytes, 2)

    @pytest.mark.membudget(rss="1GiB")
    def test_inside_a_resident_budget(membudget):
        with membudget.track() as region: allocate(1)
        assert near(region.ram_peak_bytes, 1)

    @pytest.mark.membudget("64MiB", python_allocators="arenas")
    def test_arenas(membudget):
        with membudget.track() as region: allocate(2)
        assert near(region.ram_peak_bytes, 2)

    @pytest.mark.asyncio
    @pytest.mark.parametrize("budget", ["none", pytest.param("own", marks=pytest.mark.membudget("64MiB"))])
    async def test_asyncio(membudget, budget):
        with membudget.track() as region:
            await asyncio.sleep(0)
            held = allocate(2)
            await asyncio.sleep(0)
        assert abs(region.ram_peak_bytes - 2 * MIB) < 64 * 1024

    def test_resident_peak(membudget):
        with membudget.track() as outer:
            with membudget.track() as inner: held = b"x" * (64 * MIB)
        assert inner.rss_peak_bytes > 32 * MIB
        assert outer.rss_peak_bytes > 32 * MIB
"""


def test_regions(project: Project) -> None:
    """With and without a marker, nested, one after the other, with an exception, in fixtures, in async tests."""
    project.write(SUITE)

    run = project.measure(plugins=("asyncio",))

    assert set(run.failures) == {"test_inside_a_broken_budget"}
    assert run.failures["test_inside_a_broken_budget"].startswith("ram: peak 5 MiB, budget 4 MiB: over by 1 MiB (1.3x)")
    assert abs(run.peak_bytes("test_nested") - 3 * MIB) < 8192
    assert abs(run.peak_bytes("test_never_closed[own]") - 3 * MIB) < 8192
    assert run.tests["test_without_a_marker"]["ram"] is None


def test_regions_on_workers(project: Project) -> None:
    """The same figures there."""
    project.write(SUITE)

    run = project.measure("-n2", plugins=("asyncio", "xdist"))

    assert set(run.failures) == {"test_inside_a_broken_budget"}


def test_regions_when_the_plugin_is_off(project: Project) -> None:
    """With --no-membudget the fixture is there, and a region without a figure never passes an assertion on it."""
    project.write("""
        def test_it(membudget):
            with membudget.track() as region: pass
            assert region.ram_peak_bytes < 2**20
    """)

    run = project.run("--no-membudget")

    assert "NotMeasuredError: not measured: membudget is off" in run.out
    assert run.last_line == "1 failed"
