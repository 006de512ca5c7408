"""A process that has collected everything and run nothing, from which one is forked for each isolated test.

What a test finds when it starts is then the same, whatever ran before it and in whatever order: no module, cache, pool
or thread of another test. The zygote does nothing but fork and wait, so it stays as it was.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from pytest_membudget.core.isolation import Ending
from pytest_membudget.glue.forked import Order
from pytest_membudget.glue.process_end import Watch

# For a test that was interrupted from the keyboard to tear its fixtures down.
GRACE_SECONDS = 5.0


class Zygote:
    """The zygote, as the process that runs the session sees it."""

    def __init__(self, prepare: Callable[[], None], run: Callable[[Order], None]) -> None:
        """Fork it; ``prepare`` is called in it once, and ``run`` in a process of its own for each order."""
        self._connection, other_end = Pipe()
        _flush()
        with warnings.catch_warnings():
            # The threads that are running were found harmless; Python warns of any.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            self._connection.close()
            _live(other_end, prepare, run)
        other_end.close()

    def run(self, order: Order) -> Ending | None:
        """Run a test and wait; None when the zygote itself has died."""
        _flush()
        try:
            self._connection.send(order)
            ending: Ending = self._connection.recv()
        except (EOFError, OSError):
            return None
        except KeyboardInterrupt:
            self._connection.poll(GRACE_SECONDS)
            raise
        return ending

    def close(self) -> None:
        """End it, and the test that may still be running."""
        self._connection.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _live(connection: Connection, prepare: Callable[[], None], run: Callable[[Order], None]) -> None:
    """Serve until the other side hangs up. Never returns."""
    try:
        # Whoever interrupts the session interrupts the test; the zygote ends when it is told to.
        on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
        prepare()
        _serve(connection, run, on_interrupt)
    except BaseException:  # noqa: BLE001  # what a forked process raises must never reach the session's own code
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _serve(connection: Connection, run: Callable[[Order], None], on_interrupt: signal._HANDLER) -> None:
    while True:
        try:
            order: Order = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        watch = Watch()
        pid = os.fork()
        if pid == 0:
            connection.close()
            signal.signal(signal.SIGINT, on_interrupt)
            run(order)
            _flush()
            os._exit(0)
        overdue = _wait_for(pid, connection, order.most_seconds)
        connection.send(watch.reaped(pid, overdue))


def _wait_for(pid: int, connection: Connection, most_seconds: float | None) -> bool:
    """Wait for the process to end; kill it when its time is up or nobody waits any more. Return whether it was late."""
    process = os.pidfd_open(pid)
    try:
        ready = wait([connection, process], most_seconds)
        if process not in ready:
            os.kill(pid, signal.SIGKILL)
        return not ready
    finally:
        os.close(process)


def _flush() -> None:
    """Write out what a forked process would otherwise write out a second time."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
