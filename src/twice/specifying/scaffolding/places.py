"""Where things are laid down in a project, and by which name Python imports them.

Invariant: every place lies within the project.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from twice.errors import UsageError

NAME: Final = "determinism"
TESTS: Final = "tests"


@dataclass(frozen=True, slots=True)
class Places:
    """Where things go.

    Args:
        package: the folder of the wiring, relative to the project, with slashes.
        module: by what it is imported, ``swarm.determinism``.
        below: the folder that Python has to look in, relative to the project; "" for the project itself.
        commands: the folder of command files; "" where none were asked for.
    """

    package: str
    module: str
    below: str
    commands: str = ""


def places_of(project: Path, package: str, commands: str = "") -> Places:
    """Say how the wiring in a folder is imported.

    Args:
        project: the folder of the project.
        package: the folder of the wiring.
        commands: the folder of command files; "" for none.

    Raises:
        UsageError: E-USE-001: a folder outside of the project, or none that Python can import.
    """
    package, commands = _inside(package, "--package"), _inside(commands, "--agent-commands")
    parts = list(PurePosixPath(package).parts)
    if not parts or not all(each.isidentifier() for each in parts[-1:]):
        raise UsageError(
            f"{package!r} is no folder that Python can import.",
            "Expected a name of letters, digits and underscores, relative to the project.",
            "For example: --package src/swarm/determinism",
        )
    at = len(parts) - 1
    while at and (project / PurePosixPath(*parts[:at]) / "__init__.py").is_file():
        at -= 1
    return Places(package, ".".join(parts[at:]), "/".join(parts[:at]), commands)


def package_of(project: Path, sources: tuple[str, ...]) -> str:
    """Choose the folder of the wiring: in the package that the first of the sources is or has.

    A folder that is a package takes it in; a folder with exactly one package in it has that one take it;
    any other folder takes it as a package of its own; beside a file it stands.
    """
    first = PurePosixPath(sources[0] if sources else ".")
    folder = project / first
    if folder.is_file():
        first = first.parent
        folder = project / first
    if not (folder / "__init__.py").is_file():
        inner = sorted(each.parent.name for each in folder.glob("*/__init__.py"))
        inner = [each for each in inner if each not in {NAME, TESTS} and each.isidentifier()]
        if len(inner) == 1:
            first /= inner[0]
    return (first / NAME).as_posix()


def _inside(said: str, option: str) -> str:
    path = PurePosixPath(said)
    if path.is_absolute() or ".." in path.parts or "\\" in said:
        raise UsageError(
            f"{option} {said} lies outside of the project.",
            "Expected a folder relative to the project.",
            f"For example: {option} {NAME}",
        )
    return "" if not said else path.as_posix()
