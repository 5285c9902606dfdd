"""SwarmUI: the object with ``sui_image_params`` that stands in ``parameters``.

Its hashes are of a model's tensors, not of its file; they are kept under other.

Invariant: no hash of SwarmUI's is taken for a sha256 of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value
from twice.assets.importers.keyed import (
    Table,
    read_keys,
    read_object,
    read_seed,
    said,
    without_secrets,
)
from twice.foundation.printable import pluralize

MARK: Final = "sui_image_params"
_TABLE: Final[Table] = {
    "prompt": (fields.PROMPT, scalars.text),
    "negativeprompt": (fields.NEGATIVE_PROMPT, scalars.text),
    "model": (fields.MODEL_NAME, scalars.text),
    "steps": (fields.STEPS, scalars.count),
    "cfgscale": (fields.GUIDANCE, scalars.guidance),
    "aspectratio": (fields.ASPECT_RATIO, scalars.aspect),
    "width": (fields.WIDTH, scalars.count),
    "height": (fields.HEIGHT, scalars.count),
    "sampler": (fields.SAMPLER, scalars.text),
    "scheduler": (fields.SCHEDULER, scalars.text),
    "initimagecreativity": (fields.DENOISE, scalars.share),
}


def read_swarmui(text: str, reading: Reading) -> None:
    """Read SwarmUI's metadata."""
    found = read_object(text, reading)
    if found is None:
        return
    params = found.get(MARK)
    if not isinstance(params, Mapping):
        reading.puzzle(MARK, f"{said(params)} is not the object of parameters")
        return
    reading.say(fields.PROVIDER, "SwarmUI")
    reading.generator_version = scalars.text(params.get("swarm_version"))
    reading.say(fields.package("SwarmUI"), reading.generator_version)
    known = ("seed", "swarm_version", "loras", "loraweights", "vae")
    read_keys(params, _TABLE, reading, known=known)
    read_seed(params.get("seed"), reading)
    hashes = _hashes(found.get("sui_models"), reading)
    for name, digest in hashes.items():
        reading.keep(f"hash of {name}", digest)
    _adapters(params, reading)
    for key, value in found.items():
        if key not in (MARK, "sui_models"):
            reading.keep(key, without_secrets(value, key))


def _hashes(models: object, reading: Reading) -> dict[str, str]:
    hashes: dict[str, str] = {}
    for at, each in enumerate(models if isinstance(models, list) else []):
        param = each.get("param") if isinstance(each, Mapping) else None
        digest = scalars.text(each.get("hash")) if isinstance(each, Mapping) else None
        name = scalars.text(each.get("name")) if isinstance(each, Mapping) else None
        if not isinstance(param, str) or digest is None:
            reading.puzzle(f"sui_models/{at}", f"{said(each)} names no parameter and hash")
            continue
        hashes[param if name is None else f"{param} {name}"] = digest
    return hashes


def _adapters(params: Mapping[str, Any], reading: Reading) -> None:
    names, weights = _listed(params.get("loras")), _listed(params.get("loraweights"))
    if weights and len(weights) != len(names):
        reading.puzzle(
            "loraweights",
            f"{pluralize(len(weights), 'weight')} for {pluralize(len(names), 'adapter')}",
        )
        weights = []
    adapters: list[Value] = []
    for at, name in enumerate(names):
        weight = scalars.weight(weights[at]) if weights else None
        adapters.append(fields.adapter("lora", name, weight=weight))
    vae = scalars.text(params.get("vae"))
    if vae is not None and vae.lower() != "automatic":
        adapters.append(fields.adapter("vae", vae))
    if adapters:
        reading.say(fields.ADAPTERS, adapters)


def _listed(value: object) -> list[str]:
    """Give a list that is written as one, or as text with commas."""
    members = value.split(",") if isinstance(value, str) else value
    if not isinstance(members, list):
        return []
    return [str(each).strip() for each in members if str(each).strip()]
