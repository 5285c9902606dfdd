"""The page of a run of 10 million compare-points in headless Chromium: how soon it is drawn, how it pans, what it takes.

Usage: python benchmarks/page.py [--rounds N] [--small] [--output FILE.jsonl]

The record is that of `benchmarks/view.py`. A page is drawn when the bars of its timeline are. It is panned by the pointer
for three seconds, and a frame is a call of `requestAnimationFrame` in that time. Memory is what the process of the page
holds alone, as the kernel counts it. Goals: a second, 30 frames in each second, 300 MB. Times are of the wall clock.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import measuring

sys.path.insert(0, str(measuring.FOLDER.parent / "tests" / "view"))

from browsers import launched, served
from playwright.sync_api import Browser, Page

from view import write_record

PANNED_S = 3
DRAWN = "twice-timeline:last-child .u-over"
COUNT_FRAMES = """() => {
    window.frames_ = [];
    const count = (now) => { window.frames_.push(now); requestAnimationFrame(count); };
    requestAnimationFrame(count);
}"""


def figures(rounds: int, ticks: int) -> Iterator[dict[str, object]]:
    """Yield the figures."""
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        path = Path(folder, "long.twice")
        write_record(path, ticks)
        found = [measure(browser, path) for _ in range(rounds)]
    for figure, unit in (("drawn", "ms"), ("frames while panned", "per s"), ("memory", "MB")):
        samples = [each[figure] for each in found]
        name = f"{ticks:,} compare-points: {figure}"
        yield {"figure": name, "unit": unit} | measuring.spread(samples, 1)


def measure(browser: Browser, path: Path) -> dict[str, float]:
    """Open the page of a record in a process of its own, and pan it."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    with served([path]) as url:
        began = time.perf_counter()
        page.goto(url)
        page.locator(DRAWN).first.wait_for()
        page.evaluate("() => new Promise(requestAnimationFrame)")
        drawn = 1e3 * (time.perf_counter() - began)
        frames = pan(page)
        memory = measure_memory(page)
    page.context.close()
    return {"drawn": drawn, "frames while panned": frames, "memory": memory}


def pan(page: Page) -> float:
    """Zoom in, then drag to and fro; return the frames of each second."""
    page.get_by_role("button", name="zoom in").click(click_count=4)
    box = page.locator(DRAWN).first.bounding_box()
    assert box is not None, "the timeline is drawn"
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 10, middle)
    page.mouse.down()
    page.evaluate(COUNT_FRAMES)
    ends, at = time.perf_counter() + PANNED_S, 0
    while time.perf_counter() < ends:
        at = (at + 7) % 1400
        page.mouse.move(box["x"] + 10 + min(at, 1400 - at), middle)
    times: list[float] = page.evaluate("window.frames_")
    page.mouse.up()
    return 1e3 * (len(times) - 1) / (times[-1] - times[0])


def measure_memory(page: Page) -> float:
    """Return the megabytes of the largest renderer of the browser."""
    session = page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = [0]
    for each in processes:
        if each["type"] == "renderer":
            rollup = Path(f"/proc/{each['id']}/smaps_rollup").read_text("utf-8")
            fields = dict(line.split()[:2] for line in rollup.splitlines()[1:])
            sizes.append(int(fields["Private_Clean:"]) + int(fields["Private_Dirty:"]))
    return max(sizes) / 1e3


def main() -> None:
    """Measure and print."""
    chosen = measuring.options("page", __doc__.splitlines()[0], rounds=3)
    ticks = 10_000 if chosen.small else 10_000_000
    measuring.tell("page", figures(chosen.rounds, ticks), chosen.output)


if __name__ == "__main__":
    main()
