"""Sixty-odd wrong command lines: one clear error each, in words on standard error and as JSON on standard output.

In this process: none of them comes as far as executing anything.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import call
from twice.cli.output import print_json
from twice.errors import UsageError

WRONG = [
    "recrod p.py --seed 1",
    "verfy a.twice",
    "--no-such",
    "record",
    "record p.py",
    "record p.py --seed seven",
    "record p.py --seed 1.5",
    "record p.py --seed -99999999999999999999999999999999999999999",
    "record nowhere.py --seed 1",
    "record folder --seed 1",
    "record p.py:nothing --seed 1 extra",
    "record broken.py --seed 1",
    "record -m no.such.module --seed 1",
    "record p.py --seed 1 --lr 3e-4",
    "record p.py --seed 1 --set novalue",
    "record p.py --seed 1 --config nowhere.toml",
    "record p.py --seed 1 --config broken.toml",
    "record p.py --seed 1 --class exactly",
    "record p.py --seed 1 --scope galaxy",
    "record p.py --seed 1 --compare sometimes",
    "record p.py --seed 1 --snapshots every=0",
    "record p.py --seed 1 --snapshots often",
    "record p.py --seed 1 --strategy clever",
    "record p.py --seed 1 --digest md5",
    "record p.py --seed 1 --clock sundial",
    "record p.py --seed 1 --files some",
    "record p.py --seed 1 --copy-limit huge",
    "record p.py --seed 1 --file-policy nothing",
    "record p.py --seed 1 --env NOVALUE",
    "record p.py --seed 1 --redact-pattern (",
    "record p.py --seed 1 --no-redact everything",
    "record p.py --seed 1 --ignore-output (",
    "record p.py --seed 1 --measure abs",
    "record p.py --seed 1 --summary reward",
    "record p.py --seed 1 --epsilon much",
    "record p.py --seed 1 --on-full panic",
    "record p.py --seed 1 -o there.twice",
    "verify",
    "verify nowhere.twice",
    "verify text.twice",
    "verify folder",
    "verify text.twice --from x",
    "verify text.twice --all",
    "verify text.twice --tick 3",
    "diagnose",
    "diagnose text.twice",
    "diagnose text.twice text.twice text.twice",
    "diagnose text.twice text.twice --time-limit soon",
    "diagnose text.twice --traces a b",
    "diagnose --traces nowhere.trace other.trace",
    "show text.twice",
    "show text.twice --tick 1 --snapshot 2",
    "show text.twice --secret-variable KEY",
    "replay text.twice --at x",
    "branch text.twice --input push",
    "branch text.twice --at 3 --input =3 -o c.twice",
    "rerun text.twice",
    "vary p.py",
    "vary p.py --seed 1 --factor weather",
    "trace text.twice --tick 3",
    "export text.twice --format csv -o a.csv",
    "migrate text.twice -o text.twice",
    "ls nowhere",
    "ls --limit 0",
    "env --against text.twice",
    "report a b c -o page.html",
    "check nowhere",
    "check --explain no-such-rule",
    "check p.py --select no-such-rule",
    "audit dreams p.py",
    "review nowhere",
    "spec",
    "spec begin",
    "spec status",
    "spec add 42 --template",
    "gate",
    "gate --only 3",
    "cost",
    "scaffold herd",
    "tools list no.such.module:registry",
    "tools call memory no.such.tool --args [",
    "asset sael x.png",
    "asset seal nowhere.png",
    "asset gate nowhere",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wrong")
    (made / "folder").mkdir()
    (made / "p.py").write_text("print(1)\n", encoding="utf-8")
    (made / "broken.py").write_text("x = (\n", encoding="utf-8")
    (made / "broken.toml").write_text("= 3\n", encoding="utf-8")
    for name in ("text.twice", "there.twice"):
        (made / name).write_text("no record\n", encoding="utf-8")
    return made


@pytest.mark.parametrize("line", WRONG)
def test_it_is_one_error_in_words_and_one_in_json(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TWICE_SEED", raising=False)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    words = call(*line.split(), cwd=folder)
    document = call(*line.split(), "--json", cwd=folder)

    assert (words.returncode, words.stdout) == (2, ""), words.stdout
    rows = words.stderr.splitlines()
    assert rows[0].startswith("E-")
    assert len(rows) >= 3
    assert document.returncode == 2
    assert document.stderr == ""
    told = json.loads(document.stdout)["error"]
    assert told.keys() == {"id", "happened", "expected", "remedy", "fields"}
    assert words.stderr.startswith(f"{told['id']}  ")
    assert all(told[name] for name in ("happened", "expected", "remedy"))
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_an_error_after_the_document_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def print_and_refuse(_: list[str]) -> int:
        print_json({"format": "twice.recorded/1"})
        raise UsageError("A key was never read.", "Expected none.", "Check the spelling.")

    monkeypatch.setattr("twice.cli.dispatch", print_and_refuse)
    done = call("record", "p.py", "--json", cwd=tmp_path)

    assert json.loads(done.stdout) == {"format": "twice.recorded/1"}
    assert (done.returncode, done.stderr[:9]) == (2, "E-USE-001")
