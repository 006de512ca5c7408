"""The direction in which the parts know each other, as the contracts in pyproject.toml have it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONTRACTS = (
    "plugin, cli > glue > reports, probes, store > core",
    "core is pure",
    "only glue and plugin know pytest",
    "the suite is a guest: it uses the plugin as anybody would, and nobody uses it",
    "nobody imports the suite",
    "the console script reads and writes files: it neither measures nor runs tests",
)


def lint_imports(folder: Path) -> tuple[int, str]:
    """Run import-linter over the package in a folder; return its exit status and what it printed."""
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from importlinter.cli import lint_imports_command as c; c()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "COLUMNS": "200", "PYTHONUTF8": "1"},
    )
    return done.returncode, done.stdout + done.stderr


def test_contracts_are_kept() -> None:
    """All of them, by name: a contract that is gone from the file is missed."""
    status, printed = lint_imports(ROOT)

    assert status == 0, printed
    assert [contract for contract in CONTRACTS if f"{contract} KEPT" not in printed] == []
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in printed


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("core/sizes.py", "import pytest", CONTRACTS[1]),
        ("core/sizes.py", "import os", CONTRACTS[1]),
        ("core/sizes.py", "from pytest_membudget.probes import machine", CONTRACTS[0]),
        ("reports/terminal.py", "from pytest_membudget.probes import machine", CONTRACTS[0]),
        ("store/atomic_file.py", "from pytest_membudget.reports import terminal", CONTRACTS[0]),
        ("probes/machine.py", "import pytest", CONTRACTS[2]),
        ("probes/machine.py", "from pytest_membudget.suite import vq", CONTRACTS[4]),
        ("suite/vq.py", "from pytest_membudget.core import sizes", CONTRACTS[3]),
        ("cli.py", "from pytest_membudget.glue import options", CONTRACTS[5]),
        ("utils.py", "", CONTRACTS[0]),
        ("cli.py", "from pytest_membudget.probes import machine", CONTRACTS[5]),
    ],
)
def test_contracts_would_notice(tmp_path: Path, module: str, line: str, broken: str) -> None:
    """Each contract is broken by the import that it is there against."""
    shutil.copytree(ROOT / "pytest_membudget", tmp_path / "pytest_membudget", ignore=shutil.ignore_patterns("*.pyc"))
    with (tmp_path / "pytest_membudget" / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    status, printed = lint_imports(tmp_path)

    assert status == 1
    assert f"{broken} BROKEN" in printed


def test_no_private_parts_of_pytest() -> None:
    """Nothing under the package imports ``_pytest``: the public API is enough."""
    users = [path for path in (ROOT / "pytest_membudget").rglob("*.py") if "import _pytest" in path.read_text("utf-8")]
    users += [path for path in (ROOT / "pytest_membudget").rglob("*.py") if "from _pytest" in path.read_text("utf-8")]

    assert users == []
