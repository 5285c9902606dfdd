"""A command as it was typed, rewritten for a clean folder: inputs and outputs by paths inside of it.

An argument is rewritten where the whole of it is a path, or what follows ``=`` or an option of two
characters such as ``+I`` or ``-o``. A path that stands anywhere else is not seen: name it with --input.

Invariant: the rewritten command holds no path of a file that was found, but those inside its folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.assets.rendering.executing import is_python
from twice.assets.rendering.job import OUTSIDE
from twice.assets.store.store import Store
from twice.errors import UsageError

SEED: Final = "{seed}"


@dataclass(frozen=True, slots=True)
class Command:
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


def rewritten(
    typed: list[str], store: Store, inputs: Iterable[Path], outputs: Iterable[Path], seed: str
) -> Command:
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
    wanted = {path: _inside(store, path) for path in outputs}
    found: dict[str, Path] = {}
    argv = [typed[0]]
    names = {str(path): name for path, name in wanted.items()}
    names |= {str(path.absolute()): name for path, name in wanted.items()}
    if "/" in typed[0] and Path(typed[0]).is_file():
        argv = [_program(Path(typed[0]).absolute(), found, store)]
    for part in typed[1:]:
        argv.append(_argument(_seeded(part, seed), names, found, store))
    for path in inputs:
        _taken(found, store, path)
    if is_python(tuple(typed)) and typed[1] == "-m":
        _modules(found, store, typed[2])
    seeded = any(SEED in part for part in typed)
    return Command(tuple(argv), found, tuple(wanted.values()), seeded)


def _program(path: Path, found: dict[str, Path], store: Store) -> str:
    """Name a program by its path: a file of the store is an input, an installed one stays where it is.

    A copy of the latter would lack what lies beside it: an interpreter, its environment.
    """
    if store.root in path.parents:
        return f"./{_taken(found, store, path)}"
    return str(path)


def _seeded(part: str, seed: str) -> str:
    if SEED in part and not seed:
        raise UsageError(
            f"The argument {part!r} asks for a seed, and none was given.",
            "Expected the seed that stands in its place.",
            "Give one: twice asset record --seed 7 … -- COMMAND",
        )
    return part.replace(SEED, seed) if seed else part


def _inside(store: Store, path: Path) -> str:
    try:
        return store.named(path)
    except ValueError:
        raise UsageError(
            f"The output {path} does not lie in the hot store {store.root}.",
            "Expected an asset inside the store, so that its log stands beside it.",
            f"For example: -o {store.root / path.name}",
        ) from None


def _argument(part: str, outputs: dict[str, str], found: dict[str, Path], store: Store) -> str:
    for head, text in _splits(part):
        if text in outputs:
            return head + outputs[text]
        if _is_file(text):
            return head + _taken(found, store, Path(text))
    return part


def _splits(part: str) -> Iterator[tuple[str, str]]:
    yield "", part
    head, equals, text = part.partition("=")
    if equals and text:
        yield f"{head}=", text
    if part[:1] in {"-", "+"} and len(part) > 2:
        yield part[:2], part[2:]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _taken(found: dict[str, Path], store: Store, path: Path) -> str:
    """Name an input inside the folder: by its way from the store's root, or as one from outside."""
    absolute = path.absolute()
    try:
        name = absolute.relative_to(store.root).as_posix()
    except ValueError:
        name = f"{OUTSIDE}/{path.name}"
        number = 2
        while found.get(name, absolute) != absolute:
            name, number = f"{OUTSIDE}/{number}/{path.name}", number + 1
    if ".." in name.split("/"):
        name = store.named(path)
    found[name] = absolute
    return name


def _modules(found: dict[str, Path], store: Store, module: str) -> None:
    """Take the files of a package that lies in the store and is run with -m."""
    place = store.root / module.partition(".")[0]
    files = [place.with_suffix(".py")] if not place.is_dir() else sorted(place.rglob("*.py"))
    for path in files:
        if path.is_file():
            _taken(found, store, path)
