"""From the markers on a test, and the defaults of the ini file, to its budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from pytest_membudget.core.budget import Budget, Declared, budget_of, nearest, read_marker
from pytest_membudget.core.errors import MarkerError
from pytest_membudget.core.resolution import check_arguments
from pytest_membudget.glue.limit_memory import read_limit_memory
from pytest_membudget.glue.marker_names import LIMIT_MEMORY, MARKER
from pytest_membudget.glue.options import Settings

NAME = pytest.StashKey[str]()


def read_budget(item: pytest.Item, settings: Settings) -> Budget:
    """Return what the test may use: the nearest declaration wins, resource by resource.

    Raises
    ------
    MarkerError
        The first thing that is wrong with what applies to this test.
    """
    declared = nearest(_declarations(item, settings))
    budget = budget_of(declared)
    if not budget and not settings.measure_all and any(mark.name == MARKER for mark in item.own_markers):
        where = next(iter(declared.values())).where
        raise MarkerError(
            f"membudget marker {where}: it sets {' and '.join(declared)} but gives no budget, and nothing else does: "
            'give one, as in membudget("64MiB", scope="test")'
        )
    check_arguments(budget, argument_names(item))
    return budget


def argument_names(item: pytest.Item) -> frozenset[str]:
    """Return the names of the test's parameters and fixtures."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return frozenset((*getattr(item, "fixturenames", ()), *parameters))


def arguments_of(item: pytest.Item) -> Mapping[str, object]:
    """Return the values of the test's parameters and fixtures, once it is set up."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return {**parameters, **getattr(item, "funcargs", {})}


def _declarations(item: pytest.Item, settings: Settings) -> Iterator[Mapping[str, Declared]]:
    for mark, where in _nearest_marks(item):
        if mark.name == MARKER:
            yield read_marker(mark.args, mark.kwargs, where)
        elif mark.name == LIMIT_MEMORY and settings.read_limit_memory:
            yield read_limit_memory(mark.args, mark.kwargs, where)
    path = (
        item.path.relative_to(item.config.rootpath).as_posix() if item.path.is_relative_to(item.config.rootpath) else ""
    )
    for default in settings.path_budgets:
        if default.matches(path):
            yield {"ram": Declared(default.size, f"of membudget_paths ({default.glob})")}
            break
    if settings.default_budget:
        yield {"ram": Declared(settings.default_budget.size, f"of {settings.default_budget.where}")}


def _nearest_marks(item: pytest.Item) -> Iterator[tuple[pytest.Mark, str]]:
    """Yield marks from the nearest to the furthest: pytest itself ranks a parameter's marks behind its function's."""
    own = list(getattr(getattr(item, "callspec", None), "marks", ()))
    place = _place(item)
    for mark in own:
        yield mark, f"on a parameter of {item.nodeid} ({place})"
    for mark in item.own_markers:
        if not any(mark is seen for seen in own):
            yield mark, f"on {item.nodeid} ({place})"
    for node in reversed(item.listchain()[:-1]):
        for mark in _by_class(node.own_markers, node):
            yield mark, f"on {_enclosing(node.nodeid, node)}"


def _by_class(marks: list[pytest.Mark], node: object) -> list[pytest.Mark]:
    """Put the marks of a class before those of its bases: pytest itself ranks them the other way round."""
    if not isinstance(node, pytest.Class) or len(marks) < 2:
        return marks
    depths: dict[int, int] = {}
    for depth, cls in enumerate(node.obj.__mro__):
        of_class = cls.__dict__.get("pytestmark", ())
        for mark in of_class if isinstance(of_class, list) else [of_class]:
            depths.setdefault(id(getattr(mark, "mark", mark)), depth)
    return sorted(marks, key=lambda mark: depths.get(id(mark), 0))


def _place(item: pytest.Item) -> str:
    file, line, _ = item.location
    return f"{file}:{line + 1}" if line is not None else file


def _enclosing(nodeid: str, node: object) -> str:
    """Name what encloses a test, with the line where a class begins."""
    if not isinstance(node, pytest.Class):
        return nodeid or "the session"
    if NAME not in node.stash:
        _, line, _ = node.reportinfo()
        file = node.nodeid.partition("::")[0]
        node.stash[NAME] = f"{node.nodeid} ({file}:{line + 1})" if line is not None else node.nodeid
    return node.stash[NAME]
