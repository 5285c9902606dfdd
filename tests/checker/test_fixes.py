"""Fixes change what they name and nothing else, and leave no half of a file behind."""

from __future__ import annotations

import os
import stat

import pytest
from projects import LISTING, Project

from twice.checker.findings import Edit, Finding, Fix, SourceSpan, Violation
from twice.checker.fixes import FixedFile, apply_fixes, render_diff
from twice.checker.project import Project as Checked
from twice.errors import OutputUnwritable
from twice.foundation.severity import Severity

FIXED = LISTING.replace("os.listdir(folder)", "sorted(os.listdir(folder))")
BARE = LISTING.replace("import os\n", "")
Change = tuple[int, int, int, int, str]


def finding(*edits: Change, safe: bool = True) -> Finding:
    placed = tuple(Edit(SourceSpan(*at), text) for *at, text in edits)
    found = Violation("r", SourceSpan(1, 1, 1, 1), "m", "w", fix=Fix("t", safe=safe, edits=placed))
    return Finding(found, "a.py", "rng", "03", Severity.HIGH, "core", "do")


def after(data: bytes, *findings: Finding, unsafe: bool = False) -> bytes:
    return apply_fixes(data, findings, lambda _: (), unsafe=unsafe).after


def fixed(project: Project, text: str, *arguments: str) -> str:
    """Return what ``--fix`` makes of a text."""
    project.write(a=text)
    project.check("--fix", *arguments)
    return (project.folder / "a.py").read_text(encoding="utf-8")


def test_a_safe_fix_is_applied_and_the_finding_is_gone(project: Project) -> None:
    project.write(a=LISTING)
    said = project.check("--fix", "--json")
    assert (project.folder / "a.py").read_text() == FIXED
    assert (said.code, said.rules) == (0, [])


HEAD = "import glob, os, zipfile\nfrom pathlib import Path\n\n\n"


@pytest.mark.parametrize(
    ("source", "safe"),
    [
        ("def f(p):\n    return next(iter({os.listdir(p)}))\n", True),
        ("def f(p):\n    return [*{glob.glob(p)}]\n", True),
        ("def f(p):\n    return [each for each in {Path(p).iterdir()}]\n", True),
        ("def f(p):\n    return [n for n in {os.listdir(\n        p,  # a folder\n    )}]\n", True),
        ("def f(p, é):\n    é = '日本', [n for n in {os.listdir(p)}]; return é\n", True),
        ("class C:\n    sorted = 1\n\n    def f(self, p):\n        return {os.listdir(p)}[0]\n", True),
        ("def f(p):\n    return next(Path(p).iterdir())\n", None),
        ("def f(p, next):\n    return next(glob.iglob(p))\n", None),
        ("def f(p):\n    return [each.name for each in os.scandir(p)]\n", None),
        ("def f(p):\n    with os.scandir(p) as found:\n        return list(found)\n", None),
        ("def f(p):\n    return next(os.scandir(p)).name\n", None),
        ("def f(p):\n    return map(str, Path(p).iterdir())\n", None),
        ("def f(p, os):\n    return [n for n in os.listdir(p)]\n", None),
        ("def f(p, sorted):\n    return [n for n in os.listdir(p)]\n", None),
        ("def f(p):\n    sorted = len\n    return [n for n in os.listdir(p)]\n", None),
        ("def sorted(x):\n    return x\n\n\ndef f(p):\n    return os.listdir(p)[0]\n", None),
        ("def g():\n    global sorted\n    sorted = 1\n\n\ndef f(p):\n    return os.listdir(p)[0]\n", None),
        ("from natsort import natsorted as sorted\n\n\ndef f(p):\n    return os.listdir(p)[0]\n", None),
        ("def f(p):\n    for sorted in [p]:\n        return list(os.listdir(sorted))\n", None),
        ("def f(p):\n    with open(p) as sorted:\n        return list(os.listdir(p))\n", None),
        ("class C:\n    sorted = 1\n    names = [n for n in os.listdir('.')]\n", None),
        ("def f(p, list):\n    return list(Path(p).iterdir())\n", None),
        ("def f(p, db):\n    return db.list(Path(p).iterdir())\n", None),
        ("def f(store):\n    return [each for each in {store.iterdir()}]\n", False),
        ("def f(p):\n    return [each for each in {zipfile.Path(p).iterdir()}]\n", False),
        ("from tools import *\n\n\ndef f(p):\n    return {os.listdir(p)}[0]\n", False),
    ],
)  # fmt: skip
def test_a_listing_is_sorted_where_that_breaks_nothing(
    project: Project, source: str, safe: bool | None
) -> None:
    """In braces what is to be sorted: safely, not safely, or (None) nothing at all."""
    before = HEAD + source.replace("{", "").replace("}", "")
    wrapped = HEAD + source.replace("{", "sorted(").replace("}", ")")
    project.write(a=before)
    found = project.rules("--min", "informational", "--select", "unsorted-listing")
    assert found or "def f(p, os)" in source
    for done, options in ((safe, ()), (safe is not None, ("--unsafe-fixes",))):
        assert fixed(project, before, *options, "--min", "low") == (wrapped if done else before)


@pytest.mark.parametrize(
    ("text", "code", "out", "err"),
    [
        ("x = 1\n", 0, [], ""),
        (
            "import random\n\n\ndef f():\n    return random.Random()\n", 0, [],
            "nothing can be corrected safely, and 1 finding stands",
        ),
        (
            LISTING, 1,
            ["    return [name for name in os.listdir(folder)]", "    return [name for name in sorted(os.listdir(folder))]"],
            "",
        ),
    ],
)  # fmt: skip
def test_a_difference_is_printed_and_nothing_is_written(
    project: Project, text: str, code: int, out: list[str], err: str
) -> None:
    project.write(a=text)
    said = project.check("--diff")
    assert (project.folder / "a.py").read_text() == text
    assert said.code == code
    rows = said.out.splitlines()
    changed = [row[1:] for row in rows[3:] if row.startswith(("-", "+"))]
    assert (rows[:2], changed) == (["--- a/a.py", "+++ b/a.py"] if out else [], out)
    assert err in said.err


def test_what_is_suppressed_or_accepted_is_not_fixed(project: Project) -> None:
    first = LISTING.replace("folder)]", "folder)]  # twice: ignore[unsorted-listing] one file")
    project.write(b=LISTING)
    project.check("b.py", "--baseline", "base", "--baseline-accept", "why")
    assert fixed(project, first, "--baseline", "base") == first
    assert (project.folder / "b.py").read_text() == LISTING


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_newlines_encoding_and_mode_stay(project: Project, newline: str, encoding: str) -> None:
    head = "# -*- coding: latin-1 -*-\n" if encoding == "latin-1" else ""
    text = f"{head}word = 'é'\n{LISTING}"
    path = project.folder / "a.py"
    path.write_bytes(text.replace("\n", newline).encode(encoding))
    path.chmod(0o640)
    project.check("--fix")
    expected = text.replace(LISTING, FIXED).replace("\n", newline).encode(encoding)
    assert path.read_bytes() == expected
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in project.folder.iterdir() if each.name.endswith(".new")] == []


def test_a_form_feed_moves_no_column(project: Project) -> None:
    text = LISTING.replace("\ndef", "\n\f\ndef")
    assert fixed(project, text) == FIXED.replace("\ndef", "\n\f\ndef")


def test_a_link_stays_a_link(project: Project) -> None:
    project.write(real__a=LISTING)
    link = project.folder / "link.py"
    link.symlink_to(project.folder / "real" / "a.py")
    project.check("link.py", "--fix")
    assert link.is_symlink()
    assert (project.folder / "real" / "a.py").read_text() == FIXED


@pytest.mark.parametrize(
    ("before", "findings", "expected"),
    [
        # Disjoint fixes are applied at once; others wait, and those behind them are made.
        (b"x = y\n", [[(1, 1, 1, 2, "aaa")], [(1, 5, 1, 6, "bbb")], [(1, 1, 1, 6, "c")]], b"aaa = bbb\n"),
        (b"x = y\nz = 1\n", [[(1, 1, 1, 2, "aa")], [(1, 1, 1, 6, "c")], [(2, 1, 2, 2, "bb")]], b"aa = y\nbb = 1\n"),
        # An edit that two fixes share is made once.
        (
            b"x = y\nw = y\n",
            [[(1, 1, 1, 1, "import z\n"), (1, 5, 1, 6, "z")], [(1, 1, 1, 1, "import z\n"), (2, 5, 2, 6, "z")]],
            b"import z\nx = z\nw = z\n",
        ),
        # What would not parse, does not fit or overlaps with itself is given up.
        (b"x = y\n", [[(1, 1, 1, 2, "(")]], b"x = y\n"),
        (b"x = y\n", [[(9, 1, 9, 2, "z")]], b"x = y\n"),
        (b"x = y\n", [[(1, 3, 1, 99, "z")]], b"x = y\n"),
        (b"x = y\n", [[(1, 4, 1, 2, "z")]], b"x = y\n"),
        (b"x = y-z\n", [[(1, 5, 1, 8, "a"), (1, 6, 1, 7, "+")]], b"x = y-z\n"),
        # One ends where the other begins; an insertion behind; both begin at one place; one inside; one over the end.
        (b"x = y-z\n", [[(1, 5, 1, 6, "aa")], [(1, 6, 1, 7, "--")]], b"x = aa--z\n"),
        (b"x = y-z\n", [[(1, 5, 1, 6, "aa")], [(1, 6, 1, 6, "_b")]], b"x = aa_b-z\n"),
        (b"x = y-z\n", [[(1, 5, 1, 5, "aa")], [(1, 5, 1, 6, "bb")]], b"x = aay-z\n"),
        (b"x = y-z\n", [[(1, 5, 1, 8, "aa")], [(1, 6, 1, 7, "--")]], b"x = aa\n"),
        (b"x = y-z\n", [[(1, 5, 1, 7, "aa+")], [(1, 6, 1, 8, "bb")]], b"x = aa+z\n"),
    ],
)  # fmt: skip
def test_edits_that_touch_are_made_and_those_that_overlap_wait(
    before: bytes, findings: list[list[Change]], expected: bytes
) -> None:
    made = [finding(*edits) for edits in findings]
    assert after(before, *made) == expected
    if len(made) == 2:
        assert after(before, *reversed(made)) == expected


def test_an_unsafe_fix_waits_to_be_asked_for() -> None:
    unsafe = finding((1, 1, 1, 2, "z"), safe=False)
    assert after(b"x = y\n", unsafe) == b"x = y\n"
    assert after(b"x = y\n", unsafe, unsafe=True) == b"z = y\n"


def test_a_fix_that_another_one_made_room_for_is_made_at_once_and_not_for_ever() -> None:
    inner, outer = finding((1, 5, 1, 6, "f(y)")), finding((1, 1, 1, 2, "z"))
    done = apply_fixes(
        b"x = y\n", [inner], lambda data: [outer] if b"x" in data else [], unsafe=False
    )
    assert (done.after, done.fixes) == (b"z = f(y)\n", 2)
    assert apply_fixes(b"x = y\n", [inner], lambda _: [inner], unsafe=False).fixes == 5


def test_a_difference_speaks_of_lines_without_newlines() -> None:
    said = render_diff("a.py", FixedFile(b"x = 1\r\ny = 2\r\n", b"x = 1\r\ny = 3\r\n", 1))
    assert said.splitlines()[3:] == [" x = 1", "-y = 2", "+y = 3", " "]


def test_a_file_that_changed_meanwhile_is_left_alone(project: Project) -> None:
    project.write(a="x = 2\n")
    assert Checked.put("a.py", FixedFile(b"x = 1\n", b"x = 3\n", 1)) is False
    assert (project.folder / "a.py").read_text() == "x = 2\n"


def test_a_file_that_cannot_be_put_stays_whole(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(a=LISTING)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputUnwritable):
        Checked.put("a.py", FixedFile(LISTING.encode(), FIXED.encode(), 1))
    assert (project.folder / "a.py").read_text() == LISTING
    assert sorted(each.name for each in project.folder.iterdir()) == ["a.py", "pyproject.toml"]


def test_what_was_accepted_or_is_not_shown_stays_when_its_neighbour_is_fixed(
    project: Project,
) -> None:
    project.write(a=LISTING)
    project.check("--baseline", "base", "--baseline-accept", "why")
    other = BARE.replace("names(", "others(")
    changed = other.replace("os.listdir(folder)", "sorted(os.listdir(folder))")
    assert fixed(project, LISTING + other, "--baseline", "base") == LISTING + changed
    light = BARE.replace("def", "# twice: boundary lists\ndef")
    assert fixed(project, LISTING + light, "--min", "high") == FIXED + light
