"""What a person starts on the page, in a browser: it is started, and so are processes for all that the page executes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

from browsers import CHROMIUM, launched, open_page, served
from playwright.sync_api import Browser, expect
from shown_programs import record_programs

from programs import recorded
from twice.recorder.runrecord import RunRecord
from twice.view.executions import Executions

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt install chromium"),
]

EXECUTES_MS = 120_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


def test_a_stop_ends_the_replay_of_the_second_run_too(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
        import time

        def main(run):
            seen = run.track("seen", [run.config["gust"]])
            for _ in run.ticks(4):
                seen.append(time.time())
    """
    page = browser.new_page()
    find_lines = Executions.find_lines

    def stop_first(executions: Executions, *asked: Any, execution: str) -> dict[str, Any]:
        executions.stop(execution)
        return find_lines(executions, *asked, execution=execution)

    monkeypatch.setattr(Executions, "find_lines", stop_first)
    with served(record_programs(tmp_path, source)) as url:
        open_page(page, f"{url}#run=0&with=1&tick=2")
        page.get_by_role("button", name="exact state: executes both programs").click()
        state = page.locator("twice-state")
        expect(state.locator(".problem")).to_contain_text("it was stopped", timeout=EXECUTES_MS)
        expect(state).to_contain_text("calm.twice: the state before tick 2, replayed")
        expect(state).to_contain_text("gust.twice: the state before tick 0, from snapshot 0")
        expect(page.locator("twice-journal .problem")).to_contain_text("it was stopped")
        assert page.locator(".problem").count() == 2
    page.close()


def test_the_form_of_a_branch_offers_values_that_it_reads_back(
    browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page()
    note = 'a "long"\n' + "text " * 200
    source = f"""
        def main(run):
            seen = run.track("seen", [])
            for _ in run.ticks(3):
                seen.append([run.input("flag", lambda: True), run.input("note", lambda: {note!r})])
                seen.append(run.input("raw", lambda: b"1"))
    """
    with recorded(tmp_path, source) as record, served([record.path]) as url:
        open_page(page, f"{url}#run=0&tick=1")
        form = page.locator("twice-branch")
        expect(form.get_by_label("flag")).to_have_value("true")
        expect(form.get_by_label("raw")).to_have_value("")
        field = form.get_by_label("note")
        field.fill(field.input_value().replace("text", "word", 1))
        form.get_by_label("flag").fill("false")
        page.get_by_role("button", name="branch: executes the program").click()
        expect(form).to_contain_text("branch-1.twice", timeout=EXECUTES_MS)
        assert page.locator(".problem").count() == 0
        (path,) = tmp_path.glob("*-branch-1.twice")
    page.close()
    with RunRecord.open(path) as made:
        values = {each.name: each.value for each in made.inputs(tick=1)}
    assert values == {"flag": False, "note": note.replace("text", "word", 1), "raw": b"1"}
    assert values["flag"] is False
