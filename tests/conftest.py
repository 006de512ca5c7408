"""What all tests share: pytester, and surroundings that decide nothing."""

from __future__ import annotations

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

# Two busy cores make any deadline a coin toss; how fast something is belongs to the benchmarks.
settings.register_profile("membudget", deadline=None)
settings.load_profile("membudget")

# Each of these changes what pytest or the plugin prints.
_DECIDING = ("CI", "BUILD_NUMBER", "COLUMNS", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "NO_COLOR", "PY_COLORS")


@pytest.fixture(autouse=True)
def _neutral_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the outcome of a test depend on nothing that the caller's shell happens to export."""
    for name in _DECIDING:
        monkeypatch.delenv(name, raising=False)
