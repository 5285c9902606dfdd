"""The page in a browser of this machine: what walks, benchmarks and pictures share.

Playwright is in the extra ``heavy``, because its wheel brings a node of its own. The browser is the machine's, so nothing
is downloaded: ``apt install chromium``.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from twice.view.server import ViewServer
from twice.view.viewed_runs import ViewedRuns

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
_OFFLINE = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
)


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the browser, which asks nobody but the page's server."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_OFFLINE.split())
        yield browser
        browser.close()


@contextmanager
def served(paths: Sequence[Path]) -> Iterator[str]:
    """Serve records on a thread; the address of their page."""
    with ViewServer(ViewedRuns(paths), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.url
        server.shutdown()
        server.runs.close()


def open_page(page: Page, url: str) -> None:
    """Open the page, and wait until its parts are filled."""
    page.goto(url)
    page.locator("twice-timeline:last-child .u-over").first.wait_for()
    page.locator("twice-journal h3").first.wait_for()
