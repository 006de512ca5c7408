"""A baseline as a table for people."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.growth import Growth
from pytest_membudget.core.growth_wording import share_of, signed_size
from pytest_membudget.core.sizes import format_size


def baseline_table(baseline: Baseline, environment: str | None = None) -> str:
    """Return the entries by environment, or those of one environment alone."""
    return "".join(f"{line}\n" for line in _lines(baseline, environment))


def _lines(baseline: Baseline, environment: str | None) -> Iterator[str]:
    for key, tests in sorted(baseline.environments.items()):
        if environment in (None, key):
            yield f"{key}: {len(tests):,} {'test' if len(tests) == 1 else 'tests'}"
            for nodeid in sorted(tests):
                yield from _entry_lines(nodeid, tests[nodeid])


def _entry_lines(nodeid: str, entry: Entry) -> Iterator[str]:
    for key, size_bytes in sorted(entry.figures.items()):
        yield f"  {format_size(size_bytes):>8}  {key:<8}  {nodeid}{_since_anchor(entry, key)}"


def _since_anchor(entry: Entry, key: str) -> str:
    begin_bytes = entry.anchors.get(key)
    if begin_bytes is None:
        return ""
    growth = Growth(begin_bytes, entry.figures[key], 0)
    since = share_of(growth) if begin_bytes else signed_size(growth.bytes)
    return f"  ({since} since first recorded)"
