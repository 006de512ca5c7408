"""The page as text: what is in it, whatever the tests are called. How it looks and behaves is for tests/browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_membudget.core.measurement import Resource
from pytest_membudget.core.record import Use
from pytest_membudget.core.run import RunReport
from pytest_membudget.core.timeline import MOST_MOMENTS, Moment
from pytest_membudget.core.verdict import Outcome
from pytest_membudget.core.vram import Cadence, reading_of
from pytest_membudget.reports.html_report import render_html
from pytest_membudget.reports.row import visible
from tests.fakes import ENVIRONMENT, MIB, a_record, a_run, a_site, ram
from tests.reports.sample_run import OVER, SAMPLE

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


class _Page(HTMLParser):
    """What a browser finds in a page."""

    def __init__(self, run: RunReport) -> None:
        super().__init__()
        self.html = render_html(run)
        self.tags: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.names: list[str] = []
        self.scripts: list[str] = []
        self._path: list[str] = []
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self._path.append(tag)
        if tag == "bdi":
            self.names.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._path and self._path.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "bdi" in self._path:
            self.names[-1] += data
        if "script" in self._path:
            self.scripts[-1] += data

    @property
    def details(self) -> dict[str, Any]:
        """What rows show when they are opened."""
        details: dict[str, Any] = json.loads(self.scripts[0])
        return details


@given(TEXTS)
def test_whatever_a_test_is_called_is_text(nodeid: str) -> None:
    """A name adds no tag and no script, and can be read."""
    page, plain = _Page(a_run(a_record(nodeid, uses=ram(1, 2)))), _Page(a_run(a_record("a", uses=ram(1, 2))))

    assert [visible(nodeid)] == page.names
    assert plain.tags == page.tags


@given(TEXTS)
def test_whatever_a_line_says_is_text(source: str) -> None:
    """The source of a call site goes into the page's data, where no tag ends it."""
    page = _Page(a_run(replace(a_record(uses=ram(1, 2), sites=(a_site(source=source),)), text=source)))

    assert len(page.scripts) == 2
    assert source == page.details["texts"][page.details["tests"][0]["sites"][0][2]]
    assert source == page.details["tests"][0]["text"]


def test_nothing_is_fetched() -> None:
    """No address but the empty icon, and a policy that would forbid any."""
    page = _Page(SAMPLE)
    addresses = {
        value for attributes in page.attributes for name, value in attributes.items() if name in ("src", "href")
    }
    policies = [attributes["content"] for attributes in page.attributes if "http-equiv" in attributes]

    assert {"data:,"} == addresses
    assert not re.search(r"@import|url\(|//[a-z]+\.", page.html.partition("<body>")[0])
    assert policies[0] is not None
    assert policies[0].startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-")


def test_policy_lets_the_pages_own_script_run_and_no_other() -> None:
    """The policy names the script by its hash."""
    page = _Page(SAMPLE)
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()

    assert f"'sha256-{digest}'" in page.html


@pytest.mark.parametrize(
    ("run", "headline", "sub"),
    [
        (SAMPLE, "1 over budget, 1 regressed", "7 of 9 tests have a budget. 1 no baseline, 1 not measured, 3 within."),
        (a_run(OVER), "1 over budget", "1 of 1 tests have a budget."),
        (a_run(a_record(uses=ram(1, 2))), "Every budgeted test is within its budget", "1 of 1 tests have a budget."),
        (
            a_run(a_record(uses=ram(1, 2)), a_record("b", Outcome.NOT_MEASURED, ram(None, 2), reason="no GPU")),
            "1 not measured, 1 within",
            "2 of 2 tests have a budget.",
        ),
        (a_run(a_record(outcome=None, uses=ram(1))), "No test has a memory budget", "1 tests ran."),
        (
            a_run(a_record("crash", None, reason="the process ended", test_outcome="failed")),
            "1 lost",
            "0 of 1 tests have a budget.",
        ),
        (RunReport((), ENVIRONMENT), "No test has a memory budget", "0 tests ran."),
    ],
)
def test_headline_says_the_verdict(run: RunReport, headline: str, sub: str) -> None:
    """The first thing to read is the worst that happened."""
    assert f'<p class="headline">{headline}</p>\n<p class="sub">{sub}</p>' in render_html(run)


def test_budget_of_nothing_can_be_exceeded() -> None:
    """A share of zero bytes is no number that a script could sort by as it stands."""
    page = render_html(a_run(a_record(outcome=Outcome.OVER_BUDGET, uses=ram(5, 0))))

    assert 'data-key="Infinity"' in page
    assert '<i style="width:100%"></i><b style="left:0.0%"></b></span><span class="share">&gt; 1,000x</span>' in page


def test_timelines_are_drawn_coarsely_where_there_are_many() -> None:
    """A page of 5,000 tests is one that a browser opens: its timelines and call sites are fewer."""
    timeline = tuple(Moment(step / 100, (step * 7919) % 97 * MIB, 80 * MIB + step) for step in range(MOST_MOMENTS))
    sites = tuple(a_site(MIB - line, line, f"line_{line} = allocate({line})") for line in range(10))
    full = replace(OVER, timeline=timeline, sites=sites)
    few = _Page(a_run(full)).details["tests"][0]
    large = _Page(a_run(*(replace(full, nodeid=f"tests/test_{n % 9}.py::test_{n}[{n:060}]") for n in range(5000))))
    many = large.details["tests"][0]

    assert (len(few["timeline"][1]), len(few["sites"])) == (MOST_MOMENTS, 10)
    assert (len(many["timeline"][1]), len(many["sites"])) == (18, 4)
    assert max(few["timeline"][2]) == max(many["timeline"][2])
    assert len(large.html.encode()) < 10 * MIB


def test_timeline_counts_the_resident_set_from_its_start() -> None:
    """What the process held before is nobody's growth; steps are whole bytes where figures are small."""
    moments = (Moment(0.0, 0, 1000), Moment(0.0021, 150, 1200), Moment(0.004, 100, 900))
    detail = _Page(a_run(replace(a_record(uses=ram(150, 200)), timeline=moments))).details["tests"][0]

    assert detail["timeline"] == [1, [0, 2, 4], [0, 150, 100], [0, 200, -100]]


def test_name_that_is_no_utf8_does_not_stop_the_page() -> None:
    """Half characters stand for bytes of a file name; the page holds them as escapes."""
    page = render_html(a_run(a_record("tests/caf\udce9.py::test", uses=ram(1, 2))))

    assert "caf\\udce9.py" in page.encode("utf-8", "backslashreplace").decode()


def test_gpus_are_named_with_their_source() -> None:
    """Each device with its figure, how exact it is, and what the source cannot see."""
    reading = reading_of(
        "nvml-process",
        {"cuda:0 (NVIDIA H200)": MIB, "cuda:1 (NVIDIA H200)": 0},
        {"cuda:0 (NVIDIA H200)": 3 * MIB, "cuda:1 (NVIDIA H200)": MIB},
        cadence=Cadence(120, 0.012),
        cannot_see="peaks between two samples",
    )
    use = Use(reading.bytes, 4 * MIB, reading.source, reading.exact, vram=reading)
    (detail,) = _Page(a_run(a_record(uses={Resource.VRAM: use}))).details["tests"]

    assert detail["devices"] == [
        "2 MiB  vram of cuda:0 (NVIDIA H200), by nvml-process, sampled 120 times, at most 12 ms apart",
        "1 MiB  vram of cuda:1 (NVIDIA H200), by nvml-process, sampled 120 times, at most 12 ms apart",
        "not seen: peaks between two samples",
    ]
