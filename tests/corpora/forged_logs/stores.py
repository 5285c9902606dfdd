"""Honest hot stores, and the hand of somebody who edits files in them.

Each store is made by ``twice asset`` once, and copied. An edit mends what else names the edited file: the index and the
checkpoint, whatever format they have.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from twice.cli import dispatch
from twice.errors import TwiceError

UNIT: Final = "TU-2026-01-31-IL01"
FACTS: Final = f"""who = "the studio"
[all]
work_unit = "{UNIT}"
producer = {{role = "illustrator"}}
promise = {{mode = "deterministic", grade = "bytes"}}
"""
PICTURE: Final = """{imports}
import sys

from PIL import Image

seed, path = sys.argv[1:3]
{pixels}
Image.frombytes("L", (16, 8), pixels).save(path)
"""
SEEDED: Final = "random.seed(int(seed))\npixels = random.randbytes(128)"
BITMAP: Final = """import os, struct, sys

seed, path = sys.argv[1:3]
head = struct.pack("<2sI4xIIiiHHIIiiII", b"BM", 438, 54, 40, 16, 8, 1, 24, 0, 384, 0, 0, 0, 0)
open(path, "wb").write(head + os.urandom(384))
"""
SOUND: Final = """my ($seed, $path) = @ARGV;
srand({seed});
my $pitch = 200 + int(rand(400));
my $sound = join "", map {{ pack "s<", int(6000 * sin($_ * $pitch * 6.2831853 / 48000)) }} 1 .. 48000;
open my $out, ">:raw", $path or die;
print $out pack("A4 V A4 A4 V v v V V v v A4 V", "RIFF", 36 + length $sound, "WAVE", "fmt ", 16,
    1, 1, 48000, 96000, 2, 16, "data", length $sound), $sound;
"""


Log = dict[str, Any]


def run_twice(*arguments: object) -> tuple[int, str]:
    """Run ``twice asset`` in this process: the exit code, and what it printed or refused."""
    printed, state = io.StringIO(), os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = _state_folder()
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            return dispatch(["asset", *map(str, arguments)]), printed.getvalue()
    except TwiceError as error:
        return 2, str(error)
    finally:
        del os.environ["XDG_STATE_HOME"]
        if state is not None:
            os.environ["XDG_STATE_HOME"] = state


@lru_cache(maxsize=1)
def _state_folder() -> str:
    folder = tempfile.mkdtemp(prefix="twice-forgeries-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def require(*arguments: object) -> None:
    code, printed = run_twice(*arguments)
    if code != 0:
        raise RuntimeError(f"twice asset {' '.join(map(str, arguments))}: {code}: {printed}")


def make_store(folder: Path) -> Path:
    hot = folder / "hot"
    folder.mkdir(parents=True, exist_ok=True)
    require("init", hot, "--public", folder / "public")
    (folder / "render.toml").write_text(FACTS)
    return hot


def seal(hot: Path, asset: str, *options: object) -> None:
    require("seal", hot / asset, "--log", hot / f"{asset}.draft.json", "--store", hot, *options)


def record(
    hot: Path, asset: str, *more: object, script: str = "draw.py", options: tuple[object, ...] = (),
    seed: int = 7, program: str = "", text: str = "", sealed: bool = True,
) -> None:  # fmt: skip
    """Record an honest render, and seal its draft as it is."""
    (hot / script).write_text(text or PICTURE.format(imports="import random", pixels=SEEDED))
    if asset.endswith((".png", ".bmp")):
        options = (*options, "--set", "art.prompt=rain over slate roofs")
    named = program or ("perl" if script.endswith(".pl") else "python")
    require(
        "record", "--from", hot.parent / "render.toml", "--program", "--seed", seed, "--store", hot,
        *options, "-o", hot / asset, "--", named, hot / script, "{seed}", hot / asset, *more,
    )  # fmt: skip
    if sealed:
        seal(hot, asset)


def draw(folder: Path, imports: str, pixels: str, *more: object, **options: Any) -> Path:
    """Make a store with one picture, drawn by a script of these lines."""
    hot = make_store(folder)
    record(hot, "rain.png", *more, text=PICTURE.format(imports=imports, pixels=pixels), **options)
    return hot


@lru_cache
def _template(kind: str) -> Path:
    hot = make_store(Path(_state_folder()) / kind)
    if kind == "watched":
        record(hot, "tone.wav", script="tone.pl", text=SOUND.format(seed="$seed"))
    elif kind == "hosted":
        record(hot, "rain.png", sealed=False)
        shutil.rmtree(hot / "records")
        (hot / "rain.png").rename(hot / "sky.png")
        marked = {
            "mode": "non-deterministic", "why": "the service draws anew for each request",
            "why_code": "hosted-provider", "constraints": ["palette: slate and amber"],
        }  # fmt: skip
        provider = {"name": "sky-service", "endpoint": "hosted"}
        write_json(
            hot / "sky.png.draft.json", {"kind": "art", "promise": marked, "provider": provider}
        )
        (hot / "rain.png.draft.json").unlink()
        facts = ("--set", f"work_unit={UNIT}", "--set", "producer.role=illustrator")
        seal(hot, "sky.png", "--declared-by", "the studio", *facts)
    else:
        record(hot, "rain.png")
    if kind not in {"watched", "hosted", "single"}:
        record(hot, "snow.png", seed=8)
    if kind == "judged":
        require("rerender", hot / "snow.png", "--n", 1, "--write")
    if kind == "revised":
        for prompt in ("rain over slate", "rain over roofs"):
            seal(hot, "rain.png", "--set", f"art.prompt={prompt}", "--revise")
        require("package", "--store", hot, "--work-unit", UNIT)
    return hot


def start(kind: str, folder: Path) -> Path:
    """Copy an honest store: single, pair, watched, hosted, judged, or revised and packaged."""
    hot = folder / "hot"
    shutil.copytree(_template(kind), hot)
    return hot


def log_of(hot: Path, asset: str) -> Path:
    return next(
        path for path in hot.glob("*.detlog.json") if read_log(path)["asset"]["file"] == asset
    )


def read_log(path: Path) -> Log:
    document: Log = json.loads(path.read_text())
    return document


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=1))


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put_log(path: Path, log: Log) -> str:
    """Write a log in its canonical text, and give its digest."""
    text = json.dumps(log, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    path.write_text(text)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def mend(files: Iterable[Path], changes: Mapping[str, str]) -> None:
    """Replace texts in files, whether they are JSON or SQLite."""
    for path in files:
        if path.read_bytes()[:6] == b"SQLite":
            with closing(sqlite3.connect(path)) as base, base:
                for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'"):
                    for row in base.execute(f"PRAGMA table_info({table})").fetchall():
                        change = f"UPDATE {table} SET {row[1]}=replace({row[1]}, ?, ?)"
                        for each in changes.items():
                            base.execute(f"{change} WHERE typeof({row[1]})='text'", each)
        else:
            text = path.read_text()
            for old, new in changes.items():
                text = text.replace(old, new)
            path.write_text(text)


@contextmanager
def edited(
    hot: Path, asset: str = "rain.png", mended: Sequence[str] = ("detlogs", "checkpoint")
) -> Iterator[Log]:
    """Give a sealed log to be edited; its digest elsewhere in the store is mended afterwards."""
    path = log_of(hot, asset)
    log = read_log(path)
    old, file = put_log(path, log), log["asset"]["file_sha256"]
    yield log
    changes = {old: put_log(path, log), file: log["asset"]["file_sha256"]}
    files = [each for each in hot.rglob("*") if each.is_file() and each != path]
    mend((each for each in files if any(word in str(each) for word in mended)), changes)


def set_values(hot: Path, asset: str = "rain.png", **values: Any) -> Path:
    """Edit values of a sealed log, each named by its path with double underscores."""
    with edited(hot, asset) as log:
        for name, value in values.items():
            *above, last = name.split("__")
            block = log
            for each in above:
                block = block[each]
            block[last] = value
    return hot


def forge_record(hot: Path, data: bytes | None, asset: str = "rain.png") -> Path:
    """Put other bytes in the place of an asset's record, and their digest into the log."""
    with edited(hot, asset) as log:
        record = hot / log["evidence"][""]["record"]
        record.write_bytes(data)
        log["evidence"][""]["sha256"] = sha256_of(record)
    return hot


def seal_another(hot: Path, asset: str, data: bytes) -> Path:
    """Put another file in an asset's place, and seal it with the old draft and its evidence."""
    log_id = read_log(log_of(hot, asset))["log_id"]
    (hot / asset).write_bytes(data)
    draft = read_log(hot / f"{asset}.draft.json")
    del draft["asset"]
    write_json(hot / f"{asset}.draft.json", draft)
    seal(hot, asset, "--revise", "--id", log_id)
    return hot
