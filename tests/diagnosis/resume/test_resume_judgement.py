"""What is said of a resumed run, from two trials as they were written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twice.diagnosis.resume.comparison import Noise
from twice.diagnosis.resume.file_log import SeenFiles, Write
from twice.diagnosis.resume.judgement import Parting, PutBack, Reference, Resumed
from twice.diagnosis.resume.report import PointResult, ResumeReport
from twice.diagnosis.resume.trial import Trial

STEPS, KILLED = 6, 2


def trial(place: Path, steps: int, moments: list[dict[str, Any]]) -> Trial:
    folder, state = place / "folder", place / "state"
    folder.mkdir(parents=True)
    state.mkdir()
    (state / "moments.jsonl").write_text("".join(json.dumps(each) + "\n" for each in moments))
    counts = {"step": steps, "forward": steps}
    return Trial(folder, state, 0, None, (b"", b""), SeenFiles(), counts)


def moment(kind: str, number: int, steps: int, weight: str) -> dict[str, Any]:
    fields = {"model": {"weight": [weight, weight]}}
    counts = {"step": steps}
    return {
        "kind": kind,
        "number": number,
        "counts": counts,
        "fields": fields,
        "given": {},
        "printed": 0,
    }


def judged(tmp_path: Path, made: int) -> tuple[Reference, Resumed]:
    """Return a straight run of six steps, and one that was resumed behind two and made so many."""
    first = STEPS - made
    straight = trial(tmp_path / "straight", STEPS, [moment("end", 0, STEPS, "a")])
    control = trial(tmp_path / "control", STEPS, [moment("forward", first, first, "b")])
    resumed = [moment("forward", 0, 0, "c"), moment("end", 0, made, "d")]
    write = Write("last.pt", 1, KILLED)
    one = Resumed(KILLED, write, tmp_path, trial(tmp_path / "resumed", made, resumed))
    return Reference(straight, control, tmp_path, Noise(), ""), one


def test_a_run_that_makes_fewer_steps_than_were_left_lacks_its_position(tmp_path: Path) -> None:
    reference, one = judged(tmp_path, made=2)
    dies: PutBack = lambda *_: None  # noqa: E731

    result = reference.judge(one)
    tried = reference.try_fields(one, result, dies)

    assert result.missing == ["position", "model.weight"]
    assert tried.missing == result.missing
    assert tried.reason == "it made 2 steps where 4 of 6 were left"


def test_a_run_that_makes_the_steps_that_were_left_lacks_fields_alone(tmp_path: Path) -> None:
    reference, one = judged(tmp_path, made=4)

    result = reference.judge(one)

    assert (result.missing, result.reason) == (["model.weight"], "")


def test_steps_are_no_reason_where_fields_put_back_suffice(tmp_path: Path) -> None:
    reference, one = judged(tmp_path, made=2)

    tried = reference.try_fields(one, reference.judge(one), lambda *_: reference.straight)

    assert (tried.missing, tried.reason) == (["model.weight"], "")


def test_many_fields_of_one_object_are_counted_in_the_text_and_listed_in_the_json() -> None:
    fields = [f"model.env.{number}.state" for number in range(8)]
    point = PointResult(20, "last.zip", "differs", ["generators.torch", *fields, "model.policy"])
    report = ResumeReport("train.py", ["last.zip"], [point], 60)

    assert "lacks generators.torch, model.env (8 fields), model.policy" in report.to_text()
    assert report.to_json()["points"][0]["missing"] == [*point.missing]


def test_what_the_step_before_left_in_a_module_is_named_only_by_itself() -> None:
    left = {"model": ["gradients.0", "modes.0"]}

    assert Parting("forward-3", {}, {**left, "rng": [""]}).name_fields() == ["rng"]
    assert Parting("forward-3", {}, left).name_fields() == ["model"]
    mixed = {"model": ["gradients.0", "parameters.weight"], "rng": [""]}
    assert Parting("forward-3", {}, mixed).name_fields() == ["model.parameters.weight", "rng"]
