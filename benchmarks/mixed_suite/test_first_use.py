"""Modules that are imported when a test first needs them."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.membudget("1GiB", isolate=True)


def test_tables() -> None:
    """A module of the project."""
    import lookup_tables

    assert lookup_tables.SQUARES[3] == 9


def test_tables_in_another_test() -> None:
    """The same module: a test before this one must not have paid for it."""
    import lookup_tables

    assert lookup_tables.NAMES["name-3"] == 3


def test_xml() -> None:
    """A package of the standard library, some of it in C."""
    from xml.etree import ElementTree as ET

    root = ET.Element("root")
    for number in range(5_000):
        ET.SubElement(root, "child", {"n": str(number)})
    assert len(ET.fromstring(ET.tostring(root))) == 5_000


def test_fft() -> None:
    """A part of numpy, which imports it on demand."""
    assert np.fft.rfft(np.arange(1 << 20, dtype=float)).size == (1 << 19) + 1
