"""NVML as one process has opened it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from pytest_membudget.probes.nvml_errors import NvmlError, nvml_error


class NvmlSession:
    """Opens NVML when it is first asked for, and closes what it opened.

    What a parent opened is of no use after a fork, so the session belongs to a process id: a child opens its own. A
    failure to open is remembered for as long as the process lives, and costs the next test nothing.
    """

    def __init__(self) -> None:
        self._pid = 0
        self._pynvml: Any = None
        self._failure: NvmlError | None = None

    @property
    def generation(self) -> int:
        """Changes when handles of earlier calls have become useless."""
        return self._pid

    def unavailable(self) -> str | None:
        """Return why NVML cannot be used, or None."""
        if self._pid != os.getpid():
            self._open()
        return str(self._failure) if self._failure else None

    def call(self, name: str, *arguments: object) -> Any:
        """Return what pynvml's function of that name returns.

        Raises
        ------
        NvmlError
            Whatever goes wrong, in words.
        """
        if self.unavailable():
            assert self._failure is not None
            raise self._failure
        return _translated(lambda: getattr(self._pynvml, name)(*arguments))

    def constant(self, name: str) -> Any:
        """Return one of pynvml's constants; NVML is open."""
        return getattr(self._pynvml, name)

    def close(self) -> None:
        """Shut NVML down if this process opened it; others who opened it too keep it."""
        if self._pynvml is not None and self._pid == os.getpid():
            with contextlib.suppress(NvmlError):
                _translated(self._pynvml.nvmlShutdown)
        self._pid, self._pynvml, self._failure = 0, None, None

    def _open(self) -> None:
        self._pid, self._pynvml, self._failure = os.getpid(), None, None
        try:
            import pynvml
        except ImportError:
            self._failure = NvmlError("the package nvidia-ml-py is not installed")
            return
        try:
            _translated(pynvml.nvmlInit)
        except NvmlError as error:
            self._failure = error
        else:
            self._pynvml = pynvml


def _translated(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # NVMLLibraryMismatchError shares no base class with NVMLError
        raise nvml_error(error) from None
