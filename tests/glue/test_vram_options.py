"""Options and ini keys of GPU memory, the marker's keyword, and the hook for sources."""

from __future__ import annotations

import pytest

from tests.project import Project

BUDGETED = """
    import pytest

    @pytest.mark.membudget(vram="1GiB")
    def test_it():
        pass
    """
KNOWN = "auto, torch, rmm, cupy, jax, tensorflow, nvml-process, nvml-device"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "--membudget-vram-source=torhc",
            "--membudget-vram-source: 'torhc' is no source of GPU figures: did you mean 'torch'?",
        ),
        (
            "--membudget-vram-source=zzz",
            f"--membudget-vram-source: 'zzz' is no source of GPU figures: known sources: {KNOWN}",
        ),
        (
            "--membudget-vram-missing=ignore",
            "--membudget-vram-missing: 'ignore' is unknown: write warn, skip or fail",
        ),
        (
            "--override-ini=membudget_vram_sampler=gpu",
            "membudget_vram_sampler in the ini file: 'gpu' is unknown: write thread or process",
        ),
        (
            "--override-ini=membudget_vram_warmup=yes",
            "membudget_vram_warmup in the ini file: 'yes' is unknown: write auto, always or never",
        ),
        (
            "--override-ini=membudget_vram_interval=0",
            "membudget_vram_interval in the ini file: '0' is not a number of milliseconds between 0 and 60000",
        ),
        (
            "--override-ini=membudget_vram_interval=nan",
            "membudget_vram_interval in the ini file: 'nan' is not a number of milliseconds between 0 and 60000",
        ),
        (
            "--override-ini=membudget_vram_source=cuda",
            f"membudget_vram_source in the ini file: 'cuda' is no source of GPU figures: known sources: {KNOWN}",
        ),
    ],
)
def test_invalid(project: Project, setting: str, message: str) -> None:
    """One clear sentence, and no test runs."""
    project.write(BUDGETED)
    run = project.run(setting)

    assert run.exit_code == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: pytest-membudget: {message}" in run.err.splitlines()


def test_added_source(project: Project) -> None:
    """A source that a conftest adds comes first, is named beside its figure, and can be pinned."""
    project.write(
        BUDGETED,
        conftest="""
        class Metal:
            name, exact, scope, cannot_see = "metal", True, "allocator", "nothing"
            levels = iter([100, 100, 100, 900])

            def unavailable(self):
                return None

            def reset(self):
                pass

            def in_use(self):
                return {"mps": next(self.levels, 100)}

            def high_water(self):
                return {"mps": 500}

            def close(self):
                pass

        def pytest_membudget_vram_sources(config):
            return [Metal()]
        """,
    )
    vram = project.measure("--membudget-vram-source=metal").tests["test_it"]["vram"]

    assert (vram["source"], vram["device"], vram["exact"], vram["peak_bytes"]) == ("metal", "mps", True, 400)


def test_hook_that_gives_rubbish(project: Project) -> None:
    """It is named before any test runs."""
    project.write(BUDGETED, conftest="def pytest_membudget_vram_sources(config): return ['metal']")
    run = project.run()

    message = (
        "the hook pytest_membudget_vram_sources: 'metal' is no source of GPU figures: it needs name, exact, scope, "
        "cannot_see, unavailable(), reset(), in_use(), high_water() and close()"
    )
    assert f"ERROR: pytest-membudget: {message}" in run.err.splitlines()


def test_total_needs_a_budget(project: Project) -> None:
    """``vram_total`` says how a budget is judged, so there must be one."""
    project.write(
        """
        import pytest

        @pytest.mark.membudget("1MiB", vram_total=True)
        def test_it():
            pass
        """
    )
    run = project.run()

    assert (
        "membudget marker on test_it.py::test_it (test_it.py:3): vram_total=True says how vram= is judged, and no vram "
        "budget applies to this test"
    ) in run.lines
    assert run.last_line == "1 error"


def test_marker_keyword(project: Project) -> None:
    """A value that is neither true nor false is refused."""
    project.write(
        """
        import pytest

        @pytest.mark.membudget(vram="1MiB", vram_total="yes")
        def test_it():
            pass
        """
    )
    run = project.run()

    assert "membudget marker on test_it.py::test_it (test_it.py:3): vram_total='yes': write True or False" in run.lines
