"""Killed at any moment: nothing was applied, and the next start puts back what was begun."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from small_system import build, tree
from twice.errors import OutputUnwritable, ScaffoldUnfinished
from twice.specifying.scaffolding.applying import STAGE, apply, recover
from twice.specifying.scaffolding.regions import Layer
from twice.specifying.scaffolding.scaffold import Order, carry_out, prepared

# The children only read and write files; they wait for nothing that another thread could hold.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

CHANGES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"})
FILES = {"new/deep/a": b"a\n", "kept": b"changed\n", "gone": None, "zz": b"z\n"}


def in_a_child(work: Callable[[], object], kill_at: int) -> bool:
    """Do something in a process that is killed at its Nth change of a file; whether it was."""
    child = os.fork()
    if child == 0:
        seen = 0

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal seen
            if event in CHANGES and not (event == "open" and _only_reads(arguments)):
                seen += 1
                if seen == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
    return status != 0


def _only_reads(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    (folder / "determinism-and-replay").mkdir(parents=True)
    (folder / "kept").write_bytes(b"old\n")
    (folder / "gone").write_bytes(b"old too\n")
    (folder / "kept").chmod(0o640)
    return folder


def seen_in(folder: Path) -> dict[str, bytes | None]:
    return {path: tree(folder).get(path) for path in FILES}


def folders(project: Path) -> set[str]:
    return {each.relative_to(project).as_posix() for each in project.rglob("*") if each.is_dir()}


def test_at_every_step_all_of_it_is_there_or_nothing(place: Path) -> None:
    before, folders_before = tree(place), folders(place)
    outcomes: list[str] = []
    begun = 0
    for kill_at in range(1, 1000):
        killed = in_a_child(lambda: apply(place, FILES, seen_in(place)), kill_at)
        begun += {path: data for path, data in tree(place).items() if STAGE not in path} != before
        if not killed:
            break
        recover(place)
        done = tree(place) != before
        outcomes.append("all" if done else "nothing")
        if not done:
            assert folders(place) == folders_before
            continue
        assert {path: data for path, data in FILES.items() if data} == tree(place)
        assert outcomes[:-1] == ["nothing"] * (len(outcomes) - 1), "once it is done it stays so"
        break

    assert outcomes.count("nothing") > 15
    assert begun > 3, "some of the kills fell into the middle of it"


def test_at_every_step_of_putting_back_it_can_be_done_again(place: Path) -> None:
    before = tree(place)
    late = half_done(place)
    for kill_at in range(1, 1000):
        killed = in_a_child(lambda: recover(place), kill_at)
        recover(place)
        assert tree(place) == before
        if not killed:
            break
        in_a_child(lambda: apply(place, FILES, seen_in(place)), late)
    assert kill_at > 5


def half_done(place: Path) -> int:
    """Leave it as a process does that was killed just before the end; at which of its changes."""
    for kill_at in range(1, 1000):
        in_a_child(lambda: apply(place, FILES, seen_in(place)), kill_at)
        if (place / "zz").exists():
            return kill_at
        recover(place)
    raise AssertionError("it never ends")


def test_a_scaffold_killed_at_any_step_is_laid_down_by_the_next(tmp_path: Path) -> None:
    project, whole = build(tmp_path / "project"), build(tmp_path / "whole")
    order = Order("swarm", (Layer.COMPARE,))
    carry_out(whole, prepared(whole, order))
    before, after = tree(project), tree(whole)
    what = prepared(project, order)
    for kill_at in range(1, 1000, 3):
        killed = in_a_child(lambda: carry_out(project, what), kill_at)
        recover(project)
        if not killed or tree(project) != before:
            break
    assert kill_at > 20
    carry_out(project, prepared(project, order))
    assert tree(project) == after


def test_permissions_stay(place: Path) -> None:
    apply(place, FILES, seen_in(place))

    assert (place / "kept").stat().st_mode & 0o777 == 0o640
    assert not (place / "determinism-and-replay" / STAGE).exists()


def test_a_file_that_was_changed_since_is_not_written_over(place: Path) -> None:
    half_done(place)
    (place / "kept").write_bytes(b"somebody's\n")

    with pytest.raises(ScaffoldUnfinished, match="kept was changed after"):
        recover(place)

    assert (place / "kept").read_bytes() == b"somebody's\n"
    assert any((place / "determinism-and-replay" / STAGE).glob("*.old"))


def test_a_file_that_was_changed_while_it_was_planned_is_not_written_over(place: Path) -> None:
    seen = seen_in(place)
    (place / "kept").write_bytes(b"somebody's\n")
    before = tree(place)

    with pytest.raises(ScaffoldUnfinished, match="while the plan was made"):
        apply(place, FILES, seen)

    assert tree(place) == before


def test_two_at_once_are_refused(place: Path) -> None:
    import fcntl

    stage = place / "determinism-and-replay" / STAGE
    stage.mkdir()
    held = os.open(stage, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with pytest.raises(ScaffoldUnfinished, match="Another process"):
            apply(place, FILES, seen_in(place))
    finally:
        os.close(held)
    apply(place, FILES, seen_in(place))

    assert (place / "zz").exists()


def test_what_cannot_be_written_leaves_everything_as_it_was(place: Path) -> None:
    before = tree(place)
    files = {**FILES, "kept/below": b"a file is in the way\n"}

    with pytest.raises(OutputUnwritable):
        apply(place, files, {**seen_in(place), "kept/below": None})

    assert tree(place) == before
    assert not (place / "new").exists()


@pytest.mark.parametrize(
    "journal",
    ["", "[]", '{"format": "x", "folders": [], "steps": []}', '{"folders": ["../x"], "steps": []}'],
)
def test_a_journal_that_is_none_is_not_followed(place: Path, journal: str) -> None:
    stage = place / "determinism-and-replay" / STAGE
    stage.mkdir()
    (stage / "journal.json").write_text(journal, encoding="utf-8")

    with pytest.raises(ScaffoldUnfinished, match="cannot be read"):
        recover(place)
