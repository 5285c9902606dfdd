"""What a command, its program and its output say by themselves, as blocks of a draft.

For programs without a generative model, fields that only such a model has are excused, each with the
reason. Whether there is a model, a person says or the list of known renderers.

Invariant: what is measured from the file is never put down as what a session had.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from twice.assets.log.identity import Asset
from twice.assets.making.command import Command
from twice.assets.media.measure import digest_file
from twice.assets.rendering.executing import is_python
from twice.assets.rendering.machine import environment, python_packages
from twice.assets.rendering.programs import Known, threads_of
from twice.foundation.digests import Algorithm, digest_bytes

PINS: Final = {
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
"""What every rendering gets, beside what is given with --env."""

_FONTS: Final = (".ttf", ".otf", ".ttc", ".woff", ".woff2")
_LIBRARIES: Final = (".sf2", ".sf3", ".sfz", ".dls")
_NO_MODEL: Final = "a program rendered it, no generative model"


def excused(reason: str) -> dict[str, str]:
    """Say why a field has no value."""
    return {"not_applicable": reason}


def program_blocks(
    command: Command, known: Known, env: Mapping[str, str], digests: Mapping[str, str]
) -> dict[str, Any]:
    """Give provider, model and environment: what rendered, and where.

    Args:
        command: rewritten.
        known: the program as it is installed.
        env: the variables that it gets.
        digests: sha256 of each input by its path inside.
    """
    name, python = Path(command.argv[0]).name, is_python(command.argv)
    scripts = [path for path in command.inputs.values() if path.suffix == ".py"]
    if python:
        packages, name = (
            python_packages(scripts),
            command.argv[2 if "-m" in command.argv[:2] else 1],
        )
        code = "".join(digests[each] for each in sorted(digests) if each.endswith(".py"))
        sha256 = digests.get(name) or digest_bytes(code.encode(), Algorithm.SHA256).hex
        version = f"sha256-{sha256[:12]}"
    else:
        sha256 = digest_file(known.path)
        version = known.version or f"sha256-{sha256[:12]}"
        packages = {name: version}
    fonts = [
        {"name": Path(path).name, "sha256": digest}
        for path, digest in digests.items()
        if path.lower().endswith(_FONTS)
    ]
    return {
        "provider": {"name": Path(name).name, "endpoint": "local"},
        "model": {"name": name, "version": version, "sha256": sha256, "adapters": []},
        "environment": environment(packages, dict(env), threads_of(command.argv, env))
        | {"fonts": fonts or excused("no font is among its inputs")},
    }


def recipe_block(
    command: Command, digests: Mapping[str, str], env: Mapping[str, str], output: str,
    timeout_s: float,
) -> dict[str, Any]:  # fmt: skip
    """Give the recipe: what to execute again."""
    inputs = []
    for name, path in sorted(command.inputs.items()):
        row = {"path": name, "sha256": digests[name]}
        inputs.append(row | ({"found_at": str(path)} if name.startswith("outside/") else {}))
    return {
        "argv": list(command.argv),
        "inputs": inputs,
        "env": dict(env),
        "output": output,
        "timeout_s": timeout_s,
    }


def art_block(command: Command, measured: Asset | None) -> dict[str, Any]:
    """Give the render block of a picture that a program drew."""
    size = measured.measured if measured is not None else None
    width = size.width_px if size is not None and isinstance(size.width_px, int) else 1
    height = size.height_px if size is not None and isinstance(size.height_px, int) else 1
    common = math.gcd(width, height)
    model = ("prompt", "negative_prompt", "steps", "guidance", "sampler", "scheduler", "denoise",
             "dtype", "attention", "rng_device")  # fmt: skip
    return {
        **{name: excused(_NO_MODEL) for name in model},
        "width_px": width,
        "height_px": height,
        "aspect_ratio": f"{width // common}:{height // common}",
        "workflow": _workflow(command),
        "batch_index": 0,
        "batch_size": 1,
        "post": [],
    }


def _workflow(command: Command) -> dict[str, str]:
    text = "\0".join(command.argv).encode()
    return {"name": Path(command.argv[0]).name, "sha256": digest_bytes(text, Algorithm.SHA256).hex}


def audio_block(
    command: Command, known: Known, blocks: Mapping[str, Any], digests: Mapping[str, str]
) -> dict[str, Any]:
    """Give the render block of a sound that a program made."""
    inside = "the command decides it, and its inputs are logged by digest"
    names = ("tempo_bpm", "key", "time_signature", "chain", "presets")
    model = blocks["model"]
    return {
        "source": _source(known, model, digests),
        "production": "synthetic",
        "daw": excused("no workstation: a command rendered it"),
        **{name: excused(inside) for name in names},
        "session_sample_rate_hz": excused("no session: the command writes the delivered file"),
        "session_bit_depth": excused("no session: the command writes the delivered file"),
        "dither": excused(inside),
        "loudness": excused("no loudness was asked for"),
        "export": {"encoder": Path(command.argv[0]).name, "version": _encoder(command, blocks)},
    }


def _encoder(command: Command, blocks: Mapping[str, Any]) -> str:
    packages = blocks["environment"]["packages"]
    name = Path(command.argv[0]).name
    return str(packages.get("python" if is_python(command.argv) else name))


def _source(known: Known, model: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """Name what sounds: the library among the inputs, or the program itself."""
    for path, digest in digests.items():
        if path.lower().endswith(_LIBRARIES):
            version = f"sha256-{digest[:12]}"
            name = Path(path).name
            return {"kind": "instrument", "name": name, "version": version, "sha256": digest}
    kind = known.renderer.source or "synthesis"
    return {"kind": kind, **{name: model[name] for name in ("name", "version", "sha256")}}
