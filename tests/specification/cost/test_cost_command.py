"""``twice cost`` as people and scripts use it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from costedprograms import SWARM
from sheets_written import write

from programs import HANGS_AFTER_S, cli, environ, wait_until
from twice.cli import main
from twice.specification.cost.result import EVIDENCE
from twice.specification.cost.rules import NOT_SWITCHED, RULES
from twice.specification.location import FOLDER

RUN = (f"{SWARM}:main", "--seed", 42, "--set", "n=4", "--set", "ticks=20")
QUICK = ("--rounds", 2, "--rule", "output captured")


def exit_code_of(*arguments: object) -> int | str | None:
    """Run the command in this process."""
    with pytest.raises(SystemExit) as ended:
        main(["cost", *map(str, arguments)])
    return ended.value.code


@pytest.mark.heavy
def test_json_is_one_document_that_agrees_with_the_exit_code() -> None:
    done = cli("cost", *RUN, *QUICK, "--budget", 50, "--json")
    document = json.loads(done.stdout)

    assert document["format"] == "twice.cost/1"
    assert document["budget"]["percent"] == 50
    assert document["result"] == "unknown", "twenty ticks are too short to be judged"
    assert done.returncode == 2
    assert done.stderr == ""


@pytest.mark.heavy
def test_without_a_budget_the_first_line_says_what_was_measured(tmp_path: Path) -> None:
    done = cli("cost", *RUN, *QUICK, cwd=tmp_path)  # this project's own sheet 13 has a budget

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MEASURED: ")
    assert "output captured" in done.stdout


@pytest.mark.heavy
def test_a_record_and_the_record_of_sheet_01_are_measured(tmp_path: Path) -> None:
    write(tmp_path, {"01": {"vector": "a.twice"}, "13": {"budget_percent": 70}})
    made = cli("record", *RUN, "--snapshots", "none", "-o", tmp_path / "a.twice", cwd=tmp_path)
    assert made.returncode == 0, made.stderr

    for given in (["a.twice"], []):
        done = cli("cost", *given, *QUICK, "--rule", "snapshots", "--json", cwd=tmp_path)
        document = json.loads(done.stdout)
        assert document["policies"]["snapshots"] == "none"
        assert document["config"] == {"n": 4, "ticks": 20}
        assert document["budget"]["percent"] == 70, "that of sheet 13"
        assert [each["rule"] for each in document["unmeasured"]] == ["snapshots"]


@pytest.mark.parametrize(
    ("arguments", "id_", "words"),
    [
        (RUN[:1], "E-SEED-001", "No master seed"),
        ((), "E-USE-001", "program"),
        (("gone.twice",), "E-RECORD-005", "cannot be opened"),
        (("bad.twice",), "E-RECORD-002", "not a run record"),
        (("bad.twice", "--seed", 3), "E-USE-001", "given a seed too"),
        ((*RUN, "--rounds", 1), "E-USE-001", "--rounds is 1"),
        ((*RUN, "--rule", "luck"), "E-USE-001", "no rule 'luck'"),
        ((*RUN, "--budget", -1), "E-USE-001", "-1 is not in the range"),
        ((*RUN, "--write"), "E-SPEC-002", "no folder"),
        (
            (*RUN, "--write", "--rule", "files"),
            "E-USE-001",
            "--write and --rule were given together",
        ),
        ((*RUN, "--digest", "md5"), "E-USE-001", "'md5' is not one of"),
    ],
)
def test_mistakes_are_one_error_each(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[object, ...],
    id_: str,
    words: str,
) -> None:
    (tmp_path / "bad.twice").write_bytes(b"no record\n")
    monkeypatch.chdir(tmp_path)
    code = exit_code_of(*arguments)
    told = capsys.readouterr()

    assert code == 2
    assert told.err.startswith(id_), told.err
    assert words in told.err.splitlines()[0]
    assert told.out == ""


def test_the_list_names_every_rule_and_why_some_stay(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of("--list") == 0
    assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()] == [
        each.name for each in (*RULES, *NOT_SWITCHED)
    ]


def test_the_list_is_a_document_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of("--list", "--json") == 0
    document = json.loads(capsys.readouterr().out)

    assert document["format"] == "twice.cost-rules/1"
    assert [each["name"] for each in document["rules"]] == [each.name for each in RULES]
    first = {"name": RULES[0].name, "artifact": RULES[0].artifact, "what": RULES[0].what}
    assert document["rules"][0] == first
    assert [each["why"] for each in document["not_measured"]] == [each.why for each in NOT_SWITCHED]


@pytest.mark.integration
def test_what_the_programs_process_refuses_is_one_error(tmp_path: Path) -> None:
    done = cli("cost", *RUN[:3], "--rounds", 2, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("E-CONFIG-002")
    assert "'n'" in done.stderr.splitlines()[0]


@pytest.mark.integration
def test_interrupted_in_the_middle_nothing_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"13": {}})
    before = sorted((path, path.read_bytes()) for path in (tmp_path / FOLDER).iterdir())
    flag = tmp_path / "begun"
    program = tmp_path / "program.py"
    program.write_text(
        f"import pathlib\ndef main(run):\n    pathlib.Path({str(flag)!r}).touch()\n"
        "    for tick in run.ticks(10**9):\n        pass\n",
        encoding="utf-8",
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "twice", "cost", f"{program}:main", "--seed", "1", "--write"],
        cwd=tmp_path,
        env=environ(),
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(flag.exists, running)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=HANGS_AFTER_S)

    assert running.returncode == 130, errors
    assert not (tmp_path / FOLDER / EVIDENCE).exists()
    assert sorted((path, path.read_bytes()) for path in (tmp_path / FOLDER).iterdir()) == before
