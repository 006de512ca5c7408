"""Several runs as one."""

from __future__ import annotations

from dataclasses import replace

from pytest_membudget.core.run import RunReport, merged
from tests.fakes import ENVIRONMENT, a_record, a_run


def test_shards_of_one_machine() -> None:
    """Facts that agree stay as they are, and every test is there."""
    run = merged([a_run(a_record("a"), a_record("b")), a_run(a_record("c"))])

    assert run == a_run(a_record("a"), a_record("b"), a_record("c"))


def test_runs_of_several_machines() -> None:
    """What differs stands side by side; of numbers the least is the one that can be relied on."""
    other = replace(
        ENVIRONMENT,
        key="cpython-3.12-linux-x86_64",
        cpu_count=1,
        total_ram_bytes=5,
        commit=None,
        tools={"memray": "1.19.1", "psutil": "7.0"},
    )

    run = merged([a_run(a_record("a")), RunReport((a_record("a"),), other)])

    assert run.environment == replace(
        ENVIRONMENT,
        key="cpython-3.11-linux-x86_64, cpython-3.12-linux-x86_64",
        cpu_count=1,
        total_ram_bytes=5,
        tools={"pytest-membudget": "0.1.0", "pytest": "8.2.0", "memray": "1.20.0, 1.19.1", "psutil": "7.0"},
    )
    assert len(run.records) == 2
