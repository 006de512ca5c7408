"""The README's picture: a real run of the two tests of the tutorial, drawn as a terminal would show it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 96
QUIET = ("--no-header", "-rN", "-W", "ignore", "-p", "no:memray", "-p", "no:cacheprovider")
PYTEST = (sys.executable, "-m", "pytest", *QUIET, "--color=yes", "--membudget-report")
FILES = {
    "nearest.py": '''import numpy as np


def nearest(points, centres):
    """Index of the centre closest to each point."""
    difference = points[:, None, :] - centres[None, :, :]
    return (difference**2).sum(axis=2).argmin(axis=1)


def nearest_lean(points, centres):
    """The same, one centre at a time."""
    closest = np.zeros(len(points), dtype=np.intp)
    least = np.full(len(points), np.inf)
    for k, centre in enumerate(centres):
        distance = ((points - centre) ** 2).sum(axis=1)
        closer = distance < least
        closest[closer], least[closer] = k, distance[closer]
    return closest
''',
    "test_nearest.py": """import numpy as np
import pytest
from nearest import nearest, nearest_lean

POINTS = np.random.default_rng(0).random((10_000, 32))


@pytest.mark.membudget("8MiB")
def test_broadcast():
    assert nearest(POINTS, POINTS[:32]).shape == (10_000,)


@pytest.mark.membudget("8MiB")
def test_one_centre_at_a_time():
    assert nearest_lean(POINTS, POINTS[:32]).shape == (10_000,)


def test_shuffled():
    assert np.random.default_rng(1).permutation(np.tile(POINTS, 8)).max() < 1
""",
}


def printed_by_pytest() -> str:
    """Run the tests and return what pytest printed, colours included."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        environment = os.environ | {"COLUMNS": str(COLUMNS), "PYTHONUTF8": "1"}
        done = subprocess.run(
            PYTEST, cwd=folder, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=False
        )
    return done.stdout


def main() -> None:
    """Write the picture to the path on the command line."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print("[bold]$[/] pytest --membudget-report")
    console.print(Text.from_ansi(printed_by_pytest().rstrip()))
    drawn = console.export_svg(title="pytest-membudget")
    # No font is fetched from elsewhere: each reader's own monospaced one will do.
    Path(sys.argv[1]).write_text(re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
