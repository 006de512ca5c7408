"""Judging GPU memory by what NVML says of this process."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import pytest_membudget.reports
from tests.nvml.conftest import GpuProject
from tests.nvml.fake_gpu import GIB, MIB

SCHEMA = Path(pytest_membudget.reports.__file__).parent / "run.schema.json"
DEVICE = "Fake H100 (0: GPU-01111111)"


def test_growth_of_the_process(gpu_project: GpuProject) -> None:
    """The context is charged to the first test; the next one starts from where that left off (pitfall 8)."""
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_first():
            gpu.take(300 * MIB)      # a context
            gpu.take(512 * MIB)
            time.sleep(0.05)
            gpu.give(512 * MIB)

        @pytest.mark.membudget(vram="512MiB")
        def test_second():
            gpu.take(550 * MIB)

        @pytest.mark.membudget(vram="550MiB")
        def test_exactly_as_much_as_allowed():
            gpu.take(550 * MIB)
        """
    )
    run = gpu_project.run()

    assert run.outcomes == {
        "test_first": "WITHIN",
        "test_second": "OVER_BUDGET",
        "test_exactly_as_much_as_allowed": "WITHIN",
    }
    first, second = run.tests["test_first"]["vram"], run.tests["test_second"]["vram"]
    assert (first["source"], first["peak_bytes"]) == ("nvml-process", 812 * MIB)
    assert second["devices"] == [{"device": DEVICE, "start_bytes": 300 * MIB, "peak_bytes": 850 * MIB}]
    assert (
        f"vram: peak 550 MiB, budget 512 MiB: over by 38 MiB (1.1x), sampled by nvml-process on {DEVICE}" in run.lines
    )
    assert run.document["environment"]["devices"] == [DEVICE]
    jsonschema.validate(run.document, json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_worst_of_two_devices(gpu_project: GpuProject) -> None:
    """The budget holds for each device, and the failure names the worst one (pitfall 21)."""
    gpu_project.gpus.add("GPU-77777777-8888-9999-aaaa-bbbbbbbbbbbb")
    gpu_project.write(
        """
        @pytest.mark.membudget(vram="1GiB")
        def test_two():
            gpu.take(900 * MIB)
            gpu.take(1200 * MIB, index=1)
        """
    )
    run = gpu_project.run()

    assert "sampled by nvml-process on Fake H100 (1: GPU-77777777)" in run.out
    assert [use["peak_bytes"] for use in run.tests["test_two"]["vram"]["devices"]] == [900 * MIB, 1200 * MIB]


def test_total_percentage_and_regions(gpu_project: GpuProject) -> None:
    """A budget can be of all that is in use, or a share of the GPU; regions inside a test have figures too."""
    gpu_project.write(
        """
        gpu.take(3 * GIB)

        @pytest.mark.membudget(vram="4GiB", vram_total=True)
        def test_total_within():
            gpu.take(GIB)

        @pytest.mark.membudget(vram="4GiB", vram_total=True)
        def test_total_over():
            gpu.take(MIB)

        @pytest.mark.membudget(vram="10%")
        def test_share():
            gpu.take(9 * GIB)
            gpu.give(9 * GIB)
            gpu.take(8 * GIB)
            gpu.give(8 * GIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_regions(membudget):
            with membudget.track() as outer:
                gpu.take(100 * MIB)
                with membudget.track() as inner:
                    gpu.take(50 * MIB)
                gpu.give(150 * MIB)
            assert (inner.vram_peak_bytes, outer.vram_peak_bytes) == (50 * MIB, 150 * MIB)

        def test_region_without_a_budget(membudget):
            with membudget.track() as region:
                gpu.take(7 * MIB)
            assert (region.vram_peak_bytes, region.vram_reason) == (7 * MIB, None)
        """
    )
    run = gpu_project.run()

    assert run.outcomes == {
        "test_total_within": "WITHIN",
        "test_total_over": "OVER_BUDGET",
        "test_share": "WITHIN",
        "test_regions": "WITHIN",
        "test_region_without_a_budget": None,
    }
    assert run.tests["test_total_over"]["vram"]["peak_bytes"] == 4 * GIB + MIB
    assert run.tests["test_share"]["vram"]["budget_bytes"] == 8 * GIB
    assert run.tests["test_regions"]["vram"]["peak_bytes"] == 150 * MIB


def test_beside_ram(gpu_project: GpuProject) -> None:
    """The heap figure of a test is the same whether or not its GPU memory is measured as well (pitfall 24)."""
    source = """
        @pytest.mark.membudget("64MiB"{vram})
        def test_heap():
            held = bytearray(3_000_000)
            time.sleep(0.05)
        """
    peaks = []
    for vram in ("", ", vram='1GiB'"):
        gpu_project.write(source.format(vram=vram))
        peaks.append(gpu_project.run().tests["test_heap"]["ram"]["peak_bytes"])

    assert peaks[0] == peaks[1]


def test_fixtures_count_with_scope_test(gpu_project: GpuProject) -> None:
    """A budget of the whole test counts what its fixtures take; one of the call does not (pitfall 13)."""
    gpu_project.write(
        """
        @pytest.fixture
        def model():
            gpu.take(2 * GIB)
            yield
            gpu.give(2 * GIB)

        @pytest.mark.membudget(vram="1GiB", scope="test")
        def test_with_fixture(model):
            pass

        @pytest.mark.membudget(vram="1GiB")
        def test_call_alone(model):
            gpu.take(MIB)
        """
    )
    run = gpu_project.run()

    assert run.outcomes == {"test_with_fixture": "OVER_BUDGET", "test_call_alone": "WITHIN"}
