"""Calls of scene tools that end well: makers in any order, then changes of what they made."""

from __future__ import annotations

from typing import Any

TRIANGLE = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]}
EDGES = {"width": 0.1, "segments": 2}
MAKERS: list[tuple[str, dict[str, Any]]] = [
    ("mesh.primitive", {"kind": "cube", "name": "Box"}),
    ("mesh.primitive", {"kind": "sphere", "name": "Ball", "size": 2.5, "segments": 16, "rings": 8}),
    ("mesh.primitive", {"kind": "cylinder", "name": "Post", "segments": 12}),
    ("mesh.primitive", {"kind": "grid", "name": "Ground", "size": 20, "segments": 40, "rings": 40}),
    ("mesh.from_data", {"name": "Tri", **TRIANGLE}),
    ("object.create", {"name": "Root"}),
    ("material.create", {"name": "Red", "color": [0.8, 0.1, 0.1], "roughness": 0.3}),
    ("material.create", {"name": "Steel", "metallic": 1.0}),
    ("collection.create", {"name": "Props"}),
    ("camera.create", {"name": "Camera", "location": [0, -9, 4], "rotation": [1.2, 0, 0]}),
    ("light.create", {"name": "Sun", "kind": "SUN", "energy": 3.0, "rotation": [0.4, 0.2, 0]}),
]
CHANGES: list[tuple[str, dict[str, Any]]] = [
    (
        "displace.noise",
        {"name": "Ground", "seed": 7, "strength": 0.4, "scale": 0.3, "direction": "Z"},
    ),
    ("mesh.boolean", {"name": "Box", "other": "Ball", "operation": "DIFFERENCE"}),
    ("object.transform", {"name": "Box", "location": [0, 0, 1], "rotation": [0.1, 0.2, 0.3]}),
    ("object.transform", {"name": "Ball", "location": [3, 0, 1], "scale": [0.5, 0.5, 0.5]}),
    ("object.transform", {"name": "Post", "location": [-3, 0, 1]}),
    ("object.parent", {"name": "Box", "parent": "Root"}),
    ("collection.link", {"name": "Box", "collection": "Props"}),
    ("material.assign", {"name": "Box", "material": "Red"}),
    ("material.assign", {"name": "Ball", "material": "Steel"}),
    ("modifier.add", {"name": "Post", "kind": "BEVEL", "modifier": "edges", "settings": EDGES}),
    ("modifier.add", {"name": "Ball", "kind": "SUBSURF", "settings": {"levels": 1}}),
    (
        "scatter.points",
        {"target": "Ground", "count": 12, "name": "stone", "instance_of": "Tri", "seed": 11},
    ),
]
SHOT = {"camera": "Camera", "width": 48, "height": 32, "samples": 4}
