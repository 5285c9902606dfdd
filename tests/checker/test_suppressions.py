"""Comments take findings away where they say so, for a reason, as long as they say; never more."""

from __future__ import annotations

import ast

import pytest
from projects import CLOCK, LISTING, Project

from twice.checker.findings import Comment, Remarks
from twice.checker.suppressions import apply_comments, read_comments

HEAD = "import os\n\n\ndef names(folder):\n"


def remarks(text: str) -> Remarks:
    return read_comments(text, ast.parse(text))


def stretch(text: str) -> tuple[int, int]:
    (comment,) = remarks(text).ignores
    assert not comment.fault
    return comment.first, comment.last


def test_a_comment_at_the_end_of_a_line_holds_for_its_statement(project: Project) -> None:
    project.write(
        a=f"{HEAD}    return os.listdir(folder)  # twice: ignore[unsorted-listing] one file\n"
    )

    said = project.check("--json")

    assert said.rules == []
    assert said.document["summary"]["suppressed"] == 1


@pytest.mark.parametrize("line", [5, 6, 7])
def test_it_holds_for_every_line_of_the_statement(project: Project, line: int) -> None:
    lines = f"{HEAD}    return list(\n        os.listdir(folder)\n    )\n".split("\n")
    lines[line - 1] += "  # twice: ignore[unsorted-listing] one file"
    project.write(a="\n".join(lines))

    assert project.rules() == []


def test_a_comment_by_itself_holds_for_the_next_statement_with_its_body(project: Project) -> None:
    project.write(a=LISTING.replace("def", "# twice: ignore[unsorted-listing] one file\ndef"))

    assert project.rules() == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = 1  # twice: ignore[clock] why\ny = 2\n", (1, 1)),
        ("# twice: ignore[clock] why\n\n\nx = 1\ny = 2\n", (4, 4)),
        ("# twice: ignore[clock] why\n@f\n@g\ndef h():\n    x\n    y\nz\n", (2, 6)),
        ("@f\ndef h(\n    a,\n):  # twice: ignore[clock] why\n    x\n    y\n", (1, 4)),
        ("if a:  # twice: ignore[clock] why\n    x\nelse:\n    y\n", (1, 1)),
        ("# twice: ignore[clock] why\nif a:\n    x\nelse:\n    y\nz\n", (2, 5)),
        ("# twice: ignore[clock] why\nwith a:\n    x\nz\n", (2, 3)),
        ("x = [\n    # twice: ignore[clock] why\n    1,\n]\ny\n", (1, 4)),
        ("x = 1; y = (2,\n3)  # twice: ignore[clock] why\n", (1, 2)),
        ("try:\n    x\nexcept E:  # twice: ignore[clock] why\n    y\n", (3, 3)),
        ("x  # noqa: A  # twice: ignore[clock] why\n", (1, 1)),
    ],
)
def test_the_lines_that_a_comment_holds_for(text: str, lines: tuple[int, int]) -> None:
    assert stretch(text) == lines


def test_what_stands_in_a_string_is_no_comment() -> None:
    text = 'x = "# twice: ignore[clock] why"\ny = """\n# twice: ignore[clock] why\n"""\n'

    assert remarks(text) == Remarks()


def test_an_ordinary_sentence_is_no_comment_for_the_checker() -> None:
    assert (
        remarks("# twice: once here and once there\nx = 1  # do it twice: ignored\n") == Remarks()
    )


@pytest.mark.parametrize(
    "comment",
    [
        '# see "# twice: boundary" in the guide',
        "# see `# twice: ignore[clock] why` in the guide",
        "# (# twice: boundary why)",
        "# see#twice: boundary why",
        "# x = 1# twice: ignore[clock] why",
    ],
)
@pytest.mark.parametrize("line", ["{}\nx = 1\n", "x = 1  {}\n", "def f():\n    {}\n    return 1\n"])
def test_a_comment_that_speaks_of_such_a_comment_is_none(comment: str, line: str) -> None:
    assert remarks(line.format(comment)) == Remarks()


@pytest.mark.parametrize(
    "text",
    [
        'x = """see\n# twice: boundary why\n"""\n',
        'x = f"""{1}\n# twice: boundary why\n"""\n',
        'def f():\n    """A page.\n\n    # twice: ignore[clock] why\n    """\n',
        "x = '# twice: boundary why'\n",
        "x = 'a\\\n# twice: ignore[clock] why'\n",
    ],
)
def test_what_a_string_holds_declares_nothing(text: str) -> None:
    assert remarks(text) == Remarks()


@pytest.mark.parametrize("word", ["# Twice: Ignore", "# TWICE: IGNORE", "#twice:ignore"])
def test_capitals_make_no_difference(word: str) -> None:
    (comment,) = remarks(f"x = 1  {word}[clock] why\n").ignores

    assert (comment.rules, comment.reason, comment.fault) == (("clock",), "why", "")


def test_a_sentence_that_begins_with_the_word_declares_nothing() -> None:
    assert remarks("# Twice: Boundary cases are counted\nx = 1\n") == Remarks()
    assert remarks("# Twice: Ignore what comes after it\nx = 1\n") == Remarks()


@pytest.mark.parametrize(
    ("comment", "fault"),
    [
        ("ignore because I say so", "names no rule"),
        ("ignore[] because I say so", "names no rule"),
        ("ignore[clock]", "gives no reason"),
        ("ignore[clock], until 2027-01", "gives no reason"),
        ("ignore[clock] why, until 2027-13", "has the date '2027-13', not one like"),
        ("ignore[clock] why, until 2027", "has the date '2027', not one like"),
        ("boundary", "gives no reason"),
        ("boundary why", "does not stand on a line by itself"),
    ],
)
def test_a_comment_without_rule_or_reason_is_a_finding(
    project: Project, comment: str, fault: str
) -> None:
    project.write(a=f"import os\nx = os.listdir('.')  # twice: {comment}\nprint(x[0])\n")

    findings = project.check("--json", "--select", "bad-suppression").document["findings"]

    assert [each["rule"] for each in findings] == ["bad-suppression"]
    assert fault in findings[0]["message"]


def test_a_comment_before_nothing_is_a_finding(project: Project) -> None:
    project.write(a="x = 1\n# twice: ignore[clock] why\n")

    assert project.rules() == ["bad-suppression"]


def test_unused_and_unknown_rules_are_findings(project: Project) -> None:
    project.write(a="x = 1  # twice: ignore[clock, no-such-rule] why\n")

    said = project.check("--json").document["findings"]

    assert [each["rule"] for each in said] == ["unknown-rule", "unused-suppression"]
    assert "no-such-rule" in said[0]["message"]


def test_a_rule_that_was_not_looked_with_is_not_unused(project: Project) -> None:
    project.write(a="x = 1  # twice: ignore[clock] why\n")

    assert project.rules("--ignore", "clock") == []


@pytest.mark.parametrize(
    ("until", "today", "holds"),
    [
        ("2027-01", "2027-01-31", True),
        ("2027-01", "2027-02-01", False),
        ("2027-01-15", "2027-01-15", True),
        ("2027-01-15", "2027-01-16", False),
        ("", "9999-12-31", True),
    ],
)
def test_a_date_is_valid_to_its_end(until: str, today: str, holds: bool) -> None:
    comment = Comment(1, 1, 1, 1, ("clock",), "why", until)

    assert comment.has_expired(today) is not holds


def test_an_expired_comment_takes_nothing_away(project: Project) -> None:
    project.write(a=CLOCK.replace("time()", "time()  # twice: ignore[clock] why, until 2001-01", 1))

    assert sorted(project.rules()) == ["clock", "expired-suppression"]


def test_what_the_checker_says_of_its_own_work_cannot_be_taken_away(project: Project) -> None:
    project.write(a="# twice: ignore[unused-suppression, bad-suppression] why\nx = 1\n")

    assert project.rules() == ["bad-suppression", "bad-suppression"]


def test_a_boundary_lowers_what_is_inside(project: Project) -> None:
    marked = LISTING.replace("def", "# twice: boundary the only place that lists\ndef")
    project.write(
        a=marked,
        b=LISTING,
        c=f"# twice: boundary lists\n{LISTING}",
        d=f'"""A page.\n"""\n\n# twice: boundary lists\n{LISTING}',
    )

    findings = project.check("--json").document["findings"]

    assert [(each["path"], each["zone"], each["severity"]) for each in findings] == [
        ("a.py", "boundary", "medium"),
        ("b.py", "core", "high"),
        ("c.py", "boundary", "medium"),
        ("d.py", "boundary", "medium"),
    ]


def test_nothing_is_taken_away_where_nothing_is_said() -> None:
    done = apply_comments([], {}, known=["clock"], today="2027-01-01")

    assert done == ([], [], [])


def test_old_newlines_end_a_comment() -> None:
    assert stretch("x = 1\ry = 2  # twice: ignore[clock] why\rz = 3\r") == (2, 2)


@pytest.mark.parametrize("reason", ["until the end", "until numpy seeds it"])
def test_a_reason_that_waits_for_something_is_no_date(reason: str) -> None:
    (read,) = remarks(f"x = 1  # twice: ignore[clock] it stays {reason}\n").ignores

    assert (read.until, read.reason.endswith(reason)) == ("", True)


def test_what_stands_behind_the_statement_is_not_taken_away(project: Project) -> None:
    line = "    seen.extend(os.listdir({}))"
    first = line.format("one") + "  # twice: ignore[unsorted-listing] one file\n"
    project.write(a=f"{HEAD}    seen = []\n{first}{line.format('two')}\n    return seen\n")

    said = project.check("--json")

    assert [each["line"] for each in said.document["findings"]] == [7]
    assert said.document["summary"]["suppressed"] == 1


def test_a_comment_is_heard_up_to_a_length() -> None:
    near, far = (f"x = 1  # {'a' * length} # twice: ignore[clock] why\n" for length in (900, 1_100))

    assert len(remarks(near).ignores) == 1
    assert remarks(far) == Remarks()


def test_a_boundary_in_a_test_is_a_test(project: Project) -> None:
    project.write(tests__test_a=f"# twice: boundary lists\n{LISTING}")

    (finding,) = project.check("--json", "--min", "informational").document["findings"]

    assert finding["zone"] == "tests"
