"""AUTOMATIC1111 and Forge: an infotext read into the fields of a log.

What extensions add (ControlNet units, hires fix, ADetailer) is kept by its own key: a hires pass has
steps and a sampler of its own, which are not the picture's first pass.

Invariant: the model is the one named by ``Model`` at the top level, never one inside a quoted value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value, distinct
from twice.assets.importers.infotext import Infotext, InfotextRefused, taken_apart
from twice.assets.importers.keyed import read_seed
from twice.assets.importers.scalars import FULL_SHA256
from twice.foundation.printable import pluralize

_LORA_HASH = re.compile(r"\s*(.+?)\s*:\s*([0-9a-fA-F]{6,64})\s*(?:,|$)")
_NETWORK = re.compile(r"<(lora|lyco|hypernet):([^:<>]{1,200})(?::([^<>]{1,80}))?>")
_HASH = re.compile(r"[0-9a-fA-F]{6,64}")
_PROGRAMS: Final = (
    ("AUTOMATIC1111", re.compile(r"v1\.\d")),
    ("Forge", re.compile(r"f\d|forge", re.IGNORECASE)),
)
_DIRECT: Final = {
    "Sampler": (fields.SAMPLER, scalars.text),
    "Schedule type": (fields.SCHEDULER, scalars.text),
    "Steps": (fields.STEPS, scalars.count),
    "CFG scale": (fields.GUIDANCE, scalars.guidance),
    "Denoising strength": (fields.DENOISE, scalars.share),
    "Clip skip": (fields.CLIP_SKIP, scalars.whole),
    "RNG": (fields.RNG_DEVICE, scalars.text),
    "Model": (fields.MODEL_NAME, scalars.text),
}
_HANDLED: Final = (
    "Seed", "Size", "Model hash", "VAE", "VAE hash", "Lora hashes", "Version", "Batch pos", "Batch size",
)  # fmt: skip


def read_a1111(text: str, reading: Reading) -> None:
    """Read an infotext into a reading; what is wrong with it is noted there."""
    try:
        found = taken_apart(text)
    except InfotextRefused as error:
        reading.puzzle("infotext", str(error))
        return
    pairs = _once(found, reading)
    _prompts(found, reading)
    for key, value in pairs.items():
        if key in _DIRECT:
            _direct(key, value, reading)
        elif key not in _HANDLED:
            reading.keep(key, _plain(value))
    read_seed(pairs.get("Seed"), reading, where="Seed")
    _batch(pairs, reading)
    if "Size" in pairs:
        _size(pairs["Size"], reading)
    _model_hash(pairs, reading)
    _adapters(found, pairs, reading)
    _version(pairs.get("Version"), reading)
    if found.rest:
        reading.keep("after the parameters", found.rest)


def _once(found: Infotext, reading: Reading) -> dict[str, str | bool]:
    """Give the pairs by key; a key that comes twice with two values is ambiguous or not understood."""
    for key, why in found.broken:
        reading.puzzle(key, why)
    pairs: dict[str, str | bool] = {}
    twice: dict[str, list[Value]] = {}
    for key, value in found.pairs:
        if key in pairs and pairs[key] != value:
            twice.setdefault(key, [pairs[key]]).append(value)
        pairs.setdefault(key, value)
    for key, values in twice.items():
        pairs.pop(key)
        why = f"{key} is there {pluralize(len(values), 'time')}, with different values"
        if key in _DIRECT:
            reading.doubt(_DIRECT[key][0], distinct(values), why)
        elif key == "Seed":
            reading.doubt(fields.SEED_EFFECTIVE, distinct(values), why)
        else:
            reading.puzzle(key, why)
    return pairs


def _prompts(found: Infotext, reading: Reading) -> None:
    prompts = distinct(prompt for prompt, _ in found.prompts)
    negatives = distinct(negative for _, negative in found.prompts)
    if len(found.prompts) == 1:
        reading.say(fields.PROMPT, scalars.text(prompts[0]))
        reading.say(fields.NEGATIVE_PROMPT, scalars.text(negatives[0]))
        return
    why = f"{pluralize(len(found.prompts), 'line')} begin with Negative prompt:, and any of them may be part of a prompt"
    reading.doubt(fields.PROMPT, prompts, why)
    reading.doubt(fields.NEGATIVE_PROMPT, negatives, why)


def _direct(key: str, value: str | bool, reading: Reading) -> None:
    pointer, typed = _DIRECT[key]
    found = typed(value)
    if found is None:
        reading.puzzle(key, f"{str(value)[:80]!r} is no value")
    else:
        reading.say(pointer, found)


def _batch(pairs: Mapping[str, str | bool], reading: Reading) -> None:
    """Read the size of a batch, and the position in it, which affects the picture's bits."""
    many = scalars.count(pairs.get("Batch size"))
    reading.say(fields.BATCH_SIZE, many)
    at = scalars.whole(pairs.get("Batch pos"))
    if at is not None and at >= 0:
        reading.say(fields.BATCH_INDEX, at)
    elif (many or 1) > 1:
        reading.puzzle("Batch size", "the picture is one of a batch, and its position is not said")


def _size(value: str | bool, reading: Reading) -> None:
    found = scalars.size(value)
    if found is None:
        reading.puzzle("Size", f"{str(value)[:80]!r} is not width x height")
        return
    reading.say(fields.WIDTH, found[0])
    reading.say(fields.HEIGHT, found[1])


def _version(version: str | bool | None, reading: Reading) -> None:
    """Say which program wrote the text, where its version says so; others write the same form."""
    if not isinstance(version, str) or not scalars.text(version):
        return
    reading.generator_version = version
    for name, pattern in _PROGRAMS:
        if pattern.match(version):
            reading.generator = name
            reading.say(fields.PROVIDER, name)
            reading.say(fields.package(name), version)
            return
    reading.keep("Version", version)


def _model_hash(pairs: Mapping[str, str | bool], reading: Reading) -> None:
    digest = _hash("Model hash", pairs, reading)
    if digest is not None and FULL_SHA256.fullmatch(digest):
        reading.say(fields.MODEL_SHA256, digest)
    else:
        reading.keep("Model hash", digest)


def _hash(key: str, pairs: Mapping[str, str | bool], reading: Reading) -> str | None:
    value = pairs.get(key)
    if value is None:
        return None
    if isinstance(value, str) and _HASH.fullmatch(value):
        return value.lower()
    reading.puzzle(key, f"{str(value)[:80]!r} is not a hash in hexadecimal")
    return None


def _adapters(found: Infotext, pairs: Mapping[str, str | bool], reading: Reading) -> None:
    """Join networks that the prompt names with the hashes beside it; short hashes are kept apart."""
    hashes = dict(_lora_hashes(pairs.get("Lora hashes"), reading))
    for name, digest in hashes.items():
        reading.keep(f"Lora hashes/{name}", digest)
    adapters: list[Value] = []
    prompts = found.prompts if len(found.prompts) == 1 else ()
    for kind, name, strength in (each for one in prompts for each in _NETWORK.findall(one[0])):
        weight = scalars.weight(strength) if strength else 1
        if weight is None:
            reading.keep(f"{kind} {name}", strength)
        known = "lora" if kind in ("lora", "lyco") else "other"
        adapters.append(fields.adapter(known, name, sha256=hashes.pop(name, None), weight=weight))
    adapters += [fields.adapter("lora", name, sha256=digest) for name, digest in hashes.items()]
    vae = pairs.get("VAE")
    vae_hash = _hash("VAE hash", pairs, reading)
    reading.keep("VAE hash", vae_hash)
    if isinstance(vae, str) and scalars.text(vae):
        adapters.append(fields.adapter("vae", vae, sha256=vae_hash))
    if adapters:
        reading.say(fields.ADAPTERS, adapters)


def _lora_hashes(value: str | bool | None, reading: Reading) -> list[tuple[str, str]]:
    if not isinstance(value, str):
        return []
    found = []
    at = 0
    while at < len(value):
        match = _LORA_HASH.match(value, at)
        if match is None:
            reading.puzzle("Lora hashes", f"{value[at : at + 80]!r} is not name: hash")
            break
        found.append((match[1], match[2].lower()))
        at = match.end()
    return found


def _plain(value: str | bool) -> Value:
    if isinstance(value, bool):
        return value
    found = scalars.number(value)
    return value if found is None else found
