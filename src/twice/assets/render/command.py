"""A command of a render: which program it is, and as it was typed, rewritten for a clean folder.

Nothing here runs a command, so that a gate that reads records need not load what renders.

An argument is rewritten where the whole of it is a path, or what follows ``=`` or an option of two
characters such as ``+I`` or ``-o``. A path that stands anywhere else is not seen: name it with --input.

Invariant: the rewritten command holds no path of a file that was found, but those inside its folder.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from twice.assets.store.store import Store
from twice.errors import UsageError

PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
"""Where a child looks for programs, whatever its caller's environment says."""
_PYTHON: Final = re.compile(r"python(3(\.[0-9]+)?)?")
FOLDER_PREFIX: Final = "twice-render-"
_SYSTEM: Final = ("/etc", "/proc", "/sys", "/dev", "/lib", "/lib64", "/usr/lib", "/usr/local/lib")
"""Where a system keeps its own; nobody gives these to a rendering."""
SEED: Final = "{seed}"
OUTSIDE: Final = "outside"
"""The folder of a recipe in which inputs stand that lie outside of the store."""


@dataclass(frozen=True, slots=True)
class RenderCommand:
    """A command for a clean folder.

    Args:
        argv: rewritten.
        inputs: where each file lies, by its path inside.
        outputs: what it has to write, by paths inside, which are paths from the root of the store.
        seeded: whether ``{seed}`` stood in an argument.
    """

    argv: tuple[str, ...]
    inputs: dict[str, Path]
    outputs: tuple[str, ...]
    seeded: bool


def looks_python(argv: Sequence[str]) -> bool:
    """Whether a command is a Python script, or -m with a module, under whichever interpreter."""
    if len(argv) < 2 or _PYTHON.fullmatch(Path(argv[0]).name) is None:
        return False
    return argv[1].endswith(".py") or (argv[1] == "-m" and len(argv) > 2)


def is_recordable(argv: Sequence[str]) -> bool:
    """Whether the recorder can run a command: a Python program, under no other interpreter than this one."""
    here = Path(sys.executable).parent
    return looks_python(argv) and ("/" not in argv[0] or Path(argv[0]).absolute().parent == here)


def find_program(name: str, folder: Path | None = None) -> Path | None:
    """Find a program by its name on the fixed path, or by its path in the folder; None if it is not there."""
    if "/" in name:
        path = (folder or Path()) / name
        return path if path.is_file() else None
    found = shutil.which(name, path=PATH)
    return None if found is None else Path(found)


def is_outside(path: str) -> bool:
    """Whether the path of a recorded read is neither in the private folder of a rendering nor the system's."""
    own = (FOLDER_PREFIX in path) or any(Path(path).is_relative_to(each) for each in _SYSTEM)
    return path.startswith("/") and not own


def rewrite_command(
    typed: Sequence[str], store: Store, inputs: Iterable[Path], outputs: Iterable[Path], seed: str
) -> RenderCommand:
    """Rewrite a command.

    Args:
        typed: the program and its arguments.
        store: the hot store; its root is where the folder's paths start from.
        inputs: further files that it reads.
        outputs: files that it writes, as typed.
        seed: what stands for ``{seed}``; "" where there is none.

    Raises:
        UsageError: E-USE-001: ``{seed}`` without a seed, an output outside of the store.
    """
    names = {path: _name_output(store, path) for path in outputs}
    texts = {str(each): name for path, name in names.items() for each in (path, path.absolute())}
    folder = _Folder(store, texts)
    argv = [_name_program(typed[0], folder)]
    for part in typed[1:]:
        if SEED in part and not seed:
            raise UsageError(
                f"The argument {part!r} asks for a seed, and none was given.",
                "Expected the seed that stands in its place.",
                "Give one: twice asset record --seed 7 … -- COMMAND",
            )
        argv.append(folder.rewrite(part.replace(SEED, seed)))
    for path in inputs:
        folder.add(path)
    if is_recordable(typed):
        argv[0] = "python"
        if typed[1] == "-m":
            package = store.root / typed[2].partition(".")[0]
            files = (
                sorted(package.rglob("*.py")) if package.is_dir() else [package.with_suffix(".py")]
            )
            for path in filter(Path.is_file, files):
                folder.add(path)
    seeded = any(SEED in part for part in typed)
    return RenderCommand(tuple(argv), folder.inputs, tuple(names.values()), seeded)


def _name_program(typed: str, folder: _Folder) -> str:
    """Name a program: a file of the store is an input, an installed one stays where it is.

    A copy of the latter would lack what lies beside it: an interpreter, its environment.
    """
    path = Path(typed).absolute()
    if "/" not in typed or not path.is_file():
        return typed
    return f"./{folder.add(path)}" if folder.store.root in path.parents else str(path)


def _name_output(store: Store, path: Path) -> str:
    try:
        return store.named(path)
    except ValueError:
        raise UsageError(
            f"The output {path} does not lie in the hot store {store.root}.",
            "Expected an asset inside the store, so that its log stands beside it.",
            f"For example: -o {store.root / path.name}",
        ) from None


@dataclass(frozen=True, slots=True)
class _Folder:
    """The folder that a command will see, as it fills with inputs."""

    store: Store
    outputs: dict[str, str]
    inputs: dict[str, Path] = field(default_factory=dict)

    def add(self, path: Path) -> str:
        """Name an input inside the folder: by its way from the store's root, or as one from outside."""
        absolute = Path(os.path.normpath(path.absolute()))
        try:
            name = absolute.relative_to(self.store.root).as_posix()
        except ValueError:
            name, number = f"{OUTSIDE}/{path.name}", 2
            while self.inputs.get(name, absolute) != absolute:
                name, number = f"{OUTSIDE}/{number}/{path.name}", number + 1
        self.inputs[name] = absolute
        return name

    def rewrite(self, part: str) -> str:
        """Rewrite the path in an argument, if there is one."""
        for head, text in _split(part):
            if text in self.outputs:
                return head + self.outputs[text]
            try:
                is_file = Path(text).is_file()
            except (OSError, ValueError):
                continue
            if is_file:
                return head + self.add(Path(text))
        return part


def _split(part: str) -> Iterator[tuple[str, str]]:
    """Split an argument in each way that can leave a path."""
    yield "", part
    head, equals, text = part.partition("=")
    if equals and text:
        yield f"{head}=", text
    if part[:1] in {"-", "+"} and len(part) > 2:
        yield part[:2], part[2:]
