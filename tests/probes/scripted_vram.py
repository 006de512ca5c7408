"""A source of GPU figures that follows a test's script."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_membudget.core.vram import Levels
from pytest_membudget.probes.vram_source import Scope, VramError


@dataclass
class ScriptedSource:
    """Memory that the test moves; an exact one keeps a mark."""

    name: str = "script"
    exact: bool = True
    scope: Scope = "allocator"
    cannot_see: str = "nothing"
    levels: dict[str, int] = field(default_factory=lambda: {"gpu": 0})
    marks: dict[str, int] = field(default_factory=dict)
    reason: str | None = None
    failure: str | None = None
    closed: int = 0
    asked: int = 0

    def move(self, size: int, device: str = "gpu") -> None:
        """Take memory, or give it back."""
        self.levels[device] = self.levels.get(device, 0) + size
        self.marks[device] = max(self.marks.get(device, 0), self.levels[device])

    def unavailable(self) -> str | None:
        """Return the scripted reason."""
        return self.reason

    def reset(self) -> None:
        """Set the mark back."""
        self.marks = dict(self.levels)

    def in_use(self) -> Levels:
        """Return the present levels, or fail as the script says."""
        if self.failure:
            raise VramError(self.failure)
        self.asked += 1
        return dict(self.levels)

    def high_water(self) -> Levels:
        """Return the mark, if there is one."""
        return dict(self.marks) if self.exact else self.in_use()

    def close(self) -> None:
        """Count."""
        self.closed += 1
