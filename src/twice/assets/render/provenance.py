"""What rendered, and where: versions of programs and packages, processor, threads, accelerator.

A program that is not listed is asked with ``--version``; nothing else is assumed of it. Which packages of Python count is
told by what a program imports; an extension that loads more than it imports is not seen.

Invariant: asking changes nothing: each question is one short run without input, and nothing of a script is executed.
"""

from __future__ import annotations

import ast
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from twice.assets.render.command import PATH, find_program
from twice.assets.render.runner import run_program
from twice.recorder.environment.fingerprint import measure

_VERSION: Final = re.compile(r"(?<![0-9.])[0-9]+(?:\.[0-9]+)+[0-9A-Za-z.+~-]*")
_IN_SCENE: Final = "seeds stand in the scene, which is an input by digest"
_ALWAYS: Final = "numpy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """One kind of program.

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
        "povray": Renderer(seedless=_IN_SCENE, threads="+WT"),
        "blender": Renderer(seedless=_IN_SCENE, threads="--threads="),
        "ffmpeg": Renderer(asks=("-version",)),
        "sox": Renderer(),
        "timidity": Renderer(seedless="timidity takes no seed", source="instrument"),
        "inkscape": Renderer(seedless="inkscape takes no seed"),
        "rsvg-convert": Renderer(seedless="rsvg-convert takes no seed"),
    }
)
"""The programs whose arguments are known; none of them has a generative model."""


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """A program as it is installed here; ``version`` is "" where it does not say."""

    path: Path
    version: str
    renderer: Renderer = field(default_factory=Renderer)


def ask_version(name: str, folder: Path | None = None) -> InstalledProgram | None:
    """Find a program and ask for its version; None if it is not installed here."""
    path = find_program(name, folder)
    if path is None:
        return None
    renderer = RENDERERS.get(name, Renderer())
    with tempfile.TemporaryDirectory(prefix="twice-render-") as home:
        env = {"PATH": PATH, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8"}
        argv = [str(path.absolute()), *renderer.asks]
        try:
            _, text = run_program(argv, Path(home), env, Path(home) / "printed", 20.0, tail=1 << 16)
        except OSError:
            return InstalledProgram(path, "", renderer)
    lines = [line for line in text.splitlines() if "cannot" not in line]
    with_word = [line for line in lines if "version" in line.lower()]
    with_name = [line for line in lines if name in line.lower()]
    for line in [*with_word, *with_name, *lines]:
        found = _VERSION.search(line.replace(str(path), ""))
        if found is not None:
            return InstalledProgram(path, found.group(), renderer)
    return InstalledProgram(path, "", renderer)


def count_threads(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Count the threads that a command renders with: its own option, every core, or the variable."""
    option = RENDERERS.get(Path(argv[0]).name, Renderer()).threads
    if option:
        said = [part.removeprefix(option) for part in argv if option in part]
        return int(said[-1]) if said and said[-1].isdecimal() else os.cpu_count() or 1
    variable = env.get("OMP_NUM_THREADS", "")
    return int(variable) if variable.isdecimal() and int(variable) else 1


def describe_environment(
    packages: Mapping[str, str], env: Mapping[str, str], threads: int
) -> dict[str, Any]:
    """Describe these surroundings, as the environment block of a log.

    Args:
        packages: versions by program or package.
        env: the variables that the command gets.
        threads: how many threads render.
    """
    here = measure(probes=False)
    cpu: dict[str, Any] = {"arch": here.cpu.arch, "features": list(here.cpu.features)}
    if here.cpu.model:
        cpu["model"] = here.cpu.model
    return {
        "os": f"{here.os.system} {here.os.release}, {here.os.libc}",
        "cpu": cpu,
        "gpu": _describe_gpu(here.gpu),
        "threads": threads,
        "packages": dict(packages),
        "locale": env.get("LC_ALL", "C.UTF-8"),
        "timezone": env.get("TZ", "UTC"),
    }


def _describe_gpu(seen: Mapping[str, str]) -> dict[str, str]:
    """Describe what could have computed: nothing hides an accelerator from a command, and nothing shows its use."""
    if not seen:
        return {"not_applicable": "the kernel of this machine knows no NVIDIA driver and no card"}
    cards = ", ".join(name for key, name in seen.items() if key.startswith("card"))
    driver = {"driver": seen["driver"]} if "driver" in seen else {}
    return {**({"name": cards} if cards else {}), **driver}


def list_packages(scripts: Iterable[Path]) -> dict[str, str]:
    """Give Python's version, and that of each installed distribution that scripts import."""
    owners = metadata.packages_distributions()
    found = {"python": measure(probes=False).python.version}
    for script in scripts:
        for name in _list_imports(script):
            for owner in owners.get(name, ()):
                found[owner.lower()] = metadata.version(owner)
    if len(found) > 1 and _ALWAYS in owners:
        found[_ALWAYS] = metadata.version(_ALWAYS)  # Most of them compute with it.
    return found


def _list_imports(script: Path) -> Iterator[str]:
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module.partition(".")[0]
