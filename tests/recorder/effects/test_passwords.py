"""What is typed unseen is asked once, never written down, and given as stars in replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli

pytestmark = pytest.mark.integration

ASKS = "import getpass\nword = getpass.getpass('pw: ')\nprint(len(word), 'for', word)\n"


@pytest.mark.parametrize("word", ["secretpw99", "xq9k7"])
def test_a_password_is_not_in_the_record_and_the_run_replays(tmp_path: Path, word: str) -> None:
    (tmp_path / "asks.py").write_text(ASKS.replace(", 'for', word", ""))
    recorded = cli(
        "record", "asks.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path, input=f"{word}\n",
        start_new_session=True,
    )  # fmt: skip
    assert recorded.stdout == f"{len(word)}\n", recorded.stderr

    verified = cli("verify", "a.twice", cwd=tmp_path, input="", start_new_session=True)
    searched = cli("show", "a.twice", "--secrets", "-", cwd=tmp_path, input=f"{word}\n")

    assert verified.returncode == 0, verified.stdout
    assert "terminal (stdin.getpass 1 time)" in verified.stdout
    assert searched.stdout.startswith("NOT FOUND"), searched.stdout


def test_a_password_that_is_printed_is_stars_in_the_record(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(ASKS)
    record = ["record", "asks.py", "--seed", 1, "-o", "a.twice"]
    recorded = cli(*record, cwd=tmp_path, input="secretpw99\n", start_new_session=True)
    assert recorded.stdout == "10 for secretpw99\n"

    verified = cli("verify", "a.twice", cwd=tmp_path, input="", start_new_session=True)

    assert verified.returncode == 0, verified.stdout
    assert b"secretpw99" not in (tmp_path / "a.twice").read_bytes()


@pytest.mark.heavy
def test_where_the_rule_is_off_a_password_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(ASKS + "print(sum(map(ord, word)))\n")
    record = ["record", "asks.py", "--seed", 1, "-o", "a.twice"]
    told = {"cwd": tmp_path, "input": "secretpw99\n", "start_new_session": True}
    assert cli(*record, **told).returncode == 0
    unknown = cli("verify", "a.twice", cwd=tmp_path, input="", start_new_session=True)
    assert (unknown.returncode, "--no-redact terminal" in unknown.stdout) == (2, True)

    assert cli(*record, "--force", "--no-redact", "terminal", **told).returncode == 0
    assert cli("verify", "a.twice", cwd=tmp_path, start_new_session=True).returncode == 0
