"""What is known of programs that render: how they say their version, and what their arguments mean.

A program that is not listed is asked with ``--version``; nothing else is assumed of it.

Invariant: asking changes nothing: each question is one short run without input.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from twice.assets.rendering.child import run_child
from twice.assets.rendering.executing import PATH, found_program
from twice.assets.rendering.job import OUTPUT_BYTES_MAX

_VERSION: Final = re.compile(r"\b[0-9]+(?:\.[0-9]+)+[0-9A-Za-z.+~-]*")
_ASK_S: Final = 20.0
_SAID_MAX: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """One program.

    Args:
        asks: the arguments that make it say its version.
        seedless: why it takes no seed; "" where it may take one.
        threads: what its option for threads begins with, such as ``+WT``; "" where it has none.
        source: what sounds: instrument, voice or synthesis; "" for pictures.
    """

    asks: tuple[str, ...] = ("--version",)
    seedless: str = ""
    threads: str = ""
    source: str = ""


RENDERERS: Final[Mapping[str, Renderer]] = MappingProxyType(
    {
        "fluidsynth": Renderer(seedless="fluidsynth draws no random numbers", source="instrument"),
        "espeak-ng": Renderer(seedless="espeak-ng takes no seed", source="voice"),
        "povray": Renderer(
            seedless="seeds stand in the scene, which is an input by digest", threads="+WT"
        ),
        "blender": Renderer(
            seedless="seeds stand in the scene, which is an input by digest", threads="--threads="
        ),
        "ffmpeg": Renderer(asks=("-version",)),
        "sox": Renderer(),
        "timidity": Renderer(seedless="timidity takes no seed", source="instrument"),
        "inkscape": Renderer(seedless="inkscape takes no seed"),
        "rsvg-convert": Renderer(seedless="rsvg-convert takes no seed"),
    }
)


@dataclass(frozen=True, slots=True)
class Known:
    """A program as it is installed here; ``version`` is "" where it does not say."""

    path: Path
    version: str
    renderer: Renderer = field(default_factory=Renderer)


def threads_of(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Tell how many threads a command renders with: its own option, every core, or the variable."""
    renderer = RENDERERS.get(Path(argv[0]).name, Renderer())
    if renderer.threads:
        said = [part.removeprefix(renderer.threads) for part in argv if renderer.threads in part]
        return int(said[-1]) if said and said[-1].isdecimal() else os.cpu_count() or 1
    said_by = env.get("OMP_NUM_THREADS", "")
    return int(said_by) if said_by.isdecimal() and int(said_by) else 1


def ask(name: str, folder: Path | None = None) -> Known | None:
    """Find a program and ask for its version; None if it is not installed here."""
    path = found_program(name, folder)
    if path is None:
        return None
    renderer = RENDERERS.get(name, Renderer())
    with tempfile.TemporaryDirectory(prefix="twice-render-") as home:
        env = {"PATH": PATH, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8"}
        try:
            told = run_child(
                [str(path.absolute()), *renderer.asks], Path(home), env, Path(home) / "printed",
                timeout_s=_ASK_S, bytes_max=OUTPUT_BYTES_MAX, tail=_SAID_MAX,
            )  # fmt: skip
        except OSError:
            return Known(path, "", renderer)
    lines = [line for line in told.said.splitlines() if "cannot" not in line]
    saying = [line for line in lines if "version" in line.lower()]
    named = [line for line in lines if name in line.lower()]
    for line in [*saying, *named, *lines]:
        found = _VERSION.search(line.replace(str(path), ""))
        if found is not None:
            return Known(path, found.group(), renderer)
    return Known(path, "", renderer)
