"""The JSON of a run, against the schema that the package publishes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_membudget.core.measurement import Frame, Resource, Unavailable
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.reports.json_report import FORMAT, render_json
from tests.core.test_record import RECORDS
from tests.fakes import ENVIRONMENT, MIB, a_record, a_run, a_site, ram

Json = Any
SCHEMA: dict[str, Json] = json.loads((files("pytest_membudget.reports") / "run.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

OVER = a_record(
    "tests/test_vq.py::test_assign[naïve]",
    Outcome.OVER_BUDGET,
    {**ram(2 * MIB, MIB, 3 * MIB), Resource.RETAINED: Use(10, 20, "memray")},
    sites=(a_site(MIB, via=Frame("numpy/_core/_methods.py", 52, "_sum")), a_site()),
    worker="gw1",
    test_outcome="failed",
)
UNMEASURED = a_record(
    "tests/test_gpu.py::test_fit",
    Outcome.NOT_MEASURED,
    {Resource.VRAM: Use(None, MIB)},
    reason=Unavailable("GPU memory is not measured yet by this version").reason,
)
PLAIN = a_record("tests/test_a.py::test_a", None, {Resource.RSS: Use(MIB, None, "vmhwm")})
RUN = a_run(OVER, UNMEASURED, PLAIN)


def document(run: RunReport = RUN) -> dict[str, Json]:
    """What a reader of the file gets."""
    read: dict[str, Json] = json.loads(render_json(run))
    return read


def problems(candidate: Json) -> list[str]:
    """What the schema has against a document."""
    return [error.message for error in VALIDATOR.iter_errors(candidate)]


def test_schema_is_one() -> None:
    """It keeps to the rules of JSON Schema itself."""
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["format"]["const"] == FORMAT


def _parts(schema: Json, path: str = "") -> Iterator[tuple[str, dict[str, Json]]]:
    if isinstance(schema, dict):
        yield path, schema
        for key, part in schema.items():
            yield from _parts(part, f"{path}/{key}")


def test_every_field_is_described() -> None:
    """The schema is the documentation of the file."""
    fields = [
        (f"{path}/{name}", field)
        for path, part in _parts(SCHEMA)
        if "/if" not in path and "/then" not in path
        for name, field in part.get("properties", {}).items()
        if isinstance(field, dict)
    ]

    assert [name for name, field in fields if not field.get("description", "").endswith(".")] == []
    assert len(fields) > 40


def test_every_object_is_closed() -> None:
    """A key that the schema does not know is an error, and one that it knows must be there."""
    objects = [(path, part) for path, part in _parts(SCHEMA) if part.get("type") == "object"]

    assert [path for path, part in objects if part.get("additionalProperties") is not False] == []
    assert [path for path, part in objects if set(part["required"]) != set(part["properties"])] == ["/properties/tool"]


def test_a_run_keeps_to_the_schema() -> None:
    """Over budget, not measured, without a budget."""
    assert problems(document()) == []


def test_an_empty_run_keeps_to_the_schema() -> None:
    """Nothing ran, and outside a git checkout at that."""
    run = RunReport((), ENVIRONMENT.__class__("key", 1, 1, None, {"pytest": "9"}))

    assert problems(document(run)) == []


@given(st.lists(RECORDS, max_size=3).map(tuple))
def test_any_run_keeps_to_the_schema(records: tuple[TestRecord, ...]) -> None:
    """Whatever the figures; only a missing reason is the record's own fault."""
    unreasoned = (Outcome.NOT_MEASURED, Outcome.NO_BASELINE)
    run = a_run(*(record for record in records if record.reason or record.outcome not in unreasoned))

    assert problems(document(run)) == []


def test_the_whole_document() -> None:
    """Word for word, but for the tests themselves, whose shape is the record's."""
    found = document()
    tests = found.pop("tests")

    assert found == {
        "format": 1,
        "tool": {"pytest-membudget": "0.1.0", "pytest": "8.2.0", "memray": "1.20.0"},
        "environment": {
            "key": "cpython-3.11-linux-x86_64",
            "cpu_count": 2,
            "total_ram_bytes": 16 * 1024 * MIB,
            "commit": "3f2c1ab0c5d2e8f1a7b9d4c6e0f3a2b1c8d7e6f5",
            "devices": [],
        },
        "totals": {
            "tests": 3,
            "budgeted": 2,
            "over_budget": 1,
            "regressed": 0,
            "no_baseline": 0,
            "not_measured": 1,
        },
    }
    assert [test["nodeid"] for test in tests] == [PLAIN.nodeid, UNMEASURED.nodeid, OVER.nodeid]
    assert tests[0]["ram"] is None


def test_sorted_by_node_id_and_worker() -> None:
    """Two files of the same run differ in figures only."""
    run = a_run(a_record("b"), a_record("a", worker="gw1"), a_record("a", worker="gw0"))

    assert [(test["nodeid"], test["worker"]) for test in document(run)["tests"]] == [
        ("a", "gw0"),
        ("a", "gw1"),
        ("b", None),
    ]


def test_text_ends_in_a_newline_and_keeps_its_letters() -> None:
    """A file that people and their tools can look at."""
    text = render_json(RUN)

    assert text.endswith("}\n")
    assert "naïve" in text


def test_node_id_that_is_no_valid_text() -> None:
    """A file name in another encoding still ends up in a file of UTF-8, and comes back as it was."""
    nodeid = "tests/test_\udce9.py::test_a"
    text = render_json(a_run(a_record(nodeid)))

    assert json.loads(text.encode("utf-8"))["tests"][0]["nodeid"] == nodeid


def _objects(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from _objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _objects(inner, (*path, index))


def _at(value: Json, path: tuple[str | int, ...]) -> Json:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("path", list(_objects(document())), ids=lambda path: "/".join(map(str, path)) or "run")
def test_unknown_and_missing_keys_are_refused(path: tuple[str | int, ...]) -> None:
    """In every object of a document."""
    surplus = document()
    _at(surplus, path)["surprise"] = 1
    assert problems(surplus)
    for key in _at(document(), path):
        lacking = document()
        del _at(lacking, path)[key]
        assert problems(lacking) or (path == ("tool",) and key != "pytest")


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("format",), 2),
        (("format",), "1"),
        (("tool", "pytest"), None),
        (("environment", "key"), ""),
        (("environment", "cpu_count"), 0),
        (("environment", "total_ram_bytes"), 1.5),
        (("environment", "devices"), [{}]),
        (("totals", "tests"), -1),
        (("totals", "budgeted"), True),
        (("tests",), {}),
        (("tests", 0, "nodeid"), ""),
        (("tests", 0, "outcome"), "PASSED"),
        (("tests", 0, "outcome"), "within"),
        (("tests", 0, "test_outcome"), "rerun"),
        (("tests", 0, "isolated"), 0),
        (("tests", 0, "rss", "peak_bytes"), -1),
        (("tests", 0, "rss", "peak_bytes"), "1 MiB"),
        (("tests", 0, "rss", "exact"), None),
        (("tests", 0, "seconds"), -0.1),
        (("tests", 0, "phases"), [1]),
        (("tests", 1, "reason"), None),
        (("tests", 2, "ram", "baseline_bytes"), -5),
        (("tests", 2, "ram", "peak_bytes"), 1e-3),
        (("tests", 2, "line"), 0),
        (("tests", 2, "text"), ""),
        (("tests", 2, "timeline"), [[0.0, -1, 5]]),
        (("tests", 2, "timeline"), [[0.0, 1]]),
        (("tests", 2, "ram", "may_miss_bytes"), None),
        (("tests", 2, "sites", 0, "line"), -1),
        (("tests", 2, "sites", 0, "via"), "numpy"),
        (("tests", 2, "sites", 1, "function"), ""),
    ],
)
def test_wrong_values_are_refused(path: tuple[str | int, ...], wrong: Json) -> None:
    """Of the wrong kind, out of range, or outside a closed set."""
    candidate = document()
    _at(candidate, path[:-1])[path[-1]] = wrong

    assert problems(candidate)


@pytest.mark.parametrize("change", [lambda _: [], lambda _: None, lambda _: "run", lambda run: [run]])
def test_other_documents_are_refused(change: Callable[[Json], Json]) -> None:
    """Whatever is no run at all."""
    assert problems(change(copy.deepcopy(document())))
