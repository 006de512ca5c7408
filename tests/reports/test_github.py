"""Annotations: what GitHub's runner reads back from them, and how many there are."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.record import TestRecord
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.github import annotation_lines
from tests.fakes import a_record, a_run, ram

_COMMAND = re.compile(r"::(?P<kind>\w+) (?P<properties>[^:]*)::(?P<message>.*)")


def _read(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the runner does: the properties end at the first double colon."""
    found = _COMMAND.fullmatch(line)
    assert found
    properties = dict(part.split("=", 1) for part in found["properties"].split(","))
    return found["kind"], {name: unquote(value) for name, value in properties.items()}, unquote(found["message"])


def _record(nodeid: str = "a.py::test", outcome: Outcome = Outcome.OVER_BUDGET, text: str = "too much") -> TestRecord:
    return TestRecord(nodeid, "failed", outcome, ram(2, 1), file="a.py", line=7, text=text)


@given(nodeid=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=150), text=st.text(min_size=1))
def test_whatever_a_test_is_called_arrives(nodeid: str, text: str) -> None:
    """Each annotation is one line, and what was escaped comes back."""
    (line,) = annotation_lines(a_run(_record(nodeid, text=text)))
    kind, properties, message = _read(line)

    assert not set(line) & set("\r\n")
    assert ("error", f"over budget: {nodeid}", text) == (kind, properties["title"], message)


def test_annotation_stands_on_the_line_of_the_marker() -> None:
    """Paths are relative to the repository, whose folder pytest's rootdir may only be a part of."""
    (line,) = annotation_lines(a_run(_record()), "packages/core")

    assert line.startswith("::error file=packages/core/a.py,line=7,title=over budget%3A a.py%3A%3Atest::")


def test_path_outside_rootdir_is_tidied() -> None:
    """GitHub does not resolve dots."""
    record = TestRecord("../b.py::test", "failed", Outcome.OVER_BUDGET, ram(2, 1), file="../b.py", line=7, text="x")
    (line,) = annotation_lines(a_run(record), "packages/core")

    assert _read(line)[1]["file"] == "packages/b.py"


def test_test_without_a_place_has_an_annotation_all_the_same() -> None:
    """It then belongs to the run as a whole."""
    lost = a_record("a.py::test", outcome=None, reason="the process ended", test_outcome="failed")

    assert annotation_lines(a_run(lost)) == ["::error title=lost%3A a.py%3A%3Atest::the process ended"]


@pytest.mark.parametrize("outcome", [Outcome.NOT_MEASURED, Outcome.NO_BASELINE])
def test_what_was_not_judged_is_a_warning(outcome: Outcome) -> None:
    """With its reason."""
    (line,) = annotation_lines(a_run(a_record("a.py::test", outcome, ram(None, 1), reason="no GPU")))

    assert (_read(line)[0], _read(line)[2]) == ("warning", "no GPU")


def test_what_is_within_has_no_annotation() -> None:
    """Nor has a test without a budget."""
    assert annotation_lines(a_run(a_record(uses=ram(1, 2)), a_record("b", outcome=None, uses=ram(1)))) == []


def test_more_than_ten_of_a_kind_are_counted_in_a_notice() -> None:
    """GitHub drops the eleventh of a kind without a word, so the count is of another kind."""
    over = [_record(f"a.py::test_{number:02}") for number in range(13)]
    grown = [_record(f"b.py::test_{number:02}", Outcome.REGRESSED) for number in range(2)]
    lines = annotation_lines(a_run(*over, *grown))

    assert [_read(line)[0] for line in lines] == ["error"] * 10 + ["notice"]
    assert _read(lines[-1])[2] == "and without an annotation of their own: 3 over budget, 2 regressed"


def test_ten_of_a_kind_need_no_notice() -> None:
    """The most that GitHub keeps."""
    lines = annotation_lines(a_run(*(_record(f"a.py::test_{number}") for number in range(10))))

    assert {"error"} == {_read(line)[0] for line in lines}


def test_very_long_name_keeps_its_end() -> None:
    """A title of 4,000 characters hides the message."""
    (line,) = annotation_lines(a_run(_record("a.py::test[" + "x" * 4000 + "-last]")))
    title = _read(line)[1]["title"]

    assert title.endswith("x-last]")
    assert len("over budget: ") + 200 == len(title)
