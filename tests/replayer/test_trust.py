"""A record from elsewhere is executed only by somebody who says so, and opens no seal by itself."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest

import twice
from programs import cli, recorded, write
from tiers import sampled
from twice.errors import RecordUntrusted
from twice.recorder.runrecord import RunRecord

COUNTS = """
    def main(run):
        held = run.track("held", [0])
        for tick in run.ticks(4):
            held[0] += 1
"""
EXECUTES = {
    "verify": ("verify", "a.twice"),
    "verify --restores": ("verify", "a.twice", "--restores"),
    "replay": ("replay", "a.twice", "--at", 2),
    "branch": ("branch", "a.twice", "--at", 2, "-o", "new.twice"),
    "rerun": ("rerun", "a.twice", "-o", "new.twice"),
    "vary": ("vary", "a.twice", "--factor", "umask"),
    "diagnose": ("diagnose", "a.twice", "b.twice", "--anyway"),
    "trace": ("trace", "a.twice", "--tick", 1, "-o", "new.trace"),
    "cost": ("cost", "a.twice", "--rounds", 2, "--rule", "effects recorded"),
}


@pytest.fixture
def sent(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two records, as another account has them."""
    program = write(tmp_path, COUNTS + "            if run.config['odd'] and tick: held[0] += 1\n")
    for name, odd in (("a", False), ("b", True)):
        twice.record(program, seed=1, config={"odd": odd}, out=tmp_path / f"{name}.twice").close()
    return tmp_path


@pytest.mark.parametrize("command", EXECUTES)
def test_nothing_is_executed_that_nobody_trusts(command: str, sent: Path) -> None:
    elsewhere = {"XDG_STATE_HOME": str(sent / "state")}

    refused = cli(*EXECUTES[command], cwd=sent, env=elsewhere)

    assert (refused.returncode, refused.stderr[:11]) == (2, "E-TRUST-001"), refused
    assert "program.py" in refused.stderr
    assert "--trust" in refused.stderr
    assert not list(sent.glob("new*"))


def test_the_arguments_of_a_program_are_shown_before_it_runs(tmp_path: Path) -> None:
    words = ("-n", "1", "-r", "1", "import os; os.system('echo owned')")
    cli("record", "-m", "timeit", "--seed", 1, "-o", "a.twice", "--", *words, cwd=tmp_path)
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "state")}

    refused = cli("verify", "a.twice", cwd=tmp_path, env=elsewhere)
    shown = cli("show", "a.twice", cwd=tmp_path, env=elsewhere)

    assert f"-m timeit -- {shlex.join(words)}." in refused.stderr
    assert shlex.join(words) in shown.stdout


@pytest.mark.integration
@pytest.mark.parametrize("command", sampled(EXECUTES, {"verify", "diagnose", "branch"}))
def test_what_the_caller_trusts_is_executed(command: str, sent: Path) -> None:
    done = cli(*EXECUTES[command], "--trust", cwd=sent, env={"XDG_STATE_HOME": str(sent / "state")})

    assert done.returncode in {0, 1}, done
    assert not done.stderr.startswith("E-")


@pytest.mark.parametrize("command", ["show", "export", "ls"])
def test_a_record_is_looked_at_without_trust(command: str, sent: Path) -> None:
    more = {"export": ("--format", "jsonl", "-o", "out.jsonl"), "ls": ()}.get(command, ())
    what = "." if command == "ls" else "a.twice"

    done = cli(command, what, *more, cwd=sent, env={"XDG_STATE_HOME": str(sent / "state")})

    assert done.returncode == 0, done


def test_a_record_stays_ours_wherever_it_is_moved(sent: Path, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("other")
    shutil.copy(sent / "a.twice", folder / "moved.twice")

    assert cli("verify", "moved.twice", cwd=folder).returncode == 0


@pytest.mark.integration
def test_a_record_from_elsewhere_opens_no_seal(tmp_path: Path) -> None:
    source = """
        import os
        def main(run):
            for tick in run.ticks(1):
                run.compare("status", os.system("true"))
                os.spawnlp(os.P_WAIT, "true", "true")
            print("done")
    """
    with recorded(tmp_path, source, allow=("process",)) as record:
        path = record.path
        assert record.setup.allow == ("process",)
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "state")}

    closed = cli("verify", path, "--trust", "--json", cwd=tmp_path, env=elsewhere)
    opened = cli(
        "verify", path, "--trust", "--allow", "process", "--json", cwd=tmp_path, env=elsewhere
    )
    wrong = cli("verify", path, "--allow", "process", cwd=tmp_path, env=elsewhere)
    unknown = cli("verify", path, "--trust", "--allow", "unicorns", cwd=tmp_path, env=elsewhere)

    assert closed.stdout != opened.stdout
    assert (wrong.returncode, wrong.stderr[:9]) == (2, "E-USE-001")
    assert unknown.returncode == 2
    assert "unicorns" in unknown.stderr


def test_trust_ends_with_its_block(sent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(sent / "state"))
    monkeypatch.setattr(sys.modules["twice.recorder.trust"], "_made_here", set())

    with twice.trusting(sent / "a.twice"):
        assert twice.verify(sent / "a.twice").result == "PASS"

    with pytest.raises(RecordUntrusted):
        twice.verify(sent / "a.twice")
    with RunRecord.open(sent / "a.twice") as record:
        assert record.ticks == 4


@pytest.mark.integration
def test_what_is_made_of_a_run_is_read_by_its_owner_alone(sent: Path) -> None:
    cli("verify", "a.twice", cwd=sent)
    cli("export", "a.twice", "--format", "jsonl", "-o", "out.jsonl", cwd=sent)
    cli("branch", "a.twice", "--at", 2, "-o", "c.twice", cwd=sent)

    made = [*sent.glob("*.twice"), *sent.glob("*.verification-*"), sent / "out.jsonl"]

    assert len(made) == 6
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in made} == dict.fromkeys(
        [path.name for path in made], "0o600"
    )


def test_a_small_file_from_elsewhere_does_not_fill_the_memory(tmp_path: Path) -> None:
    source = """
        import numpy as np
        def main(run):
            run.track("held", np.zeros((300 << 20) // 8))
            for tick in run.ticks(1):
                pass
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    assert path.stat().st_size < 1 << 20
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "state")}

    refused = cli("show", path, "--snapshot", 0, cwd=tmp_path, env=elsewhere)

    assert (refused.returncode, refused.stderr[:12]) == (2, "E-RECORD-007"), refused.stderr
    assert "--trust" in refused.stderr
    assert cli("show", path, cwd=tmp_path, env=elsewhere).returncode == 0
