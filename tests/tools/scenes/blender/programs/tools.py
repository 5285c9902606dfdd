"""Thirty calls in a session on real Blender; answers its envelopes, fingerprints and pixels."""

from __future__ import annotations

from typing import Any

from answering import answer, request

from twice.tools.scenes import BLENDER
from twice.tools.session import Session

asked = request() or {}
session = Session(BLENDER, BLENDER.open_backend())
codes: list[str] = []


def call(name: str, /, **arguments: Any) -> Any:
    envelope = session.call(name, arguments)
    codes.append("ok" if envelope["ok"] else envelope["error"]["code"])
    return envelope.get("result") or envelope


makers = [
    lambda: call("mesh.primitive", kind="cube", name="Box"),
    lambda: call("mesh.primitive", kind="sphere", name="Ball", size=2.5, segments=16, rings=8),
    lambda: call("mesh.primitive", kind="cylinder", name="Post", segments=12),
    lambda: call("mesh.primitive", kind="grid", name="Ground", size=20, segments=40, rings=40),
    lambda: call(
        "mesh.from_data", name="Tri", vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]]
    ),
    lambda: call("object.create", name="Root"),
    lambda: call("material.create", name="Red", color=[0.8, 0.1, 0.1], roughness=0.3),
    lambda: call("material.create", name="Steel", metallic=1.0),
    lambda: call("collection.create", name="Props"),
    lambda: call("camera.create", name="Camera", location=[0, -9, 4], rotation=[1.2, 0, 0]),
    lambda: call("light.create", name="Sun", kind="SUN", energy=3.0, rotation=[0.4, 0.2, 0]),
]
for at in asked.get("order") or range(len(makers)):
    makers[at]()
call("displace.noise", name="Ground", seed=7, strength=0.4, scale=0.3, direction="Z")
call("mesh.boolean", name="Box", other="Ball", operation="DIFFERENCE")
call("object.transform", name="Box", location=[0, 0, 1], rotation=[0.1, 0.2, 0.3])
call("object.transform", name="Ball", location=[3, 0, 1], scale=[0.5, 0.5, 0.5])
call("object.transform", name="Post", location=[-3, 0, 1])
call("object.parent", name="Box", parent="Root")
call("object.parent", name="Root", parent="Box")
call("collection.link", name="Box", collection="Props")
call("material.assign", name="Box", material="Red")
call("material.assign", name="Ball", material="Steel")
call(
    "modifier.add",
    name="Post",
    kind="BEVEL",
    modifier="edges",
    settings={"width": 0.1, "segments": 2},
)
call("modifier.add", name="Ball", kind="SUBSURF", modifier="smooth", settings={"levels": 1})
call("scatter.points", target="Ground", count=12, name="stone", instance_of="Tri", seed=11)
call("mesh.primitive", kind="cube", name="Box")
call("scene.keep", file="before.scene", evaluated=True)
built = call("scene.snapshot", evaluated=True)
pixels = [
    call("render.pixels", camera="Camera", width=48, height=32, samples=4, sampling_seed=s)
    for s in (0, 0, 1)
]
unmoved = call("scene.diff", before="before.scene")
call("object.transform", name="Ball", location=[3.000001, 0, 1])
moved = call("scene.diff", before="before.scene")
near = call("scene.compare", before="before.scene", within=1e-5)
call("object.transform", name="Ball", location=[3, 0, 1])
call("scene.save", file="room.blend")
call("scene.reset")
call("scene.load", file="room.blend")
loaded = call("scene.snapshot", evaluated=True)
answer(
    {
        "codes": codes,
        "calls": session.calls,
        "full": built["fingerprint"],
        "core": built["core_fingerprint"],
        "loaded": loaded["fingerprint"],
        "pixels": [each["pixels"] for each in pixels],
        "unmoved": unmoved["differences"],
        "moved": moved["differences"],
        "near": near,
        "profile": dict(session.backend.profile()),
    }
)
