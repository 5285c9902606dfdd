"""No string of a record steers the terminal or begins a line: every command shows its control characters as escapes.

A record is forged in which each string ends with such characters, keys of mappings among them. Where one makes a record
that no command reads, the error shows it.
"""

from __future__ import annotations

import copy
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forging import Content, content_of, write

import twice
from programs import call
from programs import write as write_program
from twice.errors import TwiceError
from twice.foundation.encoding import decode, encode
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord

STEERS = "\x1b[31m\x07\r\x9b2J\u202e\n::error::x"
STEERED = re.compile(
    r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^::error", re.MULTILINE
)
PROGRAM = """
    import os, sys, time

    class Lost(Exception):
        pass

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        for tick in run.ticks(4):
            walk.step(run.input("push", lambda: float(walk.rng.normal())))
            run.config.get("speed")
            time.time(), os.urandom(3), os.environ.get("HOME")
            print("tick", tick)
            print("aside", tick, file=sys.stderr)
            run.compare("x", walk.x)
        raise Lost("nobody found it")
"""
COMMANDS = (
    "show FORGED",
    "show FORGED --tick 2",
    "show FORGED --snapshot 0",
    "show FORGED --secrets",
    "ls -v .",
    "env --against FORGED",
    "diagnose FORGED SOUND --anyway --no-lines",
    "diagnose SOUND FORGED --no-lines",
    "diagnose SOUND FORGED --anyway --no-lines --report",
    "verify FORGED --from 99",
    "verify FORGED --class nobody=logical",
    "replay FORGED --at 99",
    "branch FORGED --at 99 -o new.twice",
    "rerun FORGED -o no/new.twice",
    "trace FORGED --tick 99 -o new.trace",
    "vary FORGED --factor nothing",
    "migrate FORGED -o migrated.twice --force",
    "export FORGED --format jsonl -o out.jsonl --force",
    "report FORGED -o page.html --force",
    "report FORGED SOUND -o page.html --force --anyway --no-lines",
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("printed")
    program = write_program(folder, PROGRAM, walk=True)
    config = {"speed": "fast"}
    options: dict[str, Any] = {"seed": 1, "config": config, "cadence": Cadence("tick", 2)}
    twice.record(program, out=folder / "sound.twice", **options).close()
    return folder / "sound.twice"


def list_strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Yield the place of each string of a document, and whether it is a key."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(key, str):
            yield (*path, key), True
        if isinstance(each, str):
            yield (*path, key), False
        elif isinstance(each, dict | list):
            yield from list_strings(each, (*path, key))


def change(document: Any, path: Sequence[Any], *, is_key: bool) -> None:
    for key in path[:-1]:
        document = document[key]
    if is_key:
        document[path[-1] + STEERS] = document.pop(path[-1])
    else:
        document[path[-1]] += STEERS


def forge_documents(content: Content, folder: Path) -> tuple[Content, list[Content]]:
    """Change each string of identity and ending that may be another one; also each other one alone."""
    whole, refused = copy.deepcopy(content), []
    for name in ("identity", "ending"):
        # From behind: a key that changes moves what is below it.
        for path, is_key in reversed([*list_strings(getattr(content, name))]):
            tried = copy.deepcopy(whole)
            change(getattr(tried, name), path, is_key=is_key)
            try:
                write(tried, folder / "tried.twice")
                RunRecord.open(folder / "tried.twice").close()
            except (TwiceError, ValueError):
                alone = copy.deepcopy(content)
                change(getattr(alone, name), path, is_key=is_key)
                refused.append(alone)
            else:
                whole = tried
    return whole, refused


def forge_rest(content: Content) -> dict[str, Content]:
    """Change the strings of the journal, of the points and of the snapshots, each kind alone."""

    def steer(value: Any) -> Any:
        if isinstance(value, str):
            return value + STEERS
        if isinstance(value, dict):
            return {steer(key): steer(each) for key, each in value.items()}
        return type(value)(map(steer, value)) if type(value) in {tuple, list} else value

    def steer_payload(payload: bytes) -> bytes:
        try:
            return encode(steer(decode(payload)))
        except TwiceError:
            return payload + STEERS.encode()

    made = {}
    for kind in sorted({frame.kind for frame in content.frames}):
        frames = [
            each._replace(payload=steer_payload(each.payload)) if each.kind == kind else each
            for each in content.frames
        ]
        made[f"payloads {kind}"] = replace(content, frames=frames)
    frames = [each._replace(kind=each.kind + STEERS) for each in content.frames]
    made["kinds"] = replace(content, frames=frames)
    points = [(names, tick, name + STEERS, *rest) for names, tick, name, *rest in content.points]
    made["names"] = replace(content, points=points)
    points = [(tuple(map(steer, names)), *rest) for names, *rest in content.points]
    made["columns"] = replace(content, points=points)
    points = [(*each[:5], bytes(len(each[5]))) for each in content.points]
    made["digests"] = replace(content, points=points)
    snapshots = [
        (tick, point, json.dumps(steer(json.loads(envelope))).encode())
        for tick, point, envelope in content.snapshots
    ]
    made["snapshots"] = replace(content, snapshots=snapshots)
    blobs = [[steer_payload(b"".join(parts))] for parts in content.blobs]
    made["states"] = replace(content, blobs=blobs)
    return made


def find_steered(folder: Path, commands: Sequence[str], what: str) -> list[str]:
    """Return the commands that print a character as it is, with the text around it."""
    found = []
    for command in commands:
        words = command.replace("FORGED", "forged.twice").replace("SOUND", "sound.twice")
        done = call(*words.split(), cwd=folder)
        printed = done.stdout + done.stderr
        for page in folder.glob("page.html"):
            printed += page.read_text().replace("::error", "")  # a line of a page commands nobody
            page.unlink()
        if steered := STEERED.search(printed):
            around = printed[max(0, steered.start() - 60) : steered.end() + 40]
            found.append(f"{what}: {command}: {around!r}")
    return found


@pytest.mark.integration
@pytest.mark.integration
@pytest.mark.heavy
def test_strings_of_a_record_are_shown_and_not_obeyed(sound: Path) -> None:
    folder, content = sound.parent, content_of(sound)
    whole, refused = forge_documents(content, folder)
    assert len(refused) < 120

    write(whole, folder / "forged.twice")
    found = find_steered(folder, COMMANDS, "documents")
    for alone in refused:
        try:
            write(alone, folder / "forged.twice")
        except (TwiceError, ValueError):
            continue
        found += find_steered(folder, COMMANDS[:1], "refused")

    assert found == []


@pytest.mark.integration
@pytest.mark.integration
@pytest.mark.heavy
def test_strings_of_a_log_are_shown_and_not_obeyed(sound: Path) -> None:
    found = []
    for what, forged in forge_rest(content_of(sound)).items():
        write(forged, sound.with_name("forged.twice"))
        found += find_steered(sound.parent, COMMANDS, what)

    assert found == []


@pytest.mark.parametrize(
    "command",
    [
        "show RECORD",
        "verify RECORD",
        "verify RECORD RECORD",
        "diagnose RECORD RECORD",
        "report RECORD -o x.html",
        "migrate RECORD -o x.twice",
        "ls FOLDER",
        "check PROGRAM",
        "audit draws PROGRAM",
        "review PROGRAM",
        "asset leaks FOLDER",
        "asset gate FOLDER",
        "record FOLDER --seed 1",
        "env --against RECORD",
        "tools list PROGRAM",
        "spec status --project FOLDER",
        "gate --project FOLDER",
    ],
)
def test_names_of_files_are_shown_and_not_obeyed(command: str, tmp_path: Path) -> None:
    folder = tmp_path / f"folder{STEERS}"
    folder.mkdir()
    name = folder / f"name{STEERS}.py"
    name.write_text("import random\nprint(random.random())\n")
    name.with_suffix(".twice").write_text("no record")
    places = {"PROGRAM": name, "RECORD": name.with_suffix(".twice"), "FOLDER": folder}

    done = call(*(places.get(word, word) for word in command.split()), cwd=tmp_path)

    printed = done.stdout + done.stderr
    assert done.returncode in {0, 1, 2}
    assert STEERED.search(printed) is None, printed


ODD = f"""
STEERS = {STEERS!r}

class Part:
    def __init__(self):
        self.n = 0

    def state(self):
        return {{"key" + STEERS: [self.n, "text" + STEERS]}}

    def restore(self, state):
        self.n = state["key" + STEERS][0]

Part.__name__ = Part.__qualname__ = "Part" + STEERS
Lost = type("Lost" + STEERS, (Exception,), {{"__module__": "lost" + STEERS}})

def main(run):
    part = run.track("part" + STEERS, Part())
    run.rng("stream" + STEERS)
    for tick in run.ticks(3):
        part.n += run.config["step"]
        run.input("input" + STEERS, lambda: "value" + STEERS)
        run.compare("value" + STEERS, "compared" + STEERS)
        with open("file" + STEERS, "w") as file:
            file.write(str(part.n))
    if run.config["step"] > 1:
        raise Lost("message" + STEERS)
    return "returned" + STEERS
"""
EXECUTES = (
    "record odd.py:main --seed 1 --set step=1 -o forged.twice --quiet --force",
    "record odd.py:main --seed 1 --set step=2 -o sound.twice --quiet --force",
    "verify FORGED --no-statement --restores",
    "verify SOUND --no-statement",
    "replay FORGED --at 2",
    "replay FORGED",
    "branch FORGED --at 1 -o new.twice --quiet",
    "branch SOUND --at 1 -o other.twice --quiet",
    "rerun SOUND -o again.twice --quiet",
    "diagnose FORGED SOUND --anyway",
    "diagnose FORGED SOUND --anyway --report",
    "report FORGED SOUND --anyway -o page.html",
)


@pytest.mark.integration
def test_names_of_a_program_are_shown_and_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program runs in processes of its own."""
    (tmp_path / "odd.py").write_text(ODD)
    given = io.StringIO(f"state\nstate nobody{STEERS}\nstate nobody\ninputs\ngo nowhere\nquit\n")
    monkeypatch.setattr(sys, "stdin", given)

    assert find_steered(tmp_path, EXECUTES, "program") == []
    assert (tmp_path / "again.twice").exists()
