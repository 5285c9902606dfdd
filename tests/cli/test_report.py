from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from programs import cli, recorded
from twice.diagnosis.divergence import OperationFound
from twice.report.comparison import STRETCHES_MAX, changes, events
from twice.report.excerpt import excerpt
from twice.report.strips import figure

HOSTILE = "<script>alert(1)</script>\"'&"


class Elements(html.parser.HTMLParser):
    """Names and attributes of every element of a page, and whether all are closed."""

    VOID = frozenset({"meta", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def require_self_contained(page: str) -> None:
    """Nothing is loaded, run or styled but by the one style that the policy names."""
    elements = Elements(page)
    assert elements.open == []
    assert not {tag for tag, _ in elements.found} & {"script", "link", "img", "iframe", "a", "form"}
    for _, attributes in elements.found:
        assert not {"src", "href", "style", "onload", "onclick"} & set(attributes)
    (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policies = [row["content"] for _, row in elements.found if "http-equiv" in row]
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    ]


@pytest.mark.integration
def test_a_page_about_one_record_is_self_contained(swarm: Path) -> None:
    told = cli("report", "a.twice", "-o", "a.html", "--json", cwd=swarm)
    page = (swarm / "a.html").read_text(encoding="utf-8")

    require_self_contained(page)
    assert json.loads(told.stdout)["format"] == "twice.reported/1"
    for words in ("Timeline", "What changed when", "Identity", "Random streams", "snapshots"):
        assert words in page


@pytest.mark.heavy
def test_a_page_about_two_begins_with_the_verdict(swarm: Path) -> None:
    done = cli("report", "a.twice", "b.twice", "-o", "ab.html", cwd=swarm)
    page = (swarm / "ab.html").read_text(encoding="utf-8")

    require_self_contained(page)
    assert done.stdout == "wrote ab.html (localised)\n"
    assert page.index("localised") < page.index("First differing operation") < page.index("Why")
    assert '<span class="row lit"><span class="number">45</span>' in page
    assert "the runs part, tick 120" in page


@pytest.mark.integration
def test_what_a_record_holds_is_never_markup(tmp_path: Path) -> None:
    source = f"""
        class Thing:
            def state(self):
                return {{"x": 1}}
        def main(run):
            run.track({HOSTILE!r}, Thing())
            run.rng({HOSTILE!r})
            for _ in run.ticks(3):
                run.phase({HOSTILE!r})
                run.input({HOSTILE!r}, lambda: {HOSTILE!r})
                print({HOSTILE!r})
            raise ValueError({HOSTILE!r})
    """
    with recorded(tmp_path, source, config={"key": HOSTILE}) as record:
        path = record.path

    assert cli("report", path, "-o", tmp_path / "a.html").returncode == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")

    require_self_contained(page)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.integration
def test_source_is_shown_only_as_it_was_recorded(tmp_path: Path) -> None:
    operation = OperationFound("program.py", 2, "main", "for _ in ...", "_", "1", "2", 0.9)
    with recorded(tmp_path, "def main(run):\n    for _ in run.ticks(2):\n        pass\n") as record:
        whole = excerpt(replace(operation, file=str(tmp_path / "program.py")), record)
        stranger = excerpt(replace(operation, file=str(tmp_path / "a.twice")), record)
        (tmp_path / "program.py").write_text("secret = 1\n" * 9)
        changed = excerpt(replace(operation, file=str(tmp_path / "program.py")), record)

    assert '<span class="row lit"><span class="number">2</span>    for _ in run.ticks(2):' in whole
    for text in (stranger, changed):
        assert "secret" not in text
        assert "The file is not here as it was recorded." in text


@pytest.mark.integration
@pytest.mark.parametrize("ticks", [1, 7, STRETCHES_MAX, STRETCHES_MAX + 1, 1000])
def test_every_event_is_counted_once_in_a_stretch_of_equal_ticks(
    tmp_path: Path, ticks: int
) -> None:
    source = f"""
        class Step:
            n = 0
            def state(self):
                return {{"n": self.n // 3}}
        def main(run):
            step = run.track("step", Step())
            for tick in run.ticks({ticks}):
                run.input("a", lambda: tick)
                step.n = tick
    """
    with recorded(tmp_path, source) as record:
        rows = {row.name: row for row in events(record)}
        changed = {row.name: row for row in changes(record)}
        drawn = figure(list(rows.values()), ticks, mark=0)

    assert sum(rows["inputs"].counts) == sum(rows["points: tick"].counts) == ticks
    assert len(rows["inputs"].counts) <= STRETCHES_MAX
    assert sum(changed["step"].counts) == (ticks - 1) // 3
    assert sum(changed["inputs"].counts) == ticks
    assert drawn == figure(list(rows.values()), ticks, mark=0)
    assert all(count <= of for row in rows.values() for count, of in zip(row.counts, row.of))


@pytest.mark.integration
def test_a_torn_record_has_a_page_too(swarm: Path) -> None:
    whole = (swarm / "a.twice").read_bytes()
    (swarm / "torn.twice").write_bytes(whole[: len(whole) * 3 // 4])

    assert cli("report", "torn.twice", "-o", "t.html", cwd=swarm).returncode == 0
    page = (swarm / "t.html").read_text()
    require_self_contained(page)
    assert "damaged or torn" in page
