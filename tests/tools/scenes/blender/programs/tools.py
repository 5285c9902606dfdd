"""Forty calls in a session on real Blender; answers its fingerprints, pixels and profile."""

from __future__ import annotations

from typing import Any

from answering import answer, request
from calls import CHANGES, MAKERS, SHOT

from twice.tools.scenes import BLENDER
from twice.tools.session import Session

session = Session(BLENDER, BLENDER.open_backend())


def call(name: str, arguments: dict[str, Any], code: str = "ok") -> Any:
    envelope = session.call(name, arguments)
    assert code == ("ok" if envelope["ok"] else envelope["error"]["code"]), envelope
    return envelope.get("result")


for at in (request() or {}).get("order") or range(len(MAKERS)):
    call(*MAKERS[at])
for change in CHANGES:
    call(*change)
call("object.parent", {"name": "Root", "parent": "Box"}, "invalid_arguments")
call("mesh.primitive", {"kind": "cube", "name": "Box"}, "conflict")
call("scene.keep", {"file": "before.scene", "evaluated": True})
built = call("scene.snapshot", {"evaluated": True})

first, again, other = (
    call("render.pixels", {**SHOT, "sampling_seed": seed})["pixels"] for seed in (0, 0, 1)
)
assert first == again != other
assert call("scene.diff", {"before": "before.scene"})["same"], "a picture leaves all as it was"

call("object.transform", {"name": "Ball", "location": [3.000001, 0, 1]})
moved = call("scene.diff", {"before": "before.scene"})["differences"][0]
assert (moved["path"], moved["a"]) == ("objects['Ball'].location[0]", "3.0"), moved
assert moved["b"] == "3.000001"
assert call("scene.compare", {"before": "before.scene", "within": 1e-5})["same"]
call("object.transform", {"name": "Ball", "location": [3, 0, 1]})

call("scene.save", {"file": "room.blend"})
call("scene.reset", {})
call("scene.load", {"file": "room.blend"})
assert call("scene.snapshot", {"evaluated": True}) == built
prints = [built["fingerprint"], built["core_fingerprint"], first, other]
answer({"prints": prints, "profile": dict(session.backend.profile())})
