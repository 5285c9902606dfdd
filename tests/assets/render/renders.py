"""A hot store, and programs that render into it: recorded and sealed as a person would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twice.assets.log.io import canonical_document, parse, to_document
from twice.assets.render.command import rewrite_command
from twice.assets.render.declarations import Declarations, RenderProject
from twice.assets.render.draft import PINS
from twice.assets.render.recorder import RecordedRender, record_render
from twice.assets.render.rerender import Rerender, RerenderOptions, rerender
from twice.assets.store.seal import Sealed, Sealing, seal
from twice.assets.store.store import Store, lay_store

HOW = Sealing(created="2026-01-31T09:30:00Z", nonce="00112233445566778899aabbccddeeff")
WHO = RenderProject(
    who="the studio",
    when="2026-01-31T09:30:00Z",
    all={"work_unit": "TU-2026-01-31-IL01", "producer": {"role": "illustrator"}},
)

SYNTH = """
import sys, wave
import numpy as np
chance = np.random.default_rng(int(sys.argv[1]))
level = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
tone = np.sin(np.arange(12000) * 0.05) * level + chance.normal(0, 0.01, 12000)
with wave.open(sys.argv[2], "wb") as file:
    file.setnchannels(1); file.setsampwidth(2); file.setframerate(24000)
    file.writeframes((np.clip(tone, -1, 1) * 32767).astype("<i2").tobytes())
"""

DRAW = """
import sys, random
from PIL import Image, ImageDraw, ImageFilter
chance = random.Random(int(sys.argv[1]))
picture = Image.new("RGB", (80, 64), "white")
pen = ImageDraw.Draw(picture)
for _ in range(20):
    pen.line([chance.randrange(80) for _ in range(4)], fill=(chance.randrange(256), 0, 90))
picture.filter(ImageFilter.GaussianBlur(1)).save(sys.argv[2])
"""

STAMPED = """
import os, sys
from PIL import Image, PngImagePlugin
note = PngImagePlugin.PngInfo()
note.add_text("stamp", os.urandom(8).hex())
Image.new("RGB", (40, 40), (9, 8, 7)).save(sys.argv[1], pnginfo=note)
"""

SCATTER = """
import os, sys
import numpy as np
from PIL import Image
noise = np.frombuffer(os.urandom(64 * 64), np.uint8).reshape(64, 64) % 3
plane = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8) + noise
Image.fromarray(np.stack([plane] * 3, axis=2)).save(sys.argv[1])
"""


def laid(folder: Path) -> Store:
    (folder / "public").mkdir()
    return lay_store(folder / "hot", ("../public",))


def put(store: Store, name: str, text: str) -> str:
    """Put a file into the store; its path."""
    path = store.root / name
    path.write_text(text)
    return str(path)


def rendered(
    store: Store, output: str, *typed: str, grade: str = "bytes", seed: str = "", **said: Any
) -> RecordedRender:
    """Record a render, without anybody to ask."""
    promise: dict[str, Any] = {"mode": "deterministic", "grade": grade}
    if grade == "tolerance":
        promise["profile"] = {"name": "image-stochastic"}
    inputs = said.pop("inputs", ())
    saying = Declarations(**{
        "project": WHO, "declared": {"promise": promise}, "seed": seed,
        "seedless": "" if seed else "it draws none", "program": True, "env": PINS, "timeout_s": 60.0,
    } | said)  # fmt: skip
    command = rewrite_command(list(typed), store, inputs, [store.root / output], seed)
    (done,) = record_render(store, command, saying)
    return done


def sealed(store: Store, done: RecordedRender, **over: Any) -> Sealed:
    draft = parse(done.draft.read_bytes(), str(done.draft))
    return seal(store, done.asset, {**draft, **over}, HOW)


def synth(store: Store, **said: Any) -> Sealed:
    """Record and seal a sound of numpy, promised in bytes."""
    script, out = put(store, "synth.py", SYNTH), str(store.root / "cue.wav")
    return sealed(
        store, rendered(store, "cue.wav", "python", script, "{seed}", out, seed="7", **said)
    )


def drawn(store: Store, script: str, *more: str, name: str = "a.png", **said: Any) -> Sealed:
    """Record and seal a picture of a script, which writes to its last argument."""
    path, out = put(store, "draw.py", script), str(store.root / name)
    return sealed(store, rendered(store, name, "python", path, *more, out, **said))


def again(one: Sealed, how: RerenderOptions = RerenderOptions(runs=1)) -> Rerender:
    return rerender(one.path, how, lambda what: None)


def edited(one: Sealed, **over: Any) -> Sealed:
    """Write over a sealed log by hand, as nobody should."""
    one.path.write_bytes(canonical_document({**to_document(one.log), **over}))
    return one


def recipe_of(one: Sealed, **over: Any) -> dict[str, Any]:
    return {**to_document(one.log.recipe), **over}
