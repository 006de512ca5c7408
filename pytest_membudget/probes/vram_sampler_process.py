"""Sampling GPU memory from a process of its own, which goes on while the test holds the GIL.

Run as a program it is that process: commands come in as lines of JSON, answers go out the same way, and the end of the
input ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from pytest_membudget.core.vram import Cadence
from pytest_membudget.probes.nvml_devices import NvmlDevices
from pytest_membudget.probes.nvml_session import NvmlSession
from pytest_membudget.probes.vram_attempt import attempt
from pytest_membudget.probes.vram_nvml_device import NvmlDeviceSource
from pytest_membudget.probes.vram_nvml_process import NvmlProcessSource
from pytest_membudget.probes.vram_sampler import Samples, ThreadSampler
from pytest_membudget.probes.vram_source import VramSource

SERVED = (NvmlProcessSource.name, NvmlDeviceSource.name)
DIED = "the process that samples GPU memory has ended"
_ENVIRONMENT = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
_CLOSE_SECONDS = 5


class SamplingProcess:
    """The process, started when it is first needed and kept for the tests that follow."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._inherited: subprocess.Popen[str] | None = None
        self._owner = 0

    @property
    def pid(self) -> int | None:
        """Its process id, if it runs."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """See to it that the process runs.

        Raises
        ------
        OSError
            It cannot be started.
        """
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is not None:
            self.close()
        if self._process is None or self._owner != os.getpid():
            self._inherited = self._process  # a parent's: if it were let go, Python would complain that it still runs
            self._owner = os.getpid()
            self._process = _started()

    def ask(self, command: str, **arguments: object) -> Any:
        """Return the answer to a command.

        Raises
        ------
        OSError
            The process has ended.
        """
        process = self._process
        if process is None:
            raise OSError(DIED)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise OSError(DIED)
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # what was not written yet has nobody to read it
                if pipe is not None:
                    pipe.close()
        try:
            process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _started() -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


class ProcessSampler:
    """Asks the other process for samples."""

    def __init__(self, sources: Iterable[str], interval_seconds: float, process: SamplingProcess) -> None:
        self._sources = tuple(sources)
        self._interval_seconds = interval_seconds
        self._process = process

    def start(self) -> None:
        """Begin; a failure is what ``drain`` and ``stop`` will say."""
        with contextlib.suppress(OSError):
            self._process.start()
        self._ask(
            "start",
            sources=self._sources,
            interval_seconds=self._interval_seconds,
            pid=os.getpid(),
            environment={name: os.environ.get(name) for name in _ENVIRONMENT},
        )

    def drain(self) -> Samples:
        """Return what was seen since the last call."""
        return self._ask("drain")

    def stop(self) -> Samples:
        """End."""
        return self._ask("stop")

    def _ask(self, command: str, **arguments: object) -> Samples:
        try:
            answer = self._process.ask(command, **arguments)
        except (OSError, ValueError):
            return Samples(failures=dict.fromkeys(self._sources, DIED))
        return Samples(answer["peaks"], answer["failures"], Cadence(answer["samples"], answer["longest_gap_seconds"]))


def serve(commands: TextIO, answers: TextIO) -> None:
    """Be the sampling process until the commands end."""
    session = NvmlSession()
    sampler: ThreadSampler | None = None
    for line in commands:
        request = json.loads(line)
        if request["command"] == "start":
            sampler = _new_sampler(session, request)
            sampler.start()
            samples = Samples()
        else:
            assert sampler is not None
            samples = sampler.drain() if request["command"] == "drain" else sampler.stop()
        answers.write(json.dumps(_plain(samples)) + "\n")
        answers.flush()
    session.close()


def _new_sampler(session: NvmlSession, request: dict[str, Any]) -> ThreadSampler:
    for name, value in request["environment"].items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    devices = NvmlDevices(session)
    offered: Sequence[VramSource] = (
        NvmlProcessSource(devices, pid=lambda: int(request["pid"])),
        NvmlDeviceSource(devices),
    )
    sources = [found for found in offered if found.name in request["sources"]]
    for source in sources:
        attempt(source.in_use)  # loads and opens what is needed, so that the first sample comes in time
    return ThreadSampler(sources, request["interval_seconds"])


def _plain(samples: Samples) -> dict[str, object]:
    cadence = samples.cadence
    return {
        "peaks": samples.peaks,
        "failures": samples.failures,
        "samples": cadence.samples,
        "longest_gap_seconds": cadence.longest_gap_seconds,
    }


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
