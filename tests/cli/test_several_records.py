"""Several records are verified by one command: a line for each, in their order, and the worst exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import cli, recorded

pytestmark = pytest.mark.integration
COUNTING = """
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(run.config["ticks"]):
            count["n"] += 1
"""
DRIFTING = """
    import posix  # behind the back of what governs entropy
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(4):
            count["n"] = int.from_bytes(posix.urandom(8))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of one program, one that differs, and a file that is none."""
    made = tmp_path_factory.mktemp("records")
    for name, ticks in (("long", 3000), ("short", 2), ("still", 0)):
        recorded(made, COUNTING, config={"ticks": ticks}, out=made / f"{name}.twice").close()
    (made / "other").mkdir()
    recorded(made / "other", DRIFTING, out=made / "differs.twice").close()
    (made / "junk.twice").write_text("junk")
    return made


def test_lines_stand_in_the_order_given_whatever_finished_first(folder: Path) -> None:
    done = cli(
        "verify", "long.twice", "short.twice", "--jobs", 2, "--no-statement", cwd=folder
    )  # fmt: skip

    first, second, last = done.stdout.splitlines()
    assert done.returncode == 0
    assert first.startswith("PASS: long.twice: 3,002 compare-points agree; ")
    assert second.startswith("PASS: short.twice: 4 compare-points agree; ")
    assert (first + second).count(" ticks/s replayed") == 2
    assert last == "2 records: 2 PASS"


def test_a_run_without_ticks_has_no_rate(folder: Path) -> None:
    done = cli("verify", "still.twice", "short.twice", "--no-statement", cwd=folder)

    assert done.stdout.splitlines()[0] == "PASS: still.twice: 2 compare-points agree"


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["short", "junk"], 2),
        (["differs", "short"], 1),
        (["junk", "differs", "short"], 1),
    ],
)
def test_the_worst_exit_code_counts_and_a_failure_is_worse_than_an_unknown(
    folder: Path, names: list[str], code: int
) -> None:
    done = cli("verify", *(f"{each}.twice" for each in names), "--no-statement", cwd=folder)

    assert done.returncode == code
    assert len(done.stdout.splitlines()) == len(names) + 2


def test_one_document_holds_all_statements(folder: Path) -> None:
    done = cli("verify", "junk.twice", "differs.twice", "short.twice", "--json", cwd=folder)
    single = cli("verify", "short.twice", "--json", cwd=folder)

    told = json.loads(done.stdout)
    junk, differs, short = told["runs"]
    assert (told["format"], told["counts"]) == (
        "twice.verifications/1", {"FAIL": 1, "PASS": 1, "UNKNOWN": 1},
    )  # fmt: skip
    assert (junk["error"]["id"], junk["statement"], junk["result"]) == (
        "E-RECORD-002", None, "UNKNOWN",
    )  # fmt: skip
    assert differs["statement"]["first_failure"]["columns"] == ["count"]
    assert differs["ticks_per_s"] == {"recorded": None, "replayed": None}
    assert short["ticks_per_s"]["replayed"] > 0
    one = json.loads(single.stdout)
    assert one.keys() == short["statement"].keys()
    assert {**one, "issued_at": ""} == {**short["statement"], "issued_at": ""}
    assert told["next"][0]["command"] == "twice verify junk.twice"
    assert len(list(folder.glob("differs.twice.verification-1.*"))) == 2


@pytest.mark.parametrize(
    "given",
    [["--from", "1"], ["--to", "1"], ["--keep", "kept"], ["-v"], ["--diagnose"], ["--diagnose", "--report"]],
)  # fmt: skip
def test_an_option_for_one_record_is_refused_beside_several(folder: Path, given: list[str]) -> None:
    done = cli("verify", "short.twice", "long.twice", *given, cwd=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("E-USE-001") == 1
    assert "cannot be given for 2 records" in done.stderr


def test_a_folder_stands_for_its_records_and_what_a_journal_has_is_not_done_again(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("long", "short"):
        (tmp_path / f"{name}.twice").write_bytes((folder / f"{name}.twice").read_bytes())
    (tmp_path / "notes.txt").write_text("no record")
    given = ["verify", tmp_path, "--no-statement", "--journal", tmp_path / "journal"]

    first = cli(*given)
    kept = (tmp_path / "journal").read_bytes()
    again = cli(*given)

    assert (first.returncode, again.returncode) == (0, 0)
    assert first.stdout == again.stdout
    assert first.stdout.splitlines()[-1] == "2 records: 2 PASS"
    assert (tmp_path / "journal").read_bytes() == kept


def test_a_program_that_was_edited_is_not_taken_from_a_journal(tmp_path: Path) -> None:
    recorded(tmp_path, COUNTING, config={"ticks": 2}).close()
    given = ["verify", tmp_path, "--no-statement", "--journal", tmp_path / "journal"]
    assert cli(*given).returncode == 0
    (tmp_path / "program.py").write_text("def main(run): pass\n")

    done = cli(*given)

    assert done.returncode == 2
    assert done.stdout.startswith("UNKNOWN: ")
    assert "E-PROGRAM-004" in done.stdout


def test_a_damaged_record_of_a_folder_is_not_passed_over(folder: Path, tmp_path: Path) -> None:
    good = (folder / "short.twice").read_bytes()
    (tmp_path / "a.twice").write_bytes(good)
    (tmp_path / "b.twice").write_bytes(b"X" + good[1:])
    (tmp_path / "c.twice").write_bytes(b"")
    (tmp_path / "d.twice").symlink_to(tmp_path / "absent")

    done = cli("verify", tmp_path, "--no-statement")

    assert done.returncode == 2
    assert [each.partition(":")[0] for each in done.stdout.splitlines()[:4]] == [
        "PASS", "UNKNOWN", "UNKNOWN", "UNKNOWN",
    ]  # fmt: skip


def test_one_record_in_a_folder_has_the_form_of_several(folder: Path) -> None:
    (folder / "alone").mkdir()
    (folder / "alone" / "a.twice").write_bytes((folder / "differs.twice").read_bytes())

    done = cli("verify", folder / "alone", "--no-statement", "--json")

    told = json.loads(done.stdout)
    assert (done.returncode, told["counts"], len(told["runs"])) == (1, {"FAIL": 1}, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["empty"], "has no run record in it"),
        (["short.twice", "--on", "mars"], "is no place where runs are executed"),
        (["short.twice", "--journal", "junk.twice"], "is not a journal of twice"),
        (["short.twice", "--journal", "empty"], "cannot be written"),
    ],
)
def test_what_several_runs_cannot_be_done_with_is_one_error(
    folder: Path, given: list[str], said: str
) -> None:
    (folder / "empty").mkdir(exist_ok=True)
    done = cli("verify", *given, "--no-statement", cwd=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) == 3
    assert (folder / "junk.twice").read_text() == "junk"


@pytest.mark.heavy
def test_restores_are_made_of_each(folder: Path) -> None:
    done = cli("verify", "short.twice", "long.twice", "--restores", "--no-statement", cwd=folder)

    assert done.returncode == 0
    assert [each.count("restored too") for each in done.stdout.splitlines()] == [1, 1, 0]


def test_several_are_run_afresh_into_a_folder(folder: Path, tmp_path: Path) -> None:
    given = ("short.twice", "differs.twice", "junk.twice", "--jobs", 2)
    done = cli("rerun", *given, "-o", tmp_path / "again", cwd=folder)

    *lines, last, step = done.stdout.splitlines()
    assert done.returncode == 2  # junk is no record
    assert [line.partition(": ")[2][:40] for line in lines] == [
        "completed; equal to its record",
        "completed; parts from its record at tick",
        "not made: E-RECORD-002 junk.twice is not",
    ]
    assert last == "3 runs: 2 completed, 1 not made; 1 parted from the record"
    assert step == f"next: twice diagnose differs.twice {tmp_path}/again/differs.twice"
    told = json.loads(cli("rerun", *given, "-o", tmp_path / "again", "--json", cwd=folder).stdout)
    assert told["format"] == "twice.reruns/1"
    assert told["counts"] == {"completed": 2, "not made": 1}
