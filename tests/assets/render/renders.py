"""Programs that render into a hot store: recorded and sealed as a person would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hotstore import HOW
from PIL import Image

from twice.assets.log.io import canonical_document, parse, to_document
from twice.assets.render.command import rewrite_command
from twice.assets.render.draft import Declarations
from twice.assets.render.recipe import RerenderOptions
from twice.assets.render.recorder import RecordedRender, record_render
from twice.assets.render.rerender import Rerender, rerender
from twice.assets.store.seal import Sealed, seal
from twice.assets.store.store import Store

WHO = Declarations(
    who="the studio",
    when="2026-01-31T09:30:00Z",
    all={"work_unit": "TU-2026-01-31-IL01", "producer": {"role": "illustrator"}},
    seedless="it draws none",
    program=True,
)
ONCE = RerenderOptions(runs=1)

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


def put(store: Store, name: str, text: str) -> str:
    """Put a file that can be executed into the store, and return its path."""
    path = store.root / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def rendered(
    store: Store, output: str, *typed: str, grade: str = "bytes", seed: int | None = None,
    inputs: Sequence[Path] = (), timeout_s: float = 60.0, env: dict[str, str] | None = None,
    force: bool = False, **said: Any,
) -> RecordedRender:  # fmt: skip
    """Record a render."""
    promise: dict[str, Any] = {"mode": "deterministic", "grade": grade}
    if grade == "tolerance":
        promise["profile"] = {"name": "image-stochastic"}
    job = rewrite_command(
        typed,
        store,
        inputs=inputs,
        outputs=[store.root / output],
        seed=seed,
        timeout_s=timeout_s,
        env=env,
    )
    saying = replace(WHO, **{"declared": {"promise": promise}, **said})
    (done,) = record_render(store, job, saying, force=force)
    return done


def sealed(store: Store, done: RecordedRender) -> Sealed:
    return seal(store, done.asset, parse(done.draft.read_bytes(), str(done.draft)), HOW)


def synth(store: Store, **said: Any) -> Sealed:
    """Record and seal a sound of numpy, promised in bytes."""
    script, out = put(store, "synth.py", SYNTH), str(store.root / "cue.wav")
    typed = ("python", script, "{seed}", out)
    return sealed(store, rendered(store, "cue.wav", *typed, seed=7, **said))


def drawn(store: Store, script: str, *more: str, **said: Any) -> Sealed:
    """Record and seal a picture of a Python script, which writes to its last argument."""
    path, out = put(store, "draw.py", script), str(store.root / "a.png")
    return sealed(store, rendered(store, "a.png", "python", path, *more, out, **said))


def turning(store: Store, pictures: Sequence[Any], **said: Any) -> Sealed:
    """Record and seal a renderer whose runs give one picture after the other: the first is sealed."""
    folder = store.root.parent / "turns"
    folder.mkdir()
    (folder / "next").write_text("0")
    for at, picture in enumerate(pictures):
        Image.fromarray(np.asarray(picture)).save(folder / f"{at}.png", compress_level=at % 2)
    script = f"read at < {folder}/next\necho $((at + 1)) > {folder}/next\ncp {folder}/$at.png $1\n"
    typed = ("sh", put(store, "turn.sh", script), str(store.root / "a.png"))
    return sealed(store, rendered(store, "a.png", *typed, **said))


def again(one: Sealed, how: RerenderOptions = ONCE) -> Rerender:
    return rerender(one.path, how, lambda _what: None)


def edited(one: Sealed, **over: Any) -> Sealed:
    """Write over a sealed log by hand, as nobody should."""
    one.path.write_bytes(canonical_document({**to_document(one.log), **over}))
    return one


def recipe_of(one: Sealed, **over: Any) -> dict[str, Any]:
    return {**to_document(one.log.recipe), **over}
