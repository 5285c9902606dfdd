"""InvokeAI: the object in ``invokeai_metadata`` of version 3 on, and ``sd-metadata`` of version 2.

A model is ``{"model_name", ...}`` in version 3 and ``{"name", "hash", "key", ...}`` from 4 on.

Invariant: a hash keeps the label that InvokeAI gave it (``blake3:…``); it is never taken for a sha256.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value
from twice.assets.importers.keyed import Table, read_keys, read_object, read_seed, said
from twice.assets.importers.scalars import FULL_SHA256
from twice.foundation.printable import pluralize

_TABLE: Final[Table] = {
    "positive_prompt": (fields.PROMPT, scalars.text),
    "negative_prompt": (fields.NEGATIVE_PROMPT, scalars.text),
    "width": (fields.WIDTH, scalars.count),
    "height": (fields.HEIGHT, scalars.count),
    "steps": (fields.STEPS, scalars.count),
    "cfg_scale": (fields.GUIDANCE, scalars.guidance),
    "scheduler": (fields.SCHEDULER, scalars.text),
    "rand_device": (fields.RNG_DEVICE, scalars.text),
    "strength": (fields.DENOISE, scalars.share),
    "clip_skip": (fields.CLIP_SKIP, scalars.whole),
}
_OLD: Final[Table] = {
    "width": (fields.WIDTH, scalars.count),
    "height": (fields.HEIGHT, scalars.count),
    "steps": (fields.STEPS, scalars.count),
    "cfg_scale": (fields.GUIDANCE, scalars.guidance),
    "sampler": (fields.SAMPLER, scalars.text),
}
_HANDLED = ("app_version", "seed", "model", "vae", "loras")


def read_invokeai(text: str, reading: Reading) -> None:
    """Read ``invokeai_metadata``."""
    found = read_object(text, reading)
    if found is None:
        return
    _program(found, reading)
    read_keys(found, _TABLE, reading, known=_HANDLED)
    read_seed(found.get("seed"), reading)
    if "model" in found:
        _model(found["model"], reading)
    adapters: list[Value] = []
    loras = found.get("loras")
    for at, each in enumerate(loras if isinstance(loras, list) else []):
        _lora(each, f"loras/{at}", adapters, reading)
    if isinstance(found.get("vae"), Mapping):
        _adapter("vae", found["vae"], None, "vae", adapters, reading)
    if adapters:
        reading.say(fields.ADAPTERS, adapters)


def read_invokeai_2(text: str, reading: Reading) -> None:
    """Read ``sd-metadata``."""
    found = read_object(text, reading)
    if found is None:
        return
    _program(found, reading)
    reading.say(fields.MODEL_NAME, scalars.text(found.get("model_weights")))
    reading.keep("model_hash", scalars.text(found.get("model_hash")))
    image = found.get("image")
    if not isinstance(image, Mapping):
        reading.puzzle("image", f"{said(image)} is not the object that describes the picture")
        return
    read_keys(image, _OLD, reading, known=("seed", "prompt"))
    read_seed(image.get("seed"), reading)
    prompt = image.get("prompt")
    parts = prompt if isinstance(prompt, list) else [{"prompt": prompt}]
    texts = [each.get("prompt") for each in parts if isinstance(each, Mapping)]
    if len(texts) == 1:
        reading.say(fields.PROMPT, scalars.text(texts[0]))
    else:
        reading.puzzle("image/prompt", f"it holds {pluralize(len(texts), 'weighted prompt')}")


def _program(found: Mapping[str, Any], reading: Reading) -> None:
    reading.say(fields.PROVIDER, "InvokeAI")
    reading.generator_version = scalars.text(found.get("app_version"))
    reading.say(fields.package("InvokeAI"), reading.generator_version)


def _model(model: object, reading: Reading) -> None:
    if isinstance(model, str):
        reading.say(fields.MODEL_NAME, scalars.text(model))
        return
    name, digest = _named(model)
    if name is None:
        reading.puzzle("model", f"{said(model)} names no model")
        return
    reading.say(fields.MODEL_NAME, name)
    reading.say(fields.MODEL_SHA256, _sha256(digest))
    for key in ("hash", "base", "base_model", "key", "type", "model_type"):
        if isinstance(model, Mapping):
            reading.keep(f"model/{key}", scalars.text(model.get(key)))


def _lora(each: object, where: str, adapters: list[Value], reading: Reading) -> None:
    if not isinstance(each, Mapping):
        reading.puzzle(where, f"{said(each)} is no adapter")
        return
    model = each.get("model") or each.get("lora")
    _adapter("lora", model, each.get("weight"), where, adapters, reading)


def _adapter(
    kind: str, model: Any, weight: object, where: str, adapters: list[Value], reading: Reading
) -> None:
    name, digest = _named(model)
    if name is None:
        reading.puzzle(where, f"{said(model)} names no model")
        return
    adapters.append(
        fields.adapter(kind, name, sha256=_sha256(digest), weight=scalars.weight(weight))
    )
    reading.keep(f"{where}/hash", digest)


def _sha256(digest: str | None) -> str | None:
    """Give the digits of a labelled sha256 that is whole; any other hash is no sha256."""
    digits = (digest or "").removeprefix("sha256:")
    return digits if digest and digest != digits and FULL_SHA256.fullmatch(digits) else None


def _named(model: object) -> tuple[str | None, str | None]:
    """Give the name and the labelled hash of a model object of either version."""
    if not isinstance(model, Mapping):
        return None, None
    name = scalars.text(model.get("name")) or scalars.text(model.get("model_name"))
    return name, scalars.text(model.get("hash"))
