"""The tables of options in the docs are those of ``pytest --help``."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "scripts" / "options_table.py"


def test_all_of_help_is_in_the_tables(tmp_path: Path) -> None:
    """Each option and ini key that ``pytest --help`` lists has its row, and no row is of another."""
    command = [sys.executable, "-m", "pytest", "--help", "-p", "no:cacheprovider"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    listed = re.findall(r"^  (--(?:no-)?membudget[\w-]*|membudget\w*)", printed, flags=re.MULTILINE)

    tables = runpy.run_path(str(SCRIPT))["render"]()

    assert sorted(re.findall(r"^\| `([\w-]+)", tables, flags=re.MULTILINE)) == sorted(listed)
