"""Adding child processes to a figure."""

from __future__ import annotations

from pytest_membudget.core.children import merged, with_children
from pytest_membudget.core.measurement import Frame, Reading, Site, Unavailable


def test_sum_of_peaks() -> None:
    """The figure is named as the bound that it is, with who was counted how."""
    found = with_children(Reading(10, "memray"), [20, 30], [5])

    assert found == Reading(
        65,
        "memray, with 2 forked children and the resident peak of 1 other child",
        exact=False,
        upper_bound=True,
    )
    assert found.by == "an upper bound by memray, with 2 forked children and the resident peak of 1 other child"


def test_no_children() -> None:
    """Then the figure is as exact as it was."""
    assert with_children(Reading(10, "memray"), []) == Reading(10, "memray")


def test_no_figure() -> None:
    """Children do not make up for the test's own."""
    assert with_children(Unavailable("why"), [20], [5]) == Unavailable("why")


def test_other_children_alone() -> None:
    """Several, without a fork."""
    found = with_children(Reading(0, "vmhwm"), [], [1, 2])

    assert isinstance(found, Reading)
    assert (found.bytes, found.source) == (3, "vmhwm, with the resident peak of 2 other children")


def test_sites_of_several_processes() -> None:
    """One line is one site, whoever ran it; the biggest comes first."""
    first, second = Frame("a.py", 1, "f"), Frame("b.py", 2, "g")

    assert merged([Site(5, first), Site(7, second), Site(4, first)]) == (Site(9, first), Site(7, second))
