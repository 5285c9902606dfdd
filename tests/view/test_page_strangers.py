"""Records of strangers in a browser: it is started, and so is the program that writes such a record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
pytest.importorskip("axe_playwright_python.sync_playwright")

from axe_playwright_python.sync_playwright import Axe
from browsers import CHROMIUM, launched, open_page, served
from playwright.sync_api import Browser, Page, expect
from shown_programs import SWARM, record_programs

import twice
from programs import write
from twice.recorder.cadence import Cadence

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt install chromium"),
]
SIZES = {"wide": (1280, 900), "narrow": (360, 740)}
HOSTILE = (
    "<img src=http://127.0.0.1:9/x onerror=pwned=1>",
    "</script><script>pwned=1</script>",
    "${pwned=1}{{pwned=1}}",
    "javascript:pwned=1",
    "\x1b[31m\x07\x00\r\x85",
    "\u202egnirts\u2066\u200f\u2028",
    "W" * 100_000,
)
"""Markup, templates, control characters, marks of direction, and a word that no line holds."""
PROGRAM = f"""
    HOSTILE = {HOSTILE!r}

    def main(run):
        values = {{text: 0.5 for text in HOSTILE}} | {{str(n): text for n, text in enumerate(HOSTILE)}}
        parts = [run.track(text[:200].replace(chr(0), ""), {{"values": dict(values)}}) for text in HOSTILE]
        for tick in run.ticks(4):
            for text in HOSTILE:
                run.input(text[:200], lambda: text)
                run.compare(text[:200], tick)
                print(text)
            parts[0]["values"]["0"] = tick * run.config["gust"]
        raise ValueError("".join(HOSTILE))
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


def open_all(page: Page) -> None:
    """Open all that is folded, and show more of all that is cut."""
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    page.locator("button.more:visible").evaluate_all("all => all.forEach((each) => each.click())")


def find_wide(page: Page) -> list[str]:
    """Elements that reach beyond the window, unless something around them scrolls or cuts them."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((each) => {
            if (each.getBoundingClientRect().right <= innerWidth + 1) return false;
            for (let up = each.parentElement; up; up = up.parentElement) {
                if (getComputedStyle(up).overflowX !== "visible") return false;
            }
            return true;
        }).map((each) => each.outerHTML.slice(0, 200))"""
    )
    return found


@pytest.mark.parametrize("size", SIZES)
def test_hostile_text_is_only_text(browser: Browser, tmp_path: Path, size: str) -> None:
    paths = [tmp_path / "<img src=x onerror=pwned=1>.twice", tmp_path / "b.twice"]
    for gust, path in enumerate(paths):
        twice.record(
            write(tmp_path, PROGRAM),
            seed=1,
            out=path,
            cadence=Cadence("tick", 1),
            config={"gust": gust},
        ).close()
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height})
    asked, problems = list[str](), list[str]()
    page.on("request", lambda each: asked.append(each.url))
    page.on("pageerror", lambda each: problems.append(str(each)))
    page.on("console", lambda each: problems.append(each.text))
    page.on("dialog", lambda each: problems.append(each.message))
    with served(paths) as url:
        open_page(page, url)
        page.get_by_role("button", name="go to the difference").click()
        expect(page.get_by_role("heading", name="tick 1")).to_be_visible()
        open_all(page)
        page.get_by_label("search paths and values").fill("pwned")
        expect(page.get_by_role("treeitem").first).to_be_visible()
        page.locator(".plotter").first.click()
        expect(page.locator("twice-plot .u-over")).to_be_visible()
        page.get_by_role("button", name="diagnose: executes both programs").click()
        expect(page.locator("twice-difference h3").or_(page.locator(".problem"))).to_be_visible(
            timeout=120_000
        )
        shown = page.locator("body").inner_text()

        assert page.evaluate("typeof pwned") == "undefined"
        assert problems == []
        origin = url.partition("?")[0]
        assert [each for each in asked if not each.startswith((origin, "data:"))] == []
        assert [each for each in shown if not each.isprintable() and each not in "\n\t\xa0"] == []
        assert find_wide(page) == []
    page.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("runs", [1, 2])
def test_axe_finds_nothing(
    browser: Browser, tmp_path: Path, runs: int, scheme: Any, size: str
) -> None:
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    with served(record_programs(tmp_path, SWARM)[:runs]) as url:
        open_page(page, url)
        page.get_by_label("path of a number").fill("swarm.x")
        page.get_by_role("button", name="plot", exact=True).click()
        expect(page.locator("twice-plot .u-over")).to_be_visible()
        open_all(page)
        if runs == 2:
            page.get_by_role("button", name="diagnose: executes both programs").click()
            expect(page.locator("twice-difference .lit").first).to_be_visible(timeout=120_000)
        whole = Axe().run(page).response["violations"]
        page.get_by_role("button", name="keys").click()
        dialog = Axe().run(page, "dialog").response["violations"]
    found = [(each["id"], node["html"][:200]) for each in whole + dialog for node in each["nodes"]]

    assert found == []
    page.close()
