"""Entries, and the values made from them."""

from __future__ import annotations

from pytest_membudget.core.baseline import Baseline, Entry, figure_key, merged_entry, resource_of
from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.provenance import Provenance
from tests.fakes import PROVENANCE

KEY = PROVENANCE.environment


def an_entry(ram_bytes: int = 100, **changes: object) -> Entry:
    """An entry of a heap figure."""
    fields = {"figures": {"ram": ram_bytes}, "measured_by": "memray 1.20.0", "mode": "exact, isolated", **changes}
    return Entry(**fields)  # type: ignore[arg-type]  # the fields of an entry, by name


def test_entries_are_found_by_environment_and_test() -> None:
    """An entry of another machine says nothing of this one, but that it exists."""
    baseline = Baseline({KEY: {"a": an_entry()}, "cpython-3.12-linux-x86_64": {"a": an_entry(), "b": an_entry()}})

    assert baseline.entry(KEY, "a") == an_entry()
    assert baseline.entry(KEY, "b") is None
    assert baseline.entry("pypy", "a") is None
    assert baseline.environments_of("a") == (KEY, "cpython-3.12-linux-x86_64")
    assert len(baseline) == 3


def test_adding_entries_leaves_the_others() -> None:
    """Entries that are added replace those of the same name, and the value that they were added to stays as it was."""
    before = Baseline({KEY: {"a": an_entry(1), "b": an_entry(2)}, "other": {"a": an_entry(3)}})

    after = before.with_entries(KEY, {"b": an_entry(20), "c": an_entry(30)})

    assert after.environments == {
        KEY: {"a": an_entry(1), "b": an_entry(20), "c": an_entry(30)},
        "other": {"a": an_entry(3)},
    }
    assert before.entry(KEY, "b") == an_entry(2)


def test_pruning_leaves_no_empty_environment() -> None:
    """An environment whose last test is gone is gone too."""
    baseline = Baseline({KEY: {"a": an_entry(), "b": an_entry()}, "other": {"a": an_entry()}})

    assert baseline.pruned(lambda _, nodeid: nodeid == "a").environments == {KEY: {"b": an_entry()}}


def test_names_of_figures() -> None:
    """VRAM belongs to the model of a GPU and to the source that counted it."""
    assert figure_key(Resource.RAM) == "ram"
    assert figure_key(Resource.VRAM, "NVIDIA H200", "torch") == "vram (NVIDIA H200, torch)"
    assert resource_of("vram (NVIDIA H200, torch)") is Resource.VRAM
    assert resource_of("vram") is Resource.VRAM
    assert [resource_of(key) for key in ("cpu", "ram (x)", "vram (", "vram (x", "")] == [None] * 5


def test_heap_figures_are_compared_within_one_tool_and_mode() -> None:
    """Another memray, or another way of running the test, says nothing about the code."""
    entry = an_entry(figures={"ram": 1, "rss": 2})

    assert entry.is_comparable("ram", PROVENANCE)
    assert not entry.is_comparable("ram", Provenance(KEY, "memray 1.19.1", "exact, isolated"))
    assert entry.is_comparable("rss", Provenance(KEY, "memray 1.19.1", "exact, isolated"))
    assert not entry.is_comparable("rss", Provenance(KEY, "memray 1.20.0", "exact, in process"))


def test_a_figure_keeps_its_anchor_while_it_grows() -> None:
    """Many small steps stay visible as one large one."""
    first = merged_entry(None, an_entry(100), ["ram"])
    second = merged_entry(first, an_entry(104), ["ram"])
    third = merged_entry(second, an_entry(108), ["ram"])

    assert first.anchors == {}
    assert (third.figures, third.anchors) == ({"ram": 108}, {"ram": 100})
    assert third.anchor_bytes("ram") == 100


def test_an_anchor_goes_down_with_its_figure() -> None:
    """What a test has once done with, it can do with again."""
    entry = merged_entry(an_entry(108, anchors={"ram": 100}), an_entry(90), ["ram"])

    assert (entry.figures, entry.anchors) == ({"ram": 90}, {})


def test_another_way_of_measuring_begins_anew() -> None:
    """Growth across two ways of measuring is no growth; figures of other GPUs are none of its business."""
    old = an_entry(100, figures={"ram": 100, "rss": 7, "vram (A100, torch)": 9}, measured_by="memray 1.19.1")

    assert merged_entry(old, an_entry(120), ["ram"]) == an_entry(figures={"vram (A100, torch)": 9, "ram": 120})


def test_figures_that_were_not_taken_this_time_stay() -> None:
    """A machine without memray measures the resident set alone, and must not take the heap's figure away."""
    old = an_entry(figures={"ram": 100, "rss": 7}, sites={"a.py:f": 90})
    new = Entry({"rss": 70}, "", "exact, isolated")

    assert merged_entry(old, new, ["rss"]) == an_entry(
        figures={"ram": 100, "rss": 70}, sites={"a.py:f": 90}, anchors={"rss": 7}
    )
