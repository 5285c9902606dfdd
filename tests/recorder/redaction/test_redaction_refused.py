"""Rules that cannot be, and rules that keep back what a replay needs: one clear answer each, exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from planted import stands_in
from programs import cli, write

pytestmark = pytest.mark.integration

IDLE = "def main(run):\n    pass\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--redact-pattern", "("], "does not compile"),
        (["--redact-pattern", ".*"], "matches the empty text"),
        (["--redact-pattern", "x*"], "matches the empty text"),
        (["--redact-pattern", "[\\s\\S]+"], "matches nearly everything"),
        (["--redact-pattern", "\\w"], "matches fewer than 4 bytes of innocent text"),
        (["--redact-pattern", "hunter2"], "is a plain text"),
        (["--no-redact", "cookie"], "no redaction rule 'cookie'"),
        (["--redact", "NAME=hunter2"], "no name of a variable"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, options: list[str], words: str
) -> None:
    out = tmp_path / "a.twice"
    done = cli("record", write(tmp_path, IDLE), "--seed", 1, "-o", out, *options)
    assert (done.returncode, done.stderr[:12]) == (2, "E-REDACT-001")
    assert words in done.stderr
    assert "hunter2" not in done.stderr
    assert not out.exists()


def recorded(folder: Path, source: str, *options: object, **env: str | None) -> Path:
    out = folder / "a.twice"
    program = write(folder, source)
    done = cli("record", program, "--seed", 1, "-o", out, *options, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return out


COMPUTES = """
    import os, subprocess

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(2):
            {line}
"""


def test_a_variable_that_is_computed_with_cannot_be_told_without_it(tmp_path: Path) -> None:
    source = COMPUTES.format(line='seen.append(int(os.environ["SHOP_PASSWORD"]) % 7)')
    out = recorded(tmp_path, source, SHOP_PASSWORD="31415926")
    assert stands_in(out, "31415926") == []
    with_it = cli("verify", out, env={"SHOP_PASSWORD": "31415926"})
    assert (with_it.returncode, with_it.stdout[:4]) == (0, "PASS"), with_it.stdout
    without = cli("verify", out, env={"SHOP_PASSWORD": None})
    assert (without.returncode, without.stdout[:7]) == (2, "UNKNOWN"), without.stdout
    assert "E-REDACT-002" in without.stdout
    assert "variable SHOP_PASSWORD (not there with the recorded value)" in without.stdout
    assert "Set SHOP_PASSWORD as it was" in without.stdout


def test_a_blanked_answer_that_is_computed_with_names_its_rule(tmp_path: Path) -> None:
    line = 'seen.append(int(subprocess.check_output(["echo", "pin=271828"])[4:]))'
    out = recorded(
        tmp_path,
        COMPUTES.format(line=line),
        "--redact-pattern",
        "pin=([0-9]{6})",
        SHOP_PASSWORD=None,
    )
    done = cli("verify", out)
    assert (done.returncode, done.stdout[:7]) == (2, "UNKNOWN"), done.stdout
    assert "pattern 1 (process.communicate" in done.stdout


def test_a_difference_that_redaction_has_no_part_in_is_a_failure(tmp_path: Path) -> None:
    line = 'os.environ["SHOP_PASSWORD"]; seen.append(__import__("posix").access("later", 0))'
    out = recorded(tmp_path, COMPUTES.format(line=line), SHOP_PASSWORD="31415926")
    (tmp_path / "later").touch()
    done = cli("verify", out, cwd=tmp_path, env={"SHOP_PASSWORD": "31415926"})
    assert (done.returncode, done.stdout[:4]) == (1, "FAIL"), done.stdout
    assert "E-REDACT-002" not in done.stdout


SCRIPT = """
import sys

print(len(sys.argv[2]), sys.argv[3:], "sesame" in sys.argv[2])
"""


def test_an_argument_of_the_program_is_blanked_and_a_rerun_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace(', "sesame" in sys.argv[2]', ""))
    out = tmp_path / "a.twice"
    secret = "open-sesame-7"
    words = ["--", "--password", secret, f"--url=https://me:{secret}@shop/?a=1", "plain"]
    done = cli("record", "script.py", "--seed", 1, "-o", out, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert secret in done.stdout
    assert stands_in(out, secret) == []
    verified = cli("verify", out, cwd=tmp_path)
    assert (verified.returncode, verified.stdout[:4]) == (0, "PASS"), verified.stdout
    again = cli("rerun", out, "-o", tmp_path / "b.twice", cwd=tmp_path)
    assert (again.returncode, again.stderr[:12]) == (2, "E-REDACT-002")
    assert "arguments" in again.stderr


def test_a_secret_that_a_state_keeps_is_found_and_told(tmp_path: Path) -> None:
    out = tmp_path / "a.twice"
    program = write(tmp_path, COMPUTES.format(line='seen.append(os.environ["SHOP_LOGIN"])'))
    secret = {"SHOP_LOGIN": "open-sesame-7"}
    options = ["--redact", "SHOP_LOGIN", "--snapshots", "every=1"]
    done = cli("record", program, "--seed", 1, "-o", out, *options, env=secret)
    assert "note: the record still contains a secret, variable SHOP_LOGIN" in done.stderr
    shown = cli("show", out, "--secrets", "--secret-variable", "SHOP_LOGIN", env=secret)
    assert shown.returncode == 1
    assert "snapshot" in shown.stdout + done.stderr
    assert "seen" in shown.stdout
    assert "open-sesame-7" not in shown.stdout + shown.stderr
    missing = cli(
        "show", out, "--secrets", "--secret-variable", "SHOP_LOGIN", env={"SHOP_LOGIN": None}
    )
    assert (missing.returncode, missing.stderr[:9]) == (2, "E-USE-001")
    short = cli("show", out, "--secrets", "-", input="ab\n")
    assert (short.returncode, short.stderr[:12]) == (2, "E-REDACT-001")
