"""Builds the rich scene in an order, and answers its fingerprints before and after save and load."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bpy
import rich
from answering import answer, request

from twice.tools.scenes.blender.snapshot import read_snapshot
from twice.tools.scenes.difference import scene_differences

asked = request() or {}
rich.build(asked.get("order"))
before = read_snapshot(bpy, {}, evaluated=True)
path = Path(tempfile.mkdtemp()) / "a.blend"
bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
after = read_snapshot(bpy, {}, evaluated=True)
answer(
    {
        "prints": [before.fingerprint, before.core_fingerprint],
        "blocks": sum(len(section.blocks) for section in before.sections.values()),
        "loaded": scene_differences(before, after),
    }
)
