"""Claims about ``--confirm``: a finding becomes a fact only by an operation that a run showed.

What is concluded from partings is tried on partings that are made up; the heavy programs are real, and run in
processes of their own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from twice.checker.driver import check
from twice.checker.findings import Finding
from twice.checker.policy import Policy
from twice.checker.report import Tried
from twice.checker.rules.engine import every_rule
from twice.cli.checked_project import RuleOptions, SourceOptions, open_sources
from twice.cli.confirmation import Experiment, try_findings
from twice.cli.partings import find_factors
from twice.cli.run_options import ProgramOptions, StartOptions
from twice.diagnosis.divergence import Divergence, OperationFound
from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.report import FactorResult, Variation
from twice.foundation.determinism_class import Predicate

SET = """
def names(people):
    found = {str(person) for person in people}
    return list(found)

def unused(people):
    other = {str(person) for person in people}
    return list(other)

def main(run):
    for tick in run.ticks(2):
        run.compare("names", names(f"name {at}" for at in range(40)))
"""
SCRIPT = """
import os

def unread(folder):
    return os.listdir(folder)

found = {f"name {at}" for at in range(40)}
print(list(found))
with open("names.txt", "w") as file:
    file.writelines(found)
"""
LISTING = """
import os

def load(folder):
    return [name for name in os.listdir(folder)]

def main(run):
    for tick in run.ticks(2):
        run.compare("loaded", load(run.config["folder"]))
"""
CLOCK = """
import time

class World:
    def step(self):
        self.now = time.time()
        return self.now

def main(run):
    world = World()
    for tick in run.ticks(2):
        run.compare("now", world.step())
"""
INNOCENT = """
def total(people):
    found = {str(person) for person in people}
    return [each for each in found]

def main(run):
    for tick in run.ticks(2):
        run.compare("kept", len(total(["only one"])))
"""
UNSEEN = """
import os

def chosen(names):
    return getattr(os, "ur" + "andom")(4).hex()

def main(run):
    for tick in run.ticks(2):
        run.compare("chosen", chosen([]))
"""


def made(folder: Path, source: str) -> tuple[Path, tuple[Finding, ...]]:
    """Write a program, and return the check's findings in it."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path, check([path.as_posix()], Policy()).findings


def parting(factor: str, path: Path, line: int, *, function: str = "names") -> FactorResult:
    """Two runs that part at a line."""
    at = OperationFound(str(path), line, function, "code", "found", "[1]", "[2]", 0.9)
    divergence = Divergence("a", "b", "localised", Predicate(), (), operation=at)
    return FactorResult(factor, "2", "differs", divergence=divergence)


def concluded(
    folder: Path, source: str, rows: Sequence[FactorResult], checked: Sequence[str] | None = None
) -> tuple[dict[str, tuple[str, str]], dict[str, Any], str]:
    """Outcome and sentence by the function of each finding; the document; the text."""
    path, findings = made(folder, source)
    paths = [path.as_posix()] if checked is None else checked
    told = Experiment(findings, Variation("program.py", rows), paths).to_tried(hidden=())
    summary: Any = told.summary
    entries = {each["fingerprint"]: each for each in summary["findings"]}
    outcomes = {
        each.found.symbol: (
            entries[each.fingerprint]["outcome"], entries[each.fingerprint]["sentence"]
        )
        for each in findings
    }  # fmt: skip
    return outcomes, summary, told.text


def test_a_finding_is_confirmed_in_its_statement_and_another_one_is_not(tmp_path: Path) -> None:
    rows = [parting("hash seed", tmp_path / "program.py", 4)]
    outcomes, summary, text = concluded(tmp_path, SET, rows)

    at = f"{tmp_path}/program.py:4, found: [1] / [2]"
    assert outcomes["names"] == (
        "confirmed",
        f"confirmed: under another hash seed (2) two runs part in its statement, at {at}",
    )
    outcome, sentence = outcomes["unused"]
    assert outcome == "unknown"
    assert sentence.startswith("under another hash seed (2) the runs part first at another line")
    assert (summary["outcomes"], summary["unexplained"]) == ({"confirmed": 1, "unknown": 1}, [])
    assert text.startswith(
        "program.py was run: 1 of 2 findings confirmed\n  hash seed  differs  2\n"
    )


@pytest.mark.parametrize(
    ("line", "where"),
    [(4, "in its statement"), (6, "on the way of its value"), (2, "in its function")],
)
def test_the_nearest_place_is_said(tmp_path: Path, line: int, where: str) -> None:
    source = """\
        def names(people):
            begun = 1
            found = {str(person) for person in people}
            listed = list(found)
            begun += 1
            return listed, begun
        """
    outcomes, *_ = concluded(
        tmp_path, source, [parting("hash seed", tmp_path / "program.py", line)]
    )

    assert outcomes["names"][0] == "confirmed"
    assert f"two runs part {where}, at " in outcomes["names"][1]


def test_of_several_findings_in_one_function_none_is_confirmed(tmp_path: Path) -> None:
    source = """
        def names(people, others):
            begun = 1
            found = {str(person) for person in people}
            first = list(found)
            more = {str(person) for person in others}
            return first, list(more), begun
        """
    outcomes, summary, text = concluded(
        tmp_path, source, [parting("hash seed", tmp_path / "program.py", 3)]
    )

    assert summary["outcomes"] == {"unknown": 2}
    assert "this may be why" in outcomes["names"][1]
    assert "one above may be why: under another hash seed (2) two runs part at" in text


def test_a_finding_elsewhere_that_speaks_of_what_was_varied_may_be_why(tmp_path: Path) -> None:
    program, away = tmp_path / "program.py", tmp_path / "away.py"
    rows = [
        parting("hash seed", program, 4),
        parting("memory layout", away, 7),
        parting("libm", away, 8),
    ]
    _, summary, text = concluded(tmp_path, SET, rows)

    suspected, unseen = (each["sentence"] for each in summary["unexplained"])
    assert "away.py:7 (a file that was not checked) in names: code, found: [1] / [2]" in suspected
    assert f"no finding stands where they part, and one above may be why: {suspected}" in text
    assert f"the checker did not see this: {unseen}" in text


def test_a_program_that_differs_from_itself_hides_what_else_would(tmp_path: Path) -> None:
    failed = FactorResult("nothing", "", "failed", "ValueError: no")
    outcomes, summary, text = concluded(tmp_path, SET, [failed])

    itself = "fails now and then: ValueError: no"
    assert outcomes["names"] == (
        "unknown",
        f"cannot tell: the program {itself}; that hides what else would",
    )
    assert summary["itself"] == itself
    assert "the checker did not see this: with nothing varied the program fails, ValueError" in text


def test_what_could_not_be_varied_is_not_the_same(tmp_path: Path) -> None:
    rows = [
        FactorResult("hash seed", "2", "could-not-tell", "it moves"),
        FactorResult("memory layout", "", "unavailable", "not here"),
    ]
    outcomes, *_ = concluded(tmp_path, SET, rows)

    said = ("unknown", "cannot tell: hash seed: it moves; memory layout: not here")
    assert outcomes == {"names": said, "unused": said}


def test_a_file_that_has_gone_matches_nothing_but_equal_lines(tmp_path: Path) -> None:
    path, findings = made(tmp_path, SET)
    variation = Variation("program.py", [parting("hash seed", path, 5)])
    path.unlink()
    (line,) = [each.found.place.line for each in findings if each.found.symbol == "names"]

    (first, *_), (second, *_) = (
        Experiment(findings, Variation("program.py", [parting("hash seed", path, at)])).partings
        for at in (line, line - 1)
    )
    assert [each.found.symbol for each in first[2]] == ["names"]
    assert second[2] == []
    assert Experiment(findings, variation).to_tried(()).parted


Told = dict[tuple[str, str], tuple[str, str, Any]]


def tried(
    folder: Path, source: str, *, name: str = ":main", settings: Sequence[str] = ()
) -> tuple[Told, Tried]:
    """Outcome, sentence and witness by the rule and the function of each finding."""
    path, _ = made(folder, source)
    report = open_sources(SourceOptions((path,)), RuleOptions(cache=False)).project.report(
        [path.as_posix()]
    )
    program, start = ProgramOptions(f"{path}{name}"), StartOptions("1", None, tuple(settings), ())
    found = try_findings(report, [path.as_posix()], program, start).tried
    assert found is not None
    summary: Any = found.summary
    names = {each.fingerprint: (each.found.rule, each.found.symbol) for each in report.findings}
    return {
        names[each["fingerprint"]]: (
            each["outcome"], each["sentence"], found.witnesses.get(each["fingerprint"])
        )
        for each in summary["findings"]
    }, found  # fmt: skip


@pytest.mark.heavy
def test_a_set_order_is_confirmed_where_two_hash_seeds_part_and_nowhere_else(
    tmp_path: Path,
) -> None:
    trials, found = tried(tmp_path, SET)

    outcome, _, witness = trials["set-order", "names"]
    assert (outcome, witness["factor"], witness["tie"]) == ("confirmed", "hash seed", "statement")
    assert witness["operation"]["line"] == 4
    assert witness["operation"]["a"] != witness["operation"]["b"]
    assert trials["set-order", "unused"][0] == "unknown"
    assert found.summary["unexplained"] == []


@pytest.mark.heavy
def test_a_whole_script_is_tried_too_and_a_finding_that_did_nothing_stays(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, SCRIPT, name="")

    assert trials["set-order", ""][0] == "confirmed"
    outcome, _, witness = trials["unsorted-listing", "unread"]
    assert outcome in {"same", "unknown"}, "the script lists nothing"
    assert witness is None
    assert found.summary["unexplained"] == []


@pytest.mark.heavy
def test_a_listing_is_confirmed_by_a_folder_that_is_listed_backwards(tmp_path: Path) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    for name in ("a", "b", "c"):
        (inside / name).touch()

    trials, found = tried(tmp_path, LISTING, settings=[f"folder={inside}"])

    ((outcome, _, witness),) = trials.values()
    assert (outcome, witness["factor"]) == ("confirmed", "listing order")
    assert found.summary["outcomes"] == {"confirmed": 1}


@pytest.mark.heavy
def test_a_clock_is_confirmed_by_two_runs_of_the_same(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, CLOCK)

    outcome, sentence, witness = trials["clock", "World.step"]
    assert (outcome, witness["factor"]) == ("confirmed", "nothing")
    assert "with nothing varied" in sentence
    assert found.summary["unexplained"] == []


@pytest.mark.integration
def test_a_finding_that_made_no_difference_stays_and_is_not_cleared(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, INNOCENT)

    outcome, sentence, _ = trials["set-order", "total"]
    assert outcome == "same"
    assert "did the same under hash seed" in sentence
    assert "may not have passed here" in sentence
    assert found.summary["unexplained"] == []


@pytest.mark.heavy
def test_what_differs_and_no_finding_explains_is_said_aloud(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, UNSEEN)

    assert trials == {}, "a name that is put together is out of the checker's sight"
    (unseen,) = found.summary["unexplained"]
    assert unseen["operation"]["line"] == 5
    assert "the checker did not see this" in found.text


def test_a_rule_that_no_experiment_tells_about_has_no_factor() -> None:
    assert find_factors("partial-flags") == ()
    assert find_factors("set-order")[0] == "hash seed"
    assert "nothing" in find_factors("unseeded-generator")
    assert find_factors("unpinned-blas-threads") == ("threads", "blas kernels")
    assert "threads" not in find_factors("generator-across-threads")


@pytest.mark.parametrize("rule", [each.name for each in every_rule()])
def test_every_factor_of_a_rule_is_one_that_can_be_varied(rule: str) -> None:
    assert set(find_factors(rule)) <= {"nothing", *(factor.name for factor in FACTORS)}
