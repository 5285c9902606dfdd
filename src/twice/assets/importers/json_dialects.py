"""Generators that write a JSON object with fixed keys: InvokeAI, SwarmUI, Fooocus and NovelAI, by one table.

A key of the table is a field of a log; the rest is kept by its name, without secrets. What is written as text in
Python's form (``(1152, 896)``) is read by a pattern, and no hash but a whole sha256 of a file is taken for one:
InvokeAI's are labelled (``blake3:…``), SwarmUI's are of tensors, those of Fooocus and NovelAI are short.

Invariant: a value of the wrong type is reported, never converted by force.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from twice.assets.importers.result import (
    NO_MODEL,
    Reading,
    Value,
    describe,
    drop_none,
    to_sha256,
    to_text,
    to_weight,
)
from twice.foundation.printable import pluralize
from twice.recorder.redaction.fields import is_secret_value

CHARACTERS_MAX: Final = 64 << 20
DEPTH_MAX: Final = 64
REDACTED: Final = "<secret left out>"
_KEPT_DEPTH_MAX: Final = 8
_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_CREDENTIAL = re.compile(
    r"(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{12,}"
    r"|AIza[A-Za-z0-9_-]{20,}|xox[abp]-[A-Za-z0-9-]{10,}|r8_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
)
_PAIR = re.compile(r"\(\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*\)")
_NOVELAI_SOURCE = re.compile(r"(.+?)\s+([0-9A-F]{8})")
NOVELAI_TEXTS: Final = ("Software", "Source", "Comment", "Description", "Title", "Generation time")


@dataclass(frozen=True, slots=True)
class JsonDialect:
    """How one generator names its fields.

    Args:
        generator: its name.
        keys: the pointer that each key is taken for.
        inside: the member that holds the parameters; empty where the object itself does.
        version: the member that says the generator's version.
    """

    generator: str
    keys: Mapping[str, str]
    inside: str = ""
    version: str = ""


_SIZE: Final = {"width": "/art/width_px", "height": "/art/height_px", "seed": "/seed/effective"}
INVOKEAI: Final = JsonDialect(
    "InvokeAI",
    {
        **_SIZE, "positive_prompt": "/art/prompt", "negative_prompt": "/art/negative_prompt",
        "steps": "/art/steps", "cfg_scale": "/art/guidance", "scheduler": "/art/scheduler",
        "rand_device": "/art/rng_device", "strength": "/art/denoise", "clip_skip": "/art/settings/clip_skip",
    },
    version="app_version",
)  # fmt: skip
"""``invokeai_metadata``: a model is ``{"model_name"}`` in version 3 and ``{"name", "hash", "key"}`` from 4 on."""
INVOKEAI_2: Final = JsonDialect(
    "InvokeAI",
    {
        **_SIZE, "steps": "/art/steps", "cfg_scale": "/art/guidance", "sampler": "/art/sampler",
        "model_weights": "/model/name",
    },
    inside="image",
    version="app_version",
)  # fmt: skip
"""``sd-metadata`` of version 2."""
SWARMUI: Final = JsonDialect(
    "SwarmUI",
    {
        **_SIZE, "prompt": "/art/prompt", "negativeprompt": "/art/negative_prompt", "steps": "/art/steps",
        "cfgscale": "/art/guidance", "aspectratio": "/art/aspect_ratio", "sampler": "/art/sampler",
        "scheduler": "/art/scheduler", "initimagecreativity": "/art/denoise",
    },
    inside="sui_image_params",
    version="swarm_version",
)  # fmt: skip
FOOOCUS: Final = JsonDialect(
    "Fooocus",
    {
        "prompt": "/art/prompt", "negative_prompt": "/art/negative_prompt", "seed": "/seed/effective",
        "base_model": "/model/name", "steps": "/art/steps", "guidance_scale": "/art/guidance",
        "sampler": "/art/sampler", "scheduler": "/art/scheduler", "clip_skip": "/art/settings/clip_skip",
    },
    version="version",
)  # fmt: skip
"""A rerun starts from the typed prompt and the styles; what was sent to the model is kept as ``full_prompt``."""
NOVELAI: Final = JsonDialect(
    "NovelAI",
    {
        **_SIZE, "prompt": "/art/prompt", "uc": "/art/negative_prompt", "steps": "/art/steps",
        "scale": "/art/guidance", "sampler": "/art/sampler", "noise_schedule": "/art/scheduler",
        "strength": "/art/denoise",
    },
)  # fmt: skip
_READ_APART: Final = ("loras", "loraweights", "vae", "refiner_model", "metadata_scheme")


def find_dialect(found: Mapping[str, Any]) -> JsonDialect | None:
    """Tell by its members which generator wrote an object; ``None`` where they do not say."""
    if SWARMUI.inside in found:
        return SWARMUI
    if found.get("metadata_scheme") == "fooocus" or str(found.get("version")).startswith("Fooocus"):
        return FOOOCUS
    return None


def read_json_dialect(found: Mapping[str, Any], dialect: JsonDialect, reading: Reading) -> None:
    """Read an object of one of the generators."""
    params = found.get(dialect.inside) if dialect.inside else {}
    if not isinstance(params, Mapping):
        why = f"{describe(params)} is not the object of parameters"
        reading.add_unparsed(dialect.inside, why)
        return
    said = {**{key: value for key, value in found.items() if key != dialect.inside}, **params}
    version = to_text(said.pop(dialect.version, None))
    version = version.removeprefix(dialect.generator).strip() if version else None
    reading.name_generator(dialect.generator, version)
    reading.set("/provider/name", dialect.generator)
    reading.set(f"/environment/packages/{dialect.generator}", version)
    for key, value in said.items():
        if key in dialect.keys:
            reading.take(dialect.keys[key], value, key)
        elif key == "model" and "model_weights" not in said:
            model = _describe_model(value, key, reading)
            reading.set("/model/name", model.get("name"))
            reading.set("/model/sha256", model.get("sha256"))
        elif key == "resolution":
            size = _PAIR.fullmatch(str(value))
            for pointer, group in (("/art/width_px", 1), ("/art/height_px", 2)):
                reading.take(pointer, size[group] if size else value, key)
        elif key == "prompt":  # InvokeAI 2 writes a list of texts with weights.
            only = value[0] if isinstance(value, list) and len(value) == 1 else value
            reading.take("/art/prompt", only.get(key) if isinstance(only, Mapping) else only, key)
        elif key not in _READ_APART:
            reading.add_other(key, remove_secrets(value, key))
    adapters = list(_read_adapters(said, reading))
    reading.set("/model/adapters", adapters or None)


def read_novelai(texts: Iterable[tuple[str, str, str]], reading: Reading) -> None:
    """Read NovelAI's texts, which stand apart or as one object in the lowest bits of pixels.

    Args:
        texts: chunk, key and text of each; one of them, ``Software``, says NovelAI.
        reading: takes what they say.
    """
    found: dict[str, Any] = {}
    known = [each for each in texts if each[1] in NOVELAI_TEXTS]
    for chunk, key, text in sorted(known, key=lambda each: NOVELAI_TEXTS.index(each[1])):
        reading.chunk = chunk
        if key == "Software":
            reading.set("/provider/name", to_text(text))
            reading.set("/provider/endpoint", "hosted")
        elif key == "Source":
            match = _NOVELAI_SOURCE.fullmatch(text.strip())
            reading.set("/model/name", match[1] if match else to_text(text))
            reading.add_other("model hash", match[2].lower() if match else None)
        elif key == "Comment":
            found = read_object(text, reading)
            read_json_dialect(found, NOVELAI, reading)
        elif key == "Description" and "prompt" not in found:
            reading.set("/art/prompt", to_text(text))
        elif text != found.get("prompt"):
            reading.add_other(key, text)


def _describe_model(
    raw: object, place: str, reading: Reading, digest: object = None
) -> dict[str, Value]:
    """Give name and sha256 of a model: a name, or InvokeAI's object of either version; the rest is kept."""
    said = raw if isinstance(raw, Mapping) else {"name": raw, "hash": digest}
    name = to_text(said.get("name")) or to_text(said.get("model_name"))
    if name is None:
        reading.add_unparsed(place, f"{describe(raw)} names no model")
        return {}
    for key, value in said.items():
        reading.add_other(f"{place}/{key}", to_text(value) if value != name else None)
    return drop_none(name=name, sha256=to_sha256(str(said.get("hash")).partition("sha256:")[2]))


def _read_adapters(said: Mapping[str, Any], reading: Reading) -> Iterator[Value]:
    """Give the adapters: objects in InvokeAI, names beside weights in SwarmUI, triples in Fooocus."""
    lists = [said.get(key) or [] for key in ("loras", "loraweights")]
    lists = [each.split(",") if isinstance(each, str) else each for each in lists]
    loras, weights = (each if isinstance(each, list) else [] for each in lists)
    if weights and len(weights) != len(loras):
        why = f"{pluralize(len(weights), 'weight')} for {pluralize(len(loras), 'adapter')}"
        reading.add_unparsed("loraweights", why)
        weights = []
    for at, each in enumerate(loras):
        model, weight, digest = each, weights[at] if weights else None, None
        if isinstance(each, list):
            model, weight, digest = [*each, None, None, None][:3]
        elif isinstance(each, Mapping):
            model, weight = each.get("model") or each.get("lora"), each.get("weight")
        found = _describe_model(model, f"loras/{at}", reading, digest)
        if found:
            yield drop_none(kind="lora", **found, weight=to_weight(weight))
    for kind, key in (("other", "refiner_model"), ("vae", "vae")):
        if said.get(key) and str(said[key]).lower() not in NO_MODEL:
            found = _describe_model(said[key], key, reading)
            yield from [{"kind": kind, **found}] if found else []


def parse_json(text: str) -> Any:
    """Read one JSON document of a stranger; NaN and numbers beyond a float say nothing.

    Raises:
        ValueError: it is cut, too deep or too long, or says a key twice with two values, of which readers differ
            in the one that they take. The message says why and where.
    """
    if len(text) > CHARACTERS_MAX:
        raise ValueError(f"it is longer than {CHARACTERS_MAX} characters")
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > DEPTH_MAX:
            raise ValueError(f"it is nested deeper than {DEPTH_MAX} at character {match.start()}")
    return json.loads(
        text,
        object_pairs_hook=_refuse_repeated,
        parse_float=lambda digits: float(digits) if math.isfinite(float(digits)) else None,
        parse_constant=lambda _: None,
    )


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise ValueError(f"the key {key[:60]!r} stands twice, with two values")
    return found


def read_object(text: str, reading: Reading) -> dict[str, Any]:
    """Read a JSON object; note why not, and give an empty one, where it is none."""
    try:
        found = parse_json(text)
    except ValueError as error:
        reading.add_unparsed("JSON", str(error))
        return {}
    if isinstance(found, dict):
        return found
    reading.add_unparsed("JSON", f"it holds {describe(found)}, not an object")
    return {}


def remove_secrets(value: object, name: str = "", depth: int = 0) -> Value | None:
    """Give a JSON value without secrets, by name and by form; cut off below some depth."""
    if isinstance(value, str):
        return REDACTED if is_secret(name, value) else value
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == _KEPT_DEPTH_MAX:
        return f"<{describe(value)}>"
    if isinstance(value, dict):
        return drop_none(
            **{key: remove_secrets(each, key, depth + 1) for key, each in value.items()}
        )
    assert isinstance(value, list), "JSON holds nothing else"
    members = (remove_secrets(each, name, depth + 1) for each in value)
    return [each for each in members if each is not None]


def is_secret(name: str, value: str) -> bool:
    """Whether a text is a secret by the name it has, or by how it looks."""
    raw = name.encode("utf-8", "replace")[:200], value.encode("utf-8", "replace")
    # InvokeAI calls the id of a model its key.
    named = bool(value.strip()) and name != "key" and is_secret_value(*raw, given=True)
    return named or _CREDENTIAL.search(value) is not None


def has_secret(name: str, value: object) -> bool:
    """Whether a JSON value has a secret anywhere in it."""
    if isinstance(value, dict):
        return any(has_secret(str(key), each) for key, each in value.items())
    if isinstance(value, list):
        return any(has_secret(name, each) for each in value)
    return isinstance(value, str) and is_secret(name, value)
