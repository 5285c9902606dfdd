"""A baseline takes away what was accepted for a reason; it grows by somebody's word alone."""

from __future__ import annotations

import json

import pytest
from projects import CLOCK, LISTING, Project

FILE = "twice.baseline"
SEVERE = json.dumps(
    {
        "path": "a.py", "rule": "clock", "fingerprint": "0", "severity": "dreadful",
        "statement": "", "reason": "why",
    }
)  # fmt: skip


def accepted(project: Project, reason: str = "before 1.0") -> list[dict[str, str]]:
    """Accept all findings, and return the entries of the baseline."""
    project.check("--baseline", FILE, "--baseline-accept", reason)
    return [json.loads(line) for line in (project.folder / FILE).read_text().splitlines()]


def test_what_was_accepted_does_not_fail_and_is_counted(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    entries = accepted(project)

    said = project.check("--baseline", FILE, "--json")

    assert [(each["path"], each["rule"], each["reason"]) for each in entries] == [
        ("a.py", "unsorted-listing", "before 1.0"),
        ("b.py", "clock", "before 1.0"),
    ]
    assert (said.code, said.rules, said.document["summary"]["baselined"]) == (0, [], 2)


def test_what_is_new_still_fails(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    project.write(b=LISTING)

    said = project.check("--baseline", FILE, "--json")

    assert (said.code, [each["path"] for each in said.document["findings"]]) == (1, ["b.py"])


@pytest.mark.parametrize(
    "edited",
    [
        f"# a line\n\n\nimport sys\n{LISTING}",
        LISTING.replace("def names", "def other():\n    pass\n\n\ndef names"),
        f"{LISTING}\n\ndef later(renamed):\n    return renamed\n",
        LISTING.replace("return [", "return  [ "),
    ],
    ids=["lines above", "a function above", "a name elsewhere", "white space"],
)
def test_an_entry_survives_edits_elsewhere_in_the_file(project: Project, edited: str) -> None:
    project.write(a=LISTING)
    accepted(project)
    project.write(a=edited.replace("[ name", "[name"))

    said = project.check("--baseline", FILE, "--json")

    assert (said.rules, said.document["summary"]["stale"]) == ([], [])


def test_two_like_statements_are_two_entries(project: Project) -> None:
    line = "    seen.extend(os.listdir(folder))\n"
    start = "import os\n\n\ndef names(folder):\n    seen = []\n"
    project.write(a=f"{start}{line}    return seen\n")
    accepted(project)
    project.write(a=f"{start}{line}{line}    return seen\n")

    assert project.rules("--baseline", FILE) == ["unsorted-listing"]


def test_a_stale_entry_is_reported_and_only_goes_when_asked(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    accepted(project)
    project.write(a="x = 1\n")
    (project.folder / "b.py").unlink()
    before = (project.folder / FILE).read_bytes()

    said = project.check("--baseline", FILE, "--json")

    assert [each["path"] for each in said.document["summary"]["stale"]] == ["a.py", "b.py"]
    assert (project.folder / FILE).read_bytes() == before

    project.check("--baseline", FILE, "--baseline-update")

    assert (project.folder / FILE).read_bytes() == b""


def test_an_update_adds_nothing(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    before = (project.folder / FILE).read_bytes()
    project.write(b=CLOCK)

    project.check("--baseline", FILE, "--baseline-update")

    assert (project.folder / FILE).read_bytes() == before


def test_an_entry_is_not_stale_when_its_file_or_rule_was_not_looked_at(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    accepted(project)

    one = project.check("b.py", "--baseline", FILE, "--json").document["summary"]
    other = project.check("--select", "clock", "--baseline", FILE, "--json").document["summary"]

    assert (one["stale"], other["stale"]) == ([], [])


def test_accepting_again_keeps_the_reasons_that_stand(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project, "first")
    project.write(b=CLOCK)

    entries = accepted(project, "second")

    assert [each["reason"] for each in entries] == ["first", "second"]


def test_what_the_checker_says_of_its_own_work_is_never_accepted(project: Project) -> None:
    project.write(a="def broken(:\n", b="x = 1  # twice: ignore[clock] why\n")

    assert accepted(project) == []
    assert sorted(project.rules("--baseline", FILE)) == ["unreadable-file", "unused-suppression"]


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
    [
        ("--baseline-update",),
        ("--baseline-accept", "why"),
        ("--baseline", FILE, "--baseline-accept", " "),
        ("--baseline", FILE),
        ("--baseline", FILE, "--baseline-update"),
    ],
)
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
    (project.folder / FILE).write_text(text, encoding="latin-1")

    said = project.check("--baseline", FILE)

    assert said.code == 2
    assert said.err.startswith("E-CONFIG-001")


def lowered(project: Project, severity: str) -> None:
    """Let the entries of the baseline say that they were accepted as less."""
    path = project.folder / FILE
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [{**row, "severity": severity} for row in rows]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize(("severity", "stands"), [("low", True), ("high", False)])
def test_what_has_become_worse_stands_and_is_not_gone(
    project: Project, severity: str, stands: bool
) -> None:
    project.write(a=LISTING)
    accepted(project)
    lowered(project, severity)
    before = (project.folder / FILE).read_bytes()

    said = project.check("--baseline", FILE, "--json")
    project.check("--baseline", FILE, "--baseline-update")

    assert (said.code, said.rules) == ((1, ["unsorted-listing"]) if stands else (0, []))
    assert said.document["summary"]["stale"] == []
    assert (project.folder / FILE).read_bytes() == before


def test_a_promise_that_became_stricter_brings_back_what_was_light(project: Project) -> None:
    project.write(a=LISTING, config='zones = {boundary = ["a.py"]}\n')
    (entry,) = accepted(project)
    project.write(config="")

    said = project.check("--baseline", FILE, "--json")

    assert (entry["severity"], said.code, said.rules) == ("medium", 1, ["unsorted-listing"])


def test_what_has_become_worse_can_be_accepted_anew(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project, "light")
    lowered(project, "low")

    (entry,) = accepted(project, "after all")

    assert (entry["severity"], entry["reason"]) == ("high", "after all")
    assert project.rules("--baseline", FILE) == []


def test_of_two_entries_for_one_finding_the_worst_counts(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    path = project.folder / FILE
    whole = path.read_text()
    lowered(project, "low")
    path.write_text(path.read_text() + whole)

    said = project.check("--baseline", FILE, "--json")

    assert (said.rules, said.document["summary"]["stale"]) == ([], [])


def test_without_following_nothing_is_called_gone(project: Project) -> None:
    followed = "import time\n\n\ndef f():\n    now = time.time()\n    return [now]\n"
    project.write(a=LISTING, b=followed)
    accepted(project)
    project.write(a="x = 1\n")
    before = (project.folder / FILE).read_bytes()

    said = project.check("--baseline", FILE, "--no-follow", "--json")
    project.check("--baseline", FILE, "--no-follow", "--baseline-update")

    assert said.document["summary"]["stale"] == []
    assert (project.folder / FILE).read_bytes() == before


@pytest.mark.parametrize("before", ["\ufeff", "\n\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_editor_may_have_touched_it(project: Project, before: str, newline: str) -> None:
    project.write(a=LISTING)
    accepted(project, "a\u2028b")
    path = project.folder / FILE
    text = path.read_text().replace("\\u2028", "\u2028")
    path.write_bytes((before + text.replace("\n", newline)).encode())

    assert project.rules("--baseline", FILE) == []


def test_what_is_informational_needs_no_reason(project: Project) -> None:
    project.write(a="import time\n\n\ndef f():\n    print(time.time())\n")

    assert project.rules("--min", "informational") == ["clock"]
    assert accepted(project) == []


def test_an_entry_of_another_rule_takes_nothing_away(project: Project) -> None:
    project.write(a=LISTING)
    accepted(project)
    path = project.folder / FILE
    path.write_text(path.read_text().replace('"unsorted-listing"', '"set-order"'))

    assert project.rules("--baseline", FILE) == ["unsorted-listing"]
