"""What cannot be measured: a reason, never a pass."""

from __future__ import annotations

import re

from tests.project import MIB, Project

WITHOUT_MEMRAY = "import sys\nsys.modules['memray'] = None\n"
NO_MEMRAY = "memray cannot be imported (import of memray halted; None in sys.modules)"
SUITE = """
    import pytest
    from pytest_membudget import NotMeasuredError

    @pytest.mark.membudget("1MiB")
    def test_ram(): held = bytearray(2 * 2**20)

    @pytest.mark.membudget("1MiB", retained="1KiB", rss="1GiB")
    def test_several(): pass

    @pytest.mark.membudget(rss="1GiB")
    def test_rss(): pass

    @pytest.mark.membudget(rss="1MiB")
    def test_rss_over(): held = b"x" * (64 * 2**20)

    @pytest.mark.membudget("1MiB", python_allocators="arenas", scope="test")
    def test_arenas(): pass

    def test_unbudgeted(): held = b"x" * (64 * 2**20)

    def test_own_failure_wins(): assert False

    def test_region(membudget):
        with membudget.track() as region: held = b"x" * (64 * 2**20)
        with pytest.raises(NotMeasuredError, match="^not measured: memray cannot be imported"): region.ram_peak_bytes
        with pytest.raises(NotMeasuredError, match="^not measured: memray cannot be imported"): region.ram_left_bytes
        assert region.rss_peak_bytes > 32 * 2**20
        assert region.vram_peak_bytes is None
        assert region.vram_reason == "no GPU figure: torch is not imported"
"""


def test_without_memray(project: Project) -> None:
    """The plugin loads, the resident set is measured and judged, and a heap budget is NOT_MEASURED with the reason."""
    project.write(SUITE, conftest=WITHOUT_MEMRAY)

    run = project.measure("--membudget-report", "--membudget-vram-source=torch")

    assert run.outcomes == {
        "test_ram": "NOT_MEASURED",
        "test_several": "NOT_MEASURED",
        "test_rss": "WITHIN",
        "test_rss_over": "OVER_BUDGET",
        "test_arenas": "NOT_MEASURED",
        "test_unbudgeted": None,
        "test_own_failure_wins": None,
        "test_region": None,
    }
    assert run.tests["test_ram"]["reason"] == NO_MEMRAY
    assert run.tests["test_ram"]["ram"]["peak_bytes"] is None
    assert run.tests["test_unbudgeted"]["rss"]["peak_bytes"] > 32 * MIB
    assert re.fullmatch(
        r"rss: resident peak 6\d(\.\d)? MiB, budget 1 MiB: over by 6\d(\.\d)? MiB \(6\dx\)",
        run.failures["test_rss_over"],
    )
    assert run.section[-2:] == [
        "5 budgeted: 1 over budget, 3 not measured, 1 within",
        f"not judged, {NO_MEMRAY}: test_it.py::test_arenas, test_it.py::test_ram, test_it.py::test_several",
    ]
    assert run.last_line == "2 failed, 6 passed"


def test_missing_fails(project: Project) -> None:
    """With membudget_missing = fail the reason is the failure."""
    project.write(SUITE, conftest=WITHOUT_MEMRAY)
    project.write_file("pytest.ini", "[pytest]\nmembudget_missing = fail\nmembudget_vram_source = torch")

    run = project.run()

    reason = f"not judged: {NO_MEMRAY} (membudget_missing = fail)"
    assert run.failures["test_ram"] == f"ram: {reason}"
    assert run.failures["test_several"] == f"ram: {reason}\nretained: {reason}"
    assert run.failures["test_arenas"] == f"ram: {reason}"
    assert run.failures["test_own_failure_wins"].splitlines()[-1].startswith("test_it.py:")
    assert run.last_line == "4 failed, 4 passed, 1 error"


def test_what_this_version_cannot_measure(project: Project) -> None:
    """A plain reason for each resource and setting whose machinery is still to come, beside what was measured."""
    project.write("""
        import pytest
        m = pytest.mark.membudget

        @m("1MiB", vram="1GiB")
        def test_vram(): pass


        @m("baseline", tolerance="5%")
        def test_baseline(): pass

        @m("1MiB", vram="1GiB")
        def test_over(): held = bytearray(2 * 2**20)
    """)

    run = project.measure("--membudget-vram-source=torch")

    assert run.outcomes == {
        "test_vram": "NOT_MEASURED",
        "test_baseline": "NO_BASELINE",
        "test_over": "OVER_BUDGET",
    }
    assert run.tests["test_vram"]["reason"] == "no GPU figure: torch is not imported"
    assert run.tests["test_baseline"]["reason"] == "there is no baseline yet (membudget-baseline.json)"
    assert run.last_line == "1 failed, 2 passed"


def test_rss_where_the_kernel_keeps_no_mark(project: Project) -> None:
    """The resident set is sampled and the report says so; the sampling never shows in a heap figure."""
    project.write(
        conftest="""
            import os

            _open = os.open

            def refuse(path, *args, **kwargs):
                if path == "/proc/self/clear_refs":
                    raise PermissionError(13, "Permission denied")
                return _open(path, *args, **kwargs)

            os.open = refuse
        """,
        test_it="""
            import time, pytest

            @pytest.mark.membudget("1MiB", rss="1GiB")
            def test_empty(): pass

            @pytest.mark.membudget(rss="1MiB")
            def test_over():
                held = b"x" * (64 * 2**20)
                time.sleep(0.05)
        """,
    )

    run = project.measure("--membudget-report", "--membudget-vram-source=torch")

    assert 0 <= run.peak_bytes("test_empty") <= 200
    assert run.tests["test_empty"]["rss"]["source"] == "psutil"
    assert run.tests["test_empty"]["rss"]["exact"] is False
    assert re.fullmatch(
        r"rss: resident peak 6\d(\.\d)? MiB, budget 1 MiB: over by 6\d(\.\d)? MiB \(6\dx\), sampled by psutil",
        run.failures["test_over"],
    )
    assert "rss is sampled by psutil: a peak between two samples is not seen" in run.section
