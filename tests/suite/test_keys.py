"""The edges of the key index."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_membudget.suite.keys import FrameKey, slice_masks

KEYS: list[FrameKey] = [("a", 3), ("a", 4), ("b", 0), ("b", 1), ("b", 2)]


def test_rows_of_keys() -> None:
    """Keys select their rows, in any order and more than once."""
    masks = slice_masks(KEYS, [[("b", 1), ("a", 4), ("b", 1)], KEYS])

    np.testing.assert_array_equal(masks, [[0, 1, 0, 1, 0], [1, 1, 1, 1, 1]])


def test_nothing_selected() -> None:
    """An empty slice selects nothing; no slice and no row are fine."""
    assert not slice_masks(KEYS, [[]]).any()
    assert slice_masks(KEYS, []).shape == (0, 5)
    assert slice_masks([], [[]]).shape == (1, 0)


def test_slices_may_be_iterators() -> None:
    """A slice is read once, so it may be a generator."""
    assert slice_masks(KEYS, [iter(KEYS[:2])]).sum() == 2


@pytest.mark.parametrize(
    ("keys", "wanted", "message"),
    [
        (KEYS, [("c", 0)], "no row has the key ('c', 0)"),
        (KEYS, [("a", 2)], "no row has the key ('a', 2)"),
        (KEYS, [("a", 5)], "no row has the key ('a', 5)"),
        (KEYS, [("b", 3)], "no row has the key ('b', 3)"),
        (KEYS, [("c", -1)], "no row has the key ('c', -1)"),
        ([("a", 0), ("a", 2)], [], "the frames of utterance 'a' must be numbered without a gap"),
        ([("a", 0), ("b", 0), ("a", 1)], [], "the frames of utterance 'a' must lie in one run"),
    ],
)
def test_wrong_keys(keys: list[FrameKey], wanted: list[FrameKey], message: str) -> None:
    """A key without a row, or a table that offsets cannot describe, is an error and not a wrong row."""
    with pytest.raises(ValueError, match=r"row|must") as raised:
        slice_masks(keys, [wanted])

    assert str(raised.value) == message
