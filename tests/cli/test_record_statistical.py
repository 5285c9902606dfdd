"""Claims about the options of ``twice record`` that declare the statistical class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twice.cli import dispatch
from twice.errors import ClassRefused, TwiceError, UsageError

PROGRAM = """
def main(run):
    run.summary("score", float(run.rng("x").normal()))
"""
STATISTICAL = ["--class", "statistical", "--summary", "score"]


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "scored.py"
    path.write_text(PROGRAM)
    return f"{path}:main"


@pytest.mark.integration
def test_a_statistical_run_is_recorded_and_verified(
    tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "s.twice")
    test = ["--test", "mann-whitney", "--epsilon", "0.45", "--n", "4", "--alpha", "0.1"]

    assert dispatch(["record", program, "--seed", "1", *STATISTICAL, *test, "-o", out]) == 0
    said = capsys.readouterr().err
    assert said.startswith("sample: 4 seeds each, mann-whitney within 0.45, alpha 0.1: equal")
    assert dispatch(["verify", out, "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["result"] == "PASS"
    assert document["samples"]["test"] == "mann-whitney"
    assert document["samples"]["alpha"] == 0.1
    assert dispatch(["verify", out, "-v"]) == 0
    assert (
        "- levels: margin 0.45, alpha 0.1, declared power 0.8, 4 seeds" in capsys.readouterr().out
    )


@pytest.mark.integration
def test_a_number_that_is_not_finite_gives_no_verdict_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "odd.py", str(tmp_path / "odd.twice")
    path.write_text("def main(run):\n    run.summary('score', float('nan'))\n")

    dispatch(
        [
            "record",
            f"{path}:main",
            "--seed",
            "1",
            *STATISTICAL,
            "--epsilon",
            "1",
            "--n",
            "2",
            "-o",
            out,
        ]
    )
    assert "2 of 2 seeds gave no finite number" in capsys.readouterr().err
    assert dispatch(["verify", out, "--json"]) == 2

    document = json.loads(capsys.readouterr().out)
    seed = document["samples"]["seeds"][0]
    assert (document["result"], document["samples"]["recorded"]) == ("UNKNOWN", ["nan", "nan"])
    assert dispatch(["verify", out]) == 2
    assert f"Seed {seed} gave nan on the side of the record" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--summary", "score", "--epsilon", "1"], UsageError),
        (["--class", "statistical", "--n", "3"], UsageError),
        ([*STATISTICAL, "--test", "means"], UsageError),
        ([*STATISTICAL, "--test", "guess", "--epsilon", "1"], ClassRefused),
        ([*STATISTICAL, "--epsilon", "1", "--n", "1"], ClassRefused),
        ([*STATISTICAL, "--test", "ks", "--epsilon", "0.1", "--n", "9"], ClassRefused),
        ([*STATISTICAL, "--test", "mann-whitney", "--epsilon", "0.6"], ClassRefused),
        ([*STATISTICAL, "--epsilon", "1", "--alpha", "0.7"], ClassRefused),
        (["--class", "statistical"], UsageError),
    ],
)
def test_half_a_declaration_is_refused(
    tmp_path: Path, program: str, options: list[str], error: type[Exception]
) -> None:
    out = tmp_path / "s.twice"

    with pytest.raises(error):
        dispatch(["record", program, "--seed", "1", *options, "-o", str(out)])

    assert not out.exists()


PARTS = """
import os


class Walk:
    def __init__(self):
        self.at = 0.0

    def state(self):
        return {"at": self.at}

    def restore(self, state):
        self.at = state["at"]


def main(run):
    walk, count = run.track("walk", Walk()), run.track("count", {"ticks": 0})
    for _ in run.ticks(3):
        walk.at += SHIFT
        count["ticks"] += COUNTED
    run.summary("score", walk.at)
"""
OF_WALK = ["--summary", "score:walk", "--epsilon", "0.5", "--n", "3"]


def write_parts(tmp_path: Path, shift: str, counted: str = "1") -> str:
    path = tmp_path / "parts.py"
    shift = shift.replace("later", str(tmp_path / "later"))
    path.write_text(PARTS.replace("SHIFT", shift).replace("COUNTED", counted))
    return f"{path}:main"


@pytest.mark.integration
@pytest.mark.fresh  # forks have the addresses of their server
@pytest.mark.parametrize(
    ("shift", "counted", "result", "columns"),
    [
        ("1e-30 * id(object())", "1", "PASS", None),
        ("1e-30 * id(object())", "id(object())", "FAIL", ["count"]),
        pytest.param(
            "100.0 * os.path.exists('later')", "1", "FAIL", ["walk"], marks=pytest.mark.heavy
        ),
    ],
)
@pytest.mark.sample(1)
def test_one_component_is_judged_by_its_summary_and_the_rest_by_its_bytes(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    shift: str,
    counted: str,
    result: str,
    columns: list[str] | None,
) -> None:
    out = str(tmp_path / "p.twice")
    program = write_parts(tmp_path, shift, counted)
    dispatch(["record", program, "--seed", "1", *OF_WALK, "-o", out])
    capsys.readouterr()
    (tmp_path / "later").touch()  # the replay answers as recorded, the fresh sample reads the world

    dispatch(["verify", out, "--json"])

    document = json.loads(capsys.readouterr().out)
    failure = document["first_failure"]
    assert (document["result"], failure and failure["columns"]) == (result, columns)
    assert document["samples"]["component"] == "walk"
    assert document["classes"]["count"]["class"] == "bit-exact"
    assert "over 3 seeds each the means of 'score'" in document["classes"]["walk"]["predicate"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--class", "walk=statistical"], "--summary reward:walk"),
        (["--class", "walk=statistical", "--summary", "score", "--epsilon", "1"], "NAME:COMPONENT"),
        (["--class", "walk=logical", *OF_WALK], "walk is logical by --class"),
        (["--class", "logical", "--measure", "abs", *OF_WALK], "both take --epsilon"),
        (["--class", "count=statistical", *OF_WALK], "2 components are statistical"),
        (["--summary", "score:", "--epsilon", "1"], "NAME:COMPONENT"),
        (
            ["--summary", "score:walk", "--summary", "score:other", "--epsilon", "1"],
            "--summary was given more than once: score:walk, score:other",
        ),
    ],
)
def test_a_component_without_a_summary_of_its_own_is_refused(
    tmp_path: Path, options: list[str], said: str
) -> None:
    out, program = tmp_path / "p.twice", write_parts(tmp_path, "1.0")

    with pytest.raises(TwiceError) as refused:
        dispatch(["record", program, "--seed", "1", *options, "-o", str(out)])

    assert said in str(refused.value)
    assert not out.exists()


@pytest.mark.integration
def test_a_component_that_the_run_does_not_have_is_refused(tmp_path: Path) -> None:
    out, program = tmp_path / "p.twice", write_parts(tmp_path, "1.0")
    options = ["--summary", "score:wlak", "--epsilon", "0.5", "--n", "2"]

    with pytest.raises(ClassRefused, match=r"'wlak', which .* does not have"):
        dispatch(["record", program, "--seed", "1", *options, "-o", str(out)])


@pytest.mark.integration
def test_a_class_of_the_reader_needs_a_sample_of_that_component(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, program = tmp_path / "p.twice", write_parts(tmp_path, "1.0")
    dispatch(["record", program, "--seed", "1", *OF_WALK, "-o", str(out)])
    capsys.readouterr()

    code = dispatch(
        ["verify", str(out), "--class", "bit-exact", "--class", "count=statistical", "--json"]
    )

    document = json.loads(capsys.readouterr().out)
    assert (code, document["result"]) == (2, "UNKNOWN")
    assert "the sample in the record is of walk, not of count" in " ".join(
        [*document["headline"], *document["caveats"]]
    )


@pytest.mark.integration
@pytest.mark.parametrize(
    ("counted", "shift", "found"),
    [("1", "0.1", ("same", 0)), ("2", "0.1", ("unlocalised", 1)), ("1", "9.0", ("unlocalised", 1))],
)
@pytest.mark.sample(1)
def test_two_runs_are_compared_by_the_samples_of_a_part_and_in_the_rest(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    counted: str,
    shift: str,
    found: tuple[str, int],
) -> None:
    outs = [str(tmp_path / f"{name}.twice") for name in "ab"]
    for out, parts in zip(outs, (("0.1", "1"), (shift, counted)), strict=True):
        program = write_parts(tmp_path, *parts)
        dispatch(["record", program, "--seed", "1", *OF_WALK, "-o", out])
    capsys.readouterr()

    code = dispatch(["diagnose", *outs, "--anyway", "--no-lines", "--json"])

    assert (json.loads(capsys.readouterr().out)["result"], code) == found


def test_a_place_for_the_runs_of_a_sample_is_refused_for_one_run(
    program: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="is one run, which is recorded here"):
        dispatch(
            ["record", program, "--seed", "1", "--on", "local", "-o", str(tmp_path / "a.twice")]
        )

    assert not (tmp_path / "a.twice").exists()
