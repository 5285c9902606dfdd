"""Every format says the same findings, and no text of a program under check breaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from projects import CLOCK, LISTING, Project

from twice.checker.analyzer import rule_table
from twice.checker.findings import Finding, SourceSpan, Step, Violation
from twice.checker.formats import github, junit, sarif, text
from twice.checker.formats import json as json_format
from twice.checker.policy import Policy
from twice.checker.report import Entry, Report, Tried
from twice.cli.commands.check import FORMATS
from twice.foundation.severity import Severity


def record(*required: str, **properties: object) -> dict[str, object]:
    """Build the schema of an object."""
    return {"type": "object", "required": [*required], "properties": properties}


def closed(*required: str, **properties: object) -> dict[str, object]:
    """Build the schema of an object without other fields."""
    return {**record(*required, **properties), "additionalProperties": False}


def some(items: object) -> dict[str, object]:
    """Build the schema of a list with at least one item."""
    return {"type": "array", "minItems": 1, "items": items}


# The parts of SARIF 2.1.0 that are written, by the names of its sections 3.13 to 3.59.
TEXT = record("text", text={"type": "string"})
CORNERS = ("startLine", "startColumn", "endLine", "endColumn")
REGION = closed(*CORNERS, **{key: {"type": "integer", "minimum": 1} for key in CORNERS})
ARTIFACT = record("uri", uri={"type": "string", "pattern": r"^[!-~]*$"})
PHYSICAL = record("artifactLocation", "region", artifactLocation=ARTIFACT, region=REGION)
LOCATION = closed("physicalLocation", physicalLocation=PHYSICAL, message=TEXT)
SUPPRESSION = closed(
    "kind",
    kind={"enum": ["inSource", "external"]},
    status={"enum": ["accepted", "underReview", "rejected"]},
    justification={"type": "string", "minLength": 1},
)
STEPS = record("locations", locations=some(closed(location=LOCATION)))
REPLACEMENT = record("deletedRegion", deletedRegion=REGION, insertedContent=TEXT)
CHANGE = record(
    "artifactLocation", "replacements", artifactLocation=ARTIFACT, replacements=some(REPLACEMENT)
)
RESULT = record(
    "ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints",
    ruleIndex={"type": "integer", "minimum": 0},
    level={"enum": ["none", "note", "warning", "error"]},
    message=TEXT,
    locations=some(LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
    baselineState={"enum": ["new", "unchanged", "updated", "absent"]},
    suppressions={"type": "array", "items": SUPPRESSION},
    codeFlows=some(record("threadFlows", threadFlows=some(STEPS))),
    fixes=some(record("artifactChanges", description=TEXT, artifactChanges=some(CHANGE))),
)  # fmt: skip
RULE = record("id", shortDescription=TEXT, fullDescription=TEXT, help=TEXT)
DRIVER = record("name", "rules", rules={"type": "array", "uniqueItems": True, "items": RULE})
RUN = record(
    "tool", "results",
    tool=record("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)  # fmt: skip
SARIF = record("version", "runs", version={"const": "2.1.0"}, runs=some(RUN))

EVIL = "%\r\n::error::x\u2028|`*<b>&\"']]>\x00\x1b[31m\udcff,:"


def nasty() -> Report:
    """Build a report whose every text comes from an attacker."""
    place = SourceSpan(3, 5, 4, 2)
    found = Violation(
        "clock", place, EVIL, EVIL, symbol=EVIL, statement=EVIL, steps=(Step(place, EVIL),) * 2
    )
    finding = Finding(found, f"a/{EVIL}.py", "effects", "10", Severity.HIGH, "core", EVIL)
    return Report((finding,), 1, 9, Policy(), rule_table())


def test_sarif_is_well_formed_and_declares_every_rule(project: Project) -> None:
    silent = LISTING.replace("folder)]", "folder)]  # twice: ignore[unsorted-listing] one file")
    project.write(a=LISTING, b=silent, c=CLOCK)
    project.check("c.py", "--baseline", "base", "--baseline-accept", "before 1.0")
    document = project.check("--format", "sarif", "--baseline", "base").document
    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    declared = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert declared == sorted({*rule_table()})
    assert all(each["help"]["text"] for each in run["tool"]["driver"]["rules"])
    assert {
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: (
            each.get("baselineState"),
            [(one["kind"], one["justification"]) for one in each.get("suppressions", [])],
        )
        for each in run["results"]
    } == {
        "a.py": ("new", []),
        "b.py": (None, [("inSource", "one file")]),
        "c.py": ("unchanged", [("external", "before 1.0")]),
    }
    first = run["results"][0]
    assert declared[first["ruleIndex"]] == first["ruleId"] == "unsorted-listing"
    assert first["fixes"][0]["artifactChanges"][0]["replacements"]
    assert any("codeFlows" in each for each in run["results"])


@pytest.mark.parametrize("form", [text.render, github.render, junit.render])
def test_no_text_of_a_program_steers_a_terminal(form: Callable[[Report], str]) -> None:
    said = form(
        replace(
            nasty(),
            stale=(Entry(EVIL, "clock", EVIL, "high", EVIL, EVIL),),
            tried=Tried({nasty().findings[0].fingerprint: EVIL}, {}, {}, EVIL, parted=False),
        )
    )
    assert [each for each in said if not each.isprintable() and each != "\n"] == []
    assert "\\x1b[31m" in said.replace("\\\\", "\\").replace("\\[", "[")


@pytest.mark.parametrize("form", [json_format.render, json_format.render_lines, sarif.render])
def test_what_programs_read_is_plain_ascii(form: Callable[[Report], str]) -> None:
    said = form(nasty())
    assert said.isascii()
    assert [each for each in said if not each.isprintable() and each != "\n"] == []
    assert json.dumps(EVIL)[1:-1] in said


def test_other_formats_are_well_formed_whatever_the_program_holds() -> None:
    document = json.loads(sarif.render(nasty()))
    jsonschema.validate(document, SARIF)
    assert len(document["runs"][0]["results"]) == 1
    command = r"::error file=[^:,\n]*,line=3,endLine=4,title=[^:,\n]*::[^\n]*\n\Z"
    assert re.match(command, github.render(nasty()))
    root = ET.fromstring(junit.render(nasty()).encode("utf-8"))
    assert root.attrib["failures"] == "1"
    tags = [each.tag for each in root.iter()]
    assert tags[:4] == ["testsuites", "testsuite", "testcase", "failure"]


def test_a_page_of_a_difference_has_the_lines_that_there_are(project: Project) -> None:
    folder = project.folder / "a\x1b[31m\nb"
    folder.mkdir()
    (folder / "a.py").write_text(LISTING)
    said = project.check("--diff")
    assert said.out.startswith("--- a/a\\x1b[31m\\nb/a.py\n+++ b/a\\x1b[31m\\nb/a.py\n@@")


def test_text_says_where_why_what_settles_it_and_what_to_do(project: Project) -> None:
    project.write(a=LISTING)
    said = project.check()
    assert said.out.startswith("a.py:6:30 high unsorted-listing  ")
    for words in (
        "    why: ",
        "decided in: 07 concurrency-determinism-spec.md",
        "    do: ",
        "--fix: ",
    ):
        assert words in said.out
    assert said.out.endswith("1 high; 1 finding fails the check (high and worse)\n")
    assert "\033" not in said.out
    assert "\033[31mhigh\033[0m" in text.render(nasty(), colour=True)


def test_a_clean_result_says_what_reading_cannot_see(project: Project) -> None:
    project.write(a="x = 1\n")
    said = project.check()
    assert said.code == 0
    assert "nothing found" in said.out
    for command in ("twice vary", "twice verify", "twice diagnose"):
        assert command in said.out


def test_the_document_has_every_field_of_the_contract(project: Project) -> None:
    project.write(a=LISTING)
    document = project.check("--json").document
    assert document["format"] == json_format.FORMAT
    assert {*document} == {"format", "findings", "summary"}
    fields = "rule channel severity path line column end_line message why artifact fix confidence"
    (finding,) = document["findings"]
    assert {*fields.split()} <= {*finding}
    assert finding["fix"] == {"safe": True, "title": "Sort what is listed"}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written_twice_alike(project: Project, form: str) -> None:
    project.write(a=LISTING, b=CLOCK)
    first, second = (project.check("--format", form) for _ in range(2))
    assert (first.code, first.out) == (second.code, second.out)
    assert first.out
    assert str(project.folder) not in first.out


def test_informational_findings_are_shown_when_asked_for(project: Project) -> None:
    project.write(a="import time\n\n\ndef f():\n    print(time.time())\n")
    hidden, shown = (
        project.check("--json", *more).document for more in ((), ("--min", "informational"))
    )
    assert hidden["findings"] == []
    assert {each["severity"] for each in shown["findings"]} == {"informational"}
    assert hidden["summary"]["severities"] == shown["summary"]["severities"]


def test_a_page_has_examples_and_a_list_has_every_rule(project: Project) -> None:
    page, listing = project.check("--explain", "set-order").out, project.check("--list").out
    assert page.startswith("set-order: ")
    assert "\nBad:\n" in page
    assert "\nGood:\n" in page
    assert all(f"  {rule.name} " in listing for rule in text.all_rules())
    assert project.check("--explain", "nothing").err.startswith("E-USE-001")


def test_findings_go_to_a_file_that_is_free_and_quiet_prints_nothing(project: Project) -> None:
    project.write(a=LISTING)
    first, second, third = (
        project.check("--json", "-o", "out.json", *more) for more in ((), (), ("--force",))
    )
    assert (first.code, first.out, second.code, third.code) == (1, "", 2, 1)
    assert second.err.startswith("E-OUTPUT-001")
    assert json_format.FORMAT in (project.folder / "out.json").read_text()
    quiet = project.check("--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (1, "", "")


def test_statistics_count_by_rule(project: Project) -> None:
    project.write(a=LISTING, b=LISTING, c=CLOCK)
    rows = project.check("--statistics").out.splitlines()
    assert [row.split()[0] for row in rows[1:3]] == ["2", "1"]
