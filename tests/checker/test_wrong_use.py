"""Wrong use is one error and changes nothing; what was found and what could not be read make one exit code."""

from __future__ import annotations

import pytest
from projects import CLOCK, LISTING, Project

from twice.checker.driver import check
from twice.checker.policy import Policy
from twice.checker.report import Report, Tried
from twice.cli import dispatch
from twice.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--diff --baseline base --baseline-accept why", "--diff and --baseline-accept"),
        ("--diff --baseline base --baseline-update", "--diff and --baseline-update"),
        ("--json --format sarif", "--json and --format sarif"),
        ("--json --format junit", "--json and --format junit"),
        ("--format markdown", "markdown"),
        ("--format concise", "concise"),
        ("--unsafe-fixes", "--unsafe-fixes was given without"),
        ("--nonsense", "no such option '--nonsense'.\n           Expected the options and arguments that"),
        ("-j 0", "invalid value for '-j'"),
        ("-o .", ". cannot be written"),
        ("-o inner", "inner cannot be written"),
        ("-o nowhere/out.json", "nowhere/out.json cannot be written"),
        (f"-o {'x' * 300}", "cannot be written"),
        ("x" * 300, "cannot be read"),
        ("a\x1b[31m.py", "There is no file or folder 'a\\x1b[31m.py'"),
        ("a.py/inner", "There is no file or folder 'a.py/inner'"),
        ("--config inner", "cannot be read"),
        (f"--config {'x' * 300}", "cannot be read"),
        ("--baseline inner", "cannot be read"),
        ("--baseline nowhere/base --baseline-accept why", "cannot be written"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_error_and_writes_nothing(
    project: Project, arguments: str, words: str
) -> None:
    project.write(a=LISTING, inner__b="x = 1\n")
    before = sorted(project.folder.rglob("*"))
    said = project.check("a.py", "--no-cache", *arguments.split(" "))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("E-")
    assert len(said.err.splitlines()) == 3
    assert words in said.err
    assert sorted(project.folder.rglob("*")) == before


@pytest.mark.parametrize("command", ["check", "review", "audit seeds", "audit effects"])
@pytest.mark.parametrize("path", ["gone", "empty"])
def test_a_wrong_path_proposes_the_command_that_was_called(
    project: Project, command: str, path: str
) -> None:
    (project.folder / "empty").mkdir()
    with pytest.raises(UsageError) as refused:
        dispatch([*command.split(), path])
    assert refused.value.remedy == f"For example: twice {command} src"


@pytest.mark.parametrize("name", ["pyproject.toml", "mine.toml"])
def test_settings_that_are_nested_too_deeply_are_one_error(project: Project, name: str) -> None:
    project.write(a=LISTING, config='catalogues = ["mine.toml"]\n')
    (project.folder / name).write_text(f"twice = {'[' * 100_000}")
    said = project.check("a.py")
    assert (said.code, said.err.partition("  ")[0]) == (2, "E-CONFIG-001")


EXITS = {
    "clean": 0, "medium": 0, "high": 1, "broken": 2, "clean broken": 2, "medium broken": 2,
    "high broken": 1, "high clean": 1,
}  # fmt: skip


def paths_of(project: Project, names: str) -> list[str]:
    """Write files of every kind, and return the paths of some."""
    project.write(clean="x = 1\n", medium=CLOCK, high=LISTING, broken="def broken(:\n")
    return [f"{name}.py" for name in names.split()]


@pytest.mark.parametrize("names", EXITS)
def test_exit_codes_of_all_that_can_meet(project: Project, names: str) -> None:
    paths = paths_of(project, names)
    forms = [("--format", form) for form in ("text", "json", "sarif", "junit", "github")]
    for options in [*forms, ("--quiet",), ("--min", "critical"), ("--statistics",)]:
        assert project.check(*paths, *options).code == EXITS[names], options


@pytest.mark.parametrize("names", EXITS)
def test_exit_codes_where_all_was_accepted(project: Project, names: str) -> None:
    paths = paths_of(project, names)
    left = 2 if "broken" in names else 0
    for options in (("--baseline-accept", "why"), (), ("--baseline-update",)):
        assert project.check(*paths, "--baseline", "base", *options).code == left
    assert project.check(*paths, "--fail-on", "medium").code == (0 if names == "clean" else 1)


def test_options_may_stand_between_the_paths(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK, c="x = 1\n")
    said = project.check("a.py", "--json", "b.py", "--no-cache", "c.py")
    assert (said.code, said.document["summary"]["files"]) == (1, 3)


@pytest.mark.parametrize(("parted", "unread", "code"), [
    (False, False, 0), (True, False, 1), (False, True, 2), (True, True, 1),
])  # fmt: skip
def test_runs_that_part_fail_the_check_whatever_else_was_found(
    parted: bool, unread: bool, code: int
) -> None:
    findings = check(["nowhere.py"] if unread else [], Policy()).findings
    tried = Tried({}, {}, {}, "", parted=parted)
    assert Report(findings, 1, 0, Policy(), {}, tried=tried).exit_code == code
