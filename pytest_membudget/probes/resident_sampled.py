"""The resident set's peak where the kernel keeps none: sampled from a thread, so a lower bound."""

from __future__ import annotations

import threading
from collections.abc import Callable

INTERVAL_SECONDS = 0.005


class SampledHighWater:
    """Samples the resident set of this process with psutil between ``reset`` and ``close``."""

    source = "psutil"
    exact = False

    def __init__(self, read_bytes: Callable[[], int] | None = None) -> None:
        self._read_bytes = read_bytes or _resident_bytes()
        self._peak_bytes = 0
        # Held while a sample is taken and entered, or one taken before a reset could be entered after it.
        self._sampling = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def prepare(self) -> None:
        """See to it that a thread samples."""
        if self._thread is None:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._sample, name="membudget resident-set sampler", daemon=True)
            self._thread.start()

    def reset(self) -> int:
        """Set the mark to the present resident set, see to it that a thread samples, and return the mark in bytes."""
        self.prepare()
        with self._sampling:
            self._peak_bytes = start_bytes = self._read_bytes()
        return start_bytes

    def high_water_bytes(self) -> int:
        """Return the highest sample since the last reset, in bytes; one is taken now.

        Raises
        ------
        OSError
            When the sampling thread has died, so that a peak may have gone unseen.
        """
        if self._thread is not None and not self._thread.is_alive():
            raise OSError("the thread that samples the resident set has died")
        self._take_sample()
        return self._peak_bytes

    def close(self) -> None:
        """Stop sampling."""
        if self._thread is not None:
            self._stopped.set()
            self._thread.join()
            self._thread = None

    def _sample(self) -> None:
        try:
            while not self._stopped.wait(INTERVAL_SECONDS):
                self._take_sample()
        except (SystemExit, OSError):
            return  # and ``high_water_bytes`` finds out

    def _take_sample(self) -> None:
        with self._sampling:
            self._peak_bytes = max(self._peak_bytes, self._read_bytes())


def _resident_bytes() -> Callable[[], int]:
    import psutil

    process = psutil.Process()
    return lambda: int(process.memory_info().rss)
