"""One run with a test of every kind that a report must show: what the gold files are made of."""

from __future__ import annotations

import math

from pytest_membudget.core.growth import ChangeKind, SiteChange
from pytest_membudget.core.measurement import Frame, Resource, Site
from pytest_membudget.core.provenance import Provenance
from pytest_membudget.core.record import TestRecord, Use
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.timeline import Moment
from pytest_membudget.core.verdict import Outcome
from tests.fakes import ENVIRONMENT, GIB, KIB, MIB

_VIA = Frame("numpy/lib/npyio.py", 453, "load")


def _climb(peak_bytes: int, seconds: float, settle: float = 0.4, count: int = 40) -> tuple[Moment, ...]:
    """Memory that rises to a peak in waves and is given back."""
    moments = []
    for step in range(count):
        share = step / (count - 1)
        wave = 0.86 + 0.14 * math.sin(9 * share) if share < 0.8 else 1 - (share - 0.8) * 3 * settle
        heap_bytes = int(peak_bytes * min(1.0, 2.2 * share) * min(wave, 1.0))
        resident_bytes = 60 * MIB + int(peak_bytes * min(1.0, 2 * share) * 0.93)
        moments.append(Moment(round(seconds * share, 3), heap_bytes, resident_bytes))
    return tuple(moments)


OVER = TestRecord(
    nodeid="tests/test_vq.py::test_assign[28000x64]",
    test_outcome="failed",
    outcome=Outcome.OVER_BUDGET,
    uses={
        Resource.RAM: Use(
            2_620_000_000,
            512 * MIB,
            "memray",
            outcome=Outcome.OVER_BUDGET,
            baseline_bytes=1_310_000_000,
            anchor_bytes=1_180_000_000,
            band_bytes=65_500_000,
        ),
        Resource.RETAINED: Use(4_096, None, "memray"),
        Resource.RSS: Use(2_440_000_000, None, "vmhwm"),
    },
    sites=(
        Site(
            1_310_000_000,
            Frame("hotpaths/vq.py", 101, "assign_clusters"),
            "diff = batch[:, None, :] - centroids[None, :, :]",
        ),
        Site(1_305_000_000, Frame("hotpaths/vq.py", 103, "assign_clusters"), "sq = (diff**2).sum(axis=2)"),
        Site(4_900_000, Frame("tests/test_vq.py", 21, "test_assign"), "x = load(path)", _VIA),
    ),
    seconds=0.874,
    file="tests/test_vq.py",
    line=17,
    timeline=_climb(2_620_000_000, 0.874),
    text=(
        "ram: peak 2.44 GiB, budget 512 MiB: over by 1.94 GiB (4.9x)\n"
        "at the peak:\n"
        "  1.22 GiB  50%  hotpaths/vq.py:101 in assign_clusters  diff = batch[:, None, :] - centroids[None, :, :]\n"
        "  1.22 GiB  50%  hotpaths/vq.py:103 in assign_clusters  sq = (diff**2).sum(axis=2)"
    ),
)

REGRESSED = TestRecord(
    nodeid="tests/test_io.py::TestReader::test_stream | of `rows`, 100%",
    test_outcome="failed",
    outcome=Outcome.REGRESSED,
    uses={
        Resource.RAM: Use(
            67_200_000,
            128 * MIB,
            "memray",
            outcome=Outcome.REGRESSED,
            baseline_bytes=26_000_000,
            anchor_bytes=26_000_000,
            band_bytes=1_300_000,
        ),
        Resource.RSS: Use(59 * MIB, None, "vmhwm"),
    },
    sites=(Site(67_000_000, Frame("pkg/io.py", 88, "read_all"), "return [parse(row) for row in rows]"),),
    seconds=0.052,
    file="tests/test_io.py",
    line=40,
    timeline=_climb(67_200_000, 0.052, settle=0.1),
    text=(
        "ram: peak 64.1 MiB, baseline 24.8 MiB: grew by 39.3 MiB (+158%), 1.24 MiB tolerated\n"
        "against the baseline of 3f2c1ab (cpython-3.11-linux-x86_64): +39.3 MiB (+158%)\n"
        "  +38.2 MiB  new   pkg/io.py:88 in read_all  return [parse(row) for row in rows]"
    ),
    changes=(
        SiteChange(ChangeKind.NEW, 0, 40_055_603, "pkg/io.py", "read_all", 88, "return [parse(row) for row in rows]"),
        SiteChange(ChangeKind.GROWN, 5_242_880, 6_396_313, "pkg/io.py", "parse", 41, "fields = row.split(',')"),
        SiteChange(ChangeKind.GONE, 3_145_728, 0, "pkg/io.py", "stream"),
    ),
    provenance=Provenance("cpython-3.11-linux-x86_64", "memray 1.20.0", "exact, isolated"),
    worker="gw1",
    isolated=True,
)

HOSTILE = TestRecord(
    nodeid="tests/test_names.py::test_name[<script>alert('🧨')</script>&\"|`x`\u202egnp.exe]",
    test_outcome="passed",
    outcome=Outcome.WITHIN,
    uses={Resource.RAM: Use(970 * KIB, MIB, "memray", outcome=Outcome.WITHIN), Resource.RSS: Use(0, None, "vmhwm")},
    sites=(Site(970 * KIB, Frame("<string>", 1, "<script>"), "</script><script>alert(1)</script>"),),
    seconds=0.0004,
    file="tests/test_names.py",
    line=3,
    timeline=(Moment(0.0, 0, 60 * MIB),),
)

UNMEASURED = TestRecord(
    nodeid="tests/test_gpu.py::test_forward",
    test_outcome="passed",
    outcome=Outcome.NOT_MEASURED,
    uses={
        Resource.RAM: Use(
            3 * MIB, 64 * MIB, "memray", outcome=Outcome.WITHIN, baseline_bytes=3 * MIB, band_bytes=157_286
        ),
        Resource.VRAM: Use(None, 4 * GIB, outcome=Outcome.NOT_MEASURED),
        Resource.RSS: Use(5 * MIB, None, "psutil, sampled", exact=False),
    },
    sites=(Site(3 * MIB, Frame("tests/test_gpu.py", 9, "test_forward"), "weights = bytearray(3 << 20)"),),
    seconds=1.5,
    reason="no GPU was found on this machine",
    file="tests/test_gpu.py",
    line=6,
    timeline=_climb(3 * MIB, 1.5),
)

NEW = TestRecord(
    nodeid="tests/test_new.py::test_unseen",
    test_outcome="passed",
    outcome=Outcome.NO_BASELINE,
    uses={
        Resource.RAM: Use(18_000_000, None, "memray", outcome=Outcome.NO_BASELINE),
        Resource.RSS: Use(17 * MIB, None, "vmhwm"),
    },
    sites=(Site(18_000_000, Frame("tests/test_new.py", 5, "test_unseen"), "table = dict.fromkeys(range(10**6))"),),
    seconds=0.21,
    reason="no baseline entry for cpython-3.11-linux-x86_64",
    file="tests/test_new.py",
    line=2,
    timeline=_climb(18_000_000, 0.21),
)

IMPROVED = TestRecord(
    nodeid="tests/test_pca.py::test_project[float32]",
    test_outcome="passed",
    outcome=Outcome.WITHIN,
    uses={
        Resource.RAM: Use(
            88 * MIB, 96 * MIB, "memray", outcome=Outcome.WITHIN, baseline_bytes=110 * MIB, band_bytes=5_767_168
        ),
        Resource.RSS: Use(70 * MIB, 256 * MIB, "vmhwm", outcome=Outcome.WITHIN),
    },
    sites=(Site(88 * MIB, Frame("hotpaths/pca.py", 30, "project"), "scores = centred @ axes.T"),),
    seconds=0.33,
    file="tests/test_pca.py",
    line=11,
    timeline=_climb(88 * MIB, 0.33, settle=1.0),
)

STEADY = TestRecord(
    nodeid="tests/test_windows.py::test_batches",
    test_outcome="passed",
    outcome=Outcome.WITHIN,
    uses={
        Resource.RAM: Use(
            12_345_678, 64 * MIB, "memray", outcome=Outcome.WITHIN, baseline_bytes=12_345_600, band_bytes=617_280
        ),
        Resource.RSS: Use(11 * MIB, None, "vmhwm"),
    },
    sites=(Site(12_000_000, Frame("hotpaths/windows.py", 18, "windows"), "yield np.stack(window)"),),
    seconds=0.12,
    file="tests/test_windows.py",
    line=8,
    timeline=_climb(12_345_678, 0.12, settle=0.0),
)

PLAIN = TestRecord(
    nodeid="tests/test_plain.py::test_without_budget",
    test_outcome="passed",
    uses={Resource.RSS: Use(41 * MIB, None, "vmhwm")},
    seconds=0.02,
    file="tests/test_plain.py",
    line=1,
)

QUIET = TestRecord(
    nodeid="README.md::README.md",
    test_outcome="passed",
    uses={Resource.RSS: Use(0, None, "vmhwm")},
    seconds=0.001,
    file="README.md",
)

SAMPLE = RunReport(
    (STEADY, OVER, PLAIN, HOSTILE, QUIET, REGRESSED, UNMEASURED, NEW, IMPROVED),
    ENVIRONMENT,
)
