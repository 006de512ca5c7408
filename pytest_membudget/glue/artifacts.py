"""Keeping what explains a failed test, in the process that ran it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_membudget.glue.test_state import TestState

SECTION = "membudget artifacts"
FAILED = ("failed", "error")


def keep_after_failure(nodeid: str, state: TestState, report: pytest.TestReport, folder: Path | None) -> None:
    """Move the capture of a failed test to the folder of artifacts and say so; drop that of a test that passed."""
    capture = state.meter.kept_capture
    if capture is None or folder is None:
        return
    if state.test_outcome in FAILED:
        from pytest_membudget.store.artifacts import keep_artifacts

        report.sections.append((SECTION, keep_artifacts(folder, nodeid, capture).text))
        state.meter.drop_kept_capture()
    elif report.when == "teardown":
        state.meter.drop_kept_capture()
