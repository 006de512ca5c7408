"""A measured stretch of code inside a test, as the test sees it."""

from __future__ import annotations

from pytest_membudget.core.errors import NotMeasuredError
from pytest_membudget.core.measurement import Figure, Reading, Site, Unavailable

_OPEN = Unavailable("the region is still open: read its figures after the with block")


class Region:
    """What ``membudget.track()`` yields; its figures are there once the ``with`` block has ended.

    All sizes are bytes. A RAM or resident figure that could not be measured raises ``NotMeasuredError`` with the
    reason, so that an assertion on it can never pass by accident.
    """

    def __init__(self) -> None:
        self._ram: Figure = _OPEN
        self._left: Figure = _OPEN
        self._rss: Figure = _OPEN
        self._vram: Figure = _OPEN
        self.sites: tuple[Site, ...] = ()
        self.seconds: float = 0.0

    def settle(
        self, ram: Figure, left: Figure, rss: Figure, vram: Figure, sites: tuple[Site, ...], seconds: float
    ) -> None:
        """Take the figures; called once, when the block has ended."""
        self._ram, self._left, self._rss, self._vram = ram, left, rss, vram
        self.sites, self.seconds = sites, seconds

    @property
    def ram_peak_bytes(self) -> int:
        """High-water mark of the heap above its level at the start of the region."""
        return _bytes_of(self._ram)

    @property
    def ram_left_bytes(self) -> int:
        """Bytes allocated in the region and still held at its end, less what it released of earlier ones."""
        return _bytes_of(self._left)

    @property
    def rss_peak_bytes(self) -> int:
        """Growth of the resident peak above the resident set at the start of the region."""
        return _bytes_of(self._rss)

    @property
    def vram_peak_bytes(self) -> int | None:
        """Growth of GPU memory, or None with ``vram_reason`` saying why."""
        return self._vram.bytes if isinstance(self._vram, Reading) else None

    @property
    def vram_reason(self) -> str | None:
        """Why there is no GPU figure, if there is none."""
        return self._vram.reason if isinstance(self._vram, Unavailable) else None

    def __repr__(self) -> str:
        ram = self._ram.bytes if isinstance(self._ram, Reading) else self._ram.reason
        return f"<Region ram_peak_bytes={ram!r} seconds={self.seconds:.3f}>"


def _bytes_of(figure: Figure) -> int:
    if isinstance(figure, Unavailable):
        raise NotMeasuredError(f"not measured: {figure.reason}")
    return figure.bytes
