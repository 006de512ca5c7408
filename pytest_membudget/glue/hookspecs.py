"""The hooks that others may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_membudget.probes.vram_source import VramSource


@pytest.hookspec
def pytest_membudget_vram_sources(config: pytest.Config) -> list[VramSource]:  # type: ignore[empty-body]
    """Return further sources of GPU memory figures; they come before the built-in ones, in the order given.

    Called once in each process that runs tests, before they are collected. What a source must offer is described in
    the reference page on GPU memory, with Apple's Metal as an example.
    """
