"""What the table is made of, and how errors are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_membudget.suite.hotpath import MIB, SLACK_BYTES, Case, Footprint, HotPath, relative_error


def test_budget_gives_air_to_the_scratch_alone() -> None:
    """Output to the byte, scratch with 3 %, and the slack."""
    footprint = Footprint(input_bytes=5, output_bytes=100 * MIB, scratch_bytes=100, naive_bytes=7)

    assert footprint.peak_bytes == 100 * MIB + 100
    assert footprint.budget_bytes == 100 * MIB + 103 + SLACK_BYTES


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        (np.array([1.0, 2.2]), np.array([1.0, 2.0]), 0.1),
        ((np.array([1.0]), np.array([3.0])), (np.array([1.0]), np.array([2.0])), 0.5),
        (0.5, 0.25, 1.0),
        (np.array([np.nan]), np.array([1.0]), float("inf")),
        (np.zeros((2, 1)), np.zeros(2), float("inf")),
        (np.zeros(0), np.zeros(0), 0.0),
        (np.zeros(3), np.zeros(3), 0.0),
        (np.ones(3, bool), np.zeros(3, bool), 1.0),
    ],
)
def test_relative_error(found: Any, expected: Any, error: float) -> None:
    """Differences are measured against the largest expected magnitude; NaN and wrong shapes are infinitely wrong."""
    assert relative_error(found, expected) == pytest.approx(error)


def _path(**changed: Any) -> HotPath:
    parts: dict[str, Any] = {
        "name": "sum",
        "seed": "000",
        "inputs": lambda n: {"x": np.ones(n)},
        "lean": np.sum,
        "naive": np.sum,
        "reference": np.sum,
        "footprint": lambda n: Footprint(8 * n, 0, 80, 8 * n),
        "blamed": (),
        "tolerance": 0.0,
        "small": {"n": 40},
        "grows": "n",
    }
    return HotPath(**{**parts, **changed})


def test_cases() -> None:
    """A path is one case, or two where its document names a size."""
    small, big = _path(seed_size={"n": 4000}).cases()

    assert [str(case) for case in _path().cases()] == ["sum-small"]
    assert (str(small), str(big)) == ("sum-small", "sum-seed_size")
    assert (small.budget_bytes, len(small.inputs()["x"])) == (82 + SLACK_BYTES, 40)


def test_growth_sizes() -> None:
    """Growth starts at a quarter of the small size, or where the path says."""
    assert _path().growth_sizes(16) == ({"n": 10}, {"n": 160})
    assert _path(growth={"n": 3}).growth_sizes(16) == ({"n": 3}, {"n": 48})


def test_cases_compare_by_value() -> None:
    """A case is a value."""
    path = _path()

    assert Case(path, "small", {"n": 1}) == Case(path, "small", {"n": 1})
