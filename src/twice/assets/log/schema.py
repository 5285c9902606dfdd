"""The JSON Schemas (draft 2020-12) that ship with the package, made from the same declarations.

``python -m twice.assets.log.schema`` writes them anew.

Invariant: a schema takes a document exactly when ``reading.examine`` finds no problem in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from twice.assets.log.art import ArtRender
from twice.assets.log.audio import AudioRender
from twice.assets.log.declaring import Declared, Inside, Many, One, Shape, Table
from twice.assets.log.kinds import TEXT_SCHEMA, Text
from twice.assets.log.log import AssetKind, DeterminismLog
from twice.assets.log.promise import Grade, Mode
from twice.assets.log.reading import EXCUSE, Needs, declared_fields
from twice.writing import write

FOLDER: Final = Path(__file__).parents[1] / "schemas"
NAMES: Final = ("determinism_log", "audio_render", "art_render")
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_EXCUSED: Final = {
    "type": "object",
    "properties": {EXCUSE: Text("a reason").schema()},
    "required": [EXCUSE],
    "additionalProperties": False,
}


def identifier(name: str) -> str:
    """Give the URI that a schema is known by."""
    return f"urn:twice:schema:{name.replace('_', '-')}:1"


def schemas() -> dict[str, dict[str, object]]:
    """Make all schemas, by the stem of their file."""
    return {
        "determinism_log": _log(),
        "audio_render": _render("audio_render", AudioRender, AssetKind.AUDIO),
        "art_render": _render("art_render", ArtRender, AssetKind.ART),
    }


def text_of(schema: Mapping[str, object]) -> str:
    """Write a schema as its file holds it."""
    return json.dumps(schema, indent=1, ensure_ascii=True) + "\n"


def write_all(folder: Path = FOLDER) -> None:
    """Write every schema into a folder."""
    for name, schema in schemas().items():
        write(folder / f"{name}.schema.json", text_of(schema).encode())


def _log() -> dict[str, object]:
    defs: dict[str, Any] = {"text": TEXT_SCHEMA}
    for kind in AssetKind:
        for mode in Mode:
            whole = _block(DeterminismLog, Needs.of(mode, kind), mode, defs)
            whole["allOf"] = [_conditional_supersedes()]
            defs[f"{kind}.{mode}"] = whole
    return {
        "$schema": _DRAFT,
        "$id": identifier("determinism_log"),
        "title": "Determinism log of an asset",
        "type": "object",
        "required": ["kind", "promise"],
        "properties": {
            "kind": {"enum": list(AssetKind)},
            "promise": {
                "type": "object",
                "required": ["mode"],
                "properties": {"mode": {"enum": list(Mode)}},
            },
        },
        "allOf": [
            {"if": _of(kind, mode), "then": {"$ref": f"#/$defs/{kind}.{mode}"}}
            for kind in AssetKind
            for mode in Mode
        ],
        "$defs": defs,
    }


def _of(kind: AssetKind, mode: Mode) -> dict[str, object]:
    return {
        "properties": {
            "kind": {"const": kind},
            "promise": {"properties": {"mode": {"const": mode}}},
        }
    }


def _conditional_supersedes() -> dict[str, object]:
    return {
        "if": {"properties": {"revision": {"minimum": 2}}},
        "then": {"required": ["supersedes"]},
    }


def _conditional_profile() -> dict[str, object]:
    return {
        "if": {"required": ["grade"], "properties": {"grade": {"const": Grade.TOLERANCE}}},
        "then": {"required": ["profile"]},
    }


def _render(name: str, block: Any, kind: AssetKind) -> dict[str, object]:
    defs: dict[str, Any] = {"text": TEXT_SCHEMA}
    for mode in Mode:
        defs[mode] = _block(block, Needs.of(mode, kind), mode, defs)
    return {
        "$schema": _DRAFT,
        "$id": identifier(name),
        "title": f"How {'an image' if kind is AssetKind.ART else 'a sound'} was rendered",
        "$ref": f"#/$defs/{Mode.DETERMINISTIC}",
        "$defs": defs,
    }


def _block(block: Any, needs: Needs, mode: Mode, defs: dict[str, Any]) -> dict[str, object]:
    """Give the schema of a block under one promise; those of inner blocks go into ``defs``."""
    barred = {*AssetKind} - {needs.kind} if block is DeterminismLog else set()
    fields = {
        name: declared for name, declared in declared_fields(block).items() if name not in barred
    }
    schema: dict[str, object] = {
        "type": "object",
        "description": (block.__doc__ or "").partition("\n")[0],
        "properties": {
            name: _field(declared, needs, mode, defs) for name, declared in fields.items()
        },
        "required": [name for name, each in fields.items() if each.need in needs.holding],
        "additionalProperties": False,
    }
    if block.__name__ == "Promise":
        schema["allOf"] = [_conditional_profile()]
    return schema


def _field(declared: Declared, needs: Needs, mode: Mode, defs: dict[str, Any]) -> dict[str, object]:
    schema = _shape(declared.shape, needs, mode, defs)
    described = {"title": declared.words, **schema}
    if not declared.excusable:
        return described
    return {
        "title": declared.words,
        "if": {"type": "object", "required": [EXCUSE]},
        "then": _EXCUSED,
        "else": schema,
    }


def _shape(shape: Shape, needs: Needs, mode: Mode, defs: dict[str, Any]) -> dict[str, object]:
    match shape:
        case One(kind):
            return kind.schema()
        case Many(of, least):
            return {"type": "array", "items": _shape(of, needs, mode, defs), "minItems": least}
        case Table(of):
            return {"type": "object", "additionalProperties": _shape(of, needs, mode, defs)}
        case Inside(block):
            return _reference(block, needs, mode, defs)


def _reference(block: Any, needs: Needs, mode: Mode, defs: dict[str, Any]) -> dict[str, object]:
    outside = {ArtRender: "art_render", AudioRender: "audio_render"}
    if block in outside:
        return {"$ref": f"{identifier(outside[block])}#/$defs/{mode}"}
    name = f"{block.__name__}.{mode}"
    if name not in defs:
        defs[name] = {}
        defs[name] = _block(block, needs, mode, defs)
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    write_all()
