"""The folders that a server may touch, and the paths of a call within them.

Invariant: a path is judged by where it leads, symlinks followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from twice.agent.errors import ArgumentsRefused, PathOutsideRoots
from twice.agent.verbs import Arguments
from twice.foundation.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Roots:
    """Folders whose contents may be read and, where execution is allowed, written and executed.

    Args:
        folders: resolved; relative paths begin at the first.
    """

    folders: tuple[Path, ...]

    @property
    def first(self) -> Path:
        """The folder in which commands run."""
        return self.folders[0]

    def narrow(self, uris: Iterable[str]) -> Roots:
        """Keep what a client grants as well.

        Args:
            uris: of the client's folders, as ``file:`` URIs; none at all narrows nothing.

        Raises:
            PathOutsideRoots: E-AGENT-001, when one leads out of these folders, and none of them lies in it.
        """
        kept: list[Path] = []
        for uri in uris:
            parts = urlparse(uri)
            folder = Path(unquote(parts.path)).resolve()
            inner = [each for each in self.folders if each.is_relative_to(folder)]
            if parts.scheme != "file" or not (inner or self.has(folder)):
                raise PathOutsideRoots(
                    f"The client's root {uri} leads to {folder}.",
                    f"Expected a folder in {self}.",
                    "Start the server with that folder: twice mcp --root FOLDER",
                )
            kept += inner or [folder]
        return Roots(tuple(dict.fromkeys(kept))) if kept else self

    def has(self, path: Path) -> bool:
        """Whether a resolved path lies in one of them."""
        return any(path.is_relative_to(folder) for folder in self.folders)

    def resolve(self, given: str) -> Path:
        """Resolve a path of a call.

        Raises:
            PathOutsideRoots: E-AGENT-001.
        """
        path = (self.first / given).resolve()
        if not self.has(path):
            raise PathOutsideRoots(
                f"{given} leads to {path}.",
                f"Expected a path in {self}.",
                "Name a file of the project, or start the server with its folder: twice mcp --root FOLDER",
                path=given,
            )
        return path

    def resolve_program(self, given: str) -> str:
        """Resolve the file of a program; its function stays.

        Raises:
            PathOutsideRoots: E-AGENT-001. ArgumentsRefused: E-AGENT-003, when it names no file.
        """
        file, colon, function = given.rpartition(":") if ".py:" in given else (given, "", "")
        if not file.endswith(".py"):
            raise ArgumentsRefused(
                f"The program {given!r} names no Python file.",
                "Expected file.py:function, or a script file.py.",
                "Name the file in which the function is, as src/sim.py:main.",
            )
        return f"{self.resolve(file)}{colon}{function}"

    def require_program(self, record: Path) -> None:
        """Refuse a record whose program is not in these folders.

        Raises:
            PathOutsideRoots: E-AGENT-001. RecordError: the record cannot be read.
        """
        from twice.recorder.runrecord import RunRecord

        with RunRecord.open(record) as opened:
            program = opened.setup.program
            place = program.folder().resolve()
        if program.rerunnable and not self.has(place):
            raise PathOutsideRoots(
                f"The program of {record.name} is in {place}.",
                f"Expected a program in {self}.",
                "Start the server with that folder as well: twice mcp --root FOLDER",
                path=str(place),
            )

    def place(self, arguments: Arguments) -> Arguments:
        """Replace the paths of a call by resolved ones, and choose a free path for a record to come.

        Raises:
            PathOutsideRoots: E-AGENT-001. ArgumentsRefused: E-AGENT-003.
        """
        placed: dict[str, Any] = {}
        for name in arguments.files:
            given = getattr(arguments, name)
            if isinstance(given, list):
                placed[name] = [str(self.resolve(each)) for each in given]
            elif given is not None:
                placed[name] = str(self.resolve(given))
        for name in arguments.programs:
            placed[name] = self.resolve_program(getattr(arguments, name))
        if "out" in arguments.files and "out" not in placed:
            source = str(getattr(arguments, "program", None) or getattr(arguments, "record", "run"))
            stem = Path(source.partition(".py")[0]).stem
            placed["out"] = str(_find_free(self.first, stem))
        return arguments.model_copy(update=placed)

    def __str__(self) -> str:
        return " or ".join(map(str, self.folders))


def _find_free(folder: Path, stem: str) -> Path:
    numbers = iter(range(1, 1_000_000))
    return next(path for n in numbers if not (path := folder / f"{stem}-{n}.twice").exists())


def open_roots(folders: Sequence[Path]) -> Roots:
    """Make the roots of a server.

    Raises:
        PathOutsideRoots: E-AGENT-001, when one is no folder.
    """
    for each in folders:
        if not each.is_dir():
            raise PathOutsideRoots(
                f"The root {each} is no folder.",
                "Expected a folder that is there.",
                "Name the folder of the project: twice mcp --root .",
            )
    return Roots(tuple(each.resolve() for each in folders))
