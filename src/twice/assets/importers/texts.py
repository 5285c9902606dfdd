"""The texts beside a picture: which dialect each is in, and its reading.

The key of a text decides where a generator owns it (``invokeai_metadata``), the text itself where many
share a key (``parameters``, ``UserComment``).

Invariant: a text that no dialect knows is kept under other, or noted; it is never read by likeness.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from twice.assets.importers import fooocus, swarmui
from twice.assets.importers.a1111 import read_a1111
from twice.assets.importers.comfy import comfy
from twice.assets.importers.imported import Reading
from twice.assets.importers.invokeai import read_invokeai, read_invokeai_2
from twice.assets.importers.jsontext import JsonRefused, parsed
from twice.assets.importers.keyed import without_secrets
from twice.assets.importers.novelai import read_novelai
from twice.foundation.printable import pluralize

_KEPT_MAX: Final = 4096
_SHARED: Final = (
    "parameters",
    "UserComment",
    "Comment",
    "comment",
    "COM",
    "Description",
    "generation_data",
)
_NOVELAI: Final = ("Title", "Software", "Source", "Description", "Comment", "Generation time")
_COMFY_PREFIXES: Final = ("prompt:", "workflow:")


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a file: how its place is called, its key, and what it says."""

    chunk: str
    key: str
    text: str


def read_texts(texts: Iterable[Text]) -> Iterator[Reading]:
    """Give a reading for each text, and one for those that belong together."""
    waiting = [_comfy_in_exif(each) for each in texts]
    novelai = [each for each in waiting if each.key in _NOVELAI]
    if any(each.key == "Software" and each.text == "NovelAI" for each in novelai):
        yield _novelai(novelai)
        waiting = [each for each in waiting if each not in novelai]
    prompts = [
        each.text for each in waiting if each.key == "prompt" and _is_comfy_prompt(each.text)
    ]
    for each in waiting:
        yield _one(each, prompts[0] if prompts else None)


def _comfy_in_exif(text: Text) -> Text:
    """Give what ComfyUI puts into tags of a WebP file (``prompt:{...}``) its key."""
    for prefix in _COMFY_PREFIXES:
        if (
            text.text[: len(prefix)].lower() == prefix
            and text.text[len(prefix) :].lstrip()[:1] == "{"
        ):
            return Text(f"{text.chunk} {prefix[:-1]}", prefix[:-1], text.text[len(prefix) :])
    return text


def _novelai(texts: list[Text]) -> Reading:
    reading = Reading("texts of NovelAI", "NovelAI")
    said: dict[str, Any] = {}
    chunks: dict[str, str] = {}
    for each in texts:
        if each.key in said and said[each.key] != each.text:
            reading.puzzle(each.key, "it stands twice, with different texts; the first was read")
        said.setdefault(each.key, each.text)
        chunks.setdefault(each.key, each.chunk)
    read_novelai(said, reading, chunks)
    reading.chunk = "texts of NovelAI"
    return reading


def _one(text: Text, prompt: str | None) -> Reading:
    if text.key == "invokeai_metadata":
        return _read(text, "InvokeAI", read_invokeai)
    if text.key == "sd-metadata":
        return _read(text, "InvokeAI", read_invokeai_2)
    if text.key == "prompt" and _is_comfy_prompt(text.text):
        return _read(text, "ComfyUI", comfy.read_prompt)
    if text.key == "workflow" and text.text.lstrip()[:1] == "{":
        return _read(text, "ComfyUI", lambda said, r: comfy.read_workflow(said, r, prompt))
    if text.key in _SHARED:
        return _shared(text)
    return _kept(text)


def _read(text: Text, generator: str, read: Callable[[str, Reading], None]) -> Reading:
    reading = Reading(text.chunk, generator)
    read(text.text, reading)
    return reading


def by_content(text: str) -> tuple[str, Callable[[str, Reading], None]] | None:
    """Give the generator whose form a text has, with its reader; nothing where it has none."""
    stripped = text.lstrip()
    if stripped[:1] != "{":
        is_markup = stripped[:5].lower() in ("<?xml", "<html", "<!doc")
        return ("infotext", read_a1111) if "Steps:" in text and not is_markup else None
    try:
        found = parsed(stripped)
    except JsonRefused:
        return _by_mark(stripped)
    if not isinstance(found, dict):
        return None
    if swarmui.MARK in found:
        return "SwarmUI", swarmui.read_swarmui
    if fooocus.looks_like(found):
        return "Fooocus", fooocus.read_fooocus
    if comfy.looks_like_prompt(found):
        return "ComfyUI", comfy.read_prompt
    if comfy.looks_like_workflow(found):
        return "ComfyUI", lambda said, r: comfy.read_workflow(said, r, None)
    if found.get("Software") == "NovelAI":
        return "NovelAI", _novelai_object
    if isinstance(found.get("prompt"), dict) and comfy.looks_like_prompt(found["prompt"]):
        return "ComfyUI", _both
    return None


def _by_mark(text: str) -> tuple[str, Callable[[str, Reading], None]] | None:
    """Tell whose a damaged object is, so that its reader says what is wrong with it."""
    if swarmui.MARK in text[:200]:
        return "SwarmUI", swarmui.read_swarmui
    if '"class_type"' in text:
        return "ComfyUI", comfy.read_prompt
    return None


def _novelai_object(text: str, reading: Reading) -> None:
    read_novelai(parsed(text), reading, {})


def _both(text: str, reading: Reading) -> None:
    """Read an object with ``prompt`` and ``workflow`` in it, as some savers write."""
    comfy.read_prompt(json.dumps(parsed(text)["prompt"]), reading)


def _shared(text: Text) -> Reading:
    known = by_content(text.text)
    if known is not None:
        return _read(text, known[0], known[1])
    if text.key != "parameters":
        return _kept(text)
    reading = Reading(text.chunk, "")
    reading.puzzle("text", f"it is in no form that is known here; it begins {text.text[:60]!r}")
    return reading


def _kept(text: Text) -> Reading:
    reading = Reading(text.chunk, "")
    short = (
        text.text if len(text.text) <= _KEPT_MAX else f"{pluralize(len(text.text), 'character')}"
    )
    reading.keep(text.key or text.chunk, without_secrets(short, text.key))
    return reading


def _is_comfy_prompt(text: str) -> bool:
    return text.lstrip()[:1] == "{" and '"class_type"' in text
