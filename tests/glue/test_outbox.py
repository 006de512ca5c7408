"""What a test's own process tells the one that waits for it."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.glue.outbox import Outbox, PlainWarning, portable, read_messages

MESSAGES = st.lists(st.tuples(st.text(), st.one_of(st.none(), st.integers(), st.text(), st.binary())))


class Length(float):
    """A number of a type that the other process may not have."""


class OfTheTest(Warning):
    """A category that the other process has too."""


@given(messages=MESSAGES, torn_bytes=st.integers(min_value=0, max_value=40))
def test_a_torn_message_does_not_take_the_others_with_it(
    tmp_path_factory: pytest.TempPathFactory, messages: list[tuple[str, object]], torn_bytes: int
) -> None:
    """A process that dies as it writes loses what it was writing, and nothing else."""
    path = tmp_path_factory.mktemp("outbox") / "0"
    torn = pickle.dumps(("last", "x" * 40))[:torn_bytes]

    path.write_bytes(b"".join(map(pickle.dumps, messages)) + torn)

    assert read_messages(path) == messages


def test_an_outbox_that_a_test_removed_is_empty(tmp_path: Path) -> None:
    """The test then counts as one that told nothing."""
    assert read_messages(tmp_path / "gone") == []


def test_nothing_is_written_before_a_test_begins(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """Warnings of the collection, which pytest repeats to every new plugin, are the session's."""
    outbox = Outbox(pytestconfig)
    outbox.put("warning", "of the collection")
    outbox.open(tmp_path / "0")
    outbox.put("warning", "of the test")
    outbox.close()

    assert read_messages(tmp_path / "0") == [("warning", "of the test")]


def test_only_plain_types_travel() -> None:
    """What a test attached to its report arrives as the text that a reporter would make of it."""
    data = {
        "nodeid": "x",
        "user_properties": [("number", 1), ("length", Length(1.5))],
        "when": {Path("a"): [None, b"b"]},
    }

    assert portable(data) == {
        "nodeid": "x",
        "user_properties": [("number", 1), ("length", "1.5")],
        "when": {"a": [None, b"b"]},
    }


@pytest.mark.parametrize("category", [DeprecationWarning, OfTheTest])
def test_a_warning_reads_the_same_elsewhere(category: type[Warning]) -> None:
    """Text, category, file and line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn_explicit("of a kind", category, "some.py", 7)

    restored = pickle.loads(pickle.dumps(PlainWarning.of(caught[0]))).restore()

    assert (str(restored.message), restored.category) == ("of a kind", category)
    assert (restored.filename, restored.lineno) == ("some.py", 7)


def test_a_warning_of_an_unknown_category_is_still_a_warning() -> None:
    """The module that defines it may have been imported by the test alone."""
    assert PlainWarning("text", "no.such.module", "OddWarning", "some.py", 7).restore().category is Warning
