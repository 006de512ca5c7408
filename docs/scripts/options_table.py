"""The options and ini keys as Markdown tables, from the very calls that register them with pytest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from pytest_membudget.glue.options import add_options


@dataclass
class Recorder:
    """Stands in for pytest's parser and keeps what it is told."""

    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    ini_keys: dict[str, str] = field(default_factory=dict)

    def getgroup(self, *_: object) -> Recorder:
        """Return the recorder itself: there is one group."""
        return self

    def addoption(self, name: str, *spellings: str, **settings: Any) -> None:
        """Keep an option, and the values that it has a spelling of its own for."""
        values = [spelling.removeprefix(f"{name}=") for spelling in spellings]
        self.options[f"{name}[={'|'.join(values)}]" if values else name] = settings

    def addini(self, name: str, text: str, **_: object) -> None:
        """Keep an ini key."""
        self.ini_keys[name] = text


def recorded() -> Recorder:
    """Return what the plugin registers."""
    recorder = Recorder()
    add_options(cast(pytest.Parser, recorder))
    return recorder


def render() -> str:
    """Return both tables."""
    found = recorded()
    options = [(_usage(name, settings), settings["help"] % {}) for name, settings in found.options.items()]
    ini_keys = [(f"`{name}`", text) for name, text in found.ini_keys.items()]
    lines = ["## On the command line", *_table("option", options), "## In the ini file", *_table("key", ini_keys)]
    return "\n".join(lines)


def _usage(name: str, settings: dict[str, Any]) -> str:
    metavar = settings.get("metavar")
    return f"`{name} {metavar}`" if metavar else f"`{name}`"


def _table(title: str, rows: list[tuple[str, str]]) -> list[str]:
    escaped = [(first.replace("|", r"\|"), second.replace("|", r"\|")) for first, second in rows]
    return ["", f"| {title} | meaning |", "|---|---|", *(f"| {first} | {second} |" for first, second in escaped), ""]
