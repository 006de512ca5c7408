"""The baseline in the repository: what it looks like, and what is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_membudget.core.baseline import Baseline, Entry
from pytest_membudget.core.errors import BaselineError
from pytest_membudget.store.baseline_file import parse_baseline, read_baseline, render_baseline, rewrite_baseline

Value = TypeVar("Value")
NAME = "membudget-baseline.json"
RESTORE = "restore the file from version control, or delete it and record anew with pytest --membudget-update"
CORRECT = "correct the line, or delete it and record the test again"
KEY = "cpython-3.11-linux-x86_64"

ENTRY = Entry(
    {"ram": 26_012_672, "retained": 0},
    "memray 1.20.0",
    "exact, isolated",
    {"ram": 20_000_000},
    {"pkg/io.py:read_all": 19_926_016, "pkg/io.py:parse": 5_242_880},
)
GOLDEN = """\
{
"format": 1,
"environments": {
"cpython-3.11-linux-x86_64": {
"tests/test_io.py::test_load[1000]": {"ram": 26012672, "retained": 0, "anchor": {"ram": 20000000}, \
"by": "memray 1.20.0", "mode": "exact, isolated", \
"sites": {"pkg/io.py:read_all": 19926016, "pkg/io.py:parse": 5242880}},
"tests/test_io.py::test_ünïcode": {"rss": 5}
},
"cpython-3.12-linux-x86_64": {
"a": {"vram (NVIDIA H200, torch)": 7}
}
}
}
"""


def test_golden() -> None:
    """Sorted, one entry on one line, integers, a newline at the end; what is empty is left out."""
    baseline = Baseline(
        {
            "cpython-3.12-linux-x86_64": {"a": Entry({"vram (NVIDIA H200, torch)": 7})},
            KEY: {"tests/test_io.py::test_ünïcode": Entry({"rss": 5}), "tests/test_io.py::test_load[1000]": ENTRY},
        }
    )

    assert render_baseline(baseline) == GOLDEN
    assert parse_baseline(GOLDEN, NAME) == baseline


def test_empty_baseline() -> None:
    """After the last entry was pruned the file is still one."""
    assert parse_baseline(render_baseline(Baseline()), NAME) == Baseline()


BYTES = st.integers(0, 2**63 - 1)
NAMES = st.text(max_size=8)
TABLES = st.dictionaries(NAMES, BYTES, max_size=2)
NODEIDS = st.text(st.characters(), max_size=20) | st.just("tests/t.py::t[" + "long " * 800 + "]")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Any entry that there can be."""
    keys = st.sampled_from(["ram", "rss", "retained", "vram", "vram (NVIDIA H200, torch)"])
    figures = draw(st.dictionaries(keys, BYTES, min_size=1))
    anchors = draw(st.dictionaries(st.sampled_from(sorted(figures)), BYTES))
    return Entry(figures, draw(NAMES), draw(NAMES), anchors, draw(TABLES))


BASELINES = st.builds(
    Baseline, st.dictionaries(NAMES, st.dictionaries(NODEIDS, entries(), min_size=1, max_size=2), max_size=2)
)


@settings(max_examples=50)
@given(BASELINES)
def test_round_trip(baseline: Baseline) -> None:
    """Whatever tests are called, half surrogates and control characters included."""
    text = render_baseline(baseline)

    assert parse_baseline(text.encode("utf-8").decode("utf-8"), NAME) == baseline
    assert len(text.splitlines()) == text.count("\n")


def _turned(table: Mapping[str, Value]) -> dict[str, Value]:
    return dict(reversed(list(table.items())))


@settings(max_examples=50)
@given(BASELINES)
def test_order_of_recording_leaves_no_trace(baseline: Baseline) -> None:
    """Two runs that record the same write the same bytes."""
    turned = {key: _turned(tests) for key, tests in _turned(baseline.environments).items()}

    assert render_baseline(Baseline(turned)) == render_baseline(baseline)


@settings(max_examples=50)
@given(BASELINES, st.data())
def test_a_part_of_a_file_is_refused(baseline: Baseline, data: st.DataObject) -> None:
    """A write that was cut off is never taken for a smaller baseline."""
    text = render_baseline(baseline)
    part = text[: data.draw(st.integers(0, len(text) - 2))]

    with pytest.raises(BaselineError):
        parse_baseline(part, NAME)


def with_entry(entry: str, nodeid: str = '"a"') -> str:
    """The text of a baseline with one entry."""
    return f'{{"format": 1, "environments": {{"{KEY}": {{{nodeid}: {entry}}}}}}}'


CONFLICT = """\
{
"format": 1,
"environments": {
"cpython-3.11-linux-x86_64": {
<<<<<<< HEAD
"a": {"ram": 1}
=======
"a": {"ram": 2}
>>>>>>> feature
}
}
}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"{NAME} is empty: {RESTORE}"),
        (" \n", f"{NAME} is empty: {RESTORE}"),
        (
            CONFLICT,
            f"{NAME} line 5: a merge conflict: keep the lines of either side, delete the markers, then record what "
            "differs with pytest --membudget-update",
        ),
        (GOLDEN[:-3], f"{NAME} line 11: the file ends too early: {RESTORE}"),
        (GOLDEN[:200], f"{NAME} line 5: the file ends too early: {RESTORE}"),
        (GOLDEN[:120], f"{NAME} line 5: the file ends too early: {RESTORE}"),
        (
            "{'a': 1}",
            f"{NAME} line 1 column 2: not JSON (Expecting property name enclosed in double quotes): {RESTORE}",
        ),
        (
            "[1, 2]",
            f"{NAME} is not a baseline of pytest-membudget: give the path of a file that pytest --membudget-update "
            "wrote",
        ),
        (
            '{"version": 1, "entries": {}}',
            f"{NAME} is not a baseline of pytest-membudget: give the path of a file that pytest --membudget-update "
            "wrote",
        ),
        (
            '{"format": 1, "tests": [], "totals": {}}',
            f"{NAME} is a run (--membudget-json), not a baseline: give the path of a file that pytest "
            "--membudget-update wrote",
        ),
        ("[" * 100_000, f"{NAME} is not a baseline of pytest-membudget: {RESTORE}"),
        (
            '{"format": 2, "environments": {}}',
            f"{NAME} has format 2, and this version reads up to 1: update pytest-membudget",
        ),
        ('{"format": "1", "environments": {}}', f'{NAME}: "format" is "1": it is a whole number from 1'),
        ('{"format": true, "environments": {}}', f'{NAME}: "format" is true: it is a whole number from 1'),
        ('{"format": 1, "environments": {}, "x": 1}', f'{NAME}: "x" is unknown: delete it'),
        (
            '{"format": 1, "environments": []}',
            f'{NAME}: "environments" is []: it is an object of environments',
        ),
        (
            f'{{"format": 1, "environments": {{"{KEY}": 5}}}}',
            f"{NAME}: {KEY}: 5 is not an object of tests: {RESTORE}",
        ),
        (
            with_entry('{"ram": 1}, "a": {"ram": 2}'),
            f'{NAME}: "a" stands there twice: delete one of the two',
        ),
        (with_entry('{"ram": 1, "ram": 2}'), f'{NAME}: "ram" stands there twice: delete one of the two'),
        (with_entry("5"), f'{NAME}: {KEY}: "a": 5 is not an entry: {CORRECT}'),
        (with_entry("{}"), f'{NAME}: {KEY}: "a": {{}} is not an entry: {CORRECT}'),
        (
            with_entry('{"ram": -5}'),
            f'{NAME}: {KEY}: "a": ram is -5: it is a whole number of bytes, zero or more: {CORRECT}',
        ),
        (
            with_entry('{"ram": 1.5}'),
            f'{NAME}: {KEY}: "a": ram is 1.5: it is a whole number of bytes, zero or more: {CORRECT}',
        ),
        (
            with_entry('{"ram": "5MiB"}'),
            f'{NAME}: {KEY}: "a": ram is "5MiB": it is a whole number of bytes, zero or more: {CORRECT}',
        ),
        (
            with_entry('{"ram": true}'),
            f'{NAME}: {KEY}: "a": ram is true: it is a whole number of bytes, zero or more: {CORRECT}',
        ),
        (
            with_entry('{"ram": 9223372036854775808}'),
            f'{NAME}: {KEY}: "a": ram is 9223372036854775808: it is a whole number of bytes, zero or more: {CORRECT}',
        ),
        (with_entry('{"rma": 5}'), f'{NAME}: {KEY}: "a": "rma" is unknown: {CORRECT}'),
        (with_entry('{"ram": 5, "by": 1}'), f'{NAME}: {KEY}: "a": "by" and "mode" are texts: {CORRECT}'),
        (
            with_entry('{"ram": 5, "sites": ["x"]}'),
            f'{NAME}: {KEY}: "a": "sites" is ["x"]: it is an object of sizes in bytes: {CORRECT}',
        ),
        (
            with_entry('{"ram": 5, "sites": {"pkg/io.py:f": null}}'),
            f'{NAME}: {KEY}: "a": pkg/io.py:f is null: it is a whole number of bytes, zero or more: {CORRECT}',
        ),
        (
            with_entry('{"ram": 5, "anchor": {"rss": 3}}'),
            f'{NAME}: {KEY}: "a": it has an anchor for "rss" and no figure of that name: {CORRECT}',
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    """One sentence: where, what, and what to do about it."""
    with pytest.raises(BaselineError) as refused:
        parse_baseline(text, NAME)

    assert str(refused.value) == message


def test_a_number_of_thousands_of_digits() -> None:
    """Python itself declines to read it; the file is refused all the same."""
    with pytest.raises(BaselineError):
        parse_baseline(with_entry(f'{{"ram": {"9" * 5000}}}'), NAME)


def test_long_names_are_cut_in_messages() -> None:
    """A node id of 4,000 characters does not bury the sentence."""
    with pytest.raises(BaselineError) as refused:
        parse_baseline(with_entry('{"ram": -1}', f'"{"x" * 4000}"'), NAME)

    assert len(str(refused.value)) < 400


@given(st.text(max_size=200))
def test_any_text_is_a_baseline_or_refused(text: str) -> None:
    """Never another error."""
    with pytest.raises(BaselineError):
        parse_baseline(text, NAME)


def test_other_encodings(tmp_path: Path) -> None:
    """A byte order mark and Windows line ends are read; what is no UTF-8 is refused with the place."""
    path = tmp_path / NAME
    path.write_bytes(b"\xef\xbb\xbf" + GOLDEN.replace("\n", "\r\n").encode())
    assert len(read_baseline(path)) == 3

    path.write_bytes(b'{"format": 1, \xff}')
    with pytest.raises(BaselineError) as refused:
        read_baseline(path)

    assert str(refused.value) == f"{NAME} is not UTF-8 text (byte 14): {RESTORE}"


def test_rewriting(tmp_path: Path) -> None:
    """A file that is not there yet is begun, and one that would stay as it is is not touched."""
    path = tmp_path / NAME
    rewrite_baseline(path, lambda baseline: baseline.with_entries(KEY, {"a": Entry({"ram": 1})}))
    assert read_baseline(path) == Baseline({KEY: {"a": Entry({"ram": 1})}})

    path.write_text(path.read_text().replace("\n", " "))
    untouched = path.read_bytes()
    rewrite_baseline(path, lambda baseline: baseline)

    assert path.read_bytes() == untouched
    assert os.listdir(tmp_path) == [NAME]


def test_nothing_recorded_begins_no_file(tmp_path: Path) -> None:
    """A run in which nothing passed leaves no empty baseline behind."""
    rewrite_baseline(tmp_path / NAME, lambda baseline: baseline)

    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_understood_stays_as_it_is(tmp_path: Path) -> None:
    """Not a byte of it is lost."""
    path = tmp_path / NAME
    path.write_text(CONFLICT)

    with pytest.raises(BaselineError):
        rewrite_baseline(path, lambda _: Baseline())

    assert path.read_text() == CONFLICT


def test_the_mode_of_the_file_stays(tmp_path: Path) -> None:
    """Whoever could read it can read it still."""
    path = tmp_path / NAME
    path.write_text(dedent(GOLDEN))
    path.chmod(0o640)

    rewrite_baseline(path, lambda _: Baseline())

    assert stat.S_IMODE(path.stat().st_mode) == 0o640
