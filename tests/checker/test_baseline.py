"""A baseline takes away what was accepted for a reason; it grows by somebody's word alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from projects import CLOCK, LISTING, Project

FILE = "twice.baseline"
WITH = ("--baseline", FILE)
UPDATE = (*WITH, "--baseline-update")
SEVERE = (
    '{"path": "a.py", "rule": "clock", "fingerprint": "0", "severity": "dreadful", "statement": "", '
    '"reason": "why"}'
)


def accepted(project: Project, reason: str = "before 1.0") -> list[dict[str, str]]:
    """Accept all findings, and return the entries of the baseline."""
    project.check(*WITH, "--baseline-accept", reason)
    return [json.loads(line) for line in the_file(project).read_text().splitlines()]


def the_file(project: Project) -> Path:
    return project.folder / FILE


def test_what_was_accepted_does_not_fail_and_what_is_new_does(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    entries = accepted(project)
    assert [(each["path"], each["rule"], each["reason"]) for each in entries] == [
        ("a.py", "unsorted-listing", "before 1.0"),
        ("b.py", "clock", "before 1.0"),
    ]
    said = project.check("--json", *WITH)
    assert (said.code, said.rules, said.document["summary"]["baselined"]) == (0, [], 2)
    project.write(c=LISTING)
    said = project.check("--json", *WITH)
    assert (said.code, [each["path"] for each in said.document["findings"]]) == (1, ["c.py"])


@pytest.mark.parametrize(
    "edited",
    [
        f"# a line\n\n\nimport sys\n{LISTING}",
        LISTING.replace("def names", "def other():\n    pass\n\n\ndef names"),
        f"{LISTING}\n\ndef later(renamed):\n    return renamed\n",
        LISTING.replace("return [", "return  [ ").replace("[ name", "[name"),
    ],
    ids=["lines above", "a function above", "a name elsewhere", "white space"],
)
def test_an_entry_survives_edits_elsewhere_in_the_file(project: Project, edited: str) -> None:
    project.write(a=LISTING)
    accepted(project)
    project.write(a=edited)
    said = project.check("--json", *WITH)
    assert (said.rules, said.document["summary"]["stale"]) == ([], [])


def test_two_like_statements_are_two_entries(project: Project) -> None:
    line = "    seen.extend(os.listdir(folder))\n"
    start = "import os\n\n\ndef names(folder):\n    seen = []\n"
    project.write(a=f"{start}{line}    return seen\n")
    accepted(project)
    project.write(a=f"{start}{line}{line}    return seen\n")
    assert project.rules(*WITH) == ["unsorted-listing"]


def test_a_stale_entry_is_reported_and_only_goes_when_asked(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    accepted(project)
    project.write(a="x = 1\n")
    (project.folder / "b.py").unlink()
    before = the_file(project).read_bytes()
    assert [each["path"] for each in project.summary(*WITH)["stale"]] == ["a.py", "b.py"]
    assert the_file(project).read_bytes() == before
    project.check(*UPDATE)
    assert the_file(project).read_bytes() == b""


def test_an_update_adds_nothing(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    before = the_file(project).read_bytes()
    project.write(b=CLOCK)
    project.check(*UPDATE)
    assert the_file(project).read_bytes() == before


@pytest.mark.parametrize("arguments", [("b.py",), ("--select", "clock")])
def test_an_entry_is_not_stale_when_its_file_or_rule_was_not_looked_at(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.write(a=LISTING, b=CLOCK)
    accepted(project)
    assert project.summary(*arguments, *WITH)["stale"] == []


def test_accepting_again_keeps_the_reasons_that_stand(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project, "first")
    project.write(b=CLOCK)
    assert [each["reason"] for each in accepted(project, "second")] == ["first", "second"]


def test_what_the_checker_says_of_its_own_work_and_notes_are_never_accepted(
    project: Project,
) -> None:
    note = "import time\n\n\ndef f():\n    print(time.time())\n"
    project.write(a="def broken(:\n", b="x = 1  # twice: ignore[clock] why\n", c=note)
    assert accepted(project) == []
    assert sorted(project.rules(*WITH)) == ["unreadable-file", "unused-suppression"]


def test_the_file_is_sorted_and_the_same_each_time(project: Project) -> None:
    project.write(c=CLOCK, a=LISTING, b=f"{LISTING}\n{CLOCK}")
    entries = accepted(project)
    keys = [(each["path"], each["rule"], each["fingerprint"]) for each in entries]
    assert keys == sorted(keys)
    assert accepted(project) == entries


def test_entries_hold_from_another_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(inner__a=LISTING)
    accepted(project)
    monkeypatch.chdir(project.folder / "inner")
    assert project.rules("--baseline", f"../{FILE}") == []


@pytest.mark.parametrize(
    "arguments",
    [("--baseline-update",), ("--baseline-accept", "why"), (*WITH, "--baseline-accept", " "), WITH, UPDATE],
)  # fmt: skip
def test_a_baseline_that_is_not_there_is_one_error(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.write(a=LISTING)
    said = project.check(*arguments)
    assert (said.code, len(said.err.splitlines())) == (2, 3)


@pytest.mark.parametrize(
    "text", ["nonsense\n", "[]\n", '{"path": 1}\n', "[" * 100_000, "\xff", SEVERE]
)
def test_a_file_that_is_no_baseline_is_one_error(project: Project, text: str) -> None:
    project.write(a=LISTING)
    the_file(project).write_text(text, encoding="latin-1")
    said = project.check(*WITH)
    assert (said.code, said.err.partition("  ")[0]) == (2, "E-CONFIG-001")


def lowered(project: Project, severity: str) -> None:
    """Let the entries of the baseline say that they were accepted as less."""
    text = the_file(project).read_text()
    the_file(project).write_text(text.replace('"high"', f'"{severity}"'))


@pytest.mark.parametrize(("severity", "left"), [("low", ["unsorted-listing"]), ("high", [])])
def test_what_has_become_worse_stands_and_is_not_gone(
    project: Project, severity: str, left: list[str]
) -> None:
    project.write(a=LISTING)
    accepted(project, "light")
    lowered(project, severity)
    before = the_file(project).read_bytes()
    said = project.check("--json", *WITH)
    project.check(*UPDATE)
    assert (said.code, said.rules, said.document["summary"]["stale"]) == (len(left), left, [])
    assert the_file(project).read_bytes() == before
    if left:  # It can be accepted anew.
        (entry,) = accepted(project, "after all")
        assert (entry["severity"], entry["reason"]) == ("high", "after all")


def test_a_promise_that_became_stricter_brings_back_what_was_light(project: Project) -> None:
    project.write(a=LISTING, config='zones = {boundary = ["a.py"]}\n')
    (entry,) = accepted(project)
    project.write(config="")
    said = project.check("--json", *WITH)
    assert (entry["severity"], said.code, said.rules) == ("medium", 1, ["unsorted-listing"])


def test_of_two_entries_for_one_finding_the_worst_counts(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    whole = the_file(project).read_text()
    lowered(project, "low")
    low = the_file(project).read_text()
    for text in (low + whole, whole + low):
        the_file(project).write_text(text)
        said = project.check("--json", *WITH)
        assert (said.rules, said.document["summary"]["stale"]) == ([], [])


def test_without_following_nothing_is_called_gone(project: Project) -> None:
    followed = "import time\n\n\ndef f():\n    now = time.time()\n    return [now]\n"
    project.write(a=LISTING, b=followed)
    accepted(project)
    project.write(a="x = 1\n")
    before = the_file(project).read_bytes()
    assert project.summary(*WITH, "--no-follow")["stale"] == []
    project.check(*UPDATE, "--no-follow")
    assert the_file(project).read_bytes() == before


@pytest.mark.parametrize("before", ["\ufeff", "\n\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_editor_may_have_touched_it(project: Project, before: str, newline: str) -> None:
    project.write(a=LISTING)
    accepted(project, "a\u2028b")
    text = the_file(project).read_text().replace("\\u2028", "\u2028")
    the_file(project).write_bytes((before + text.replace("\n", newline)).encode())
    assert project.rules(*WITH) == []


def test_an_entry_of_another_rule_takes_nothing_away(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    text = the_file(project).read_text()
    the_file(project).write_text(text.replace('"unsorted-listing"', '"set-order"'))
    assert project.rules(*WITH) == ["unsorted-listing"]
