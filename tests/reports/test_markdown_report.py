"""The tables for a pull request, read back by a Markdown parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.markdown_report import MOST_BYTES, MOST_NAME, render_markdown
from pytest_membudget.reports.row import visible
from tests.fakes import MIB, a_record, a_run, ram

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)


def _over(nodeid: str, text: str = "ram: too much") -> TestRecord:
    return TestRecord(nodeid, "failed", Outcome.OVER_BUDGET, ram(2 * MIB, MIB), text=text)


def _tables(markdown: str) -> list[list[list[str]]]:
    """Return the texts of the cells: by table, by row."""
    tables: list[list[list[str]]] = []
    for token in MarkdownIt().enable("table").parse(markdown):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and token.level > 2:
            tables[-1][-1].append("".join(_text(child) for child in token.children or ()))
    return tables


def _text(token: Token) -> str:
    return token.content if token.type in ("text", "code_inline", "text_special") else ""


@given(NAMES)
def test_whatever_a_test_is_called_stays_one_cell(nodeid: str) -> None:
    """Pipes, backticks, tags, mentions and links are text, and nothing else."""
    ((_, row),) = _tables(render_markdown(a_run(_over(nodeid))))

    assert [visible(nodeid).split(), "❌ over budget", "2 MiB", "1 MiB", "200%"] == [row[0].split(), *row[1:]]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_reason_stays_in_its_cell(reason: str) -> None:
    """A reason may hold anything that a library put into an error."""
    record = a_record(outcome=Outcome.NOT_MEASURED, uses=ram(None, MIB), reason=reason or "none")
    ((_, row),) = _tables(render_markdown(a_run(record)))

    assert len(row) == 5


@given(NAMES, st.text())
def test_failure_text_cannot_leave_its_block(nodeid: str, text: str) -> None:
    """However it is made up, what follows is still folded where it belongs."""
    markdown = render_markdown(a_run(_over(nodeid, text=text or "x"), a_record(uses=ram(1, 2))))

    assert markdown.count("<pre>") == markdown.count("</pre>") == 1
    assert markdown.count("<details>") == markdown.count("</details>") == 2


def test_plain_name_is_written_as_people_write_it() -> None:
    """The source is read as well, by those who have only a log."""
    assert "| `tests/test_a.py::test[1-x]` | ❌ over budget |" in render_markdown(
        a_run(_over("tests/test_a.py::test[1-x]"))
    )


def test_what_changed_stands_in_sight_and_the_rest_is_folded() -> None:
    """A reviewer reads the first table and is done."""
    changed = a_record(
        "b.py::test_grown", uses={Resource.RAM: Use(120, 1000, "memray", baseline_bytes=100, band_bytes=5)}
    )
    steady = a_record(
        "c.py::test_steady", uses={Resource.RAM: Use(100, 1000, "memray", baseline_bytes=100, band_bytes=5)}
    )
    plain = a_record("d.py::test_plain", outcome=None, uses=ram(None, rss_bytes=MIB))
    markdown = render_markdown(a_run(steady, plain, changed, _over("a.py::test_over")))
    in_sight, folded, unbudgeted = _tables(markdown)

    assert [row[0] for row in in_sight] == ["Test", "a.py::test_over", "b.py::test_grown"]
    assert [row[0] for row in folded] == ["Test", "c.py::test_steady"]
    assert unbudgeted == [["Test", "Resident peak", "Heap peak"], ["d.py::test_plain", "1 MiB", "-"]]


def test_first_line_counts() -> None:
    """What stops the change is in bold."""
    lines = render_markdown(a_run(_over("a"), a_record("b", uses=ram(1, 2)), a_record("c", outcome=None, uses=ram(1))))

    assert lines.splitlines()[2] == (
        "**1 over budget**, 1 within (2 budgeted of 3 tests on `cpython-3.11-linux-x86_64`)"
    )


def test_run_without_budgets_says_so() -> None:
    """Nothing was judged, and it does not look as if it had been."""
    record = a_record(outcome=None, uses=ram(None, rss_bytes=MIB))

    assert "\n0 budgeted of 1 tests on `cpython-3.11-linux-x86_64`\n" in render_markdown(a_run(record))


def test_change_has_a_column_only_where_something_was_compared() -> None:
    """A column of dashes says nothing."""
    assert "Change" not in render_markdown(a_run(_over("a")))


def test_very_long_name_keeps_its_end() -> None:
    """4,000 characters of a parameter push everything else out of sight."""
    ((_, row),) = _tables(render_markdown(a_run(_over("a.py::test[" + "x" * 4000 + "-last]"))))

    assert row[0].startswith("…x")
    assert row[0].endswith("x-last]")
    assert len(row[0]) == MOST_NAME


def test_page_of_a_very_large_run_is_cut_and_says_so() -> None:
    """GitHub takes one MiB, or nothing at all."""
    failing = [_over(f"tests/test_{number % 50}.py::test_{number}", text="line\n" * 40) for number in range(3000)]
    quiet = [a_record(f"tests/test_quiet.py::test_{number}", uses=ram(1, 2)) for number in range(15_000)]
    markdown = render_markdown(a_run(*failing, *quiet))
    in_sight = _tables(markdown)[0]

    assert len(markdown.encode()) <= MOST_BYTES
    assert len(in_sight) == 3001
    assert markdown.endswith(
        "\nLeft out, as this page may hold 1 MiB: 15,000 tests and 202 failure texts. "
        "The JSON and HTML reports have them all.\n"
    )


@pytest.mark.parametrize("most_bytes", [0, 1024, 1100, 1500, 3000, 10_000, 100_000])
def test_page_never_exceeds_its_room(most_bytes: int) -> None:
    """Whatever others have written to the summary of the step."""
    records = [_over(f"tests/test_é.py::test_{number}", text="ü" * 300) for number in range(200)]
    markdown = render_markdown(a_run(*records, a_record(uses=ram(1, 2))), most_bytes)

    assert len(markdown.encode()) <= most_bytes
    assert markdown.count("<details>") == markdown.count("</details>")
