"""The JSON of a run as Markdown tables, from its published schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

Schema = dict[str, Any]


def render() -> str:
    """Return a table for the document, for each object in it, and for each shared definition."""
    schema: Schema = json.loads((files("pytest_membudget.reports") / "run.schema.json").read_text(encoding="utf-8"))
    lines = [*_table("The document", schema)]
    for name, part in schema["properties"].items():
        if "properties" in part:
            lines += _table(f"`{name}`", part)
    for name, part in schema["$defs"].items():
        if "properties" in part:
            lines += _table(f"A {name}", part)
    return "\n".join(lines)


def _table(title: str, schema: Schema) -> Iterator[str]:
    yield from (f"## {title}", "", schema.get("description", ""), "", "| field | type | meaning |", "|---|---|---|")
    for name, part in schema["properties"].items():
        yield f"| `{name}` | {_type(part)} | {part.get('description', '')} |"
    yield ""


def _type(part: Schema) -> str:
    """Return the type as a reader says it."""
    if "$ref" in part:
        return str(part["$ref"].rpartition("/")[2])
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if "anyOf" in part:
        return " or ".join(map(_type, part["anyOf"]))
    if part.get("type") == "array" and part.get("items"):
        return f"list of {_type(part['items'])}"
    kinds = part.get("type", "anything")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
