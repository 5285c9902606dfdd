"""Hot stores whose determinism logs are not true, one untruth each, and honest stores beside them.

Each forgery begins with an honest store, and edits files in it as somebody would who wants the gate to pass, or who is
careless. ``labels.json`` says what is not true, and what the store holds against it. A label also holds what a simple
case is made of: values to set, bytes of a record, lines that draw, or the name of an honest store.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

import renders
from stores import (
    draw,
    edited,
    forge_record,
    log_of,
    mend,
    put_log,
    read_log,
    seal,
    seal_another,
    set_values,
    sha256_of,
    start,
    write_json,
)

Build = Callable[[Path], Path]


@dataclass(frozen=True, slots=True)
class Case:
    """One store.

    Args:
        name: of the case.
        build: builds it in a folder, and gives its path.
        expected: what the gate has to answer: "pass", "conditional", or "not pass" (block or conditional).
        says: what is not true; of an honest store, what is unusual.
        refuted_by: what the store holds against it; "" if it holds nothing.
        arguments: further arguments of the gate.
    """

    name: str
    build: Build
    expected: str
    says: str
    refuted_by: str = ""
    arguments: tuple[str, ...] = ()


def list_cases() -> tuple[Case, ...]:
    """List every case of ``labels.json``, in its order: forgeries, those that nothing refutes, honest stores."""
    labels = json.loads(Path(__file__).with_name("labels.json").read_text())
    return tuple(
        Case(
            name,
            _find_builder(name, label.get("made_of", {})),
            label["expected"],
            label["says"],
            label.get("refuted_by", ""),
            tuple(label.get("arguments", ())),
        )
        for name, label in labels.items()
    )


def _find_builder(name: str, parts: Mapping[str, Any]) -> Build:
    """Find the function of a case, or make it of its parts."""
    if "pixels" in parts:
        return lambda folder: draw(folder, parts["imports"], parts["pixels"])
    if "record" in parts:
        return lambda folder: forge_record(start("pair", folder), parts["record"].encode())
    if "set" in parts:
        return lambda folder: set_values(
            start(parts["store"], folder), parts["asset"], **parts["set"]
        )
    if "store" in parts:
        return lambda folder: start(parts["store"], folder)
    build: Build = globals().get(name) or getattr(renders, name)
    return build


def seed_edited_in_draft(folder: Path) -> Path:
    hot = start("pair", folder)
    draft = read_log(hot / "rain.png.draft.json")
    draft["seed"] = {"requested": "9", "effective": "9"}
    draft["recipe"]["argv"][2] = "9"
    write_json(hot / "rain.png.draft.json", draft)
    seal(hot, "rain.png", "--revise")
    return hot


def declared_relabelled(folder: Path) -> Path:
    with edited(hot := start("pair", folder)) as log:
        for pointer in [each for each in log["evidence"] if each.startswith("/art/")]:
            del log["evidence"][pointer]
    return hot


def settings_invented(folder: Path) -> Path:
    with edited(hot := start("pair", folder)) as log:
        log["art"] |= {"steps": 30, "sampler": "euler", "guidance": 7}
        for name in ("steps", "sampler", "guidance"):
            log["evidence"][f"/art/{name}"] = log["evidence"][""]
    return hot


def imported_from_no_chunk(folder: Path) -> Path:
    with edited(hot := start("pair", folder)) as log:
        source = {**log["evidence"]["/asset"], "chunk": "tEXt parameters"}
        log["evidence"]["/art/prompt"] = source
    return hot


def record_of_another_run(folder: Path) -> Path:
    hot = start("pair", folder)
    with edited(hot) as log:
        log["evidence"][""] = read_log(log_of(hot, "snow.png"))["evidence"][""]
    return hot


def record_overwritten(folder: Path) -> Path:
    rain, snow = sorted((start("pair", folder) / "records").iterdir())
    shutil.copy(snow, rain)
    return folder / "hot"


def record_of_another_in_its_name(folder: Path) -> Path:
    hot = start("pair", folder)
    return forge_record(hot, next((hot / "records").glob("snow*")).read_bytes())


def record_cut(folder: Path) -> Path:
    hot = start("pair", folder)
    data = next((hot / "records").glob("rain*")).read_bytes()
    return forge_record(hot, data[: len(data) // 2])


def record_removed(folder: Path) -> Path:
    shutil.rmtree((hot := start("pair", folder)) / "records")
    return hot


def record_without_digest(folder: Path) -> Path:
    hot = start("pair", folder)
    shutil.rmtree(hot / "records")
    with edited(hot) as log:
        log["evidence"][""] = {"level": "recorded", "record": "the run"}
    return hot


def record_elsewhere(folder: Path) -> Path:
    hot = start("pair", folder)
    next((hot / "records").glob("rain*")).rename(folder / "rain.twice")
    with edited(hot) as log:
        log["evidence"][""]["record"] = "../rain.twice"
    return hot


def watched_record_edited(folder: Path) -> Path:
    hot = start("watched", folder)
    record = next((hot / "records").iterdir())
    document = read_log(record)
    document["program"]["version"] = "7.0"
    with edited(hot, "tone.wav") as log:
        log["model"]["version"] = log["environment"]["packages"]["perl"] = "7.0"
    return forge_record(hot, json.dumps(document).encode(), "tone.wav")


def picture_retouched(folder: Path) -> Path:
    hot = start("pair", folder)
    out = io.BytesIO()
    Image.open(hot / "rain.png").rotate(180).save(out, "PNG")
    return seal_another(hot, "rain.png", out.getvalue())


def sound_retouched(folder: Path) -> Path:
    hot = start("watched", folder)
    data = (hot / "tone.wav").read_bytes()
    return seal_another(hot, "tone.wav", data[:44] + bytes(9600) + data[9644:])


def log_of_another_asset(folder: Path) -> Path:
    hot = start("pair", folder)
    Image.new("L", (16, 8), 99).save(hot / "sun.png")
    draft = read_log(hot / "rain.png.draft.json")
    del draft["asset"]
    draft["recipe"] |= {"argv": ["python", "draw.py", "7", "sun.png"], "output": "sun.png"}
    write_json(hot / "sun.png.draft.json", draft)
    seal(hot, "sun.png")
    return hot


def input_changed(folder: Path) -> Path:
    (hot := start("pair", folder)).joinpath("draw.py").write_text("print('nothing')\n")
    return hot


def script_edited(folder: Path) -> Path:
    hot = start("pair", folder)
    old = sha256_of(hot / "draw.py")
    (hot / "draw.py").write_text((hot / "draw.py").read_text().replace("128", "64 * 2"))
    new = sha256_of(hot / "draw.py")
    for asset in ("rain.png", "snow.png"):
        with edited(hot, asset) as log:
            text = json.dumps(log).replace(old, new).replace(old[:12], new[:12])
            log.update(json.loads(text))
    return hot


def verdict_by_hand(folder: Path) -> Path:
    hot = start("judged", folder)
    verdict = read_log(log_of(hot, "snow.png"))["verdicts"][0]
    verdict |= {
        "artefacts": ["sha256:" + sha256_of(hot / "rain.png")],
        "when": "2026-01-01T00:00:00Z",
    }
    return set_values(hot, verdicts=[verdict])


def verdict_copied(folder: Path) -> Path:
    hot = start("judged", folder)
    return set_values(hot, verdicts=read_log(log_of(hot, "snow.png"))["verdicts"])


def two_logs(folder: Path) -> Path:
    hot = start("pair", folder)
    log = read_log(log_of(hot, "rain.png")) | {"log_id": "rain-again", "nonce": "7e" * 16}
    put_log(hot / "rain-again.detlog.json", log)
    return hot


def asset_replaced(folder: Path) -> Path:
    Image.new("L", (16, 8), 99).save((hot := start("pair", folder)) / "rain.png")
    return hot


def log_edited(folder: Path) -> Path:
    with edited(hot := start("pair", folder), mended=()) as log:
        log["producer"]["role"] = "art director"
    return hot


def log_and_index_edited(folder: Path) -> Path:
    with edited(hot := start("revised", folder), mended=("detlogs",)) as log:
        log["producer"]["role"] = "art director"
    return hot


def checkpoint_of_another_revision(folder: Path) -> Path:
    hot = start("revised", folder)
    old = read_log(log_of(hot, "rain.png"))["supersedes"]
    path = next((hot / "checkpoints").iterdir())
    document = read_log(path)
    for each in document["payload"]["data"]["details"]["determinism_logs"]:
        if each["log_id"].startswith("rain"):
            each |= {"revision": 2, "log_digest": old}
    write_json(path, document)
    return hot


def revision_skipped(folder: Path) -> Path:
    hot = start("revised", folder)
    with closing(sqlite3.connect(hot / "detlogs.sqlite")) as base:
        said = "SELECT log_digest FROM revisions WHERE log_id LIKE 'rain%' AND revision = 1"
        (first,) = base.execute(said).fetchone()
    return set_values(hot, supersedes=first)


def promise_weakened(folder: Path) -> Path:
    hot = start("revised", folder)
    return set_values(hot, supersedes="sha256:" + "5a" * 32, promise__grade="payload")


def history_denied(folder: Path) -> Path:
    with edited(hot := start("revised", folder)) as log:
        log["revision"] = 1
        del log["supersedes"]
    mend((hot / "checkpoints").iterdir(), {'"revision": 3': '"revision": 1'})
    with closing(sqlite3.connect(hot / "detlogs.sqlite")) as base, base:
        base.execute("UPDATE logs SET revision = 1 WHERE log_id LIKE 'rain%'")
    return hot


def loudness_measured_wrong(folder: Path) -> Path:
    hot = start("watched", folder)
    loudness = {"target_lufs": -16}
    with edited(hot, "tone.wav") as log:
        log["asset"]["measured"]["loudness_lufs"] = -16
        log["audio"]["loudness"] = loudness
    return hot


def size_measured_wrong(folder: Path) -> Path:
    size = {"width_px": 1600, "height_px": 800}
    with edited(hot := start("pair", folder)) as log:
        log["asset"]["measured"] |= size
        log["art"] |= size
    return hot


def verdict_by_hand_in_time(folder: Path) -> Path:
    hot = start("judged", folder)
    verdict = read_log(log_of(hot, "snow.png"))["verdicts"][0]
    return set_values(
        hot, verdicts=[verdict | {"artefacts": ["sha256:" + sha256_of(hot / "rain.png")]}]
    )


def watched_record_written_by_hand(folder: Path) -> Path:
    hot = sound_retouched(folder)
    old = next((hot / "records").iterdir())
    document = read_log(old) | {"outputs": {"tone.wav": sha256_of(hot / "tone.wav")}}
    data = (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()
    name = f"records/tone.wav.{hashlib.sha256(data).hexdigest()[:12]}.render.json"
    old.unlink()
    (hot / name).write_bytes(data)
    with edited(hot, "tone.wav") as log:
        log["evidence"][""] |= {"record": name, "sha256": sha256_of(hot / name)}
    return hot


def honest_log_laid_out(folder: Path) -> Path:
    path = log_of(hot := start("pair", folder), "rain.png")
    path.write_text(json.dumps(read_log(path), indent=4))
    return hot


def honest_retagged(folder: Path) -> Path:
    seal(hot := start("single", folder), "rain.png", "--set", "promise.grade=payload", "--revise")
    Image.open(hot / "rain.png").save(hot / "rain.png", compress_level=1)
    return hot


def honest_master_with_id(folder: Path) -> Path:
    embed = ("--set", "promise.grade=payload", "--embed", "id", "--revise")
    seal(hot := start("single", folder), "rain.png", *embed)
    return hot


def checkpoint_without_the_log(folder: Path) -> Path:
    path = next(((hot := start("revised", folder)) / "checkpoints").iterdir())
    document = read_log(path)
    document["payload"]["data"]["details"]["determinism_logs"].pop()
    write_json(path, document)
    return hot
