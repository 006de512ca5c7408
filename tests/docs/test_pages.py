"""Every page does what it says: its files are written, its commands run, and their output is what the page shows."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

CHECKOUT = Path(__file__).parents[2]
PAGES = [
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    *(page for page in sorted((CHECKOUT / "docs").rglob("*.md")) if "generated" not in page.parts),
]
FILE_LANGUAGES = ("python", "toml", "ini", "yaml")
FILE_NAME = re.compile(r"# (?P<name>[\w./-]+\.\w+)(?P<more> \(continued\))?\n")
MAKE_TARGET = re.compile(r"^([a-z]+):", re.MULTILINE)
# Commands that a page names and the tests do not run: they need a network, or run these very tests.
SETUP_COMMANDS = re.compile(r"(python3? -m )?pip install .+|git clone .+|cd [\w-]+|\.ci/run")
FAILURE = re.compile(r"\b(failed|errors?)\b", re.IGNORECASE)


@pytest.mark.skipif(find_spec("memray") is None, reason="the pages show figures of memray, which is not here")
@pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(CHECKOUT).as_posix()) for page in PAGES])
def test_page_is_true(page: Path, tmp_path: Path) -> None:
    """The blocks of a page, taken in order in an empty folder, do what the page says."""
    for fence in _fences(page):
        assert fence.map
        _play(fence, tmp_path, where=f"{page.name}:{fence.map[0] + 1}")


def _fences(page: Path) -> list[Token]:
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    return [token for token in tokens if token.type == "fence" and not token.info.startswith("{")]


def _play(fence: Token, folder: Path, where: str) -> None:
    if fence.info in FILE_LANGUAGES:
        _write_file(fence.content, folder, where)
    elif fence.info == "console":
        _run_transcript(fence.content, folder, where)
    elif fence.info == "shell":
        _check_setup(fence.content, where)
    elif fence.info == "json":
        json.loads(fence.content)
    else:
        assert fence.info == "text", f"{where}: nothing says what becomes of a block of {fence.info!r}"


def _write_file(content: str, folder: Path, where: str) -> None:
    named = FILE_NAME.match(content)
    assert named, f"{where}: the first line of the block must name its file, as in '# test_fit.py'"
    path = folder / named["name"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if named["more"] else "w", encoding="utf-8") as file:
        file.write(content if not named["more"] else content[named.end() :])


def _run_transcript(content: str, folder: Path, where: str) -> None:
    """Run each ``$ command``; what stands below it must be in its output, with ``...`` for what may differ."""
    assert content.startswith("$ "), f"{where}: a console block begins with '$ ' and a command"
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        status, printed = _run(command, folder)
        assert _stands_in(expected.strip(), printed), (
            f"{where}: expected\n{expected}\nbut '{command}' printed\n{printed}"
        )
        assert (status != 0) == bool(FAILURE.search(expected)), f"{where}: '{command}' ended with {status}:\n{printed}"


def _stands_in(expected: str, printed: str) -> bool:
    # A line of dots stands for any number of lines, also for none.
    wanted = re.sub(r"^\.\.\.\n", "...", expected, flags=re.MULTILINE)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(f"... {wanted} ...", f"| {printed} |", flags)


def _run(command: str, folder: Path) -> tuple[int, str]:
    deciding = ("PYTEST_", "COV_", "GITHUB_")
    pytest_free = {name: value for name, value in os.environ.items() if not name.startswith(deciding)}
    environment = pytest_free | {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "COLUMNS": "80",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Installed or not, the other plugin stays out of the way; and what is printed does not depend on earlier runs.
        "PYTEST_ADDOPTS": "-p no:memray -p no:cacheprovider -W ignore",
    }
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def _check_setup(content: str, where: str) -> None:
    targets = set(MAKE_TARGET.findall((CHECKOUT / "Makefile").read_text(encoding="utf-8")))
    for command in content.splitlines():
        made = re.fullmatch(r"make (\w+)( .+)?", command)
        known = made[1] in targets if made else SETUP_COMMANDS.fullmatch(command)
        assert known, f"{where}: {command!r} is no set-up command: put what can be run into a console block"
