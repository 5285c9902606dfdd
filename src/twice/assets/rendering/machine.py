"""The environment block of a log, measured here and now.

Which packages of Python count is told by what a program imports; an extension that loads more than it
imports is not seen.

Invariant: measuring runs nothing of the program that is measured for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from twice.recorder.environment.fingerprint import measure

_ALWAYS: Final = "numpy"


def environment(packages: dict[str, str], env: dict[str, str], threads: int) -> dict[str, Any]:
    """Give the block as a part of a document.

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
        "gpu": {"not_applicable": "the command was given no accelerator"},
        "threads": threads,
        "packages": packages,
        "locale": env.get("LC_ALL", "C.UTF-8"),
        "timezone": env.get("TZ", "UTC"),
    }


def python_packages(scripts: Iterable[Path]) -> dict[str, str]:
    """Give Python's version, and that of each installed distribution that scripts import."""
    owners = metadata.packages_distributions()
    found = {"python": measure(probes=False).python.version}
    for script in scripts:
        for name in _imported(script):
            for owner in owners.get(name, ()):
                found[owner.lower()] = metadata.version(owner)
    if len(found) > 1 and _ALWAYS in owners:
        found[_ALWAYS] = metadata.version(_ALWAYS)  # Most of them compute with it.
    return found


def _imported(script: Path) -> Iterator[str]:
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module.partition(".")[0]
