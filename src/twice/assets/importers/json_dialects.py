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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from twice.assets.importers.result import NO_MODEL, Reading, Value, convert, drop_none, to_text
from twice.assets.log.io import short
from twice.foundation.printable import pluralize
from twice.recorder.redaction.fields import is_secret_value

CHARACTERS_MAX: Final = 64 << 20
DEPTH_MAX: Final = 64
REDACTED: Final = "<secret left out>"
_NO_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[^"\[\]{}]+', re.DOTALL)
_CREDENTIAL = re.compile(
    r"(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{12,}"
    r"|AIza[A-Za-z0-9_-]{20,}|xox[abp]-[A-Za-z0-9-]{10,}|r8_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
)
_PAIR = re.compile(r"\(\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*\)")
_NOVELAI_SOURCE = re.compile(r"(.+?)\s+([0-9A-F]{8})")


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


_SIZE: Final = {
    "width": "/art/width_px", "height": "/art/height_px", "seed": "/seed/effective", "steps": "/art/steps",
}  # fmt: skip
INVOKEAI: Final = JsonDialect(
    "InvokeAI",
    {
        **_SIZE, "positive_prompt": "/art/prompt", "negative_prompt": "/art/negative_prompt",
        "cfg_scale": "/art/guidance", "scheduler": "/art/scheduler", "rand_device": "/art/rng_device",
        "strength": "/art/denoise", "clip_skip": "/art/settings/clip_skip",
    },
    version="app_version",
)  # fmt: skip
"""``invokeai_metadata``: a model is ``{"model_name"}`` in version 3 and ``{"name", "hash", "key"}`` from 4 on."""
INVOKEAI_2: Final = JsonDialect(
    "InvokeAI",
    {
        **_SIZE,
        "cfg_scale": "/art/guidance",
        "sampler": "/art/sampler",
        "model_weights": "/model/name",
    },
    inside="image",
    version="app_version",
)
"""``sd-metadata`` of version 2."""
SWARMUI: Final = JsonDialect(
    "SwarmUI",
    {
        **_SIZE, "prompt": "/art/prompt", "negativeprompt": "/art/negative_prompt", "cfgscale": "/art/guidance",
        "aspectratio": "/art/aspect_ratio", "sampler": "/art/sampler", "scheduler": "/art/scheduler",
        "initimagecreativity": "/art/denoise",
    },
    inside="sui_image_params",
    version="swarm_version",
)  # fmt: skip
FOOOCUS: Final = JsonDialect(
    "Fooocus",
    {
        **_SIZE, "prompt": "/art/prompt", "negative_prompt": "/art/negative_prompt", "base_model": "/model/name",
        "guidance_scale": "/art/guidance", "sampler": "/art/sampler", "scheduler": "/art/scheduler",
        "clip_skip": "/art/settings/clip_skip",
    },
    version="version",
)  # fmt: skip
"""A rerun starts from the typed prompt and the styles; what was sent to the model is kept as ``full_prompt``."""
NOVELAI: Final = JsonDialect(
    "NovelAI",
    {
        **_SIZE, "prompt": "/art/prompt", "uc": "/art/negative_prompt", "scale": "/art/guidance",
        "sampler": "/art/sampler", "noise_schedule": "/art/scheduler", "strength": "/art/denoise",
    },
)  # fmt: skip
_READ_APART: Final = ("loras", "loraweights", "vae", "refiner_model", "metadata_scheme")


def find_dialect(found: Mapping[str, Any]) -> JsonDialect | None:
    """Tell by its members which generator wrote an object; ``None`` where they do not say."""
    if SWARMUI.inside in found:
        return SWARMUI
    is_fooocus = str(found.get("version")).startswith("Fooocus")
    return FOOOCUS if is_fooocus or found.get("metadata_scheme") == "fooocus" else None


def read_json_dialect(found: Mapping[str, Any], dialect: JsonDialect, reading: Reading) -> None:
    """Read an object of one of the generators.

    Raises:
        ValueError: its parameters are no object.
    """
    said = dict(found)
    params = said.pop(dialect.inside, None) if dialect.inside else {}
    if not isinstance(params, dict):
        raise ValueError(f"{dialect.inside}: {short(params)} is not the object of parameters")  # noqa: TRY004
    said |= params
    version = to_text(said.pop(dialect.version, None))
    version = version.removeprefix(dialect.generator).strip() if version else None
    reading.name_provider(dialect.generator, version)
    for key, value in said.items():
        if key == "model" and "model_weights" not in said:
            for part, each in _describe_model(value, key, reading).items():
                reading.set(f"/model/{part}", each)
        elif key == "resolution":
            reading.take_size(_PAIR, value, key)
        elif key == "prompt":  # InvokeAI 2 writes a list of texts with weights.
            only = value[0] if isinstance(value, list) and len(value) == 1 else value
            reading.take("/art/prompt", only.get(key) if isinstance(only, Mapping) else only, key)
        elif key in dialect.keys:
            reading.take(dialect.keys[key], value, key)
        elif key not in _READ_APART:
            reading.add_other(key, remove_secrets(value, key))
    reading.set("/model/adapters", list(_read_adapters(said, reading)) or None)


def read_novelai(key: str, text: str, reading: Reading) -> bool:
    """Read one of NovelAI's texts, which stand apart or in an object in the lowest bits; give false for others."""
    match key:
        case "Software":
            reading.set("/provider/name", to_text(text))
            reading.set("/provider/endpoint", "hosted")
        case "Source":
            match = _NOVELAI_SOURCE.fullmatch(text.strip())
            reading.set("/model/name", match[1] if match else to_text(text))
            reading.add_other("model hash", match[2].lower() if match else None)
        case "Comment":
            read_json_dialect(parse_object(text), NOVELAI, reading)
        case "Description":
            reading.set("/art/prompt", to_text(text))
        case "Title" | "Generation time":
            reading.add_other(key, text)
        case _:
            return False
    return True


def _describe_model(
    raw: object, place: str, reading: Reading, digest: object = None
) -> dict[str, Value]:
    """Give name and sha256 of a model: a name, or InvokeAI's object of either version; the rest is kept."""
    said = raw if isinstance(raw, Mapping) else {"name": raw, "hash": digest}
    name = to_text(said.get("name")) or to_text(said.get("model_name"))
    if name is None:
        reading.add_unparsed(place, f"{short(raw)} names no model")
        return {}
    for key, value in said.items():
        reading.add_other(f"{place}/{key}", to_text(value) if value != name else None)
    sha256 = convert("/model/sha256", str(said.get("hash")).partition("sha256:")[2])
    return drop_none(name=name, sha256=sha256)


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
        if found := _describe_model(model, f"loras/{at}", reading, digest):
            weight = convert("/model/adapters/0/weight", weight)
            yield drop_none(kind="lora", **found, weight=weight)
    for kind, key in (("other", "refiner_model"), ("vae", "vae")):
        is_named = said.get(key) and str(said[key]).lower() not in NO_MODEL
        if is_named and (found := _describe_model(said[key], key, reading)):
            yield {"kind": kind, **found}


def parse_object(text: str) -> dict[str, Any]:
    """Read a JSON object of a stranger; NaN and numbers beyond a float say nothing.

    Raises:
        ValueError: it is none, cut, too deep or too long, or says a key twice with two values, of which readers differ
            in the one that they take. The message says why.
    """
    depths = accumulate(1 if each in "[{" else -1 for each in _NO_BRACKET.sub("", text))
    if len(text) > CHARACTERS_MAX or max(depths, default=0) > DEPTH_MAX:
        raise ValueError(f"it is nested deeper than {DEPTH_MAX}, or too long")
    found = json.loads(
        text,
        object_pairs_hook=_refuse_repeated,
        parse_float=lambda digits: float(digits) if math.isfinite(float(digits)) else None,
        parse_constant=lambda _: None,
    )
    if not isinstance(found, dict):
        raise ValueError(f"it holds {short(found)}, not an object")  # noqa: TRY004
    return found


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise ValueError(f"the key {key[:60]!r} stands twice, with two values")
    return found


def remove_secrets(value: Any, name: str = "") -> Any:
    """Give a JSON value without secrets, by the name that they have or by how they look."""
    if isinstance(value, dict):
        return {key: remove_secrets(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [remove_secrets(each, name) for each in value]
    if not isinstance(value, str):
        return value
    raw = name.encode("utf-8", "replace")[:200], value.encode("utf-8", "replace")
    # InvokeAI calls the id of a model its key.
    is_named = bool(value.strip()) and name != "key" and is_secret_value(*raw, given=True)
    return REDACTED if is_named or _CREDENTIAL.search(value) else value
