"""The page of a run of 10 million compare-points in headless Chromium: how soon it is drawn, how it pans, what it takes.

Usage: python benchmarks/page.py [--rounds N] [--small] [--output FILE.jsonl]

The record is that of `benchmarks/view.py`. A page is drawn when the bars of its timeline are. It is panned by the pointer
for three seconds, and the browser's own trace says which frames of that time it presented with all that the page had drawn
for them. Memory is what the process of the page holds alone, and the proportional share of all processes of the browser, as
the kernel counts both. Goals: a second, 30 frames in each second, 300 MB. Times are of the wall clock.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import measuring

sys.path.insert(0, str(measuring.FOLDER.parent / "tests" / "view"))

from browsers import launched, served
from playwright.sync_api import Browser, Page

from view import write_record

UNITS = {
    "drawn": "ms",
    "frames while panned": "per s",
    "memory": "MB",
    "whole browser": "MB",
    "whole browser with an empty page": "MB",
}
PANNED_S = 3
REACH_PX = 700
DRAWN = "twice-timeline:last-child .u-over"
FRAME = "PipelineReporter"
"""The event of a trace that follows a frame from the page to the screen."""


def figures(rounds: int, ticks: int) -> Iterator[dict[str, object]]:
    """Yield the figures."""
    found = list[dict[str, float]]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.twice")
        write_record(path, ticks)
        for _ in range(rounds):
            with launched() as browser:  # a new one: a trace leaves memory behind
                found.append(measure(browser, path, ticks))
    for figure, unit in UNITS.items():
        samples = [each[figure] for each in found]
        name = f"{ticks:,} compare-points: {figure}"
        yield {"figure": name, "unit": unit} | measuring.spread(samples, 1)


def measure(browser: Browser, path: Path, ticks: int) -> dict[str, float]:
    """Open the page of a record in a process of its own, and pan it."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    without = measure_memory(browser)[1]
    with served([path]) as url:
        began = time.perf_counter()
        page.goto(url)
        page.locator(DRAWN).first.wait_for()
        page.evaluate("() => new Promise(requestAnimationFrame)")
        drawn = 1e3 * (time.perf_counter() - began)
        page.wait_for_load_state("networkidle")
        of_page, of_browser = measure_memory(
            browser
        )  # before the trace, which takes memory as well
        frames = pan(page, browser, ticks)
    page.context.close()
    return dict(zip(UNITS, (drawn, frames, of_page, of_browser, without), strict=True))


def pan(page: Page, browser: Browser, ticks: int) -> float:
    """Drag a range in the middle of the run to and fro; return the frames that were presented in each second."""
    with page.expect_response(lambda answer: "/api/timeline?" in answer.url) as answer:
        page.evaluate(f"location.hash = 'tick=0&from={ticks // 2}&to={ticks // 2 + ticks // 20}'")
    answer.value.finished()
    chart = page.locator(DRAWN).first
    chart.hover()  # once it does not move any more: notes above it may come and go
    box = chart.bounding_box()
    assert box is not None, "the timeline is drawn"
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visible = page.get_by_role("group", name="visible ticks")
    before = visible.inner_text()
    page.mouse.down()
    browser.start_tracing(page=page, categories=["disabled-by-default-devtools.timeline.frame"])
    begins, at = time.perf_counter(), 0
    while (passed := time.perf_counter() - begins) < PANNED_S:
        at = at % REACH_PX + 7
        page.mouse.move(x + REACH_PX / 2 - abs(REACH_PX - 2 * at) / 2, y)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    page.mouse.up()
    assert visible.inner_text() != before, "the timeline was panned"
    return count_presented(events) / passed


def count_presented(events: list[dict[str, Any]]) -> int:
    """Count the frames of a trace that were presented with all that the page had drawn for them."""
    reports = (each["args"].get("frame_reporter", {}) for each in events if each["name"] == FRAME)
    return sum(each.get("state") == "STATE_PRESENTED_ALL" for each in reports)


def measure_memory(browser: Browser) -> tuple[float, float]:
    """Return megabytes: what the largest renderer holds alone, and the proportional share of the whole browser."""
    told = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    kinds = {each["id"]: each["type"] for each in told["processInfo"]}
    (root,) = (process for process, kind in kinds.items() if kind == "browser")
    sizes = {each: read_sizes(each) for each in find_group(os.getpgid(root))}
    of_page = max(
        each["Private_Clean:"] + each["Private_Dirty:"]
        for process, each in sizes.items()
        if kinds.get(process) == "renderer"
    )
    return of_page / 1e6, sum(each["Pss:"] for each in sizes.values()) / 1e6


def find_group(group: int) -> Iterator[int]:
    """Yield the processes of a group: the browser names no zygotes, which are in its group as all others."""
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):  # it ended in between
            if os.getpgid(int(each.name)) == group:
                yield int(each.name)


def read_sizes(process: int) -> dict[str, int]:
    """Read the bytes of a process as the kernel counts them, by the name of the count."""
    rows = Path(f"/proc/{process}/smaps_rollup").read_text("utf-8").splitlines()[1:]
    return {name: int(size) * 1024 for name, size, *_ in map(str.split, rows)}


def main() -> None:
    """Measure and print."""
    chosen = measuring.options("page", __doc__.splitlines()[0], rounds=3)
    ticks = 10_000 if chosen.small else 10_000_000
    measuring.tell("page", figures(chosen.rounds, ticks), chosen.output)


if __name__ == "__main__":
    main()
