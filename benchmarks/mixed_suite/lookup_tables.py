"""A module that a test imports on first use, with tables that it computes as it is imported."""

from __future__ import annotations

SQUARES = [number * number for number in range(100_000)]
NAMES = {f"name-{number}": number for number in range(20_000)}
