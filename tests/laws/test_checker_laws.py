"""No file makes the checker fail, and what it says of a file depends on the file alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from random_programs import programs

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.driver import Checked, check, judge
from twice.checker.files import decode
from twice.checker.findings import FileResult, Violation
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule, index
from twice.foundation.severity import Severity

REPOSITORY = Path(__file__).parents[2]
REAL = [
    path
    for folder in ("src/twice/checker", "src/twice/recorder", "tests/zoo", "tests/checker", "examples")
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
]  # fmt: skip
INDEX = index(every_rule(), shipped())
HASH_SEEDS = range(2)

ONE = """
import sys
from pathlib import Path
from twice.checker.driver import check
from twice.checker.policy import Policy
paths = sorted(Path(sys.argv[1]).glob("*.py"))
checked = check([path.as_posix() for path in paths], Policy(), jobs=int(sys.argv[2]))
for finding in checked.findings:
    print(finding)
print(checked.files, checked.lines)
"""


def looked(text: str, *, follows: bool = True) -> FileResult:
    """Return the results of all rules for one file."""
    return analyze_file(
        "program.py", text, package="", index=INDEX, catalogue=shipped(), follows=follows
    )


def weighed(text: str) -> None:
    """Every stage over one file; fails where one of them does."""
    for follows in (True, False):
        one = looked(text, follows=follows)
        for finding in judge({"program.py": one}, Policy()):
            assert isinstance(finding.severity, Severity)
            assert 1 <= finding.found.place.line <= one.lines + 1
            assert Violation.from_json(finding.found.to_json()) == finding.found


@pytest.mark.heavy
@given(programs())
@example("from . import *\n")
@example("class set: pass\nfor a in set(): a = list({str(a)})\n")
@example("x = " + "+".join(["{str(a)}"] * 900) + "\n")
@example("x = list(" * 60 + "{str(a)}" + ")" * 60 + "\n")
@example("x = a" + ".keys()" * 900 + "\n")
@example("".join(f"a{n} = list(a{n - 1})\n" for n in range(1, 1500)) + "a0 = {str(b)}\n")
@example("if a:\n  pass\n" + "elif list({str(a)}):\n  pass\n" * 900)
def test_no_program_makes_a_rule_fail(text: str) -> None:
    weighed(text)


@given(st.one_of(st.text(), st.text(alphabet=" \t\n\r\f\0():=+'\"\\#é{}[]@*,.abdefr\ud800")))
def test_any_text_has_an_answer(text: str) -> None:
    weighed(text)


def encoded(text: str, encoding: str) -> bytes:
    """Encode a program as an editor of another system saves it."""
    return text.replace("\n", "\r").encode(encoding)


@given(
    st.one_of(
        st.binary(),
        st.builds(b"# coding: latin-1\n%b".__mod__, st.binary()),
        st.builds(b"# -*- coding: %b -*-\nx = list({str(a)})\n".__mod__, st.binary(max_size=12)),
        st.builds(encoded, programs(), st.sampled_from(["utf-8-sig", "utf-16", "latin-1"])),
    )
)
@example(b"# coding: rot13\n")
@example(b"# coding: hex\n")
@example(b"# coding: unicode_escape\nx = 1 \\ud800\n")
@example(b"\xef\xbb\xbf# coding: latin-1\n")
@example(b"# coding: undefined\n")
def test_any_bytes_are_text_or_say_why_not(data: bytes) -> None:
    try:
        text = decode(data)
    except ValueError:
        return  # An answer, and not any other exception.
    weighed(text)


@given(st.data())
def test_no_mutation_of_a_real_file_makes_a_rule_fail(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(REAL))
    lines = path.read_text(encoding="utf-8").split("\n")
    at = st.integers(0, len(lines) - 1)
    for how in data.draw(
        st.lists(st.sampled_from(["delete", "double", "cut", "swap"]), min_size=1, max_size=6)
    ):
        here, there = data.draw(at) % len(lines), data.draw(at) % len(lines)
        if how == "delete" and len(lines) > 1:
            del lines[here]
        elif how == "double":
            lines.insert(here, lines[there])
        elif how == "cut":
            lines[here] = lines[here][: len(lines[here]) // 2]
        else:
            lines[here], lines[there] = lines[there], lines[here]
    weighed("\n".join(lines))


def batch(folder: Path) -> list[str]:
    """Programs that parse, the examples of all pages among them, in files."""
    found: list[str] = []

    @settings(database=None, derandomize=True, phases=[Phase.generate], deadline=None)
    @given(programs())
    def gather(text: str) -> None:
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return
        found.append(text)

    gather()
    found.extend(text for rule in every_rule() for text in (*rule.page.bad, *rule.page.good))
    assert len(found) > 30
    paths = []
    for number, text in enumerate(found):
        path = folder / f"p{number:03}.py"
        path.write_text(text, encoding="utf-8")
        paths.append(path.as_posix())
    return paths


def same(paths: list[str], jobs: int) -> Checked:
    """Check with a number of processes."""
    return check(paths, Policy(), jobs=jobs)


def test_findings_are_the_same_in_one_process_and_in_two(tmp_path: Path) -> None:
    paths = batch(tmp_path)

    one = same(paths, 1)

    assert one.findings
    two = same(paths, 2)
    assert two == one
    assert two.facts() == one.facts()
    assert same(list(reversed(paths)), 1).findings == one.findings


@pytest.mark.heavy
def test_findings_are_the_same_to_the_byte_over_eight_hash_seeds(tmp_path: Path) -> None:
    batch(tmp_path)
    printed = [
        subprocess.run(
            [sys.executable, "-c", ONE, str(tmp_path), str(1 + seed % 2)],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(REPOSITORY / "src")},
            capture_output=True,
            check=True,
        ).stdout
        for seed in HASH_SEEDS
    ]

    assert printed[0].count(b"\n") > 30
    assert len(set(printed)) == 1
