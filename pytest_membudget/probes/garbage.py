"""Collecting garbage before and after a measured stretch, at a price that does not grow with the process."""

from __future__ import annotations

import gc


class Collector:
    """Full collections of everything that was created since the first of them.

    The first collection walks the whole heap once and then moves what survived (modules, collected tests, the runner
    itself) out of the collector's sight with ``gc.freeze``. Later ones look at younger objects only, so they cost
    microseconds where they would cost tens of milliseconds in a process that has numpy, torch and ten thousand tests
    loaded. It also makes the collector's own schedule inside a test independent of how large the process was.
    """

    def __init__(self, freeze: bool = True) -> None:
        self._freeze = freeze
        self._frozen = False

    def collect(self) -> None:
        """Collect all garbage among the objects that are not frozen."""
        gc.collect()
        if self._freeze and not self._frozen:
            gc.freeze()
            self._frozen = True

    def close(self) -> None:
        """Give the frozen objects back to the collector."""
        if self._frozen:
            gc.unfreeze()
            self._frozen = False
