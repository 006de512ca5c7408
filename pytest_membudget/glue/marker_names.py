"""The markers that give a test a budget, and whether a test has one: all that a run without budgets needs to know."""

from __future__ import annotations

import pytest

from pytest_membudget.glue.options import Settings

MARKER = "membudget"
LIMIT_MEMORY = "limit_memory"
MARKER_HELP = (
    "membudget(ram, *, rss, vram, retained, tolerance, isolate, scope, children, vram_total, python_allocators): the "
    'memory that this test may use, such as "64MiB", 1024, "50%", "baseline" or a function of the test\'s arguments.'
)
LIMIT_MEMORY_HELP = (
    "limit_memory(limit, *, current_thread_only=False): pytest-memray's marker, read by pytest-membudget as a RAM "
    'budget because of membudget_read_limit_memory; units as there, so "1 MB" is 1024**2 bytes.'
)


def has_budget(item: pytest.Item, settings: Settings) -> bool:
    """Whether any budget applies to this test, without reading it."""
    # Keywords also hold names that are no markers, but are much faster to ask.
    if settings.budgets_by_default or (MARKER in item.keywords and item.get_closest_marker(MARKER)):
        return True
    return settings.read_limit_memory and item.get_closest_marker(LIMIT_MEMORY) is not None
