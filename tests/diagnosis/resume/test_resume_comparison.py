"""What is compared at the ends of two trials, and when that shows nothing: trials are values, files are real."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from twice.diagnosis.resume import comparison
from twice.diagnosis.resume.comparison import Noise, compare_ends, has_evidence
from twice.diagnosis.resume.file_log import SeenFiles, Write
from twice.diagnosis.resume.judgement import Reference, Resumed, find_noise
from twice.diagnosis.resume.report import PointResult
from twice.diagnosis.resume.trial import Trial


@pytest.fixture(autouse=True)
def formats_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where in a file a difference is, is found by a process of its own, and no matter here."""
    monkeypatch.setattr(comparison, "run_apart", lambda *_: b"")


STATE = {"parameters": {"0/0": ["digest", "array [2]"]}}


def trial(
    place: Path,
    files: Mapping[str, bytes],
    *,
    printed: bytes = b"",
    writes: Sequence[str] = (),
    moments: Sequence[Mapping[str, object]] = (),
) -> Trial:
    folder, state = place / "folder", place / "state"
    state.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (state / "moments.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in moments))
    seen = SeenFiles(tuple(Write(path, at) for at, path in enumerate(writes, 1)))
    return Trial(folder, state, 0, None, (printed, b""), seen)


def moment(kind: str, fields: Mapping[str, object]) -> dict[str, object]:
    return {"kind": kind, "number": 0, "counts": {}, "fields": fields, "given": {}, "printed": 0}


def torch_archive(order: bytes, *arrays: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("last/data.pkl", order)
        for number, elements in enumerate(arrays):
            archive.writestr(f"last/data/{number}", elements)
    return content.getvalue()


def wrapped(name: str, content: bytes) -> bytes:
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr(name, content)
    return outer.getvalue()


def array_file(*elements: float) -> bytes:
    content = io.BytesIO()
    np.save(content, np.array(elements))
    return content.getvalue()


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (torch_archive(b"1", b"aa", b"bb"), torch_archive(b"2", b"aa", b"bb"), False),
        (torch_archive(b"1", b"aa", b"bb"), torch_archive(b"2", b"bb", b"aa"), False),
        (torch_archive(b"1", b"aa", b"bb"), torch_archive(b"1", b"aa", b"cc"), True),
        (torch_archive(b"1", b"\xff" * 5056), torch_archive(b"1", b"\xfe" * 5056), False),
        (
            wrapped("policy.pth", torch_archive(b"1", b"aa")),
            wrapped("policy.pth", torch_archive(b"1", b"ab")),
            True,
        ),
        (array_file(1.0), array_file(2.0), True),
        (b"\x80\x04\xff1", b"\x80\x04\xff2", False),
    ],
    ids=["pickled-otherwise", "other-order", "arrays", "generator", "within", "npy", "pickle"],
)
def test_arrays_in_a_file_are_compared_also_where_the_optimizer_ends_the_same(
    tmp_path: Path, one: bytes, other: bytes, differs: bool
) -> None:
    end = [moment("end", STATE)]
    straight = trial(tmp_path / "1", {"last.pt": one}, moments=end)
    resumed = trial(tmp_path / "2", {"last.pt": other}, moments=end)

    found = compare_ends(straight, resumed, Noise(), is_resumed=True)

    assert [each.what for each in found] == ["file last.pt"] * differs


@pytest.mark.parametrize(("name", "differs"), [("train.log", False), ("history.json", True)])
def test_more_lines_are_a_log_and_no_document(tmp_path: Path, name: str, differs: bool) -> None:
    straight = trial(tmp_path / "1", {name: b"[\n1,\n2\n]"})
    resumed = trial(tmp_path / "2", {name: b"[\n1,\n1,\n2\n]"})

    assert bool(compare_ends(straight, resumed, Noise(), is_resumed=True)) is differs


def test_lines_that_a_log_lost_at_the_kill_are_a_difference_that_is_explained(
    tmp_path: Path,
) -> None:
    straight = trial(tmp_path / "1", {"train.log": b"1\n2\n3\n4\n"})
    resumed = trial(tmp_path / "2", {"train.log": b"1\n3\n4\n"})

    [found] = compare_ends(straight, resumed, Noise(), is_resumed=True)

    assert (found.what, found.where.partition(",")[0]) == ("file train.log", "1 line fewer")


def test_files_with_the_time_in_their_names_are_not_compared(tmp_path: Path) -> None:
    straight = trial(tmp_path / "1", {"runs/17:01.log": b"1", "x": b"1"})
    control = trial(tmp_path / "2", {"runs/17:02.log": b"1", "x": b"1"})
    resumed = trial(tmp_path / "3", {"runs/17:03.log": b"1", "runs/17:04.log": b"1", "x": b"1"})

    noise, problem = find_noise(straight, control, ())

    assert ([*noise.files], problem) == (["runs/#:#.log"], "")
    assert compare_ends(straight, resumed, noise, is_resumed=True) == []


def reference(straight: Trial, control: Trial, states: Path) -> Reference:
    return Reference(straight, control, states, *find_noise(straight, control, ()))


def test_a_run_of_which_nothing_is_compared_is_not_the_same(tmp_path: Path) -> None:
    straight = trial(tmp_path / "1", {"a.json": b"[1]"}, writes=["a.json"] * 3)
    control = trial(tmp_path / "2", {"a.json": b"[2]"}, writes=["a.json"] * 3)
    resumed = trial(tmp_path / "3", {"a.json": b"[3]"})

    judged = reference(straight, control, tmp_path).judge(
        Resumed(1, Write("a.json", 1), tmp_path, resumed)
    )

    assert judged.result == "unknown"
    assert "nothing could be compared" in judged.reason


@pytest.mark.parametrize(
    ("given", "shows"),
    [({}, False), ({"printed": b"end\n"}, True), ({"moments": [moment("end", STATE)]}, True)],
    ids=["nothing", "a line", "state"],
)
def test_a_line_or_state_is_something_that_is_compared(
    tmp_path: Path, given: Mapping[str, bytes], shows: bool
) -> None:
    straight, resumed = (trial(tmp_path / name, {}, **given) for name in "12")  # type: ignore[arg-type]

    assert has_evidence(straight, resumed, Noise()) is shows


def test_as_many_checkpoints_as_the_straight_run_are_a_run_that_began_anew(tmp_path: Path) -> None:
    straight, control = (
        trial(tmp_path / name, {"a.db": b"1"}, writes=["a.db"] * 3) for name in "12"
    )
    judge = reference(straight, control, tmp_path).judge
    results = []
    for count in (2, 3):
        resumed = trial(tmp_path / f"r{count}", {"a.db": b"1"}, writes=["a.db"] * count)
        results.append(judge(Resumed(1, Write("a.db", 1), tmp_path, resumed)).result)

    assert results == ["same", "unknown"]


def test_a_field_without_effect_is_not_named_where_something_unknown_is_missing_too(
    tmp_path: Path,
) -> None:
    def fields(label: str) -> dict[str, object]:
        return {f"variable {name}": {"": [label, label]} for name in ("label", "mean")}

    straight, control = (
        trial(tmp_path / name, {"x": b"\xff1"}, moments=[moment("forward", fields("1"))])
        for name in "12"
    )
    counted = [replace(each, counts={"forward": 2}) for each in (straight, control)]
    resumed = trial(tmp_path / "3", {"x": b"\xff2"}, moments=[moment("forward", fields("2"))])
    resumed = replace(resumed, counts={"forward": 1})

    def put_back(_left: Path, name: str, puts: Sequence[str], _states: Path) -> Trial:
        return trial(tmp_path / name, {"x": b"\xff3" if "variable mean" in puts else b"\xff2"})

    there = moment("forward", fields("1")) | {"number": 1}
    (counted[1].state / "moments.jsonl").write_text(json.dumps(there) + "\n")
    whole = Reference(counted[0], counted[1], tmp_path, Noise(), "")
    one = Resumed(1, Write("x", 1), tmp_path, resumed)

    tried = whole.try_fields(one, whole.judge(one), put_back)

    assert isinstance(tried, PointResult)
    assert (tried.missing, tried.harmless) == (["variable mean"], ["variable label"])
    assert "something else is missing" in tried.reason


@pytest.mark.parametrize(
    ("kinds", "said"),
    [(["forward"], "something else is missing"), ([], "could not be compared")],
    ids=["same-state", "no-moment"],
)
def test_a_difference_that_no_known_field_explains_is_said_to_be_one(
    tmp_path: Path, kinds: Sequence[str], said: str
) -> None:
    moments = [moment(kind, STATE) | {"number": 1} for kind in kinds]
    straight, control = (
        trial(tmp_path / name, {"x": b"1"}, writes=["x"] * 2, moments=moments) for name in "12"
    )
    straight = replace(straight, counts={"forward": 2})
    resumed = trial(tmp_path / "3", {"x": b"2"}, moments=[moment(kind, STATE) for kind in kinds])
    resumed = replace(resumed, counts={"forward": 1})
    whole = Reference(straight, control, tmp_path, Noise(), "")
    one = Resumed(1, Write("x", 1), tmp_path, resumed)

    tried = whole.try_fields(one, whole.judge(one), lambda *_: None)

    assert (tried.result, [*tried.missing]) == ("differs", [])
    assert said in tried.reason
