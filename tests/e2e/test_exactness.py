"""The plugin's own allocations never show in a figure."""

from __future__ import annotations

import pytest

from tests.project import MIB, Project


def test_the_plugin_leaves_no_trace_in_the_figures(project: Project) -> None:
    """An empty test reads 0 to 200 bytes, one that holds 10 MiB reads 10 MiB within 1 KiB."""
    project.write("""
        import pytest

        pytestmark = pytest.mark.membudget("1GiB")

        def test_empty():
            pass

        def test_ten():
            held = bytearray(10 * 2**20)
    """)

    run = project.measure()

    assert run.exit_code == pytest.ExitCode.OK
    assert 0 <= run.peak_bytes("test_empty") <= 200
    assert abs(run.peak_bytes("test_ten") - 10 * MIB) <= 1024
