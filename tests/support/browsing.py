"""A headless Chromium, and accessibility problems that axe finds in a page.

Playwright installs no browser here: Debian's is used. If either is missing, tests are skipped with the reason.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCHEMES = ("light", "dark")


@contextmanager
def launched() -> Iterator[Any]:
    """The browser; skips the test if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as running:
        # root needs --no-sandbox; a container's /dev/shm may be small
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Tabs:
    """Opens tabs, and fails if a page writes to its console."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._opened: list[tuple[Any, list[str]]] = []
        self.expected: list[str] = []
        """Parts of messages that a test causes."""

    def open(self, url: str, **options: Any) -> Any:
        """A tab that shows a page."""
        tab = self._browser.new_page(**options)
        messages: list[str] = []
        tab.set_default_timeout(20_000)
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        tab.goto(url)
        self._opened.append((tab, messages))
        return tab

    def close(self) -> None:
        """Close the tabs; fails if a script of theirs failed, or a policy was violated."""
        for tab, messages in self._opened:
            tab.close()
            assert [each for each in messages if not any(part in each for part in self.expected)] == []


def inaccessible(tab: Any, within: str = "html", without: tuple[str, ...] = ()) -> list[str]:
    """The problems that axe finds in a part of the page, with places; some rules may be excluded."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    rules = {name: {"enabled": False} for name in without}
    options = {"resultTypes": ["violations"], "preload": False, "rules": rules}
    found = axe.Axe().run(tab, within, options).response["violations"]
    return [f"{each['id']}: {each['help']}: {node['target']}" for each in found for node in each["nodes"]]
