"""Fooocus: the object in ``parameters`` that its scheme of the same name writes.

What was sent to the model is ``full_prompt``, the typed prompt with styles and expansion; it is kept
under other, because a rerun starts from the typed one and the styles.

Invariant: what is written as text in Python's form (``(1152, 896)``) is read by a pattern, never run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value
from twice.assets.importers.keyed import Table, read_keys, read_object, read_seed, said

_PAIR = re.compile(r"\(\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*\)")
_TABLE: Final[Table] = {
    "prompt": (fields.PROMPT, scalars.text),
    "negative_prompt": (fields.NEGATIVE_PROMPT, scalars.text),
    "base_model": (fields.MODEL_NAME, scalars.text),
    "steps": (fields.STEPS, scalars.count),
    "guidance_scale": (fields.GUIDANCE, scalars.guidance),
    "sampler": (fields.SAMPLER, scalars.text),
    "scheduler": (fields.SCHEDULER, scalars.text),
    "clip_skip": (fields.CLIP_SKIP, scalars.whole),
}
_HANDLED = ("seed", "resolution", "loras", "vae", "version", "metadata_scheme", "refiner_model")


def looks_like(found: Mapping[str, Any]) -> bool:
    """Whether an object is Fooocus's."""
    return found.get("metadata_scheme") == "fooocus" or str(found.get("version", "")).startswith(
        "Fooocus"
    )


def read_fooocus(text: str, reading: Reading) -> None:
    """Read Fooocus's metadata."""
    found = read_object(text, reading)
    if found is None:
        return
    version = scalars.text(found.get("version"))
    reading.say(fields.PROVIDER, "Fooocus")
    if version is not None:
        reading.generator_version = version.removeprefix("Fooocus").strip()
        reading.say(fields.package("Fooocus"), reading.generator_version)
    read_keys(found, _TABLE, reading, known=_HANDLED)
    read_seed(found.get("seed"), reading)
    match = _PAIR.fullmatch(str(found.get("resolution", "")))
    if match is not None and scalars.count(match[1]) and scalars.count(match[2]):
        reading.say(fields.WIDTH, int(match[1]))
        reading.say(fields.HEIGHT, int(match[2]))
    elif "resolution" in found:
        reading.puzzle("resolution", f"{said(found['resolution'])} is not (width, height)")
    adapters = list(_loras(found.get("loras"), reading))
    for kind, key in (("other", "refiner_model"), ("vae", "vae")):
        name = scalars.text(found.get(key))
        if name is not None and name != "Default (model)":
            adapters.append(fields.adapter(kind, name))
    if adapters:
        reading.say(fields.ADAPTERS, adapters)


def _loras(loras: object, reading: Reading) -> list[Value]:
    adapters: list[Value] = []
    for at, each in enumerate(loras if isinstance(loras, list) else []):
        if not isinstance(each, list) or not each or not isinstance(each[0], str):
            reading.puzzle(f"loras/{at}", f"{said(each)} is not a list of name, weight and hash")
            continue
        weight = scalars.weight(each[1]) if len(each) > 1 else None
        digest = scalars.text(each[2]) if len(each) > 2 else None
        adapters.append(fields.adapter("lora", each[0], sha256=digest, weight=weight))
        reading.keep(f"loras/{at}/hash", digest)
    return adapters
