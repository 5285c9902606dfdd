"""What rendered, and where: versions of programs and packages, processor, threads, accelerator.

A program is asked with ``--version``; nothing else is assumed of it. Which packages of Python count is told by what a
program imports; an extension that loads more than it imports is not seen.

Invariant: asking changes nothing: each question is one short run without input, and nothing of a script is executed.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from twice.assets.render.command import PATH
from twice.assets.render.runner import run_program
from twice.recorder.environment.fingerprint import measure

_VERSION: Final = re.compile(r"(?<![0-9.])[0-9]+(?:\.[0-9]+)+[0-9A-Za-z.+~-]*")
_ASKED_S: Final = 20.0
_PRINTED_BYTES: Final = 1 << 16
_ALWAYS: Final = "numpy"


def ask_version(program: Path) -> str:
    """Ask a program for its version; "" where it does not say."""
    with tempfile.TemporaryDirectory(prefix="twice-render-") as home:
        env = {"PATH": PATH, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8"}
        argv, printed, text = [str(program.absolute()), "--version"], Path(home) / "printed", ""
        with suppress(OSError):
            _, text = run_program(argv, Path(home), env, printed, _ASKED_S, tail=_PRINTED_BYTES)
    lines = [line for line in text.splitlines() if "cannot" not in line]
    for word in ("version", program.name.lower(), ""):
        for line in lines:
            found = _VERSION.search(line.replace(str(program), ""))
            if word in line.lower() and found is not None:
                return found.group()
    return ""


def describe_environment(
    packages: Mapping[str, str], env: Mapping[str, str], threads: int
) -> dict[str, Any]:
    """Describe these surroundings, as the environment block of a log."""
    here = measure(probes=False)
    # Nothing hides an accelerator from a command, and nothing shows its use: this is what could have computed.
    cards = ", ".join(name for key, name in here.gpu.items() if key.startswith("card"))
    gpu = {"name": cards, "driver": here.gpu.get("driver")}
    none = "the kernel of this machine knows no NVIDIA driver and no card"
    return {
        "os": f"{here.os.system} {here.os.release}, {here.os.libc}",
        "cpu": {
            "arch": here.cpu.arch,
            "features": list(here.cpu.features),
            **({"model": here.cpu.model} if here.cpu.model else {}),
        },
        "gpu": {name: text for name, text in gpu.items() if text} or {"not_applicable": none},
        "threads": threads,
        "packages": dict(packages),
        "locale": env.get("LC_ALL", "C.UTF-8"),
        "timezone": env.get("TZ", "UTC"),
    }


def list_packages(scripts: Iterable[Path]) -> dict[str, str]:
    """Return Python's version, and that of each installed distribution that scripts import."""
    owners = metadata.packages_distributions()
    found = {"python": measure(probes=False).python.version}
    nodes: list[ast.AST] = []
    for script in scripts:
        with suppress(OSError, SyntaxError, ValueError):
            nodes += ast.walk(ast.parse(script.read_bytes()))
    modules = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    modules += [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    for name in modules:
        for owner in owners.get(name.partition(".")[0], ()):
            found[owner.lower()] = metadata.version(owner)
    if len(found) > 1 and _ALWAYS in owners:
        found[_ALWAYS] = metadata.version(_ALWAYS)  # Most of them compute with it.
    return found
