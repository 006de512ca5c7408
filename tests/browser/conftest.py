"""A headless Chromium, and pages opened in it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from pytest_membudget.core.run import RunReport
from pytest_membudget.reports.html_report import render_html

Seen = TypeVar("Seen")

_ON_LINUX_CI = sys.platform == "linux" and "CI" in os.environ
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _programs() -> tuple[str, str]:
    """Return Chromium and its driver; without them there is nothing to look at the page with."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser and driver:
        return browser, driver
    message = "needs chromium and chromedriver on the PATH"
    if _ON_LINUX_CI:
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """One browser for all tests of this folder."""
    browser, driver = _programs()
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield running
    running.quit()


@dataclass(frozen=True)
class Page:
    """A report in the browser."""

    chromium: webdriver.Chrome
    folder: Path

    def open(self, run: RunReport, width: int = 1400, theme: str = "light") -> None:
        """Open the report on a run, in a window of that width and with that preference."""
        path = self.folder / "report.html"
        path.write_text(render_html(run), encoding="utf-8")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.chromium.get(path.as_uri())

    def all(self, selector: str) -> list[WebElement]:
        """Return the elements that can be seen."""
        return self._wait(lambda: (self._shown(selector),))[0]

    def one(self, selector: str) -> WebElement:
        """Return the only element that can be seen, as soon as there is one: drawings come after the next layout."""
        self._wait(lambda: self._shown(selector))
        (found,) = self.all(selector)
        return found

    def _shown(self, selector: str) -> list[WebElement]:
        return [found for found in self.chromium.find_elements(By.CSS_SELECTOR, selector) if found.is_displayed()]

    def _wait(self, look: Callable[[], Seen]) -> Seen:
        """Look until there is something; a drawing that is replaced in the meantime is looked at again."""
        waiting = WebDriverWait(self.chromium, 20, ignored_exceptions=(StaleElementReferenceException,))
        return waiting.until(lambda _: look())

    def texts(self, selector: str) -> list[str]:
        """Return what elements say."""
        return [found.text for found in self.all(selector)]

    @property
    def names(self) -> list[str]:
        """The tests in the table, by the ends of their names."""
        return [name.rpartition("::")[2] for name in self.texts("tr.test bdi")]

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.chromium.switch_to.active_element.send_keys(*keys)

    def tab_to(self, selector: str) -> None:
        """Press the tabulator until the first element that matches has the focus."""
        for _ in range(100):
            if self.script(f"return document.activeElement === document.querySelector({selector!r})"):
                return
            self.press(Keys.TAB)
        pytest.fail(f"the tabulator never reaches {selector}")

    def log(self, kind: str) -> list[dict[str, Any]]:
        """Return what the browser has noted since it was last asked."""
        entries: list[dict[str, Any]] = self.chromium.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def script(self, source: str, *arguments: object) -> Any:
        """Run a script in the page."""
        return self.chromium.execute_script(source, *arguments)


@pytest.fixture
def page(chromium: webdriver.Chrome, tmp_path: Path) -> Page:
    """No page yet."""
    return Page(chromium, tmp_path)
