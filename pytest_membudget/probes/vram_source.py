"""What a source of GPU memory figures is: the door through which torch, NVML and others come in."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from pytest_membudget.core.vram import Levels

Scope = Literal["allocator", "process", "device"]


class VramError(Exception):
    """A source cannot give its figure; the message is a reason for the user."""


@runtime_checkable
class VramSource(Protocol):
    """Tells how many bytes are in use on each GPU, and how many were at most.

    A source must not import a framework, create a GPU context or allocate GPU memory. Levels name devices as a user
    would; a device that is left out has nothing in use. Any exception becomes the reason why there is no figure.

    Attributes
    ----------
    name
        What stands beside the figure, and what ``--membudget-vram-source`` takes.
    exact
        Whether ``high_water`` is a mark that the allocator keeps. If not, it is sampled, and returns the present level.
    scope
        Whose memory it counts: an ``"allocator"``'s, the ``"process"``'s and its descendants', or the ``"device"``'s.
    cannot_see
        What it misses, as a phrase that completes "it does not see ...".
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def exact(self) -> bool: ...  # noqa: D102
    @property
    def scope(self) -> Scope: ...  # noqa: D102
    @property
    def cannot_see(self) -> str: ...  # noqa: D102

    def unavailable(self) -> str | None:
        """Return why it cannot serve at this moment, or None; asked when a stretch begins and again when it ends."""

    def reset(self) -> None:
        """Set the mark back to the present level; does nothing if it is not available."""

    def in_use(self) -> Levels:
        """Return the bytes in use now."""

    def high_water(self) -> Levels:
        """Return the most bytes in use since ``reset``; a source that is sampled returns the present level."""

    def close(self) -> None:
        """Undo what ``reset`` set up; called when the outermost stretch has ended."""
