"""NovelAI: texts beside a picture (``Software``, ``Source``, ``Comment``), or the same as one object.

The object is what stands in the lowest bits of the alpha channel. ``Source`` ends in a hash of eight
hexadecimal digits; what stands before is the model's name.

Invariant: the provider is said to be NovelAI only where ``Software`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading
from twice.assets.importers.keyed import Table, read_keys, read_object, read_seed, said

_SOURCE = re.compile(r"(.+?)\s+([0-9A-F]{8})")
_TABLE: Final[Table] = {
    "prompt": (fields.PROMPT, scalars.text),
    "uc": (fields.NEGATIVE_PROMPT, scalars.text),
    "steps": (fields.STEPS, scalars.count),
    "width": (fields.WIDTH, scalars.count),
    "height": (fields.HEIGHT, scalars.count),
    "scale": (fields.GUIDANCE, scalars.guidance),
    "sampler": (fields.SAMPLER, scalars.text),
    "noise_schedule": (fields.SCHEDULER, scalars.text),
    "strength": (fields.DENOISE, scalars.share),
}


def read_novelai(texts: Mapping[str, Any], reading: Reading, chunks: Mapping[str, str]) -> None:
    """Read NovelAI's texts.

    Args:
        texts: by key.
        reading: takes what they say.
        chunks: the chunk of each text, where they stand apart.
    """

    def at(key: str) -> None:
        reading.chunk = chunks.get(key, reading.chunk)

    at("Software")
    if texts.get("Software") == "NovelAI":
        reading.say(fields.PROVIDER, "NovelAI")
        reading.say(fields.ENDPOINT, "hosted")
    at("Source")
    _source(texts.get("Source"), reading)
    at("Comment")
    comment = texts.get("Comment")
    found = read_object(comment, reading) if isinstance(comment, str) else comment
    if isinstance(found, Mapping):
        read_keys(found, _TABLE, reading, known=("seed", "n_samples"))
        read_seed(found.get("seed"), reading)
        many = scalars.whole(found.get("n_samples"))
        if many is not None and many > 1:
            reading.puzzle("n_samples", f"the picture is one of {many}, and which one is not said")
    elif comment is not None and found is not None:
        reading.puzzle("Comment", f"{said(comment)} is not the object of parameters")
    at("Description")
    description = scalars.text(texts.get("Description"))
    if isinstance(found, Mapping) and "prompt" in found:
        reading.keep("Description", description if description != found["prompt"] else None)
    else:
        reading.say(fields.PROMPT, description)
    for key in ("Title", "Generation time"):
        value = texts.get(key)
        reading.keep(key, value if isinstance(value, str) else None)


def _source(source: object, reading: Reading) -> None:
    if not isinstance(source, str):
        return
    match = _SOURCE.fullmatch(source.strip())
    if match is None:
        reading.say(fields.MODEL_NAME, scalars.text(source))
        return
    reading.say(fields.MODEL_NAME, match[1])
    reading.keep("model hash", match[2].lower())
