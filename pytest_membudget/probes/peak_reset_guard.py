"""Noticing that a test sets back the very mark that it is measured by."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from types import ModuleType
from typing import Any

Place = tuple[str, str]
"""The name of a module and of a function in it."""


class PeakResetGuard:
    """Calls ``before`` ahead of each call of one of several functions, in modules that are imported already."""

    def __init__(self, places: Sequence[Place], before: Callable[[], None]) -> None:
        self._places = places
        self._before = before
        self._originals: list[tuple[ModuleType, str, Any, Any]] = []
        self._ignoring = False

    def put_up(self) -> None:
        """Wrap the functions; those that are wrapped already, or not there, are left alone."""
        wrapped = {(module.__name__, name) for module, name, _, _ in self._originals}
        for module_name, name in self._places:
            module = sys.modules.get(module_name)
            original = getattr(module, name, None)
            if module is not None and original is not None and (module.__name__, name) not in wrapped:
                replacement = self._calling_before(original)
                setattr(module, name, replacement)
                self._originals.append((module, name, original, replacement))

    def take_down(self) -> None:
        """Put the functions back, unless somebody has put other ones in the place since."""
        for module, name, original, replacement in reversed(self._originals):
            if getattr(module, name, None) is replacement:
                setattr(module, name, original)
        self._originals.clear()

    @contextlib.contextmanager
    def ignored(self) -> Iterator[None]:
        """Let calls inside the ``with`` block pass unnoticed."""
        self._ignoring = True
        try:
            yield
        finally:
            self._ignoring = False

    def _calling_before(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def with_notice(*args: Any, **kwargs: Any) -> Any:
            if not self._ignoring:
                self._before()
            return original(*args, **kwargs)

        return with_notice
