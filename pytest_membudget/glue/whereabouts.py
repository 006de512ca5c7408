"""Where a test ran: the host, the environment that its figures are comparable in, and whether it was alone."""

from __future__ import annotations

import platform
from dataclasses import replace

from pytest_membudget.core.isolation import Isolation
from pytest_membudget.core.record import TestRecord
from pytest_membudget.store.environment import environment_key


def placed(record: TestRecord, isolation: Isolation | None) -> TestRecord:
    """Return the record of a test that ran here with all that tells where that is."""
    return replace(
        record,
        host=platform.node(),
        environment_key=environment_key(),
        isolated=isolation is not None and isolation.isolated,
        isolation_reason=isolation.reason if isolation else None,
    )
