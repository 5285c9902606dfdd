"""``spec init`` leads to the weakest class that is enough, and writes it where somebody accepts it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from twice.cli import dispatch
from twice.errors import UsageError
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.specification.questionnaire import (
    OF_CLASS,
    Question,
    next_class_question,
    next_question,
    propose_class,
)
from twice.specification.workspace import Workspace, open_workspace

TREE_YES = "state,replay"
TREE_NO = (
    "diverging,existing,consumed,cross-machine,branching,concurrency,floating-point,gpu,external-effects,"
    "hashed-snapshots,audit-log,contested"
)


class Terminal(io.StringIO):
    """Somebody who types lines."""

    def isatty(self) -> bool:
        return True


def init(
    folder: Path,
    *more: str,
    yes: str = "",
    no: str = "",
    tree: tuple[str, str] = (TREE_YES, TREE_NO),
) -> Workspace:
    words = ["--yes", f"{tree[0]},{yes}".strip(","), "--no", f"{tree[1]},{no}".strip(",")]
    code = dispatch(
        ["spec", "init", "--component", "swarm", *words, *more, "--project", str(folder)]
    )
    assert code == 0
    return open_workspace(folder)


@pytest.mark.parametrize(
    ("answers", "hashed", "proposed", "measure"),
    [
        ({"single-runs": False}, False, "statistical", ""),
        ({"single-runs": True, "decisions-enough": True, "tolerance-enough": True}, False, "logical", ""),
        ({"single-runs": True, "decisions-enough": True, "tolerance-enough": False}, False, "logical", "exact"),
        ({"single-runs": True, "decisions-enough": False}, False, "bit-exact", ""),
        ({"single-runs": True}, True, "bit-exact", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("reaches", [False, True])
def test_at_most_three_questions_end_at_the_weakest_class(
    answers: dict[str, bool], hashed: bool, proposed: str, measure: str, reaches: bool
) -> None:
    known = {Question.HASHED_SNAPSHOTS: hashed, Question.CROSS_MACHINE: reaches}
    asked = []
    while (question := next_class_question(known)) is not None:
        asked.append(question.value)
        known[question] = answers[question.value]

    found = propose_class(known)

    assert asked == [*answers]
    assert (found.kind, found.measure) == (DeterminismClass(proposed), measure)
    assert found.scope is (Scope.CROSS_HOST if reaches else Scope.HOST)
    assert str(found).startswith(f"{proposed}, scope {found.scope}: ")


def test_nobody_has_to_answer_for_the_class() -> None:
    answers: dict[Question, bool] = {}
    while (question := next_question(answers)) is not None:
        answers[question] = question is not Question.DIVERGING

    assert Question.CONTESTED in answers
    assert not OF_CLASS & answers.keys()


@pytest.mark.parametrize(("said", "written"), [("y", "statistical"), ("n", "")])
def test_on_a_terminal_the_class_is_proposed_and_written_where_it_is_accepted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    said: str,
    written: str,
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(f"n\n{said}\n"))

    promise = init(tmp_path).sheets["01"]

    asked = capsys.readouterr().err
    assert (
        "The weakest class that is enough is statistical, scope host: only a figure over" in asked
    )
    assert (promise.text("class"), promise.text("weakest")) == (written, "statistical")
    assert promise.text("scope") == ("host" if written else "")


def test_a_script_accepts_by_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    yes = "single-runs,decisions-enough,proposed-class"
    promise = init(tmp_path, "--json", yes=yes, no="tolerance-enough").sheets["01"]

    assert (promise.text("class"), promise.text("measure")) == ("logical", "exact")
    assert json.loads(capsys.readouterr().out)["class"] == {
        "proposed": "logical",
        "scope": "host",
        "why": "runs are compared by what they decide and print, and not by the state inside",
        "written": True,
    }


def test_a_script_that_accepts_nothing_is_told_the_proposal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    promise = init(tmp_path, no="single-runs").sheets["01"]

    assert promise.text("class") == ""
    assert 'write your class into 01, for example class: "statistical"' in capsys.readouterr().out


def test_a_script_without_a_word_about_the_class_goes_on_as_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    promise = init(tmp_path).sheets["01"]

    assert (promise.text("class"), promise.get("weakest")) == ("", None)
    assert "weakest" not in capsys.readouterr().out


def test_what_is_contested_is_not_asked(tmp_path: Path) -> None:
    tree = (f"{TREE_YES},contested", TREE_NO.removesuffix(",contested"))

    assert init(tmp_path, yes="proposed-class", tree=tree).text("01", "class") == ""


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("bit-exact", ["01 class: bit-exact is stronger than logical, which is enough by the answers of spec init"]),
        ("statistical", ["01 class: statistical is weaker than logical, which is needed by the answers of spec init"]),
        ("logical", []),
    ],
)  # fmt: skip
def test_another_class_than_the_answers_need_is_one_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, note: list[str]
) -> None:
    init(tmp_path, "--class", kind, yes="single-runs,decisions-enough,tolerance-enough")
    capsys.readouterr()

    dispatch(["spec", "status", "--json", "--project", str(tmp_path)])

    status = json.loads(capsys.readouterr().out)
    assert [each for each in status["notes"] if each.startswith("01")] == note
    assert "weakest" not in open_workspace(tmp_path).sheets["01"].deciding()


@pytest.mark.parametrize(
    ("more", "yes", "told"),
    [
        ((), "single-runs", "Expected answers to: decisions-enough, tolerance-enough."),
        ((), "proposed-class", "single-runs, decisions-enough, tolerance-enough"),
        (("--class", "logical"), "single-runs,proposed-class", "--class logical and --yes proposed-class"),
        (("--class", "exact"), "", "exact"),
        ((), "weakest-class", "There is no question 'weakest-class'"),
    ],
)  # fmt: skip
def test_half_an_answer_is_one_error_and_writes_nothing(
    tmp_path: Path, more: tuple[str, ...], yes: str, told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        init(tmp_path, *more, yes=yes)

    assert told in str(refused.value)
    assert not [*tmp_path.iterdir()]
