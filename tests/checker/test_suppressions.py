"""Comments take findings away where they say so, for a reason, as long as they say; never more."""

from __future__ import annotations

import ast

import pytest
from projects import CLOCK, LISTING, Project

from twice.checker.findings import Comment, Remarks
from twice.checker.suppressions import apply_comments, read_comments

HEAD = "import os\n\n\ndef names(folder):\n"
WHY = "# twice: ignore[clock] why"
ONE_FILE = "# twice: ignore[unsorted-listing] one file"


def remarks(text: str) -> Remarks:
    return read_comments(text, ast.parse(text))


@pytest.mark.parametrize("line", [5, 6, 7])
def test_a_comment_holds_for_every_line_of_its_statement(project: Project, line: int) -> None:
    lines = f"{HEAD}    return list(\n        os.listdir(folder)\n    )\n".split("\n")
    lines[line - 1] += f"  {ONE_FILE}"
    project.write(a="\n".join(lines))
    said = project.check("--json")
    assert (said.rules, said.document["summary"]["suppressed"]) == ([], 1)


def test_a_comment_by_itself_holds_for_the_next_statement_with_its_body(project: Project) -> None:
    project.write(a=LISTING.replace("def", f"{ONE_FILE}\ndef"))
    assert project.rules() == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = 1  {}\ny = 2\n", (1, 1)),
        ("{}\n\n\nx = 1\ny = 2\n", (4, 4)),
        ("{}\n@f\n@g\ndef h():\n    x\n    y\nz\n", (2, 6)),
        ("@f\ndef h(\n    a,\n):  {}\n    x\n    y\n", (1, 4)),
        ("if a:  {}\n    x\nelse:\n    y\n", (1, 1)),
        ("{}\nif a:\n    x\nelse:\n    y\nz\n", (2, 5)),
        ("{}\nwith a:\n    x\nz\n", (2, 3)),
        ("try:\n    {}\n    while a:\n        x\nfinally:\n    y\n", (3, 4)),
        ("def f(\n    a,\n):\n    {}\n    for b in a:\n        x\n", (5, 6)),
        ("if (\n    a\n    {}\n    and b\n):\n    x\n", (1, 5)),
        ("x = [\n    {}\n    1,\n]\ny\n", (1, 4)),
        ("x = 1; y = (2,\n3)  {}\n", (1, 2)),
        ("try:\n    x\nexcept E:  {}\n    y\n", (3, 3)),
        ("x  # noqa: A  {}\n", (1, 1)),
        ("x = 1\ry = 2  {}\rz = 3\r", (2, 2)),
    ],
)
def test_the_lines_that_a_comment_holds_for(text: str, lines: tuple[int, int]) -> None:
    (comment,) = remarks(text.format(WHY)).ignores
    assert (comment.first, comment.last, comment.fault) == (*lines, "")


@pytest.mark.parametrize(
    "text",
    [
        "# twice: once here and once there\nx = 1  # do it twice: ignored\n",
        "# Twice: Boundary cases are counted\n# Twice: Ignore what comes after it\nx = 1\n",
        # What a string holds.
        f'x = "{WHY}"\ny = """\n{WHY}\n"""\n',
        'x = f"""{1}\n# twice: boundary why\n"""\n',
        f'def f():\n    """A page.\n\n    {WHY}\n    """\n',
        "x = '# twice: boundary why'\n",
        f"x = 'a\\\n{WHY}'\n",
        # A comment beyond the length that is searched.
        f"x = 1  # {'a' * 1_100} {WHY}\n",
    ],
)
def test_what_only_looks_like_a_comment_declares_nothing(text: str) -> None:
    assert remarks(text) == Remarks()


@pytest.mark.parametrize(
    "comment",
    [
        '# see "# twice: boundary" in the guide',
        f"# see `{WHY}` in the guide",
        "# (# twice: boundary why)",
        "# see#twice: boundary why",
        "# x = 1# twice: ignore[clock] why",
    ],
)
@pytest.mark.parametrize("line", ["{}\nx = 1\n", "x = 1  {}\n", "def f():\n    {}\n    return 1\n"])
def test_a_comment_that_speaks_of_such_a_comment_is_none(comment: str, line: str) -> None:
    assert remarks(line.format(comment)) == Remarks()


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# Twice: Ignore[clock] why", "why"),
        ("# TWICE: IGNORE[clock] why", "why"),
        ("#twice:ignore[clock] why", "why"),
        (f"# {'a' * 900} {WHY}", "why"),
        ("# twice: ignore[clock] it stays until the end", "it stays until the end"),
        ("# twice: ignore[clock] it stays until numpy seeds it", "it stays until numpy seeds it"),
    ],
)
def test_capitals_and_words_like_a_date_make_no_difference(comment: str, reason: str) -> None:
    (read,) = remarks(f"x = 1  {comment}\n").ignores
    assert (read.rules, read.reason, read.until, read.fault) == (("clock",), reason, "", "")


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
    (found,) = project.findings("--select", "bad-suppression")
    assert found["rule"] == "bad-suppression"
    assert fault in found["message"]


@pytest.mark.parametrize(
    ("text", "arguments", "rules"),
    [
        (f"x = 1\n{WHY}\n", (), ["bad-suppression"]),
        ("x = 1  # twice: ignore[clock, no-such-rule] why\n", (), ["unknown-rule", "unused-suppression"]),
        (f"x = 1  {WHY}\n", ("--ignore", "clock"), []),
        (CLOCK.replace("time()", f"time()  {WHY}, until 2001-01", 1), (), ["expired-suppression", "clock"]),
        # What the checker says of its own work cannot be taken away.
        ("# twice: ignore[unused-suppression, bad-suppression] why\nx = 1\n", (), ["bad-suppression"] * 2),
    ],
)  # fmt: skip
def test_comments_that_are_not_in_order_are_findings(
    project: Project, text: str, arguments: tuple[str, ...], rules: list[str]
) -> None:
    project.write(a=text)
    found = project.findings(*arguments)
    assert sorted(each["rule"] for each in found) == sorted(rules)
    if "unknown-rule" in rules:
        assert "no-such-rule" in found[0]["message"]


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
    assert Comment(1, 1, 1, 1, ("clock",), "why", until).has_expired(today) is not holds


def test_a_boundary_lowers_what_is_inside_and_is_a_test_in_a_test(project: Project) -> None:
    project.write(
        a=LISTING.replace("def", "# twice: boundary the only place that lists\ndef"),
        b=LISTING,
        c=f"# twice: boundary lists\n{LISTING}",
        d=f'"""A page.\n"""\n\n# twice: boundary lists\n{LISTING}',
        tests__test_a=f"# twice: boundary lists\n{LISTING}",
    )
    found = project.findings("--min", "informational")
    assert [(each["path"], each["zone"], each["severity"]) for each in found] == [
        ("a.py", "boundary", "medium"),
        ("b.py", "core", "high"),
        ("c.py", "boundary", "medium"),
        ("d.py", "boundary", "medium"),
        ("tests/test_a.py", "tests", "low"),
    ]


def test_nothing_is_taken_away_where_nothing_is_said() -> None:
    assert apply_comments([], {}, known=["clock"], today="2027-01-01") == ([], [], [])


def test_what_stands_behind_the_statement_is_not_taken_away(project: Project) -> None:
    line = "    seen.extend(os.listdir({}))"
    first, second = f"{line.format('one')}  {ONE_FILE}\n", line.format("two")
    project.write(a=f"{HEAD}    seen = []\n{first}{second}\n    return seen\n")
    said = project.check("--json").document
    assert [each["line"] for each in said["findings"]] == [7]
    assert said["summary"]["suppressed"] == 1
