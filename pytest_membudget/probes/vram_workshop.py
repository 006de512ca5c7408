"""All that measures GPU memory in one process: made once, used by test after test, closed at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_membudget.core.vram_choice import AUTO
from pytest_membudget.probes.nvml_devices import NvmlDevices
from pytest_membudget.probes.nvml_errors import NvmlError
from pytest_membudget.probes.nvml_processes import NvmlProcesses
from pytest_membudget.probes.nvml_session import NvmlSession
from pytest_membudget.probes.vram_cupy import CupySource
from pytest_membudget.probes.vram_jax import JaxSource
from pytest_membudget.probes.vram_meter import VramMeter
from pytest_membudget.probes.vram_nvml_device import NvmlDeviceSource
from pytest_membudget.probes.vram_nvml_process import NvmlProcessSource
from pytest_membudget.probes.vram_rmm import RmmSource
from pytest_membudget.probes.vram_sampler import Sampler, ThreadSampler
from pytest_membudget.probes.vram_sampler_pair import SamplerPair
from pytest_membudget.probes.vram_sampler_process import SERVED, ProcessSampler, SamplingProcess
from pytest_membudget.probes.vram_source import VramSource
from pytest_membudget.probes.vram_tensorflow import TensorflowSource
from pytest_membudget.probes.vram_torch import TorchSource

BUILT_IN = (
    TorchSource.name,
    RmmSource.name,
    CupySource.name,
    JaxSource.name,
    TensorflowSource.name,
    NvmlProcessSource.name,
    NvmlDeviceSource.name,
)
MOST_STRANGERS = 3


@dataclass(frozen=True)
class VramSettings:
    """How GPU memory is measured in this run.

    ``own_process`` moves the sampling out of this process; ``workers`` counts the processes that run tests beside each
    other; ``added`` are sources that others bring, the most trusted first.
    """

    source: str = AUTO
    interval_seconds: float = 0.010
    own_process: bool = False
    workers: int = 1
    added: tuple[VramSource, ...] = ()


class VramWorkshop:
    """The meter of GPU memory, and what it works with."""

    def __init__(self, settings: VramSettings) -> None:
        self._settings = settings
        self._session = NvmlSession()
        self._devices = NvmlDevices(self._session)
        self._processes = NvmlProcesses()
        self._sampling = SamplingProcess()
        sources: tuple[VramSource, ...] = (
            *settings.added,
            TorchSource(),
            RmmSource(),
            CupySource(),
            JaxSource(),
            TensorflowSource(),
            NvmlProcessSource(self._devices, self._processes),
            NvmlDeviceSource(self._devices),
        )
        self.meter = VramMeter(sources, settings.source, self._new_sampler, self._doubt)

    def smallest_total_bytes(self) -> int | None:
        """Return the memory of the smallest GPU that this process sees, or None if nobody tells."""
        self._devices.release()
        try:
            return min((device.total_bytes() for device in self._devices.visible()), default=None)
        except NvmlError:
            return None

    def own_processes(self) -> set[int]:
        """Return the ids of the processes that measure."""
        return {pid for pid in [self._sampling.pid] if pid is not None}

    def close(self) -> None:
        """Close NVML and end the sampling process."""
        self._sampling.close()
        self._session.close()

    def _new_sampler(self, sources: Sequence[VramSource]) -> Sampler:
        interval_seconds = self._settings.interval_seconds
        if not self._settings.own_process:
            return ThreadSampler(sources, interval_seconds)
        served = [source.name for source in sources if source.name in SERVED]
        others = [source for source in sources if source.name not in SERVED]
        samplers: list[Sampler] = [ProcessSampler(served, interval_seconds, self._sampling)] if served else []
        samplers += [ThreadSampler(others, interval_seconds)] if others else []
        return samplers[0] if len(samplers) == 1 else SamplerPair(samplers)

    def _doubt(self) -> str | None:
        """Return why what a whole GPU uses may not be what this test uses, or None."""
        if self._settings.workers > 1:
            return f"the GPU is shared by {self._settings.workers} xdist workers, {_NOT_TOLD_APART}"
        if ambiguous := self._ambiguous():
            return ambiguous
        if strangers := self._processes.strangers:
            shown = ", ".join(map(str, sorted(strangers)[:MOST_STRANGERS]))
            return f"the GPU is shared: NVML lists other processes (pid {shown}), {_NOT_TOLD_APART}"
        if self._processes.refusal:
            return f"NVML does not tell who else uses the GPU, {_NOT_TOLD_APART}"
        return None

    def _ambiguous(self) -> str | None:
        try:
            return self._devices.selection().ambiguous
        except NvmlError as error:
            return str(error)


_NOT_TOLD_APART = (
    "and the figure is that of the whole device: membudget_vram_source = nvml-device judges it all the same"
)
