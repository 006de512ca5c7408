"""Code that makes many small objects."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re

import pytest

pytestmark = pytest.mark.membudget("1GiB", isolate=True)


@dataclasses.dataclass
class Point:
    """A record of three fields."""

    x: int
    y: float
    name: str


def test_json() -> None:
    """Text and back."""
    text = json.dumps([{"key": number, "values": list(range(20))} for number in range(5_000)])
    assert len(json.loads(text)) == 5_000


def test_dicts() -> None:
    """Dicts of dicts."""
    assert len({str(number): {"n": number} for number in range(20_000)}) == 20_000


def test_regexes() -> None:
    """More patterns than the cache of compiled ones has room for."""
    for number in range(600):
        re.compile(rf"(a{number}|b{number})*c[{number}xyz]+").match("a" * 10)


def test_cyclic_garbage() -> None:
    """Garbage that waits for the collector."""
    for number in range(20_000):
        ring: list[object] = [number]
        ring.append(ring)


def test_dataclasses() -> None:
    """Instances."""
    assert len([Point(number, number / 2, str(number)) for number in range(10_000)]) == 10_000


def test_dataclass_made_on_the_way() -> None:
    """A class, which dataclasses write and compile."""
    made = dataclasses.make_dataclass("Made", [f"field_{number}" for number in range(50)])
    assert len([made(*range(50)) for _ in range(2_000)]) == 2_000


def test_strings() -> None:
    """One long text and its words."""
    assert len("".join(f"{number:>10}" for number in range(100_000)).split()) == 100_000


def test_pickles() -> None:
    """Bytes and back."""
    assert len(pickle.loads(pickle.dumps([(number, str(number)) for number in range(20_000)]))) == 20_000


def test_sets() -> None:
    """Sets and what they have in common."""
    assert len(set(range(50_000)) & set(range(0, 100_000, 2))) == 25_000


def test_exceptions() -> None:
    """Raised from one another, and kept with their tracebacks."""
    chain: Exception | None = None
    for number in range(500):
        chain = _raised(number, chain)
    assert chain is not None


def _raised(number: int, cause: Exception | None) -> Exception:
    try:
        raise ValueError(number) from cause
    except ValueError as error:
        return error
