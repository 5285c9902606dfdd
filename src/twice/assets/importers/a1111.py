"""AUTOMATIC1111 and Forge: the text beside a picture (infotext), read into the fields of a log.

A prompt of any number of lines, lines after ``Negative prompt:``, and one line of ``Key: value`` pairs that begins with
``Steps:`` and comes last. Values with a comma, a colon or a line break are quoted as JSON does it. What extensions add
is kept by its own key: a hires pass has steps and a sampler of its own, which are not the picture's first pass.

Source: ``create_infotext`` and ``parse_generation_parameters`` of stable-diffusion-webui.

Invariant: text that fits more than one reading is ambiguous, and a quoted value is never taken apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from twice.assets.importers.result import (
    NO_MODEL,
    Reading,
    Value,
    convert,
    drop_none,
    to_number,
    to_text,
)
from twice.assets.media.sniff import Damaged
from twice.foundation.printable import pluralize

TEXT_MAX: Final = 4 << 20
_PAIRS_LEAST: Final = 3
"""How many pairs the writer's own reader asks of a last line, before it takes it for parameters."""
_NEGATIVE: Final = "Negative prompt:"
_PAIR = re.compile(
    r'\s*(?P<key>[^\s:,"][^:,"\n]{0,79}?)\s*'
    r'(?::\s*(?P<value>"(?:[^"\\]|\\.)*+"(?=\s*(?:,|$))|[^,]*))?\s*(?:,|$)',
    re.DOTALL,
)
_LAST_LINE = re.compile(
    r"\s*Steps:\s*[0-9]+\s*(?:,|$)(?=.*(?:Sampler|Seed|CFG scale|Size|Model|Model hash|Schedule type):)"
)
_SIZE = re.compile(r"([0-9]{1,9})\s*[xX]\s*([0-9]{1,9})")
_HASH = re.compile(r"[0-9a-fA-F]{6,64}")
_NETWORK = re.compile(r"<(lora|lyco|hypernet):([^:<>]{1,200})(?::([^<>]{1,80}))?>")
_PROGRAMS: Final = {"AUTOMATIC1111": r"v1\.\d", "Forge": r"f\d|(?i:forge)"}
_KEYS: Final = {
    "Seed": "/seed/effective", "Sampler": "/art/sampler", "Schedule type": "/art/scheduler",
    "Steps": "/art/steps", "CFG scale": "/art/guidance", "Denoising strength": "/art/denoise",
    "Clip skip": "/art/settings/clip_skip", "RNG": "/art/rng_device", "Model": "/model/name",
    "Batch size": "/art/batch_size", "Batch pos": "/art/batch_index",
}  # fmt: skip
_READ_APART: Final = ("Model hash", "VAE", "VAE hash", "Lora hashes", "Version")


def is_infotext(text: str) -> bool:
    """Whether a text may be an infotext; a page that quotes one is none."""
    return "Steps:" in text and text.lstrip()[:5].lower() not in {"<?xml", "<html", "<!doc"}


def read_infotext(text: str, reading: Reading) -> None:
    """Read an infotext.

    Raises:
        Damaged: no line of it is plainly the one that holds the parameters, or it is too long.
    """
    if len(text) > TEXT_MAX:
        raise Damaged(f"it is longer than {TEXT_MAX} characters")
    lines = text.replace("\r\n", "\n").strip().split("\n")
    at = _find_parameters(lines)
    # Every way to split the lines before the parameters into prompt and negative prompt.
    starts = [n for n, line in enumerate(lines[:at]) if line.strip().startswith(_NEGATIVE)][:16]
    parts = [("\n".join(lines[:n]), "\n".join(lines[n:at])) for n in starts or [at]]
    prompts = [(a.strip(), b.strip().removeprefix(_NEGATIVE).strip()) for a, b in parts]
    why = f"{pluralize(len(prompts), 'line')} begin with {_NEGATIVE}, and any of them may be part of a prompt"
    for pointer, side in (("/art/prompt", 0), ("/art/negative_prompt", 1)):
        if len(prompts) == 1:
            reading.set(pointer, to_text(prompts[0][side]))
        else:
            reading.add_candidates(pointer, [each[side] for each in prompts], why)
    pairs: dict[str, str | bool] = {}
    for key, value, trouble in split_pairs(lines[at]):
        pairs.setdefault(key, value)
        if trouble:
            reading.add_unparsed(key, trouble)
        elif key in _KEYS:
            reading.take(_KEYS[key], value, key)
        elif key == "Size":
            reading.take_size(_SIZE, value, key)
        elif key not in _READ_APART:
            figure = to_number(value)
            reading.add_other(key, value if figure is None else figure)
    if "Batch pos" not in pairs and pairs.get("Batch size", "1") != "1":
        why = "the picture is one of a batch, and its position is not said"
        reading.add_unparsed("Batch size", why)
    _read_models(pairs, prompts[0][0] if len(prompts) == 1 else "", reading)
    version = to_text(pairs.get("Version"))
    known = (name for name, form in _PROGRAMS.items() if version and re.match(form, version))
    if name := next(known, None):
        reading.name_provider(name, version)
    else:  # Others write the same form.
        reading.name_generator("infotext", version)
        reading.add_other("Version", version)
    reading.add_other("after the parameters", "\n".join(lines[at + 1 :]).strip() or None)


def _find_parameters(lines: list[str]) -> int:
    """Give the number of the line that holds the parameters."""
    fitting = [at for at, line in enumerate(lines) if _LAST_LINE.match(line)]
    last = len(lines) - 1
    if last in fitting and len(list(split_pairs(lines[last]))) >= _PAIRS_LEAST:
        return last  # The writer puts it last; what looks like it further up is part of a prompt.
    if not fitting:
        raise Damaged("no line begins with Steps: and holds parameters")
    if len(fitting) > 1:
        found = pluralize(len(fitting), "line")
        raise Damaged(f"{found} look like parameters, and the last is not plainly the one")
    return fitting[0]


def split_pairs(line: str) -> Iterator[tuple[str, str | bool, str]]:
    """Give key, value and what is wrong with it (``""`` when nothing is) of each pair of a line."""
    at = 0
    while at < len(line):
        match = _PAIR.match(line, at)
        if match is None:
            end = line.find(",", at) + 1 or len(line)
            if place := line[at:end].strip(" ,"):
                yield place[:80], "", "it is neither a key with a value nor a word"
            at = end
            continue
        at = match.end()
        key, value = match["key"], match["value"]
        if value is None or not value.startswith('"'):
            yield key, True if value is None else value.strip(), ""
            continue
        try:
            yield key, json.loads(value, strict=False), ""
        except ValueError:
            yield key, "", "its quotes do not end before the next pair, or hold a wrong escape"


def _read_models(pairs: Mapping[str, str | bool], prompt: str, reading: Reading) -> None:
    """Read the model's hash, the networks that the prompt names, and the VAE; short hashes are kept apart."""
    hashes: dict[str, str] = {}
    said = [f"{key}: {pairs[key]}" for key in ("Model hash", "VAE hash") if key in pairs]
    listed = str(pairs.get("Lora hashes", "")).split(",")
    said += [f"Lora hashes/{each.strip()}" for each in listed if each.strip()]
    for each in said:
        name, _, digest = (part.strip() for part in each.rpartition(":"))
        if not name or not _HASH.fullmatch(digest):
            why = f"{each[:80]!r} is not a name with a hash in hexadecimal"
            reading.add_unparsed("hashes", why)
            continue
        hashes[name] = digest.lower()
        if len(digest) < 64:
            reading.add_other(name, digest.lower())

    def take_hash(name: str) -> Value | None:
        digest: Value | None = convert("/model/sha256", hashes.pop(name, None))
        return digest

    reading.set("/model/sha256", take_hash("Model hash"))
    vae, vae_sha256 = to_text(pairs.get("VAE")), take_hash("VAE hash")
    adapters: list[Value] = []
    for kind, name, strength in _NETWORK.findall(prompt):
        weight = convert("/model/adapters/0/weight", strength) if strength else 1
        reading.add_other(f"{kind} {name}", strength if weight is None else None)
        known, sha256 = "other" if kind == "hypernet" else "lora", take_hash(f"Lora hashes/{name}")
        adapters.append(drop_none(kind=known, name=name, sha256=sha256, weight=weight))
    for name in list(hashes):
        bare = name.removeprefix("Lora hashes/")
        adapters.append(drop_none(kind="lora", name=bare, sha256=take_hash(name)))
    if vae and vae.lower() not in NO_MODEL:
        adapters.append(drop_none(kind="vae", name=vae, sha256=vae_sha256))
    reading.set("/model/adapters", adapters or None)
