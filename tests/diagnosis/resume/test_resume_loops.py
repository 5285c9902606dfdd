"""The loop of the user's code that writes a checkpoint, and its rounds with their variables."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

from twice.diagnosis.resume.loops import Loop, LoopWatch, find_loop

PROGRAM = """
def save(total):
    found.append(find(sys._getframe()))

def train(rounds):
    total = 0
    for step in range(rounds):
        total = total + step
        if step == 1:
            save(total)
    return total

result = train(4)
"""


def run(folder: Path, find: object, source: str = PROGRAM) -> dict[str, object]:
    path = folder / "train.py"
    path.write_text(source, "utf-8")
    scope: dict[str, object] = {"find": find, "found": [], "sys": sys, "__name__": "train"}
    exec(compile(source, str(path), "exec"), scope)
    return scope


def test_the_innermost_loop_around_the_call_is_found(tmp_path: Path) -> None:
    scope = run(tmp_path, lambda frame: find_loop(frame, tmp_path))

    assert scope["found"] == [Loop("train.py", "train", 8)]


def test_without_a_loop_there_is_none(tmp_path: Path) -> None:
    scope = run(
        tmp_path, lambda frame: find_loop(frame, tmp_path), "found.append(find(sys._getframe()))"
    )

    assert scope["found"] == [None]


def test_rounds_are_told_from_the_call_on_and_variables_can_be_put_back(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def tell(kind: str, frame: FrameType) -> None:
        assert kind == "round train.py:8"
        told.append((frame.f_locals["step"], frame.f_locals["total"]))
        if frame.f_locals["step"] == 2:
            frame.f_locals["total"] = 100

    watch = LoopWatch(tmp_path, tell)
    before = sys.gettrace()
    try:
        scope = run(tmp_path, lambda frame: watch.start(Loop("train.py", "train", 8), frame))
    finally:
        watch.stop()
        sys.settrace(before)

    assert told == [(2, 1), (3, 102)]
    assert scope["result"] == 105


@pytest.mark.parametrize("name", ["other", "save"])
def test_other_functions_are_not_traced(tmp_path: Path, name: str) -> None:
    told: list[FrameType] = []
    watch = LoopWatch(tmp_path, lambda _kind, frame: told.append(frame))
    before = sys.gettrace()
    try:
        watch.start(Loop("train.py", name, 8))
        run(tmp_path, lambda _frame: None)
    finally:
        watch.stop()
        sys.settrace(before)

    assert not told
