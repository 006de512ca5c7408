"""Looking at descendants, and keeping the highest resident set of each."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from pytest_membudget.probes.child_processes import ChildProcess, ChildProcesses
from tests.own_interpreter import in_own_interpreter

MIB = 2**20
HOLDING = "import sys; held = b'x' * (40 * 2**20); print(flush=True); sys.stdin.read()"


def started(program: str = HOLDING) -> subprocess.Popen[str]:
    """A child that has said that it is ready."""
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def ended(child: subprocess.Popen[str]) -> None:
    """Let it end."""
    child.communicate()


def watched(work: Callable[[], object], ignored: set[int] | None = None) -> dict[int, ChildProcess]:
    """The children that were seen while a function ran."""
    processes = ChildProcesses(lambda: ignored or set())
    processes.start()
    work()
    return {child.pid: child for child in processes.stop()}


def test_child_that_is_there_at_the_end() -> None:
    """The last look sees it, however short the stretch."""
    children: list[subprocess.Popen[str]] = []
    seen = watched(lambda: children.append(started()))
    ended(children[0])

    child = seen[children[0].pid]
    assert 40 <= child.grown_bytes // MIB <= 100
    assert not child.is_fork


def test_child_that_was_there_before() -> None:
    """It counts as far as it grew."""
    child = started()
    seen = watched(lambda: time.sleep(0.03))
    ended(child)

    assert seen[child.pid].grown_bytes < 5 * MIB


def test_ignored() -> None:
    """The measuring's own processes are nobody's children."""
    child = started()
    seen = watched(lambda: None, ignored={child.pid})
    ended(child)

    assert child.pid not in seen


def test_thread_ends() -> None:
    """No thread is left."""
    before = threading.enumerate()
    watched(lambda: None)

    assert threading.enumerate() == before


def test_orphan_and_fork() -> None:
    """A grandchild whose parent has ended is still seen; a fork is told from another program."""
    assert in_own_interpreter(what_is_seen_of_an_orphan) == [True, True]


def what_is_seen_of_an_orphan() -> list[bool]:
    """Fork a child that forks a grandchild and ends; return whether the grandchild was seen to grow, and as a fork."""
    read, write = os.pipe()

    def two_generations() -> None:
        child = os.fork()
        if child == 0:
            grandchild = os.fork()
            if grandchild == 0:
                time.sleep(0.2)
                held = b"x" * (40 * MIB)
                os.write(write, b"ready")
                time.sleep(0.3)
                os._exit(len(held) % 2)
            os.write(write, f"{grandchild} ".encode())
            time.sleep(0.1)
            os._exit(0)
        os.waitpid(child, 0)
        text = b""
        while not text.endswith(b"ready"):
            text += os.read(read, 100)
        pids.append(int(text.split()[0]))

    pids: list[int] = []
    seen = watched(two_generations)
    grandchild = seen[pids[0]]
    return [grandchild.grown_bytes >= 40 * MIB, grandchild.is_fork]
