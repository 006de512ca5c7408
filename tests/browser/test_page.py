"""The HTML report as people meet it: in a browser, with pointer and keyboard, in windows of any width."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from pytest_membudget.core.sizes import format_size
from pytest_membudget.core.verdict import Outcome
from tests.browser.conftest import Page
from tests.fakes import MIB, a_record, a_run, ram
from tests.reports.sample_run import HOSTILE, OVER, SAMPLE, STEADY

WORST_FIRST = [
    "test_assign[28000x64]",
    "test_stream | of `rows`, 100%",
    "test_unseen",
    "test_forward vram",
    "test_name[<script>alert('🧨')</script>&\"|`x`\\u202egnp.exe]",
    "test_project[float32]",
    "test_batches",
]


def test_page_begins_with_the_worst_of_the_budgeted_tests(page: Page) -> None:
    """Tests without a budget are a click away."""
    page.open(SAMPLE)

    assert page.names == WORST_FIRST


def test_header_sorts_one_way_and_then_the_other(page: Page) -> None:
    """The largest first; what has no figure stays last; the direction is told to those who cannot see it."""
    page.open(SAMPLE)
    largest_first = ["test_assign[28000x64]", "test_project[float32]", "test_stream | of `rows`, 100%", "test_unseen"]
    page.one("[data-sort=peak]").click()

    assert (largest_first, "test_forward vram") == (page.names[:4], page.names[-1])
    assert page.one("th.peak").get_attribute("aria-sort") == "descending"

    page.one("[data-sort=peak]").click()

    assert (largest_first[::-1], "test_forward vram") == (page.names[2:6], page.names[-1])
    assert page.one("th.peak").get_attribute("aria-sort") == "ascending"


def test_open_row_follows_its_test_when_sorted(page: Page) -> None:
    """And stays open."""
    page.open(SAMPLE)
    page.all("tr.test .opener")[0].click()
    page.one("[data-sort=name]").click()

    assert page.script("return document.querySelector('tr.detail').previousElementSibling.cells[0].textContent") == (
        "tests/test_vq.py::test_assign[28000x64]"
    )


def test_row_opens_to_text_call_sites_timeline_and_figures(page: Page) -> None:
    """A second click closes it."""
    page.open(SAMPLE)
    opener = page.all("tr.test .opener")[0]
    opener.click()

    assert page.one("tr.detail pre").text == OVER.text
    assert page.texts(".sites code") == [site.source for site in OVER.sites]
    assert page.texts(".sites .amount") == ["1.22 GiB\n50%", "1.22 GiB\n50%", "4.67 MiB\n0%"]
    assert page.texts(".sites .place")[2] == "tests/test_vq.py:21 in test_assign, via numpy/lib/npyio.py:453 in load"
    assert page.one("tr.detail svg").get_attribute("aria-label") == (
        "Memory over 874 ms: highest heap seen 2.38 GiB, budget 512 MiB. Arrow keys read single moments."
    )
    assert page.texts("figcaption .key") == ["heap", "resident set, growth", "heap budget"]
    assert page.texts(".uses tbody tr") == [
        "Heap peak (ram) 2.44 GiB 512 MiB 1.22 GiB\nfirst 1.1 GiB\nmemray",
        "Held at the end (retained) 4 KiB - - memray",
        "Resident peak (rss) 2.27 GiB - - vmhwm",
    ]
    assert page.texts(".panel > .facts span") == ["tests/test_vq.py:17", "took 874 ms", "pytest's outcome: failed"]

    opener.click()

    assert page.all("tr.detail") == []


def test_row_of_a_regression_says_what_changed(page: Page) -> None:
    """What is new, what grew and what is gone, before what is there now."""
    page.open(SAMPLE)
    page.all("tr.test .opener")[1].click()

    assert page.texts(".changes .amount") == ["+38.2 MiB", "+1.1 MiB", "-3 MiB"]
    assert page.texts(".changes .place") == [
        "pkg/io.py:88 in read_all (new)",
        "pkg/io.py:41 in parse (grown, from 5 MiB)",
        "pkg/io.py in stream (gone)",
    ]
    assert page.texts(".panel > .facts span")[3] == "cpython-3.11-linux-x86_64, memray 1.20.0, exact, isolated"


def test_row_of_what_was_not_judged_says_why(page: Page) -> None:
    """The reason stands where a failure has its text."""
    page.open(SAMPLE)
    page.all("tr.test .opener")[3].click()

    assert page.one(".reason").text == "Not judged: no GPU was found on this machine"


def test_filters_show_one_kind_of_test(page: Page) -> None:
    """Each with its count; the kinds that did not occur have no button."""
    page.open(SAMPLE)
    labels = page.texts("[data-filter]")
    page.one("[data-filter=unbudgeted]").click()

    assert labels == [
        "budgeted 7",
        "over budget 1",
        "regressed 1",
        "no baseline 1",
        "not measured 1",
        "within 3",
        "unbudgeted 2",
        "all 9",
    ]
    assert page.names == ["test_without_budget", "README.md"]
    assert [button.text for button in page.all("[aria-pressed=true]")] == ["unbudgeted 2"]


def test_search_narrows_and_says_when_nothing_is_left(page: Page) -> None:
    """By any part of the name, in any case."""
    page.open(SAMPLE)
    page.one(".search input").send_keys("TEST_PCA")

    assert page.names == ["test_project[float32]"]

    page.one(".search input").send_keys("x")

    assert (page.names, page.one(".nothing").text) == ([], "No test matches.")


def test_keyboard_reaches_everything(page: Page) -> None:
    """Sorting, opening, going from test to test, searching and reading the timeline need no pointer."""
    page.open(SAMPLE)
    page.tab_to("[data-sort=name]")
    page.press(Keys.ENTER)

    assert page.names[0] == "test_forward vram"

    page.tab_to("tr.test:not([hidden]) .opener")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    page.press(Keys.ENTER)

    assert [row.text for row in page.all("tr.opened bdi")] == [
        "tests/test_io.py::TestReader::test_stream | of `rows`, 100%"
    ]

    page.one("tr.detail svg")
    page.tab_to("tr.detail svg")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)

    assert page.one("output").text == "at 1 ms: heap 3.22 MiB, resident +3.03 MiB"

    page.press("/")
    page.press("vq")

    assert page.names == ["test_assign[28000x64]"]


def test_pointer_reads_the_timeline(page: Page) -> None:
    """The moment nearest to the pointer."""
    page.open(SAMPLE)
    page.all("tr.test .opener")[0].click()
    page.one("tr.detail svg")
    page.script(
        "const svg = document.querySelector('tr.detail svg'); const box = svg.getBoundingClientRect();"
        "svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.right, clientY: box.top + 20}));"
    )

    assert page.one("output").text == "at 874 ms: heap 1.85 GiB, resident +2.27 GiB"


def test_hostile_names_do_no_harm(page: Page) -> None:
    """Script in a name or in a source line is text; so is it when the row is open."""
    page.open(a_run(HOSTILE, replace(OVER, nodeid="x::</script><img src=x onerror=alert(1)>")))
    for opener in page.all("tr.test .opener"):
        opener.click()

    assert page.script("return document.scripts.length") == 2
    assert page.script("return document.images.length") == 0
    assert page.texts("tr.test bdi")[0] == "x::</script><img src=x onerror=alert(1)>"
    assert "</script><script>alert(1)</script>" in page.texts(".sites code")


def test_nothing_is_fetched_and_nothing_complains(page: Page) -> None:
    """After a walk over the page the console is empty, and the page itself is all that was ever asked for."""
    page.chromium.get("about:blank")
    page.log("browser")
    page.log("performance")
    page.open(SAMPLE)
    for button in page.all("thead button, [data-filter], tr.test .opener"):
        if button.is_displayed():
            button.click()
    events = [json.loads(entry["message"])["message"] for entry in page.log("performance")]
    requests = [event["params"]["request"] for event in events if event["method"] == "Network.requestWillBeSent"]
    addresses = {request["url"] for request in requests}

    assert page.log("browser") == []
    assert {address.partition(":")[0] for address in addresses} <= {"file", "data"}
    assert len([address for address in addresses if address.startswith("file")]) == 1


@pytest.mark.parametrize("width", [1400, 900, 420, 320])
def test_page_fits_the_window(page: Page, width: int) -> None:
    """No sideways scrolling, with a row open as well."""
    long = replace(OVER, nodeid="tests/test_long.py::test[" + "a-parameter-of-4000-characters-" * 130 + "]")
    page.open(a_run(long, *SAMPLE.records), width)
    for opener in page.all("tr.test .opener")[:3]:
        opener.click()

    assert page.script("return document.documentElement.scrollWidth") <= width


def test_narrow_page_sorts_by_a_menu_and_is_still_a_table(page: Page) -> None:
    """Headers make way for cards; a reader that speaks still hears rows and cells."""
    page.open(SAMPLE, 420)
    page.one(".sorter select").send_keys("peak")

    assert page.names[:2] == ["test_assign[28000x64]", "test_project[float32]"]
    assert page.all("tr.test")[0].aria_role == "row"
    assert page.all("tr.test th")[0].aria_role == "rowheader"
    assert page.all("tr.test td")[0].aria_role == "cell"


_LOW_CONTRAST = """
const number = (color) => color.match(/[\\d.]+/g).map(Number);
const light = (color) => number(color).slice(0, 3).map((part) => part / 255)
  .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (element) => {
  for (; element; element = element.parentElement) {
    const color = getComputedStyle(element).backgroundColor;
    if ((number(color)[3] ?? 1) === 1) return color;
  }
  return 'rgb(255, 255, 255)';
};
return [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility()
    && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .map((element) => {
    const style = getComputedStyle(element);
    const pair = [light(element.namespaceURI.includes('svg') ? style.fill : style.color), light(ground(element))];
    return [element.className, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)];
  }).filter(([, contrast]) => contrast < 4.5);
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(page: Page, theme: str) -> None:
    """A contrast of 4.5 to 1 or more, as WCAG 2 asks for at level AA."""
    page.open(SAMPLE, theme=theme)
    for opener in page.all("tr.test .opener"):
        opener.click()
    dark = page.script("return getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 23)"

    assert dark == (theme == "dark")
    assert page.script(_LOW_CONTRAST) == []


def test_page_writes_sizes_as_every_other_report_does(page: Page) -> None:
    """The script has a formatter of its own for what it draws."""
    sizes_bytes = [0, 1, 999, 1023, 1024, 1025, 10_234, 1_023_487, 1_023_488, 1_048_576, 12_345_678, 2_620_000_000]
    sizes_bytes += [7**power for power in range(1, 18)] + [-1, -5 * MIB, 999_500 * MIB]
    page.open(SAMPLE)

    assert page.script("return arguments[0].map(size)", sizes_bytes) == [format_size(each) for each in sizes_bytes]


def test_thousands_of_tests_are_laid_out_as_one_scrolls(page: Page) -> None:
    """5,000 tests open and sort; the browser lays out the first 300, and more on the way down."""
    records = [replace(STEADY, nodeid=f"tests/test_many.py::test_{n:04}") for n in range(4999)]
    page.open(a_run(*records, a_record("last", Outcome.OVER_BUDGET, ram(2 * MIB, MIB))))

    assert page.script("return document.querySelectorAll('tr.test:not([hidden])').length") == 300
    assert page.one(".more").text == "Show more of 5,000 tests"

    page.one("[data-sort=name]").click()

    assert page.script("return document.querySelector('tr.test bdi').textContent") == "last"

    page.script("window.scrollTo(0, document.body.scrollHeight)")
    shown = "return document.querySelectorAll('tr.test:not([hidden])').length"

    WebDriverWait(page.chromium, 20).until(lambda _: page.script(shown) > 300)


def test_page_can_be_read_without_javascript(page: Page) -> None:
    """All rows are there, and a sentence says what is missing."""
    page.chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.open(SAMPLE)
        shown = page.chromium.find_elements("css selector", "tr.test")
        visible = [row for row in shown if row.rect["height"] > 0]
    finally:
        page.chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    assert len(visible) == 9
