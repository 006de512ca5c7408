"""Faults of memray that the plugin knows of."""

from __future__ import annotations

import pytest

from pytest_membudget.probes.memray_faults import crash_risk


@pytest.mark.parametrize(
    ("python", "memray", "at_risk"),
    [
        ((3, 12), "1.19.1", True),
        ((3, 12), "1.20.0", True),
        ((3, 12), "1.20.1", False),
        ((3, 12), "1.21.0rc1", False),
        ((3, 11), "1.20.0", False),
        ((3, 13), "1.20.0", False),
    ],
)
def test_python_3_12_can_crash_with_memray_up_to_1_20_0(python: tuple[int, int], memray: str, at_risk: bool) -> None:
    """The reason names the versions and the issue."""
    reason = f"memray {memray} can crash Python 3.12 when tracking ends while threads run (memray#999)"

    assert crash_risk(python, memray) == (reason if at_risk else None)
