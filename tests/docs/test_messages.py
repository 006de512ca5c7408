"""Every sentence that the plugin can say has its place in the reference, and the reference invents none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest_membudget

CHECKOUT = Path(__file__).parents[2]
MESSAGES = CHECKOUT / "docs" / "reference" / "messages.md"
PACKAGE = Path(pytest_membudget.__file__).parent
ERRORS = {"MarkerError", "SizeError", "OptionError", "BaselineError", "CaptureError", "NotMeasuredError", "OSError"}
SENTENCE_TAKERS = ERRORS | {"Unavailable"}
GAP = "…"
LEAST_WORDS = 2


def test_every_sentence_is_explained() -> None:
    """What an error or a reason can say stands in the reference, word for word."""
    said = {sentence for module in _modules() for sentence in _sentences(module)}

    assert sorted(said - set(_documented())) == [], f"to be explained in {MESSAGES.relative_to(CHECKOUT)}"


def test_no_sentence_is_invented() -> None:
    """The fixed parts of each sentence in the reference stand in the package."""
    literals = "\0".join(text for module in _modules() for text in _literals(module))

    invented = [sentence for sentence in _documented() if not all(part in literals for part in _fixed_parts(sentence))]

    assert invented == []


def _documented() -> list[str]:
    return re.findall(r"^`(.+)`\n: ", MESSAGES.read_text(encoding="utf-8"), flags=re.MULTILINE)


def _fixed_parts(sentence: str) -> list[str]:
    return [part for part in sentence.split(GAP) if len(re.findall(r"\w+", part)) >= LEAST_WORDS]


def _modules() -> Iterator[ast.Module]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if "suite" not in path.relative_to(PACKAGE).parts:
            yield ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def _literals(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, (ast.JoinedStr, ast.Constant)) and (texts := _texts(node, _constants(module))):
            yield texts[0]


def _sentences(module: ast.Module) -> Iterator[str]:
    constants = _constants(module)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node.args and _name(node.func) in SENTENCE_TAKERS:
            yield from filter(_fixed_parts, _texts(node.args[0], constants))


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _constants(module: ast.Module) -> dict[str, str]:
    return {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _texts(node: ast.expr, constants: dict[str, str]) -> list[str]:
    """Return what an expression can read as, with a gap for each part that is known at run time only."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.Name) and node.id in constants:
        return [constants[node.id]]
    if isinstance(node, ast.IfExp):
        return _texts(node.body, constants) + _texts(node.orelse, constants)
    if isinstance(node, ast.JoinedStr):
        return ["".join(_piece(part, constants) for part in node.values)]
    return []


def _piece(part: ast.expr, constants: dict[str, str]) -> str:
    value = part.value if isinstance(part, ast.FormattedValue) else part
    return next(iter(_texts(value, constants)), GAP)
