"""The tolerance of a logical class is the one that is compared: in a verification, in a diagnosis, and in what is printed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import cli, recorded
from twice import Abs, DeterminismClass, Predicate, Rel, Ulp
from twice.diagnosis.diagnose import diagnose
from twice.errors import ClassRefused
from twice.foundation.comparison import tolerance_of
from twice.replayer.verify import verify

DUSTY = """
import os

def main(run):
    height = 0.0
    for tick in run.ticks(4):
        height += 0.1 + float(os.environ.get("DUST", "0"))
        run.compare("height", height)
"""
REPLAYED_OTHERWISE = """
def main(run):
    for tick in run.ticks(4):
        run.compare("height", 1.0 + 1e-21 * id(object()))
"""


def logical(epsilon: float) -> Predicate:
    return Predicate(DeterminismClass.LOGICAL, decisions=Abs(epsilon))


@pytest.mark.parametrize(("epsilon", "result"), [(1e-6, "within-tolerance"), (1e-14, "localised")])
@pytest.mark.integration
def test_two_runs_are_held_to_the_tolerance_of_their_class(
    tmp_path: Path, epsilon: float, result: str
) -> None:
    for name, dust in (("a", "0"), ("b", "3e-12")):
        recorded(
            tmp_path, DUSTY, out=tmp_path / f"{name}.twice", predicate=logical(epsilon),
            env={"DUST": dust},
        ).close()  # fmt: skip

    assert diagnose(tmp_path / "a.twice", tmp_path / "b.twice").result == result


@pytest.mark.integration
def test_runs_of_two_tolerances_agree_by_the_narrower_one_whichever_is_first(
    tmp_path: Path,
) -> None:
    runs = []
    for epsilon, dust in ((1e-6, "0"), (1e-14, "3e-12")):
        runs.append(tmp_path / f"{epsilon}.twice")
        recorded(
            tmp_path, DUSTY, out=runs[-1], predicate=logical(epsilon), env={"DUST": dust}
        ).close()

    for one, two in (runs, reversed(runs)):
        result = diagnose(one, two, anyway=True, lines=False).result
        assert result == "unlocalised"


@pytest.mark.integration
@pytest.mark.fresh  # forks have the addresses of their server
@pytest.mark.parametrize(("epsilon", "result"), [(1e-6, "PASS"), (1e-16, "FAIL")])
def test_a_replay_is_held_to_the_tolerance_of_its_class(
    tmp_path: Path, epsilon: float, result: str
) -> None:
    recorded(tmp_path, REPLAYED_OTHERWISE, predicate=logical(epsilon)).close()
    found = verify(tmp_path / "a.twice")

    assert found.result == result, found.to_markdown()
    assert f"compared values differ by at most {epsilon!r}" in found.to_markdown()


@pytest.mark.integration
def test_the_command_line_declares_a_tolerance(tmp_path: Path) -> None:
    (tmp_path / "dusty.py").write_text(DUSTY)
    stated = ("--class", "logical", "--measure", "abs", "--epsilon", "1e-6")
    done = cli("record", "dusty.py:main", "--seed", 1, *stated, "-o", "a.twice", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    with twice.RunRecord.open(tmp_path / "a.twice") as record:
        assert record.setup.predicate == logical(1e-6)
        assert record.ending is not None
        assert record.ending["tolerances"] == {"height": Abs(1e-6).to_json()}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--measure", "abs", "--epsilon", "1"), "without a logical class"),
        (("--class", "logical", "--measure", "abs"), "without epsilon"),
        (("--class", "logical", "--epsilon", "1e-6"), "--measure"),
        (("--class", "logical", "--measure", "abs", "--epsilon", "0"), "greater than 0"),
        (("--class", "logical", "--measure", "abs", "--epsilon", "nan"), "finite"),
        (("--class", "logical", "--measure", "exact", "--epsilon", "1"), "no epsilon"),
        (("--class", "logical", "--measure", "metres", "--epsilon", "1"), "One of exact, abs"),
    ],
)
@pytest.mark.integration
def test_a_tolerance_that_makes_no_sense_is_one_error(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    (tmp_path / "dusty.py").write_text(DUSTY)
    done = cli("record", "dusty.py:main", "--seed", 1, *options, "-o", "a.twice", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("E-"), done.stderr
    assert said in done.stderr
    assert not (tmp_path / "a.twice").exists()


def test_words_make_tolerances() -> None:
    assert tolerance_of("exact", None) == twice.Predicate().decisions
    assert tolerance_of("rel", 1e-3) == Rel(1e-3)
    assert tolerance_of("ulp", 4.0) == Ulp(4)


@pytest.mark.parametrize(
    ("measure", "amount"),
    [("abs", 0.0), ("abs", -1.0), ("abs", math.inf), ("ulp", 0.5), ("exact", 1.0), ("mean", 1.0), ("rel", None)],
)  # fmt: skip
def test_words_that_make_no_tolerance_are_refused(measure: str, amount: float | None) -> None:
    with pytest.raises(ClassRefused):
        tolerance_of(measure, amount)


def test_only_what_a_logical_class_judges_has_its_tolerance() -> None:
    own = {"walk": DeterminismClass.BIT_EXACT}
    predicate = Predicate(DeterminismClass.LOGICAL, subsystems=own, decisions=Abs(1e-6))

    assert predicate.tolerance_of("height") == Abs(1e-6)
    assert predicate.tolerance_of("walk") is None
    assert Predicate(decisions=Abs(1e-6)).tolerance_of("height") is None
    assert Predicate(DeterminismClass.LOGICAL).tolerance_of("height") is None


def test_sentences_say_what_is_judged() -> None:
    assert (
        logical(1e-6)
        .sentence()
        .endswith(
            "on one host, their inputs and their output are equal, and their compared values differ by at most 1e-06"
        )
    )
    assert (
        Predicate().sentence({"x": Abs(0.5)}).endswith("for 'x', its values differ by at most 0.5")
    )
    assert Predicate().summary(Abs(0.5))["predicate"].endswith("its values differ by at most 0.5")


@pytest.mark.parametrize("value", [math.nan, [1.0, math.nan], {"x": math.inf}])
def test_a_value_that_is_no_number_is_itself_under_a_tolerance(value: Any) -> None:
    assert Abs(1e-6).same(value, value)
    assert not Abs(1e-6).same(value, 1.0)
