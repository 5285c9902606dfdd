"""A record with right checksums and wrong content is one error with an id, or a true verdict; never a crash.

``TWICE_FORGERIES=2000`` tries so many; each number is the same forgery again. A PASS is wrong when a part that
a verification compares was changed: the program still computes the part that was recorded.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import random
import re
import traceback
from dataclasses import replace
from pathlib import Path

import pytest
from forging import Content, content_of, forge, list_compared, write

import twice
from programs import write as write_program
from twice.cli import main
from twice.errors import RecordForeign
from twice.recorder.cadence import Cadence
from twice.recorder.record import Frame
from twice.recorder.runrecord import RunRecord

FORGERIES = int(os.environ.get("TWICE_FORGERIES", "160"))
CHUNKS = 4
ONCE_FOUND = (684,)  # forgeries that once ended a verb without an id
TRACKED = """
    import os, sys, time

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        board = run.track("board", {"cells": bytearray(5000)})
        for tick in run.ticks(6):
            walk.step(run.input("push", lambda: float(walk.rng.normal())))
            board["cells"][tick * 100] = tick
            time.time(), os.urandom(3)
            print("tick", tick)
            print("aside", tick, file=sys.stderr)
            run.compare("x", walk.x)
        return walk.x
"""
SCRIPT = """
import random, subprocess, sys, threading, time, tempfile
from pathlib import Path

def work(n):
    sys.stdout.write(f"thread {time.monotonic() > 0}\\n")

threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
[each.start() for each in threads]
[each.join() for each in threads]
print(subprocess.run(["echo", "hi"], capture_output=True).stdout, sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "a").write_text(str(random.random()))
Path("out.txt").write_text(Path("in.txt").read_text() * 2)
sys.exit(3)
"""
LOOKS = (
    ("show", "FORGED"), ("show", "FORGED", "--tick", "2"), ("show", "FORGED", "--json"),
    ("export", "FORGED", "--format", "jsonl", "-o", "out.jsonl"), ("ls", "."),
    ("diagnose", "FORGED", "SOUND", "--anyway"), ("report", "FORGED", "-o", "page.html"),
    ("show", "FORGED", "--secrets", "in.txt"),
)  # fmt: skip
EXECUTES = (
    ("verify", "FORGED", "--no-statement"), ("replay", "FORGED", "--at", "2"),
    ("branch", "FORGED", "--at", "2", "-o", "new.twice"),
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Content]]:
    folder = tmp_path_factory.mktemp("forged")
    tracked = write_program(folder, TRACKED, walk=True)
    (folder / "script.py").write_text(SCRIPT)
    (folder / "in.txt").write_text("some text\n")
    before = Path.cwd()
    os.chdir(folder)
    try:
        twice.record(
            tracked, seed=1, out="a.twice", cadence=Cadence("tick", 2), files="contents"
        ).close()
        _said(["record", "script.py", "--seed", "1", "-o", "b.twice", "--", "--deep", "x"])
        _said(["branch", "a.twice", "--at", "3", "-o", "c.twice"])
    finally:
        os.chdir(before)
    return [(path, content_of(path)) for path in sorted(folder.glob("*.twice"))]


@pytest.mark.integration
@pytest.mark.parametrize("member", ["config", "policies", "predicate", "program"])
def test_a_part_of_the_setup_that_is_no_mapping_is_refused_when_a_record_is_opened(
    sound: list[tuple[Path, Content]], member: str, tmp_path: Path
) -> None:
    content = sound[0][1]
    setup = {**content.identity["setup"], member: ["x"]}
    forged = replace(content, identity={**content.identity, "setup": setup})
    write(forged, tmp_path / "forged.twice")
    with pytest.raises(RecordForeign, match=f"identity.setup.{member} is"):
        RunRecord.open(tmp_path / "forged.twice")


@pytest.mark.integration
@pytest.mark.parametrize("part", ["root", "chain"])
def test_a_point_whose_root_or_chain_is_not_that_of_its_digests_is_refused(
    sound: list[tuple[Path, Content]], part: str
) -> None:
    path, content = sound[0]
    names, tick, name, root, chain, digests = content.points[5]
    root, chain = (bytes(16), chain) if part == "root" else (root, bytes(16))
    points = [*content.points[:5], (names, tick, name, root, chain, digests), *content.points[6:]]
    forged = path.with_name("forged.twice")
    write(replace(content, points=points), forged)

    with pytest.raises(RecordForeign, match=f"The {part} of compare-point 5 .x of tick 2. in "):
        twice.verify(forged)


@pytest.mark.integration
@pytest.mark.parametrize(("kind", "stream"), [("output", ""), ("errors", "standard error, ")])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("is_last", [False, True])
def test_a_text_that_the_run_did_not_print_fails_with_its_line(
    sound: list[tuple[Path, Content]], number: int, kind: str, stream: str, is_last: bool
) -> None:
    path, content = sound[number]
    at = len(content.points) if is_last else 0  # behind all points, or before them
    extra = Frame(kind, 0, -1, at, b"all is well\n")
    frames = [*content.frames, extra] if is_last else [extra, *content.frames]
    n_before = sum(each.payload.count(b"\n") for each in frames[:-1] if each.kind == kind)
    forged = path.with_name("forged.twice")
    write(replace(content, frames=frames), forged)

    verified = twice.verify(forged)

    assert verified.result == "FAIL"
    assert verified.failure is not None
    line = n_before + 1 if is_last else 1
    assert verified.failure.recorded == f"{stream}line {line}: all is well"


@pytest.mark.integration
def test_another_written_form_of_the_returned_value_is_named(
    sound: list[tuple[Path, Content]],
) -> None:
    path, content = sound[0]
    ending = copy.deepcopy(content.ending)
    ending["results"]["returned"]["text"] = "1000000.0"
    forged = path.with_name("forged.twice")
    write(replace(content, ending=ending), forged)

    verified = twice.verify(forged)

    assert verified.result == "PASS"  # the digest is the value's
    text = content.ending["results"]["returned"]["text"]
    written = f"the returned value as 1000000.0, and the replay as {text}: their digests are equal"
    assert f"the record writes {written}" in verified.caveats


@pytest.mark.integration
def test_a_record_without_results_passes_with_a_caveat(sound: list[tuple[Path, Content]]) -> None:
    path, content = sound[0]
    ending = {name: each for name, each in content.ending.items() if name != "results"}
    forged = path.with_name("forged.twice")
    write(replace(content, ending=ending), forged)

    verified = twice.verify(forged)

    assert verified.result == "PASS"
    assert any("the record holds no results" in each for each in verified.caveats)


@pytest.mark.heavy
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_forged_record_is_one_error_or_a_verdict(
    sound: list[tuple[Path, Content]], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sound[0][0].parent)
    crashed, unclear, passed = [], [], []
    once_found = [number for number in ONCE_FOUND if number % CHUNKS == chunk]
    for number in [*range(chunk, FORGERIES, CHUNKS), *once_found]:
        path, content = sound[number % len(sound)]
        forged = forge(content, number)
        try:
            write(forged, Path("forged.twice"))
        except (twice.TwiceError, ValueError, OverflowError, TypeError):
            continue  # what no writer takes is no forgery
        draw = random.Random(number)
        verbs = [*draw.sample(LOOKS, 4), *draw.sample(EXECUTES, 1)]
        for verb in verbs:
            for made in ("out.jsonl", "page.html", "new.twice"):
                Path(made).unlink(missing_ok=True)
            command = [
                {"FORGED": "forged.twice", "SOUND": path.name}.get(each, each) for each in verb
            ]
            try:
                code, said = _said(command)
            except Exception:
                crashed.append((number, verb[0], traceback.format_exc()[-900:]))
                continue
            if code == 2 and not re.search(
                r"\bE-[A-Z]+-\d{3}\b|UNKNOWN|PARTIAL|not-same-input|^next: ", said, re.MULTILINE
            ):
                unclear.append((number, verb[0], said[-400:]))
            if "Traceback" in said and "twice/" in said and "the replay raised" not in said:
                crashed.append((number, verb[0], said[-900:]))
            is_same = list_compared(forged) == list_compared(content)
            is_same = is_same or "the record holds no results" in said
            if verb[0] == "verify" and code == 0 and not is_same:
                passed.append((number, said[-400:]))

    assert crashed == [], f"{len(crashed)}: {crashed[0]}"
    assert unclear == [], f"{len(unclear)}: {unclear[0]}"
    assert passed == [], f"{len(passed)}: {passed[0]}"


def _said(command: list[str]) -> tuple[object, str]:
    """Exit code and everything that a command says, without a process of its own."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(command)
        except SystemExit as ended:
            return ended.code, out.getvalue()
    return 0, out.getvalue()
