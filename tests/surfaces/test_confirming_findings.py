"""Claims about ``--confirm``: a finding becomes a fact only by an operation that a run showed.

Every program here is real, and runs in processes of its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from twice.checking.checking import check
from twice.checking.findings import Finding
from twice.checking.policy import Policy
from twice.checking.registry import every_rule
from twice.diagnosis.vary.factors import FACTORS
from twice.errors import UsageError
from twice.surfaces.confirming import Confirmation, Trial, confirm
from twice.surfaces.rule_factors import factors_of

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
    """A program and what the check finds in it."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path, check([path.as_posix()], Policy()).findings


def tried(
    folder: Path, source: str, *, name: str = ":main", config: Mapping[str, object] | None = None
) -> tuple[dict[tuple[str, str], Trial], Confirmation]:
    """Trials by the rule and the function of each finding."""
    path, findings = made(folder, source)
    found = confirm(findings, f"{path}{name}", seed=1, config=config, checked=[path.as_posix()])
    trials = {
        (each.found.rule, each.found.symbol): found.trials[each.fingerprint] for each in findings
    }
    return trials, found


@pytest.mark.heavy
def test_a_set_order_is_confirmed_where_two_hash_seeds_part_and_nowhere_else(
    tmp_path: Path,
) -> None:
    trials, found = tried(tmp_path, SET)

    known = trials["set-order", "names"]
    assert known.outcome == "confirmed"
    assert known.witness is not None
    assert known.witness.factor == "hash seed"
    assert known.witness.tie == "statement"
    assert known.witness.operation.line == 4
    assert known.witness.operation.a != known.witness.operation.b
    assert trials["set-order", "unused"].outcome == "elsewhere"
    assert found.unexplained == ()


@pytest.mark.heavy
def test_a_whole_script_is_tried_too_and_a_finding_that_did_nothing_stays(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, SCRIPT, name="")

    assert trials["set-order", ""].outcome == "confirmed"
    stays = trials["unsorted-listing", "unread"]
    assert stays.outcome in {"same", "not-tried"}, "the script lists nothing"
    assert stays.witness is None
    assert found.unexplained == ()


@pytest.mark.heavy
def test_a_listing_is_confirmed_by_a_folder_that_is_listed_backwards(tmp_path: Path) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    for name in ("a", "b", "c"):
        (inside / name).touch()

    trials, found = tried(tmp_path, LISTING, config={"folder": str(inside)})

    (trial,) = trials.values()
    assert trial.outcome == "confirmed"
    assert trial.witness is not None
    assert trial.witness.factor == "listing order"
    assert found.to_json()["outcomes"] == {"confirmed": 1}


@pytest.mark.heavy
def test_a_clock_is_confirmed_by_two_runs_of_the_same(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, CLOCK)

    trial = trials["clock", "World.step"]
    assert trial.outcome == "confirmed"
    assert trial.witness is not None
    assert trial.witness.factor == "nothing"
    assert "with nothing varied" in trial.sentence
    assert found.unexplained == ()


@pytest.mark.integration
def test_a_finding_that_made_no_difference_stays_and_is_not_cleared(tmp_path: Path) -> None:
    trials, found = tried(tmp_path, INNOCENT)

    trial = trials["set-order", "total"]
    assert trial.outcome == "same"
    assert "did the same under hash seed" in trial.sentence
    assert "may not have passed here" in trial.sentence
    assert found.unexplained == ()


@pytest.mark.heavy
def test_what_differs_and_no_finding_explains_is_said_aloud(tmp_path: Path) -> None:
    path, findings = made(tmp_path, UNSEEN)
    assert findings == (), "a name that is put together is out of the checker's sight"

    found = confirm(findings, f"{path}:main", seed=1, checked=[path.as_posix()])

    (unseen,) = found.unexplained
    assert unseen.operation is not None
    assert unseen.operation.line == 5
    assert "the checker did not see this" in found.to_text()


def test_a_record_is_no_program_to_confirm_by() -> None:
    with pytest.raises(UsageError, match=r"a\.twice, which is no program"):
        confirm((), "a.twice")


def test_a_rule_that_no_experiment_tells_about_has_no_factor() -> None:
    assert factors_of("partial-flags") == ()
    assert factors_of("set-order")[0] == "hash seed"
    assert "nothing" in factors_of("unseeded-generator")
    assert factors_of("unpinned-blas-threads") == ("threads", "blas kernels")
    assert "threads" not in factors_of("generator-across-threads")


@pytest.mark.parametrize("rule", [each.name for each in every_rule()])
def test_every_factor_of_a_rule_is_one_that_can_be_varied(rule: str) -> None:
    assert set(factors_of(rule)) <= {"nothing", *(factor.name for factor in FACTORS)}
