"""From the keys of frames, (utterance, frame number), to the rows that a slice of them selects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_membudget.suite.hotpath import Footprint, HotPath

FrameKey = tuple[str, int]

_BLOCK_KEYS = 512


def slice_masks(frame_keys: Sequence[FrameKey], slices: Sequence[Iterable[FrameKey]]) -> NDArray[np.bool_]:
    """Which rows each slice selects, from one offset per utterance.

    The frames of an utterance follow one another, so its first row and the frame number say where a frame is. The keys
    are compared, so a table that is not laid out so, or a frame that it does not hold, is an error and not a wrong row.

    Parameters
    ----------
    frame_keys
        The key of each row; the frames of an utterance in one run, their numbers rising by one.
    slices
        The keys that each slice selects, in any order, once or more often.

    Returns
    -------
    bool [S, N].

    Bytes
    -----
    S N + 12 KiB + about 220 for each utterance.

    Raises
    ------
    ValueError
        An utterance in two runs or with a gap, or a key that no row has.
    """
    origins = _origins(frame_keys)
    masks = np.zeros((len(slices), len(frame_keys)), np.bool_)
    for mask, keys in zip(masks, slices, strict=True):
        rows = (_row(key, frame_keys, origins) for key in keys)
        while (block := np.fromiter(islice(rows, _BLOCK_KEYS), np.intp)).size:
            mask[block] = True
    return masks


def _origins(frame_keys: Sequence[FrameKey]) -> dict[str, int]:
    """The row less the frame number, which is one figure for all frames of an utterance."""
    origins: dict[str, int] = {}
    previous = None
    for row, (utterance, frame) in enumerate(frame_keys):
        if utterance != previous and utterance in origins:
            raise ValueError(f"the frames of utterance {utterance!r} must lie in one run")
        if origins.setdefault(utterance, row - frame) != row - frame:
            raise ValueError(f"the frames of utterance {utterance!r} must be numbered without a gap")
        previous = utterance
    return origins


def _row(key: FrameKey, frame_keys: Sequence[FrameKey], origins: dict[str, int]) -> int:
    utterance, frame = key
    row = origins.get(utterance, -1 - frame) + frame
    if not (0 <= row < len(frame_keys) and frame_keys[row] == key):
        raise ValueError(f"no row has the key {key!r}")
    return row


def naive_slice_masks(frame_keys: Sequence[FrameKey], slices: Sequence[Iterable[FrameKey]]) -> NDArray[np.bool_]:
    """The same from a dictionary of all keys, built anew for each slice while the last one is still alive."""
    masks = np.zeros((len(slices), len(frame_keys)), np.bool_)
    for mask, keys in zip(masks, slices, strict=True):
        key_to_idx = {key: index for index, key in enumerate(frame_keys)}
        for key in keys:
            mask[key_to_idx[key]] = True
    return masks


def reference_slice_masks(frame_keys: Sequence[FrameKey], slices: Sequence[Iterable[FrameKey]]) -> NDArray[np.bool_]:
    """The same by membership of each row's key in each slice."""
    return np.array([list(map(set(keys).__contains__, frame_keys)) for keys in slices])


def _inputs(utterances: int, frames: int, s: int) -> dict[str, Any]:
    """Utterances that start at frame 3; the first slice is all rows, the others thin out."""
    rng = np.random.default_rng(9)
    keys = [(f"utterance-{u:05d}", frame) for u in range(utterances) for frame in range(3, 3 + frames)]
    counts = np.linspace(1, 0.1, s) * len(keys)
    return {
        "frame_keys": keys,
        "slices": [[keys[row] for row in rng.permutation(len(keys))[: int(count)]] for count in counts],
    }


def _dict_bytes(entries: int) -> int:
    """A dictionary of so many keys and as many small integers: three words an entry, an index of 4 bytes a slot."""
    slots = 1 << max(3, (entries * 3 // 2).bit_length())
    return 24 * (slots * 2 // 3) + 4 * slots + 32 * entries


def _footprint(utterances: int, frames: int, s: int) -> Footprint:
    rows = utterances * frames
    return Footprint(
        input_bytes=120 * rows + 8 * s * rows,
        output_bytes=s * rows,
        scratch_bytes=12 * 1024 + 220 * utterances,
        naive_bytes=s * rows + 2 * _dict_bytes(rows),
    )


PATHS = (
    HotPath(
        name="key_index",
        seed="000",
        inputs=_inputs,
        lean=slice_masks,
        naive=naive_slice_masks,
        reference=reference_slice_masks,
        footprint=_footprint,
        blamed=("key_to_idx = {key: index for index, key in enumerate(frame_keys)}",),
        tolerance=0.0,
        small={"utterances": 16, "frames": 1_000, "s": 3},
        seed_size={"utterances": 200, "frames": 500, "s": 6},
        grows="frames",
        growth={"utterances": 10, "frames": 100, "s": 3},
    ),
)
