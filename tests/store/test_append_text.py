"""Adding to a file that others write to as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_membudget.store.atomic_file import append_text


def test_text_comes_after_what_is_there(tmp_path: Path) -> None:
    """As UTF-8, with line breaks as they are."""
    path = tmp_path / "summary.md"
    path.write_bytes("é\n".encode())
    append_text(path, "ü\n")

    assert "é\nü\n".encode() == path.read_bytes()


def test_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    """The runner of a step may not have made it yet."""
    append_text(tmp_path / "summary.md", "x")

    assert (tmp_path / "summary.md").read_bytes() == b"x"


def test_folder_cannot_be_added_to(tmp_path: Path) -> None:
    """The caller says so in a sentence."""
    with pytest.raises(OSError, match="directory"):
        append_text(tmp_path, "x")
