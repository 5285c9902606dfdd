from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pytest

from programs import cli, recorded
from twice import report
from twice.diagnosis.divergence import (
    Attribution,
    Confirmation,
    Divergence,
    ExtraRead,
    OperationFound,
)
from twice.diagnosis.log_comparison import InputDifference, PointRef
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.environment import EnvironmentDifference
from twice.foundation.next_step import NextStep
from twice.recorder.runrecord import RunRecord
from twice.replayer.record_outcomes import OutcomeDifference
from twice.report.page import render
from twice.report.record_pages import page_of_two
from twice.report.timeline import STRETCHES_MAX, changes, events

HOSTILE = "<script>alert(1)</script>\"'&\x1b[2J\u202e"
TEMPLATES = Path(report.__file__).with_name("templates")


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


def require_escaped(page: str) -> None:
    """Text that is HOSTILE is on the page, as text."""
    require_self_contained(page)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\\x1b[2J\\u202e" in page
    assert [each for each in page if not each.isprintable() and each != "\n"] == []


@pytest.mark.integration
def test_a_page_about_one_record_is_self_contained(swarm: Path) -> None:
    told = cli("report", "a.twice", "-o", "a.html", "--json", cwd=swarm)
    page = (swarm / "a.html").read_text(encoding="utf-8")

    require_self_contained(page)
    assert json.loads(told.stdout)["format"] == "twice.reported/1"
    for words in ("Timeline", "Changes of state", "Identity", "Random streams", "snapshots"):
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

    require_escaped(page)


@pytest.fixture(scope="module")
def stilled(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """A record of two ticks, whose name is hostile."""
    folder = tmp_path_factory.mktemp("stilled")
    with recorded(folder, "def main(run):\n    for _ in run.ticks(2):\n        pass\n") as record:
        return RunRecord.open(record.path.rename(folder / f"{HOSTILE.replace('/', '')}.twice"))


def found_in(record: RunRecord, **fields: Any) -> Divergence:
    """A diagnosis that says nothing but what is given."""
    told = {"result": "localised", "predicate": record.setup.predicate, "subsystems": (), **fields}
    return Divergence("a.twice", "b.twice", **told)


def test_what_a_diagnosis_says_is_never_markup(stilled: RunRecord) -> None:
    operation = OperationFound(
        HOSTILE, 2, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, 0.9, HOSTILE
    )
    page = page_of_two(
        stilled,
        stilled,
        found_in(
            stilled,
            input_differences=[InputDifference(HOSTILE, HOSTILE, HOSTILE)],
            compare_point=PointRef(1, 1, HOSTILE),
            last_agreement=PointRef(0, 0, HOSTILE),
            components=[HOSTILE],
            fields=[FieldDifference(HOSTILE, "value", HOSTILE, HOSTILE)],
            operation=operation,
            attribution=[Attribution(Channel.SEEDS, 0.5, (HOSTILE,), confirmed=True)],
            surroundings=[(HOSTILE, HOSTILE, HOSTILE)],
            environment=[EnvironmentDifference(HOSTILE, HOSTILE, HOSTILE, "note")],
            blind_spots=[HOSTILE],
            evidence=[HOSTILE],
            caveats=[HOSTILE],
            experiments=[Confirmation(HOSTILE, Channel.SEEDS, "open", HOSTILE)],
            outcome=[OutcomeDifference(HOSTILE, HOSTILE, HOSTILE, HOSTILE)],
            reads=[ExtraRead(HOSTILE, HOSTILE, 3, HOSTILE)],
            remedies=[HOSTILE],
            next=[NextStep(HOSTILE, HOSTILE)],
        ),
    )

    require_escaped(page)
    assert page.count("&lt;script&gt;") >= 40


def test_a_page_about_two_has_all_that_the_diagnosis_says(stilled: RunRecord) -> None:
    lines = [OperationFound("p.py", at, "main", f"x = {at}", "x", "1", "2", 0.4) for at in (7, 9)]
    page = page_of_two(
        stilled,
        stilled,
        found_in(
            stilled,
            result="candidates",
            candidates=lines,
            outcome=[OutcomeDifference("file out.csv", "12 bytes", "14 bytes", "line 3")],
            experiments=[Confirmation("hash seed", Channel.SEEDS, "refuted", "Both ran again.")],
            reads=[ExtraRead("clock.perf_counter", "p.py", 4, "t = perf_counter()")],
            remedies=["sort it"],
            surroundings=[("variable TZ", "", "UTC")],
            repeats={"a": [True, True], "b": [True, False]},
            next=[
                NextStep("try", "twice vary p.py"),
                NextStep("look", "twice report a.twice b.twice -o report.html"),
            ],
        ),
    )

    require_self_contained(page)
    for words in (
        "p.py:7", "x = 9", "file out.csv (line 3)", "14 bytes", "Tried: hash seed, refuted.",
        "clock.perf_counter", "sort it", "unset", "run b came out as recorded 1 of 2 times", "<code>twice vary p.py</code>",
    ):  # fmt: skip
        assert words in page
    assert "report.html" not in page
    assert "run a came out" not in page
    for empty in ("Different inputs", "Differing fields"):
        assert f"<h2>{empty}</h2>" not in page


def test_a_page_about_two_shows_the_samples_of_both(stilled: RunRecord) -> None:
    samples = {
        "summary": "reward", "test": "means", "epsilon": 0.5, "n": 300, "reason": "The means agree.",
        "seeds": [str(seed) for seed in range(300)],
        "recorded": [1.5] * 300, "replayed": [2.25, *[None] * 299],
    }  # fmt: skip

    page = page_of_two(stilled, stilled, found_in(stilled, result="same", samples=samples))

    require_self_contained(page)
    for words in ("<h2>Statistical samples</h2>", "over 300 seeds", "The means agree.", "2.25"):
        assert words in page
    assert page.count("<div>1.5<") == 200
    assert "100 more seeds: twice diagnose --json prints all of them." in page


def test_equal_contents_give_an_equal_page(stilled: RunRecord) -> None:
    found = found_in(stilled, result="same")

    assert page_of_two(stilled, stilled, found) == page_of_two(stilled, stilled, found)


def test_a_value_that_a_template_misses_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("record")


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.j2")), ids=lambda path: path.name)
def test_no_template_escapes_less_than_all(template: Path) -> None:
    text = template.read_text(encoding="utf-8")

    assert not re.search(r"\|\s*(safe|tojson|xmlattr|urlize)|autoescape|Markup", text)
    assert not re.search(r"=\{\{", text), "an attribute without quotation marks"
    assert not re.search(r"\b(href|src|style|on\w+)=", text)
    assert "//" not in re.sub(r"\{[{%].*?[%}]\}", "", text), "the address of a host"


@pytest.mark.integration
def test_source_is_shown_only_as_it_was_recorded(tmp_path: Path) -> None:
    operation = OperationFound("program.py", 2, "main", "for _ in ...", "_", "1", "2", 0.9)
    program = tmp_path / "program.py"
    with recorded(tmp_path, "def main(run):\n    for _ in run.ticks(2):\n        pass\n") as record:

        def page(path: Path) -> str:
            there = replace(operation, file=str(path))
            return page_of_two(record, record, found_in(record, operation=there))

        whole, stranger = page(program), page(record.path)
        program.write_text("secret = 1\n" * 9)
        changed = page(program)

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

    assert sum(rows["inputs"].counts) == sum(rows["points: tick"].counts) == ticks
    assert len(rows["inputs"].counts) <= STRETCHES_MAX
    assert sum(changed["step"].counts) == (ticks - 1) // 3
    assert sum(changed["inputs"].counts) == ticks
    for row in rows.values():
        boxes = list(row.boxes())
        assert sum(count for *_, count in boxes) == sum(row.counts)
        assert all(0 <= at and at + length <= ticks for at, length, *_ in boxes)
    assert all(count <= of for row in rows.values() for count, of in zip(row.counts, row.of))


@pytest.mark.integration
def test_a_torn_record_has_a_page_too(swarm: Path) -> None:
    whole = (swarm / "a.twice").read_bytes()
    (swarm / "torn.twice").write_bytes(whole[: len(whole) * 3 // 4])

    assert cli("report", "torn.twice", "-o", "t.html", cwd=swarm).returncode == 0
    page = (swarm / "t.html").read_text()
    require_self_contained(page)
    assert "run record, torn<" in page
    assert "The run read nothing" not in page
    assert "twice migrate torn.twice -o torn.closed.twice" in page
