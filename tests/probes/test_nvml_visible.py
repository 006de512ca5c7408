"""CUDA_VISIBLE_DEVICES, read as the CUDA runtime reads it."""

from __future__ import annotations

import itertools
import os
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.probes.nvml_visible import select, visible_entries
from tests.own_interpreter import in_own_interpreter

UUIDS = ("GPU-0aaa1111-2222", "GPU-0bbb1111-2222", "GPU-1ccc1111-2222")
values = st.text(alphabet="0123, -+gGPUMIax\t", max_size=20)


@pytest.mark.parametrize(
    ("variable", "entries"),
    [
        (None, None),
        ("", ()),
        ("0", (0,)),
        ("2,0,1", (2, 0, 1)),
        ("1gpu2,2ampere", (1, 2)),
        ("0, 1, 2, -1, 3", (0, 1, 2)),
        ("0,1,2,1", ()),
        ("2, +3, -0, 5", (2, 3, 0, 5)),
        ("one,two,3,4", ()),
        ("4,3,two,one", (4, 3)),
        ("GPU-0a", ("GPU-0a",)),
        ("GPU-0a,GPU-1c", ("GPU-0a", "GPU-1c")),
        ("GPU-0a,1", ("GPU-0a",)),
        ("GPU-0a,GPU-0a", ()),
        ("MIG-1,GPU-0a", ("MIG-1",)),
    ],
)
def test_entries(variable: str | None, entries: tuple[int | str, ...] | None) -> None:
    """Ordinals as far as they are numbers, UUIDs of one kind, the end at the first that is neither."""
    assert visible_entries(variable) == entries


@given(values)
def test_never_more_than_was_named(variable: str) -> None:
    """Whatever stands there is read without an error, and no device is named twice."""
    entries = visible_entries(variable)

    assert entries is not None
    assert len(set(entries)) == len(entries) <= variable.count(",") + 1


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_as_torch_reads_it() -> None:
    """Torch's parser, which was checked against a driver, gives the same lists."""
    assert in_own_interpreter(what_torch_reads_differently) == []


def what_torch_reads_differently() -> list[str]:
    """Return the values of up to three parts that torch reads as another list."""
    torch: Any = __import__("torch")
    parts = ("", "x", "0", "1", " 2", "2x", "-1", "GPU-0", "GPU-1", "MIG-1")
    values = [",".join(chosen) for length in (1, 2, 3) for chosen in itertools.product(parts, repeat=length)]
    differing = []
    for value in values:
        os.environ["CUDA_VISIBLE_DEVICES"] = value
        if torch.cuda._parse_visible_devices() != list(visible_entries(value) or ()):
            differing.append(value)
    return differing


@pytest.mark.parametrize(
    ("entries", "positions"),
    [
        ((2, 0), (2, 0)),
        ((0, 3, 1), (0,)),
        (("GPU-0b",), (1,)),
        (("GPU-1ccc1111-2222", "GPU-0a"), (2, 0)),
        (("GPU-0",), ()),
        (("GPU-9",), ()),
        ((), ()),
    ],
)
def test_selection(entries: tuple[int | str, ...], positions: tuple[int, ...]) -> None:
    """An ordinal out of range, and the beginning of no UUID or of two, end the list."""
    assert select(entries, UUIDS) == positions
