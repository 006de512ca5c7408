"""The figures of a test as JUnit properties, which pytest carries to the XML file and through xdist by itself."""

from __future__ import annotations

import pytest

from pytest_membudget.core.measurement import Reading
from pytest_membudget.core.verdict import Verdict

PREFIX = "membudget."


def set_properties(item: pytest.Item, verdict: Verdict | None) -> None:
    """Put the figures of a judged test among its properties, in place of those of an earlier attempt."""
    kept = [(name, value) for name, value in item.user_properties if not name.startswith(PREFIX)]
    item.user_properties[:] = kept + (properties_of(verdict) if verdict else [])


def properties_of(verdict: Verdict) -> list[tuple[str, object]]:
    """Return names and values; what has no figure has no property."""
    found: list[tuple[str, object]] = []
    for finding in verdict.findings:
        peak_bytes = finding.figure.bytes if isinstance(finding.figure, Reading) else None
        values = {
            "peak_bytes": peak_bytes,
            "budget_bytes": finding.budget_bytes,
            "baseline_bytes": finding.growth.before_bytes if finding.growth else None,
            "outcome": finding.outcome.value,
        }
        name = f"{PREFIX}{finding.resource.value}"
        found += [(f"{name}.{key}", value) for key, value in values.items() if value is not None]
    return found
