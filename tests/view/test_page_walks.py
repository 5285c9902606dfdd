"""Walks through the page in a browser: they start a browser, and processes for all that the page executes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes.util import find_library
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from browsers import CHROMIUM, launched, open_page, served
from playwright.sync_api import Browser, Page, expect
from shown_programs import KINDS, PARTING, SWARM, ShownKind, record_programs

from programs import recorded
from twice.view import levels

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt install chromium"),
]

EXECUTES_MS = 120_000
BACK = PARTING - 10


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose scripts have no errors, and whose server refuses nothing."""
    shown = browser.new_page(viewport={"width": 1280, "height": 900})
    problems: list[str] = []
    shown.on("console", lambda each: problems.append(each.text))
    shown.on("pageerror", lambda each: problems.append(str(each)))
    yield shown
    assert problems == []
    shown.close()


def expect_tick(page: Page, tick: int) -> None:
    expect(page.get_by_role("heading", name=f"tick {tick}")).to_be_visible()


def find_difference(page: Page, kind: ShownKind) -> None:
    expect(page.locator("twice-difference")).to_contain_text(f"They part at tick {PARTING}")
    page.get_by_role("button", name="go to the difference").click()
    expect_tick(page, PARTING)


def go_back(page: Page, kind: ShownKind) -> None:
    page.locator("h1").click()
    page.keyboard.press("Shift+ArrowLeft")
    expect_tick(page, BACK)
    expect(page.get_by_role("tree")).not_to_contain_text("differs")


def see_lines(page: Page, kind: ShownKind) -> None:
    page.get_by_role("button", name="diagnose: executes both programs").click()
    expect(page.locator("twice-difference .lit").first).to_contain_text(
        kind.line, timeout=EXECUTES_MS
    )
    expect(page.locator("twice-difference .values code")).not_to_have_count(0)


def plot_fields(page: Page, kind: ShownKind) -> None:
    for path in kind.plots:
        page.get_by_label("path of a number").fill(path)
        page.get_by_role("button", name="plot", exact=True).click()
    expect(page.locator("twice-plot .u-over")).to_have_count(len(kind.plots))
    expect(page.locator("twice-plot").last).to_contain_text(
        re.compile(r"twice: -?\d.* before tick")
    )


def see_picture(page: Page, kind: ShownKind) -> None:
    page.get_by_role("button", name="exact state: executes both programs").click()
    expect(page.locator("twice-state")).to_contain_text(
        f"before tick {BACK}, replayed", timeout=EXECUTES_MS
    )
    expect(page.locator("figure img")).to_have_count(2 * kind.draws)
    for each in page.locator("figure img").all():
        expect(each).to_have_js_property("complete", True)
        assert each.evaluate("image => image.naturalWidth") > 1


def branch(page: Page, kind: ShownKind) -> None:
    name, text = kind.change
    page.locator("twice-branch").get_by_label(name).fill(text)
    page.get_by_role("button", name="branch: executes the program").click()
    expect(page.locator("twice-branch")).to_contain_text("branch-1.twice", timeout=EXECUTES_MS)


def compare_branch(page: Page, kind: ShownKind) -> None:
    expect(page.locator("twice-difference")).to_contain_text(f"They part at tick {BACK}")
    expect(page.locator("twice-timeline")).to_have_count(2)
    expect(page.locator("twice-plot .side1")).to_have_count(len(kind.plots))


STEPS = (
    find_difference, see_lines, go_back, plot_fields, see_picture, branch, compare_branch,
)  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_person_finds_a_difference_and_branches(page: Page, tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    for library in kind.needs:
        pytest.importorskip(library)
    if name == "ant" and find_library("EGL") is None:
        pytest.skip("no EGL: apt install libegl1")
    with served(kind.record(tmp_path, kind.source)) as url:
        open_page(page, url)
        for step in STEPS:
            step(page, kind)
        assert page.locator(".problem").count() == 0


def test_the_lines_of_reads_come_with_the_exact_state(page: Page, tmp_path: Path) -> None:
    source = """
        import time

        def look():
            return time.time()  # <b>the clock</b>

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(4):
                seen.append(look())
    """
    with recorded(tmp_path, source) as record, served([record.path]) as url:
        open_page(page, url)
        journal = page.locator("twice-journal")
        expect(journal).to_contain_text("The exact state comes with the line of each read.")
        page.get_by_role("button", name="exact state: executes the program").click()
        expect(journal).to_contain_text("program.py:5 in look", timeout=EXECUTES_MS)
        journal.locator("summary", has_text="program.py:5").click()
        expect(journal.locator(".lit")).to_contain_text("# <b>the clock</b>")
        assert page.locator(".problem").count() == 0


def test_steps_go_to_changes_that_counts_do_not_show(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "_MERGED_BLOCKS", 1)
    source = """
        def main(run):
            c, d = run.track("c", {"n": 0}), run.track("d", {"n": 0})
            for tick in run.ticks(300):
                c["n"] += tick in (7, 200)
                d["n"] += 1
                run.compare("note", tick)
                run.flush()
    """
    with recorded(tmp_path, source) as record, served([record.path]) as url:
        open_page(page, f"{url}#run=0&tick=0&component=c")
        expect(page.locator("twice-timeline")).to_contain_text("sampled")
        for key, tick in (("n", 7), ("n", 200), ("p", 7)):
            page.keyboard.press(key)
            expect_tick(page, tick)
        expect(page.locator("#status")).to_contain_text("tick 7: c, d changed")
        page.keyboard.press("p")
        expect(page.locator("#status")).to_contain_text("c does not change before tick 7.")
        assert page.locator(".problem").count() == 0


def test_steps_and_the_status_are_about_both_runs(page: Page, tmp_path: Path) -> None:
    source = """
        def main(run):
            c = run.track("c", {"n": 0})
            for tick in run.ticks(20):
                c["n"] += tick == (7, 12)[run.config["gust"]]
    """
    with served(record_programs(tmp_path, source)) as url:
        open_page(page, f"{url}#run=0&with=1&tick=0&component=c")
        status = page.locator("#status")
        for key, tick in (("n", 7), ("n", 12), ("p", 7)):
            page.keyboard.press(key)
            expect_tick(page, tick)
        expect(status).to_have_text(
            "tick 7: calm.twice: c changed; gust.twice: no component changed"
        )
        page.keyboard.press("p")
        expect(status).to_contain_text("c changes in neither run before tick 7.")
        assert page.locator(".problem").count() == 0


def test_a_count_of_more_than_the_visible_ticks_says_so(page: Page, tmp_path: Path) -> None:
    source = """
        def main(run):
            d = run.track("d", {"n": 0})
            for _ in run.ticks(3000):
                d["n"] += 1
    """
    with recorded(tmp_path, source) as record, served([record.path]) as url:
        for place, count in (
            ("", "3,000/3,002"),
            ("&from=13&to=712", "about"),
            ("&from=13&to=112", "100/100"),
        ):
            page.goto("about:blank")
            open_page(page, f"{url}#run=0&tick=0{place}")
            expect(page.get_by_role("button", name=re.compile("^d "))).to_contain_text(f"d {count}")
            assert page.locator(".problem").count() == 0


def test_what_differs_beside_equal_points_is_shown(page: Page, tmp_path: Path) -> None:
    source = """
        def main(run):
            c = run.track("c", {"n": 0})
            for _ in run.ticks(3):
                c["n"] += 1
            return run.config["v"]
    """
    paths = []
    for v in (0, 7):
        with recorded(tmp_path, source, out=tmp_path / f"{v}.twice", config={"v": v}) as record:
            paths.append(record.path)
    with served(paths) as url:
        open_page(page, url)
        part = page.locator("twice-difference")
        expect(part).to_contain_text("No difference at 5 compare-points, in the digests of c,")
        beside = part.get_by_role("group", name="They also differ in")
        expect(beside).to_contain_text("returned value")
        page.get_by_role("button", name="diagnose: executes both programs").click()
        found = part.get_by_role("group", name="different results")
        expect(found).to_contain_text("returned value", timeout=EXECUTES_MS)
        assert page.locator(".problem").count() == 0


def test_values_that_are_cut_are_compared_whole(page: Page, tmp_path: Path) -> None:
    source = """
        import numpy

        def main(run):
            more = run.config["gust"]
            array = numpy.zeros((100, 100))
            array[50, 50] = more
            run.track("big", {"array": array, "list": list(range(6000 + more)), "n": float("nan")})
            run.track("b", {"m": numpy.eye(3), "map": {"map": [None, None]}, "text": {"text": "hello"}})
            grid = run.track("grid", {(0, 0): 1, (0, 1): 2 + more})
            run.track("late", {"cut": "x" * 5000 + str(more), "whole": "x" * 500 + str(more)})
            counter = run.track("a.b", {"n": numpy.float64(0)})
            run.track("a", {"b": 1})
            for tick in run.ticks(9):
                counter["n"] += 1
                grid[0, 0] = float("nan") if 3 <= tick < 6 else tick
    """
    with served(record_programs(tmp_path, source)) as url:
        open_page(page, url)
        tree = page.get_by_role("tree")
        expect(tree).to_contain_text("1,000 of 6,001 shown")
        expect(tree).to_contain_text("1,000 of 10,000 shown")
        for text in ("(none)", "(not shown)"):
            expect(tree).not_to_contain_text(text)
        for text in ("map dict of 1", "map list of 2"):
            tree.get_by_role("treeitem", name=text).click()
        expect(tree).to_contain_text("None")
        expect(tree.get_by_role("treeitem", name="a.b")).to_contain_text("changed")
        expect(tree).to_contain_text("0.0 (float64)")
        page.get_by_label("only differing").check()
        expect(page.locator("twice-state")).to_contain_text("5 found in the parts that are shown")
        expect(tree.get_by_role("treeitem")).to_have_count(5)
        hidden = tree.get_by_role("treeitem", name="late.cut differs in a part that is not shown")
        expect(hidden).to_have_count(1)
        expect(tree.get_by_role("treeitem", name="late.whole")).to_contain_text(f"…{'x' * 20}1")
        expect(tree).to_contain_text("grid[(0, 1)]")
        fields = page.get_by_role("group", name="differences of the whole states")
        expect(fields).to_contain_text("big.array[50, 50]")
        expect(fields).to_contain_text("1 of 10,000")
        expect(fields).to_contain_text(f"...{'x' * 20}1")
        page.get_by_label("path of a number").fill("grid[(0, 0)]")
        page.get_by_role("button", name="plot", exact=True).click()
        expect(page.locator("twice-plot .key").first).to_contain_text("before tick 0")
        page.get_by_label("only differing").uncheck()
        page.get_by_role("button", name="exact state: executes both programs").click()
        expect(page.locator("twice-state")).to_contain_text("replayed", timeout=EXECUTES_MS)
        expect(tree).to_contain_text("1,000 of 10,000 shown")
        page.get_by_label("only differing").check()
        expect(page.locator("twice-state")).to_contain_text("compared in the parts that are shown")
        assert page.locator(".problem").count() == 0


def tab_to(page: Page, name: str) -> None:
    """Press the key of tabs until an element of that name has the focus."""
    named = "() => [document.activeElement.textContent, document.activeElement.labels?.[0]?.textContent]"
    for _ in range(200):
        if name in page.evaluate(named):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no element {name!r} has the focus")


def test_an_execution_is_stopped_by_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    keyboard = page.keyboard
    with served(record_programs(tmp_path, SWARM)) as url:
        open_page(page, url)
        tab_to(page, "diagnose: executes both programs")
        keyboard.press("Enter")
        keyboard.press("Tab")
        tab_to(page, "stop")
        keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_have_text("Stopped.")
        expect(page.locator("twice-difference .problem")).to_contain_text("it was stopped")
        expect(page.get_by_role("button", name="stop")).to_have_count(0)
        keyboard.press("Enter")  # the button that began has the focus again
        lit = page.locator("twice-difference .lit").first
        expect(lit).to_contain_text('run.config["gust"]', timeout=EXECUTES_MS)
    page.close()


def test_two_fingers_zoom_the_timeline(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page(has_touch=True)
    with served(record_programs(tmp_path, SWARM)[:1]) as url:
        open_page(page, url)
        box = page.locator("twice-timeline .u-over").first.bounding_box()
        assert box is not None
        touch = page.context.new_cdp_session(page)
        for name, shares in (
            ("touchStart", (0.4, 0.6)),
            ("touchMove", (0.2, 0.8)),
            ("touchEnd", ()),
        ):
            points = [
                {"id": finger, "x": box["x"] + share * box["width"], "y": box["y"] + 5}
                for finger, share in enumerate(shares)
            ]
            touch.send("Input.dispatchTouchEvent", {"type": name, "touchPoints": points})
        visible = page.get_by_role("group", name="visible ticks")
        # From -1 to 40 to begin with: ticks 15.4 and 23.6 are under the fingers.
        expect(visible).to_contain_text("ticks 12 to 26")
        expect_tick(page, 0)
    page.close()


def test_the_keyboard_alone_is_enough(page: Page, tmp_path: Path) -> None:
    kind = KINDS["swarm"]
    keyboard = page.keyboard
    with served(kind.record(tmp_path, kind.source)) as url:
        open_page(page, url)
        expect(page.locator("twice-difference")).to_contain_text("They part at")
        keyboard.press("d")
        expect_tick(page, PARTING)
        keyboard.press("Shift+ArrowLeft")
        expect_tick(page, BACK)
        tab_to(page, "diagnose: executes both programs")
        keyboard.press("Enter")
        lit = page.locator("twice-difference .lit").first
        expect(lit).to_contain_text(kind.line, timeout=EXECUTES_MS)
        keyboard.press("/")
        keyboard.type("swarm.")
        expect(page.get_by_role("treeitem")).to_have_count(2)
        keyboard.press("Tab")
        keyboard.press("Tab")
        keyboard.press("Enter")
        keyboard.press("ArrowDown")
        keyboard.press("Enter")
        expect(page.locator("twice-plot .u-over")).to_have_count(2)
        tab_to(page, "push")
        keyboard.press("Control+a")
        keyboard.type("0.75")
        keyboard.press("Enter")
        expect(page.locator("twice-branch")).to_contain_text("branch-1.twice", timeout=EXECUTES_MS)
        compare_branch(page, kind)
