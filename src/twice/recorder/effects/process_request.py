"""What a program asks for when it starts a process, in plain values that a replay compares.

Invariant: a secret that is known counts as blanked, so that a replay without it asks the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from twice.foundation.digests import Algorithm, digest_value
from twice.recorder.effects.filenames import kept
from twice.recorder.effects.layer import EffectLayer

STREAMS = ("stdin", "stdout", "stderr")
_DIGEST_DIGITS = 16


def describe_request(layer: EffectLayer, options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments that a process is started with, in plain values."""
    command, folder, variables = options["args"], options["cwd"], options["env"]
    whole = isinstance(command, str | bytes | os.PathLike)
    words = describe_word(command) if whole else tuple(map(describe_word, command))
    return (
        layer.redaction.command(words),
        describe_word(options["executable"]),
        bool(options["shell"]),
        describe_word(folder),
        summarise_inherited(layer) if variables is None else _summarise_variables(layer, variables),
        *(_connection(options[name]) for name in STREAMS),
    )


def summarise_inherited(layer: EffectLayer) -> tuple[str, ...] | None:
    """Return ``NAME=digest`` of variables that the program set and a process inherits; None for none."""
    return _summarise_variables(layer, layer.own_variables()) or None


def _summarise_variables(layer: EffectLayer, variables: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return ``NAME=digest`` of each variable, sorted; a secret that is known counts as blanked."""
    found = []
    for name, value in variables.items():
        plain = layer.redaction.digestible(kept(os.fsdecode(value)))
        digest = digest_value(plain, Algorithm.BLAKE3).raw.hex()[:_DIGEST_DIGITS]
        found.append(f"{kept(os.fsdecode(name))}={digest}")
    return tuple(sorted(found))


def describe_word(word: Any) -> Any:
    """Return one word of a command as a record keeps it; the path of this Python is ``{python}``."""
    if word is None:
        return None
    path = os.fspath(word) if isinstance(word, os.PathLike) else word
    if path == sys.executable:
        return "{python}"
    return kept(path) if isinstance(path, str) else path


def _connection(target: Any) -> str:
    if target is None:
        return "shared"
    named = {subprocess.PIPE: "pipe", subprocess.STDOUT: "stdout", subprocess.DEVNULL: "nothing"}
    return named.get(target, "file") if isinstance(target, int) else "file"


def digest_input(layer: EffectLayer, data: Any) -> str | None:
    """Return the digest of a program's input to a process; None for none."""
    if data is None:
        return None
    plain = layer.redaction.digestible(data if isinstance(data, str) else bytes(data))
    return str(digest_value(plain, Algorithm.BLAKE3))
