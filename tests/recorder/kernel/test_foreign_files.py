"""A user's replay writes where the user may write, whoever owns the files and folders there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from apart import needs_world, run_apart
from recorded import RecordedRun, replay, state_of

from twice.recorder.kernel import libc
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.kernel.layers import make_folders
from twice.recorder.kernel.namespaces import enter_namespaces, give_up_rights
from twice.recorder.kernel.placements import (
    OwnIds,
    find_foreign_files,
    find_foreign_folders,
)

USER, TEAM = 1234, 2000
NOBODY = OwnIds((range(0),), (range(0),))
PLACE = Path("/var/tmp")


def own() -> OwnIds:
    return OwnIds(
        (range(os.geteuid(), os.geteuid() + 1),), (range(os.getegid(), os.getegid() + 1),)
    )


def become_user() -> None:
    """Be a user without rights, who is a member of a team."""
    os.setgroups([TEAM])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    libc._prctl(4, 1)  # dumpable again, as every process is that began as this user


def make_team_folder() -> Path:
    """Make a folder as teams share them, on a file system for this process alone."""
    enter_namespaces()
    libc.mount("tmpfs", str(PLACE), "tmpfs", options="mode=1777")
    team = PLACE / "closed/team"
    (team / "sub/deep").mkdir(parents=True)
    for name in ("read", "changed", "touched", "truncated", "sub/removed"):
        (team / name).write_text(f"{name} as it was")
    (team / "large").write_bytes(bytes(2_000_000))
    for path in (team, *team.rglob("*")):
        os.chown(path, 0 if path.name == "changed" else USER, TEAM)
        path.chmod(0o2775 if path.is_dir() else 0o664)
    return team


def look_at(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return what is below a folder, without times of access: looking changes them."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.rglob("*"):
        seen, state = path.lstat(), state_of(path)
        owned = (seen.st_ino, seen.st_nlink, seen.st_uid, seen.st_gid, seen.st_ctime_ns)
        found[str(path)] = (*owned, state)
    return found


@needs_world
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
@pytest.mark.parametrize("working", ["", "sub"])
def test_a_folder_that_a_team_shares_is_written_as_in_the_recording(working: str) -> None:
    # What these import may lie where the user cannot look.
    state_of(__file__)
    OwnIds.read()

    def run() -> tuple[object, ...]:
        team = make_team_folder()
        become_user()
        os.chdir(team / working)
        recorded = RecordedRun(PLACE / "kept")

        def program() -> None:
            with open(team / "changed", "r+") as file:
                file.write("CHANGED")
            with open(team / "truncated", "w") as file:
                file.write("new")
            with open(team / "large", "r+b") as file:
                file.write(b"x")
            os.close(os.open(team / "touched", os.O_RDWR))
            (team / "sub/removed").unlink()
            (team / "sub/new").write_text("new")
            (team / "sub/deep/gone at the end").touch()
            (team / "sub/deep/gone at the end").unlink()
            (PLACE / "made").write_text("new")

        before = look_at(team)
        changes = ["changed", "truncated", "large", "sub/removed", "sub/new"]
        recorded.run(
            program,
            changes=[*(team / name for name in changes), PLACE / "made"],
            reads=[team / "read", team / "touched"],
        )
        real = look_at(team)
        replayed = replay(recorded.world(PLACE / "layers"), program)
        after = look_at(team)
        assert len(before) == len(real)
        return replayed.changed, replayed.report.refused, replayed.differing(), after == real

    assert run_apart(run) == ([], (), {}, True)


@needs_world
@pytest.mark.skipif(os.geteuid() == 0, reason="root knows every owner")
def test_folders_of_root_that_everyone_writes_in_can_be_written(tmp_path: Path) -> None:
    name = PLACE / f"twice-{os.getpid()}"

    def run() -> list[str]:
        world = RecordedRun(tmp_path / "kept").world(tmp_path / "layers")
        entered = enter_namespaces()
        world.enter(entered)

        def write() -> None:
            give_up_rights(entered)
            name.mkdir()
            (name / "file").write_text("x")

        run_apart(write)
        return [one.path for one in world.compare()]  # with rights, as a keeper has them

    assert run_apart(run) == [str(name), f"{name}/file"]
    assert not name.exists()


@pytest.mark.skipif(not hasattr(os, "getresuid"), reason="Linux only")
def test_the_ids_of_a_process_are_those_of_its_namespace(tmp_path: Path) -> None:
    assert not OwnIds.read().is_foreign(tmp_path.stat())
    assert NOBODY.is_foreign(tmp_path.stat())
    assert not own().is_foreign(tmp_path.stat())


def test_what_belongs_to_the_user_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    history = FileHistory(str(file), state_of(file), state_of(file), was_changed=True)

    assert find_foreign_files([history], [], own()) == []
    assert str(tmp_path) not in find_foreign_folders([history], str(tmp_path), [], own())


def test_foreign_files_that_may_be_written_are_placed_once(tmp_path: Path) -> None:
    histories = []
    for name in ("changed", "read", "closed", "placed", "gone"):
        file = tmp_path / name
        file.write_text(name)
        file.chmod(0o444 if name == "closed" else 0o644)
        state = state_of(file)
        histories.append(
            FileHistory(str(file), state, state, was_read=True, was_changed=name == "changed")
        )
    (tmp_path / "gone").unlink()

    found = find_foreign_files(histories, [str(tmp_path / "placed")], NOBODY)

    names = ["changed", "read"] + ["closed"] * (os.geteuid() == 0)
    assert sorted(Path(one.path).name for one in found) == sorted(names)
    assert all(one.source == one.path for one in found)


def test_foreign_folders_come_with_all_that_they_lie_in(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a")
    history = FileHistory(f"{tmp_path}/a/b/new/file", *[state_of(tmp_path / "none")] * 2)

    found = find_foreign_folders([history], str(tmp_path / "a"), [], NOBODY)

    inside = [path for path in found if path.startswith(str(tmp_path))]
    assert inside == [str(tmp_path), f"{tmp_path}/a", f"{tmp_path}/a/b"]
    assert found == sorted(found)


def test_folders_of_a_top_layer_are_as_those_below_and_hide_nothing(tmp_path: Path) -> None:
    upper, start, real = (tmp_path / name for name in ("upper", "start", "real"))
    for folder in (upper, start, real / "one/two", real / "gone/below", start / "one"):
        folder.mkdir(parents=True)
    (start / "one").chmod(0o700)
    (real / "one/two").chmod(0o711)
    os.utime(real / "one/two", ns=(1, 10**18))
    (start / "gone").write_text("stands for a whiteout")

    inside = ["/gone", "/gone/below", "/nothing", "/one", "/one/two"]
    make_folders(str(upper), str(start), str(real), inside)

    made = {path.relative_to(upper).as_posix(): path.stat() for path in upper.rglob("*")}
    assert {name: stat.S_IMODE(status.st_mode) for name, status in made.items()} == {
        "one": 0o700, "one/two": 0o711,
    }  # fmt: skip
    assert made["one/two"].st_mtime_ns == 10**18
