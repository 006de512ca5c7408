"""Whose line it is."""

from __future__ import annotations

import pytest

from pytest_membudget.core.attribution import MOST_HARNESS_BYTES, NO_FRAME, CodeMap, Stack, sites_of
from pytest_membudget.core.measurement import Frame, Site

STDLIB = "/usr/lib/python3.11"
PACKAGES = f"{STDLIB}/site-packages"
MAP = CodeMap(
    root="/home/me/project",
    project=("/home/me/project/",),
    library=(STDLIB, PACKAGES),
    harness=(f"{PACKAGES}/_pytest/", f"{PACKAGES}/pluggy/", f"{STDLIB}/unittest/case.py"),
    own=(f"{PACKAGES}/pytest_membudget/probes/",),
)
MINE = ("fit", "/home/me/project/src/model.py", 12)
TEST = ("test_fit", "/home/me/project/tests/test_model.py", 5)
NUMPY = ("_sum", f"{PACKAGES}/numpy/_core/_methods.py", 52)
PYTEST = ("pytest_pyfunc_call", f"{PACKAGES}/_pytest/python.py", 160)
OWN = ("stop", f"{PACKAGES}/pytest_membudget/probes/heap_capture.py", 90)
FROZEN = ("_find_and_load", "<frozen importlib._bootstrap>", 1176)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/home/me/project/src/model.py", True),
        (f"{PACKAGES}/numpy/__init__.py", False),
        (f"{STDLIB}/json/decoder.py", False),
        (f"{PACKAGES}/_pytest/python.py", False),
        ("/home/me/elsewhere/module.py", True),
        ("relative.py", True),
        ("<frozen importlib._bootstrap>", False),
        ("<string>", False),
    ],
)
def test_whose_file(file: str, expected: bool) -> None:
    """The user's: what lies in the project, and whatever no library lays claim to."""
    assert MAP.is_project(file) is expected


def test_longest_prefix_wins() -> None:
    """A virtual environment inside the project is a library; a project inside site-packages is a project."""
    nested = CodeMap("/p", project=("/p/", "/p/.venv/lib/suite/"), library=("/p/.venv/lib",), harness=("/p/run.py",))

    assert nested.is_project("/p/src/a.py")
    assert not nested.is_project("/p/.venv/lib/numpy/a.py")
    assert nested.is_project("/p/.venv/lib/suite/a.py")
    assert not nested.is_project("/p/run.py")


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/home/me/project/src/model.py", "src/model.py"),
        (f"{PACKAGES}/numpy/_core/_methods.py", "numpy/_core/_methods.py"),
        (f"{STDLIB}/json/decoder.py", "json/decoder.py"),
        ("/opt/other.py", "/opt/other.py"),
        ("/home/me/project2/a.py", "/home/me/project2/a.py"),
        ("<string>", "<string>"),
    ],
)
def test_shortened_path(file: str, expected: str) -> None:
    """As a reader of the project would write it."""
    assert MAP.shorten(file) == expected


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ((OWN, MINE, TEST), float("inf")),
        ((NUMPY, OWN), float("inf")),
        ((PYTEST,), MOST_HARNESS_BYTES),
        ((FROZEN, PYTEST), MOST_HARNESS_BYTES),
        ((), MOST_HARNESS_BYTES),
        ((PYTEST, TEST), 0),
        ((NUMPY, PYTEST), 0),
    ],
)
def test_bookkeeping(stack: Stack, expected: float) -> None:
    """All that is under the plugin's own frames, and a little of what the runner alone asked for; never a test's."""
    assert MAP.bookkeeping_bytes(stack) == expected


def test_most_recent_project_line_is_blamed() -> None:
    """A library allocated, but on behalf of the line that called it; the test that called that is not to blame."""
    assert sites_of([(500, (NUMPY, MINE, TEST))], MAP) == (
        Site(500, Frame(MINE[1], 12, "fit"), via=Frame(NUMPY[1], 52, "_sum")),
    )


def test_line_that_allocated_by_itself_has_no_via() -> None:
    """There is nobody in between."""
    assert sites_of([(500, (MINE, TEST))], MAP) == (Site(500, Frame(MINE[1], 12, "fit")),)


def test_same_line_is_summed_and_the_largest_share_names_the_via() -> None:
    """One line of the report per line of code, however many ways led from it."""
    concat = ("concatenate", f"{PACKAGES}/numpy/_core/multiarray.py", 9)

    (site,) = sites_of([(300, (NUMPY, MINE)), (250, (concat, MINE)), (250, (concat, MINE)), (1, (MINE,))], MAP)

    assert site.bytes == 801
    assert site.via == Frame(concat[1], 9, "concatenate")


def test_stack_without_project_lines() -> None:
    """The innermost frame stands for it."""
    assert sites_of([(9, (NUMPY, PYTEST))], MAP) == (Site(9, Frame(NUMPY[1], 52, "_sum")),)


def test_stack_without_frames() -> None:
    """A thread of native code has no Python line at all, and says so."""
    assert sites_of([(9, ())], MAP) == (Site(9, NO_FRAME),)
    assert (NO_FRAME.file, NO_FRAME.function) == ("<native code>", "no Python frame")


def test_project_lines_come_first_and_the_biggest_first_among_them() -> None:
    """A reader can act on those; equal sizes are in the order of their places."""
    live = [
        (900, (NUMPY,)),
        (100, (TEST,)),
        (200, (MINE,)),
        (100, (("a", "/home/me/project/src/a.py", 3),)),
        (100, (("a", "/home/me/project/src/a.py", 2),)),
    ]

    assert [(site.bytes, site.file.rpartition("/")[2], site.line) for site in sites_of(live, MAP)] == [
        (200, "model.py", 12),
        (100, "a.py", 2),
        (100, "a.py", 3),
        (100, "test_model.py", 5),
        (900, "_methods.py", 52),
    ]


def test_nothing_live_has_no_sites() -> None:
    """A peak of no bytes blames nobody."""
    assert sites_of([], MAP) == ()
