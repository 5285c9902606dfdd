from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import twice
from programs import cli
from twice.cli.run_options import OutputOptions
from twice.errors import OutputExists, OutputUnwritable, UsageError

DERIVING: dict[str, tuple[object, ...]] = {
    "branch": ("branch", "a.twice", "--at", 120),
    "export": ("export", "a.twice", "--format", "jsonl"),
    "migrate": ("migrate", "a.twice"),
    "report": ("report", "a.twice"),
    "rerun": ("rerun", "a.twice"),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", DERIVING)
def test_an_existing_output_stays_without_force(name: str, swarm: Path) -> None:
    mine = b"" if name in {"branch", "rerun"} else b"mine"
    (swarm / "out").write_bytes(mine)

    refused = cli(*DERIVING[name], "-o", "out", cwd=swarm)
    kept = (swarm / "out").read_bytes()
    forced = cli(*DERIVING[name], "-o", "out", "--force", cwd=swarm)

    assert (refused.returncode, refused.stderr[:12], kept) == (2, "E-OUTPUT-001", mine)
    assert forced.returncode == 0, forced.stderr
    assert (swarm / "out").read_bytes() != mine


@pytest.mark.integration
@pytest.mark.parametrize(
    "command", [("record", __file__, "--seed", 1), DERIVING["branch"], DERIVING["rerun"]]
)
def test_a_record_replaces_a_record_and_nothing_else(
    command: tuple[object, ...], swarm: Path
) -> None:
    (swarm / "notes.txt").write_text("mine")

    done = cli(*command, "-o", "notes.txt", "--force", cwd=swarm)

    assert (done.returncode, done.stderr[:12]) == (2, "E-OUTPUT-001"), done.stderr
    assert (swarm / "notes.txt").read_text() == "mine"


@pytest.mark.integration
@pytest.mark.parametrize("name", DERIVING)
def test_what_is_read_is_never_replaced(name: str, swarm: Path) -> None:
    before = (swarm / "a.twice").read_bytes()

    done = cli(*DERIVING[name], "-o", "a.twice", "--force", cwd=swarm)

    assert (done.returncode, done.stderr[:9]) == (2, "E-USE-001")
    assert (swarm / "a.twice").read_bytes() == before


@pytest.mark.integration
@pytest.mark.parametrize("name", DERIVING)
def test_a_folder_that_is_not_there_is_named(name: str, swarm: Path) -> None:
    done = cli(*DERIVING[name], "-o", "nowhere/out", cwd=swarm)

    assert done.returncode == 2
    assert done.stderr.startswith("E-OUTPUT-002"), done.stderr
    assert not (swarm / "nowhere").exists()


@pytest.mark.integration
@pytest.mark.parametrize("out", ["notes.txt/out", "n" * 300], ids=["in a file", "too long"])
@pytest.mark.parametrize("name", [*DERIVING, "trace"])
@pytest.mark.sample(4)
def test_a_place_that_takes_no_file_and_gives_none_up_is_one_error(
    name: str, out: str, swarm: Path
) -> None:
    (swarm / "notes.txt").write_text("mine")
    deriving = {**DERIVING, "trace": ("trace", "a.twice", "--tick", 3)}

    done = cli(*deriving[name], "-o", out, cwd=swarm)

    assert (done.returncode, done.stderr[:12]) == (2, "E-OUTPUT-002"), done.stderr
    assert "Traceback" not in done.stderr
    assert (swarm / "notes.txt").read_text() == "mine"


@pytest.mark.integration
@pytest.mark.parametrize("name", DERIVING)
def test_a_pipe_is_never_replaced_by_a_file(name: str, swarm: Path) -> None:
    os.mkfifo(swarm / "pipe")

    done = cli(*DERIVING[name], "-o", "pipe", "--force", cwd=swarm)

    assert (done.returncode, done.stderr[:12]) == (2, "E-OUTPUT-002"), done.stderr
    assert (swarm / "pipe").is_fifo()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def half(partial: Path) -> None:
        partial.write_text("half")
        raise ValueError("in the middle")

    def folder(partial: Path) -> None:
        partial.mkdir()
        (partial / "one").write_text("half")
        raise ValueError("in the middle")

    for fail in (half, folder):
        with pytest.raises(ValueError, match="in the middle"):
            write(tmp_path / "out", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    def fail(partial: Path) -> None:
        partial.write_text("half")
        raise OSError(28, os.strerror(28))

    with pytest.raises(OutputUnwritable, match="No space left"):
        write(tmp_path / "out", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_takes_its_files_into_one_that_is_there(tmp_path: Path) -> None:
    def fill(partial: Path) -> None:
        partial.mkdir()
        (partial / "one").write_text("new")

    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "other").write_text("kept")
    with pytest.raises(OutputExists):
        write(tmp_path / "out", fill)
    with OutputOptions(tmp_path / "out", force=True).writing() as partial:
        fill(partial)

    assert {path.name for path in (tmp_path / "out").iterdir()} == {"one", "other"}


def test_a_source_under_another_name_is_still_the_source(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("source")
    (tmp_path / "link").symlink_to("a")

    with (
        pytest.raises(UsageError),
        OutputOptions(tmp_path / "link", force=True).writing(tmp_path / "a"),
    ):
        pass
    assert (tmp_path / "a").read_text() == "source"


@pytest.mark.integration
def test_a_branch_proves_its_prefix(swarm: Path) -> None:
    done = cli(
        "branch", "a.twice", "--at", 7, "--input", "push=-1", "--onwards", "-o", "c.twice",
        "--json", cwd=swarm,
    )  # fmt: skip
    told = json.loads(done.stdout)

    assert told["format"] == "twice.branched/1"
    assert (told["prefix"]["identical"], told["prefix"]["points"]) == (True, 15)
    assert told["inputs"] == {"push": -1}
    assert [step["command"] for step in told["next"]] == ["twice diagnose a.twice c.twice"]
    with twice.open(swarm / "c.twice") as made:
        assert {event.value for event in made.inputs() if event.tick >= 7} == {-1}


@pytest.mark.integration
def test_an_input_that_is_none_is_refused(swarm: Path) -> None:
    for given in ("push", "=1", "pull=1"):
        done = cli("branch", "a.twice", "--at", 7, "--input", given, "-o", "c.twice", cwd=swarm)
        assert (done.returncode, done.stderr[:9]) == (2, "E-USE-001")
        assert not (swarm / "c.twice").exists()
    again = ("--input", "push=1", "--input", "push=2")
    assert cli("branch", "a.twice", "--at", 7, *again, "-o", "c.twice", cwd=swarm).returncode == 2


@pytest.mark.integration
def test_a_branch_that_is_refused_leaves_what_stood_there(swarm: Path) -> None:
    kept = (swarm / "b.twice").read_bytes()
    (swarm / "folder").mkdir()
    branch = ("branch", "a.twice", "--at", 7, "--force")

    wrong = cli(*branch, "--input", "pull=1", "-o", "b.twice", cwd=swarm)
    folder = cli(*branch, "--input", "push=1", "-o", "folder", cwd=swarm)

    assert (wrong.returncode, wrong.stderr[:9]) == (2, "E-USE-001")
    assert (swarm / "b.twice").read_bytes() == kept
    assert (folder.returncode, folder.stderr[:12]) == (2, "E-OUTPUT-002"), folder.stderr
    assert not list(swarm.glob(".*.partial"))


@pytest.mark.integration
def test_a_branch_whose_program_breaks_does_not_exit_0(swarm: Path) -> None:
    done = cli("branch", "a.twice", "--at", 7, "--input", "push=hello", "-o", "c.twice", cwd=swarm)

    assert done.returncode == 1
    assert "after it: 1 tick, exception: " in done.stdout


@pytest.mark.integration
def test_a_rerun_says_whose_it_is(swarm: Path) -> None:
    told = json.loads(cli("rerun", "a.twice", "-o", "r.twice", "--json", cwd=swarm).stdout)

    assert told["parent"]["rerun_of"] == "a.twice"
    assert cli("diagnose", "a.twice", "r.twice", cwd=swarm).returncode == 0


@pytest.mark.integration
def test_an_export_has_a_line_for_every_point(swarm: Path) -> None:
    told = json.loads(
        cli("export", "a.twice", "--format", "jsonl", "-o", "a.jsonl", "--json", cwd=swarm).stdout
    )
    rows = [json.loads(row) for row in (swarm / "a.jsonl").read_text().splitlines()]

    assert told["lines"] == len(rows)
    assert sum(row["type"] == "point" for row in rows) == 422


@pytest.mark.integration
def test_a_torn_record_is_closed_by_migrating_it(swarm: Path) -> None:
    whole = (swarm / "a.twice").read_bytes()
    (swarm / "torn.twice").write_bytes(whole[: len(whole) * 3 // 4])

    done = cli("migrate", "torn.twice", "-o", "closed.twice", "--json", cwd=swarm)

    assert json.loads(done.stdout)["ending"] == "torn"
    assert cli("show", "closed.twice", cwd=swarm).returncode == 0


def write(out: Path, fill: Callable[[Path], None]) -> None:
    with OutputOptions(out, force=False).writing() as partial:
        fill(partial)
