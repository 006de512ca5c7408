"""What NVML's errors mean, in words that a user can act on."""

from __future__ import annotations

_BY_CODE = {
    3: "NVML does not offer this on this GPU",
    4: "NVML refuses it without more privileges (on a MIG GPU name the MIG device in CUDA_VISIBLE_DEVICES)",
    9: "the NVIDIA driver is not loaded",
    12: "there is no NVIDIA driver on this machine (its library libnvidia-ml is missing)",
    13: "the NVIDIA driver is too old for this",
    15: "the GPU was lost: it fell off the bus or became unreachable",
    18: "the NVIDIA driver and its library are of different versions: a reboot after the driver's update cures this",
}


class NvmlError(Exception):
    """NVML cannot tell; the message is a reason for the user."""

    def __init__(self, reason: str, code: int | None = None) -> None:
        super().__init__(reason)
        self.code = code


def nvml_error(error: Exception) -> NvmlError:
    """Return pynvml's error as a reason; its own class can neither be hashed nor compared with everything."""
    code = getattr(error, "value", None)
    if isinstance(code, int):
        return NvmlError(_BY_CODE.get(code, f"NVML says: {error}"), code)
    return NvmlError(f"NVML says: {error}")
