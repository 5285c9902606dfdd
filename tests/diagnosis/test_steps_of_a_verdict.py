"""What a diagnosis proposes: commands for the same runs, and a test that fails until they agree."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import call, environ
from twice.diagnosis.attribution import READS_CLOCK
from twice.diagnosis.divergence import Attribution, Divergence, OperationFound
from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.next_steps import VARIED, list_next_steps, write_regression_test
from twice.diagnosis.vary.factors import FACTORS
from twice.errors import UsageError
from twice.foundation.channels import Channel
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.recorder.cadence import parse_cadence
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.specification.gate.checks import CHECKS

LINE = OperationFound("p.py", 1, "main", "for name in names:", "name", "a", "b", 0.95)
HASHES = ("hash seed", "PYTHONHASHSEED=0", "PYTHONHASHSEED=2")
FLAG = ("env FLAG", "", "FLAG=on")
PROGRAM = "def main(run):\n    run.compare('n', run.config['n'])\n"
WALKS = """
def main(run):
    names = {"ada", "bo", "cy", "di", "eve", "flo"}
    first = run.track("first", {"name": ""})
    for tick in run.ticks(3):
        first["name"] = list(names)[tick]
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    program = tmp_path / "p.py"
    program.write_text(PROGRAM)
    out = tmp_path / "a.twice"
    twice.record(f"{program}:main", seed=7, config={"n": [1, 2]}, out=out).close()
    return out


def verdict(record: Path, *surroundings: tuple[str, str, str], **known: Any) -> Divergence:
    other = record.with_name("b.twice")
    if not other.exists():
        other.write_bytes(record.read_bytes())
    facts = {"result": "localised", "operation": LINE, "surroundings": surroundings, **known}
    return Divergence(a=str(record), b=str(other), predicate=Predicate(), subsystems=[], **facts)


def steps(found: Divergence) -> list[str]:
    with RunRecord.open(found.a) as a, RunRecord.open(found.b) as b:
        return [
            step.command.replace(str(a.path.parent), ".") for step in list_next_steps(found, a, b)
        ]


def test_what_told_two_runs_apart_is_tried_by_a_name_that_vary_knows(record: Path) -> None:
    assert VARIED <= {factor.name for factor in FACTORS}
    tried, test, report = steps(verdict(record, FLAG, HASHES))

    assert tried.endswith("--seed 7 --set 'n=[1, 2]' --factor 'hash seed'")
    assert test == "twice diagnose ./a.twice ./b.twice --test test_a.py"
    assert report == "twice report ./a.twice ./b.twice -o report.html"
    assert steps(verdict(record, FLAG)) == [test, report]
    assert steps(verdict(record, FLAG, result="unlocalised", operation=None)) == [report]


def test_a_step_names_the_sheet_that_answers_and_the_check_that_judges_it(record: Path) -> None:
    found = verdict(record, HASHES, attribution=[Attribution(Channel.CONCURRENCY, 0.9, ("order",))])
    with RunRecord.open(found.a) as a, RunRecord.open(found.b) as b:
        first, *_ = (step.to_json() for step in list_next_steps(found, a, b))

    assert (first["sheet"], first["checks"]) == ("07", [11])
    judged = {check.id: check.sheets[0] for check in CHECKS}
    assert {judged[channel.facts.check]: channel for channel in Channel} == {
        channel.artifact: channel for channel in Channel
    }


def test_between_coarse_points_a_record_with_finer_ones_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("def main(run):\n    for _ in run.ticks(1): pass\n")
    record, program = tmp_path / "a.twice", f"{tmp_path / 'p.py'}:main"
    twice.record(
        program, seed=7, out=record, granularity="episode", cadence=parse_cadence("none")
    ).close()
    points = {"compare_point": PointRef(3, 299, "end"), "last_agreement": PointRef(2, 199, "start")}

    coarse = steps(verdict(record, **points, operation=None, result="unlocalised"))
    fine = steps(verdict(record, **{**points, "last_agreement": PointRef(2, 298, "tick")}))

    assert coarse[0].endswith("p.py:main --seed 7 --compare tick")
    assert not any("--compare" in each for each in fine)


def body(found: Divergence) -> list[str]:
    text = write_regression_test(found, Path(found.a).parent / "tests" / "test_it.py")
    assert isinstance(ast.parse(text), ast.Module)
    _, _, after = text.partition("def test_the_runs_agree(tmp_path: Path) -> None:\n")
    return [line.strip() for line in after.splitlines()]


def test_a_factor_of_vary_is_tested_by_vary(record: Path) -> None:
    assert body(verdict(record, HASHES)) == ["run_twice('vary', '--factor', 'hash seed', *RUN)"]


def test_a_clock_is_tested_at_another_time(record: Path) -> None:
    clock = [Attribution(Channel.EFFECTS, 0.9, (READS_CLOCK,))]

    found = verdict(record, attribution=clock)
    assert body(found) == ["run_twice('vary', '--factor', 'clock offset', *RUN)"]
    assert "then remove this test" in write_regression_test(found, record.with_name("test_it.py"))


def test_a_variable_is_given_to_one_run_alone(record: Path) -> None:
    one, two, compare = body(verdict(record, FLAG))

    assert "--env" not in one
    assert "'--env', 'FLAG=on'" in two
    assert compare == 'run_twice("diagnose", str(tmp_path / "a.twice"), str(tmp_path / "b.twice"))'


def test_a_run_that_does_not_verify_is_recorded_and_verified(record: Path) -> None:
    found = replace(verdict(record), b=str(record), result="non-reproducing")

    made, verified = body(found)

    assert made.startswith("run_twice('record', '--class', 'bit-exact'")
    assert verified == 'run_twice("verify", str(tmp_path / "run.twice"))'


def test_a_text_that_would_end_the_docstring_does_not(record: Path) -> None:
    hostile = [Attribution(Channel.EFFECTS, 0.9, ('"""\nimport os\\',))]

    assert body(verdict(record, attribution=hostile))


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"result": "same", "operation": None}, "the result is same"),
        ({"operation": None, "result": "unlocalised"}, "the result is unlocalised, without a line"),
        ({"input_differences": ["seed"]}, "they are runs of different inputs"),
    ],
)
def test_where_there_is_no_line_there_is_no_test(
    record: Path, known: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        write_regression_test(verdict(record, **known), record.with_name("test_it.py"))


def test_a_sample_is_not_tested_by_two_runs(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sampled = Predicate(subsystems={"n": DeterminismClass.STATISTICAL})
    with RunRecord.open(record) as opened:
        setup = replace(opened.setup, predicate=sampled)
    monkeypatch.setattr(Setup, "from_json", lambda *_: setup)

    with pytest.raises(UsageError, match="a sample is judged"):
        write_regression_test(verdict(record), record.with_name("test_it.py"))


def test_a_test_that_is_there_is_never_replaced(record: Path) -> None:
    test = record.with_name("test_it.py")
    test.write_text("mine\n")

    refused = call("diagnose", record, record, "--test", test, cwd=record.parent)

    assert refused.returncode == 2
    assert "E-OUTPUT-001" in refused.stderr
    assert test.read_text() == "mine\n"


@pytest.mark.integration
@pytest.mark.heavy
def test_the_test_fails_until_the_line_is_corrected(tmp_path: Path) -> None:
    """It runs pytest, as a user does: the test starts commands of its own."""
    program = tmp_path / "walks.py"
    program.write_text(WALKS)
    for name, seed in (("a", "0"), ("b", "2")):
        given = {"PYTHONHASHSEED": seed}
        twice.record(f"{program}:main", seed=1, out=tmp_path / f"{name}.twice", env=given).close()
    (tmp_path / "tests").mkdir()
    wrote = call("diagnose", "a.twice", "b.twice", "--test", "tests/test_walks.py", cwd=tmp_path)
    assert wrote.returncode == 1, wrote.stderr

    def passes() -> bool:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ({}), check=False, capture_output=True
        )
        return done.returncode == 0

    assert not passes()
    program.write_text(WALKS.replace("list(names)", "sorted(names)"))
    assert passes()
