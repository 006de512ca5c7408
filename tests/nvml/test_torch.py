"""Torch's own counters, with a module that stands in for torch and takes its memory from the faked GPU.

Where torch and a GPU are there, ``tests/nvml/test_real_gpu.py`` asks the same of the real ones.
"""

from __future__ import annotations

from tests.nvml.conftest import GpuProject
from tests.nvml.fake_gpu import GIB, MIB

HEAD = """
        from tests.nvml.standin_torch import install
        torch = install(gpu.take, context_bytes=300 * MIB{how})
        """
CUDA = "cuda:0 (Stand-in 0)"


def test_exact_to_the_byte(gpu_project: GpuProject) -> None:
    """A gigabyte that was given back is seen, also one that came from the allocator's reserve (pitfall 9)."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        def one_and_a_quarter():
            torch.empty(GIB + 512)
            return torch.empty(256 * MIB)

        @pytest.mark.membudget(vram=GIB + 512)
        def test_first():
            held = one_and_a_quarter()

        @pytest.fixture
        def reserve():
            torch.empty(2 * GIB)

        @pytest.fixture
        def never_emptied(monkeypatch):
            monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)

        @pytest.mark.membudget(vram=GIB + 511)
        def test_from_the_reserve(never_emptied, reserve):
            held = one_and_a_quarter()
        """
    )
    run = gpu_project.run()

    first, second = run.tests["test_first"]["vram"], run.tests["test_from_the_reserve"]["vram"]
    assert [(vram["source"], vram["exact"], vram["peak_bytes"]) for vram in (first, second)] == [
        ("torch", True, GIB + 512)
    ] * 2
    assert (second["samples"], second["longest_gap_seconds"]) == (None, None)
    assert [(other["source"], other["peak_bytes"]) for other in second["beside"]] == [
        ("nvml-process", 0),
        ("nvml-device", 0),
    ]
    assert run.outcomes == {"test_first": "WITHIN", "test_from_the_reserve": "OVER_BUDGET"}
    assert (
        f"vram: peak 1 GiB ({GIB + 512:,} B), budget 1 GiB ({GIB + 511:,} B): over by 1 B, measured by torch on {CUDA}"
        in run.lines
    )


def test_counters_and_their_marks(gpu_project: GpuProject) -> None:
    """What a fixture holds is not charged; a test that sets the mark back hides nothing; regions nest."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        import sys
        from types import ModuleType
        sys.modules["torch._C"] = torch._C = ModuleType("torch._C")
        reset_before_the_test_began = torch.cuda.reset_peak_memory_stats

        @pytest.fixture(scope="module")
        def model():
            return torch.empty(3 * GIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_held_by_a_fixture(model):
            torch.empty(GIB)

        @pytest.mark.membudget(vram="1GiB")
        def test_that_sets_the_mark_back():
            torch.empty(GIB + 1)
            torch.cuda.reset_peak_memory_stats()
            torch.empty(MIB)

        @pytest.mark.membudget(vram="8GiB")
        def test_regions(membudget):
            torch.empty(2 * GIB)
            with membudget.track() as outer:
                torch.empty(GIB)
                with membudget.track() as inner:
                    torch.empty(MIB)
            assert (inner.vram_peak_bytes, outer.vram_peak_bytes) == (MIB, GIB)

        def test_torch_is_as_it_was():
            assert torch.cuda.reset_peak_memory_stats == reset_before_the_test_began
        """
    )
    run = gpu_project.run()

    assert {name: test["vram"]["peak_bytes"] for name, test in run.tests.items() if test["vram"]} == {
        "test_held_by_a_fixture": GIB,
        "test_that_sets_the_mark_back": GIB + 1,
        "test_regions": 2 * GIB,
    }
    assert run.last_line == "1 failed, 3 passed"


def test_cuda_begins_in_the_test(gpu_project: GpuProject) -> None:
    """Before CUDA has begun no mark is set back; what begins in the test counts from zero (pitfalls 10 and 11)."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        @pytest.mark.membudget(vram="1GiB")
        def test_begins_cuda():
            assert not torch.cuda.is_initialized()
            held = torch.empty(5 * MIB)
        """
    )
    run = gpu_project.run("--override-ini=membudget_vram_warmup=never")

    vram = run.tests["test_begins_cuda"]["vram"]
    assert (vram["source"], vram["peak_bytes"]) == ("torch", 5 * MIB)
    assert vram["beside"][0]["peak_bytes"] == 305 * MIB


def test_warm_up(gpu_project: GpuProject) -> None:
    """The context is made before a test with a GPU budget, but not before one that may fork, and never unasked."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        def test_without_a_gpu_budget():
            assert not torch.cuda.is_initialized()

        @pytest.mark.membudget(vram="1GiB", children=True)
        def test_that_may_fork():
            assert not torch.cuda.is_initialized()

        @pytest.mark.membudget(vram="1GiB")
        def test_warm():
            assert torch.cuda.is_initialized()
            gpu.take(MIB)
        """
    )
    run = gpu_project.run()

    assert run.last_line == "3 passed"
    vram = run.tests["test_warm"]["vram"]
    assert (vram["source"], vram["peak_bytes"]) == ("nvml-process", MIB)
    assert vram["passed_over"][0] == {"source": "torch", "reason": "torch allocated no GPU memory in this test"}


def test_reserved_address_space(gpu_project: GpuProject) -> None:
    """What CUDA reserves when it begins is charged to no test's heap, thanks to the warm-up (pitfall 24)."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        @pytest.mark.membudget("1MiB", vram="1GiB")
        def test_begins_cuda():
            held = torch.empty(5 * MIB)
        """
    )
    warm = gpu_project.run().outcomes
    cold = gpu_project.run("--override-ini=membudget_vram_warmup=never").outcomes

    assert (warm, cold) == ({"test_begins_cuda": "WITHIN"}, {"test_begins_cuda": "OVER_BUDGET"})


def test_allocator_without_statistics(gpu_project: GpuProject) -> None:
    """An allocator whose counters read zero is no source (pitfall 14)."""
    gpu_project.write(
        HEAD.format(how=", backend='cudaMallocAsync'")
        + """
        @pytest.mark.membudget(vram="1GiB")
        def test_async():
            held = torch.empty(5 * MIB)
        """
    )
    vram = gpu_project.run().tests["test_async"]["vram"]

    assert (vram["source"], vram["peak_bytes"]) == ("nvml-process", 5 * MIB)
    assert vram["passed_over"][0]["reason"] == "torch allocates through cudaMallocAsync, which keeps no statistics"


def test_failed_test_lets_go(gpu_project: GpuProject) -> None:
    """A failed test's traceback holds its tensors no longer when the next one begins (pitfall 25)."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        @pytest.mark.membudget(vram="8GiB")
        def test_fails():
            held = torch.empty(3 * GIB)
            try:
                raise ValueError
            except ValueError:
                raise RuntimeError("its own")

        @pytest.mark.membudget(vram="8GiB")
        def test_next():
            held = torch.empty(MIB)
        """
    )
    run = gpu_project.run()

    assert run.tests["test_next"]["vram"]["devices"] == [{"device": CUDA, "start_bytes": 0, "peak_bytes": MIB}]
    assert "its own" in run.out
    assert run.tests["test_fails"]["vram"]["peak_bytes"] == 3 * GIB


def test_two_frameworks(gpu_project: GpuProject) -> None:
    """Kinds are not mixed: torch's figure decides, and what NVML saw of the other stands beside it."""
    gpu_project.write(
        HEAD.format(how="")
        + """
        @pytest.mark.membudget(vram="1GiB")
        def test_both():
            held = torch.empty(5 * MIB)
            gpu.take(3 * GIB)
        """
    )
    vram = gpu_project.run().tests["test_both"]["vram"]

    assert (vram["source"], vram["peak_bytes"]) == ("torch", 5 * MIB)
    assert (vram["beside"][0]["source"], vram["beside"][0]["peak_bytes"]) == ("nvml-process", 5 * MIB + 3 * GIB)
    assert vram["cannot_see"] == (
        "the CUDA context, the libraries' own workspaces, and memory that did not come from torch's allocator"
    )
