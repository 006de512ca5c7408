"""Where a test ran: the host, and whether it was alone."""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import Any

from pytest_membudget.core.isolation import Isolation
from pytest_membudget.core.record import TestRecord


def whereabouts(isolation: Isolation | None) -> dict[str, Any]:
    """Return the fields of a record that tell where a test ran that ran here."""
    return {
        "host": platform.node(),
        "isolated": isolation is not None and isolation.isolated,
        "isolation_reason": isolation.reason if isolation else None,
    }


def placed(record: TestRecord, isolation: Isolation | None) -> TestRecord:
    """Return the record of a test that ran here with all that tells where that is."""
    return replace(record, **whereabouts(isolation))
