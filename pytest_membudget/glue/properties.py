"""The figures of a test as JUnit properties, which pytest carries to the XML file and through xdist by itself."""

from __future__ import annotations

import pytest

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord

PREFIX = "membudget."


def set_properties(item: pytest.Item, record: TestRecord) -> None:
    """Put the figures of a judged test among its properties, in place of those of an earlier attempt."""
    kept = [(name, value) for name, value in item.user_properties if not name.startswith(PREFIX)]
    item.user_properties[:] = kept + (properties_of(record) if record.outcome else [])


def properties_of(record: TestRecord) -> list[tuple[str, object]]:
    """Return names and values; what has no figure has no property."""
    found: list[tuple[str, object]] = []
    for resource in Resource:
        use = record.use(resource)
        values = {"peak_bytes": use.peak_bytes, "budget_bytes": use.budget_bytes}
        found += [(f"{PREFIX}{resource.value}.{name}", value) for name, value in values.items() if value is not None]
    assert record.outcome is not None
    return [*found, (f"{PREFIX}outcome", record.outcome.value)]
