"""Which source is believed."""

from __future__ import annotations

from pytest_membudget.core.measurement import Unavailable
from pytest_membudget.core.vram import VramReading, reading_of
from pytest_membudget.core.vram_choice import choose, not_imported


def a_reading(source: str) -> VramReading:
    """A figure of one device."""
    return reading_of(source, {}, {"cuda:0": 1}, cadence=None, cannot_see="")


def test_first_that_can_answer() -> None:
    """Those before it are named with their reasons, those after it stand beside it unless they have none."""
    chosen = choose(
        {
            "torch": Unavailable("not imported"),
            "jax": a_reading("jax"),
            "nvml-process": Unavailable("not listed"),
            "nvml-device": a_reading("nvml-device"),
        }
    )

    assert isinstance(chosen, VramReading)
    assert chosen.source == "jax"
    assert chosen.passed_over == (("torch", "not imported"),)
    assert chosen.beside == (a_reading("nvml-device"),)


def test_nobody_can() -> None:
    """Each reason once, in order; frameworks that are not imported are left out."""
    outcomes = {
        "torch": Unavailable(not_imported("torch")),
        "jax": Unavailable("JAX is idle"),
        "nvml-process": Unavailable("no driver"),
        "nvml-device": Unavailable("no driver"),
    }

    assert choose(outcomes) == Unavailable("no GPU figure: JAX is idle; no driver")


def test_only_a_framework_that_is_not_imported() -> None:
    """Then that is the reason."""
    assert choose({"torch": Unavailable(not_imported("torch"))}) == Unavailable("no GPU figure: torch is not imported")


def test_no_source() -> None:
    """Somebody may have taken all of them away."""
    assert choose({}) == Unavailable("no GPU figure: there is no source")
