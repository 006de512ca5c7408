"""The same tests, with pytest-memray's own marker, under pytest-memray and under pytest-membudget."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from textwrap import dedent

EIGHT_MB = "bytearray(8_000_000)"
CASES = {
    "a unittest method over its limit": f"""
        import unittest

        class TestCase(unittest.TestCase):
            @pytest.mark.limit_memory("1 MB")
            def test_case(self):
                {EIGHT_MB}
        """,
    "over its limit, and marked xfail(strict=True)": f"""
        @pytest.mark.xfail(strict=True)
        @pytest.mark.limit_memory("1 MB")
        def test_case():
            {EIGHT_MB}
        """,
    "over its class's limit, within its own": f"""
        @pytest.mark.limit_memory("1 MB")
        class TestCase:
            @pytest.mark.limit_memory("16 MB")
            def test_case(self):
                {EIGHT_MB}
        """,
    "over at the first attempt, within at the rerun": f"""
        attempts = []

        @pytest.mark.flaky(reruns=1)
        @pytest.mark.limit_memory("1 MB")
        def test_case():
            attempts.append(1)
            if len(attempts) == 1:
                {EIGHT_MB}
        """,
    "the main thread over its limit, then another thread by more": f"""
        import threading

        @pytest.mark.limit_memory("1 MB", current_thread_only=True)
        def test_case():
            {EIGHT_MB}
            other = threading.Thread(target=lambda: bytearray(16_000_000))
            other.start()
            other.join()
        """,
    'a limit of "10 MiB", which is no limit to pytest-memray': """
        @pytest.mark.limit_memory("10 MiB")
        def test_case():
            pass
        """,
    'a limit of "10 MBfoo"': """
        @pytest.mark.limit_memory("10 MBfoo")
        def test_case():
            pass
        """,
}
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=junit.xml"]
PLUGINS = {
    "pytest-memray": ["-p", "no:membudget"],
    "pytest-membudget": ["-p", "no:memray", "-o", "membudget_read_limit_memory=true"],
}


def outcome(case: str, options: list[str]) -> str:
    """Run one case in a process of its own and return what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_case.py").write_text("import pytest\n" + dedent(case), encoding="utf-8")
        done = subprocess.run([*PYTEST, *options], cwd=folder, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            return "the session crashes" if b"INTERNALERROR" in done.stdout + done.stderr else done.stderr.decode()
        return _outcome_in(ET.parse(Path(folder) / "junit.xml"))


def _outcome_in(report: ET.ElementTree) -> str:  # type: ignore[type-arg]  # not generic at run time
    found = report.findall(".//testcase")[-1]  # after a rerun: the last attempt
    for kind, became in (("error", "error"), ("failure", "failed")):
        if found.find(kind) is not None:
            return became
    skipped = found.find("skipped")
    return "passed" if skipped is None else str(skipped.get("type")).removeprefix("pytest.")


def main() -> None:
    """Print a line for each case."""
    print(f"{'test':<62}" + "".join(f"{name:<21}" for name in PLUGINS))
    for title, case in CASES.items():
        print(f"{title:<62}" + "".join(f"{outcome(case, options):<21}" for options in PLUGINS.values()))


if __name__ == "__main__":
    main()
