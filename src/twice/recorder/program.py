"""How a program is found, named and loaded.

A program is a function of a run in a file or a module, or a whole program as Python runs it: a
script, or a module with ``-m``. The same value loads it while recording and finds it again later,
from the same folder or another one. A closure or a notebook cell has no such name; it is ``inline``
and cannot be started again. How people write programs down is in ``program_spec``.

Invariant: nothing here runs a program; loading one happens only inside a session's process.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from twice.errors import ProgramNotFound
from twice.foundation.dataclass import dataclass


@dataclass(frozen=True)
class Program:
    """A program that can be executed: its kind, and what is executed of that kind."""

    # A function in a file or in a dotted module, a file run as ``__main__``, a module run so (``python -m``).
    kind: Literal["function", "module", "script", "main", "inline"]
    target: str  # path relative to ``root`` for files, dotted name for modules, a label for inline
    function: str = ""  # possibly dotted; empty for whole programs and inline code
    root: str = ""  # the folder that was current when the program was named
    arguments: tuple[str, ...] = ()  # of the command line of a whole program
    typed: str = ""  # the path of a script as it was given, which is its ``sys.argv[0]``

    def __str__(self) -> str:
        if self.kind == "main":
            return f"-m {self.target}"
        return f"{self.target}:{self.function}" if self.function else self.target

    @property
    def whole(self) -> bool:
        """Whether it is a whole program as Python runs it, which knows nothing of a run."""
        return self.kind in {"script", "main"}

    @property
    def is_file(self) -> bool:
        """Whether it is named by its file."""
        return self.kind in {"function", "script"}

    @property
    def rerunnable(self) -> bool:
        """Whether the program can be started again from its name."""
        return self.kind != "inline"

    def to_json(self) -> dict[str, object]:
        """Return plain values, as in the run record's identity."""
        return {
            "kind": self.kind,
            "target": self.target,
            "function": self.function,
            "root": self.root,
            "arguments": list(self.arguments),
            **({"typed": self.typed} if self.typed else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Program:
        """Build it from the JSON of ``to_json``."""
        return cls(
            data["kind"],
            str(data["target"]),
            str(data["function"]),
            str(data["root"]),
            tuple(str(part) for part in data["arguments"]),
            str(data.get("typed", "")),
        )

    def folder(self) -> Path:
        """Return the folder that its paths start from: its root, or the current folder if it moved."""
        root, current = Path(self.root or "."), _current_folder()
        return next((at for at in (root, current) if self.is_in(at)), root)

    def roots(self) -> list[str]:
        """Return the folders of the program: files in them are its own, wherever they are."""
        return sorted(set(self.locate()))

    def locate(self) -> tuple[str, str]:
        """Return the folder of the program's own file, and the one that its paths start from, without links."""
        root = self.folder().resolve()
        beside = (root / self.target).resolve().parent if self.is_file else root
        return str(beside), str(root)

    def near(self, folder: Path) -> Program:
        """Return the same program where a replay executes it, of a record that lies in a folder.

        The current folder counts while the program is in it, so that a second checkout executes its own
        code; then the recorded one. A program outside of both folders (``../tool.py``) keeps the recorded
        one where either leads to it. A record that travels with its program finds it there, under its own name.
        """
        current = _current_folder()
        recorded = Path(self.root or ".")
        if self.is_in(current):
            is_same = (current / self.target).resolve() == (recorded / self.target).resolve()
            return self if is_same else replace(self, root=str(current))
        if not self.is_file or self.is_in(recorded):
            return self
        for target in (self.target, Path(self.target).name):
            if (folder / target).is_file():
                return replace(self, root=str(folder.resolve()), target=target)
        return self

    def is_in(self, folder: Path) -> bool:
        """Return whether a folder contains the program."""
        if self.is_file:
            return (folder / self.target).is_file()
        if self.kind == "inline":
            return False
        parts = self.target.split(".")
        place = folder / parts[0]
        if place.is_dir() and not (place / "__init__.py").is_file():
            place = folder.joinpath(*parts)  # several folders may have a part of a namespace
        return place.is_dir() or place.with_suffix(".py").is_file()

    def path(self) -> Path:
        """Return the program's file; E-PROGRAM-001 when it is not there."""
        found = self.folder() / self.target
        if found.is_file():
            return found.resolve()
        raise ProgramNotFound(
            f"The program file {self.target} is not there.",
            f"Expected it in {self.root or os.curdir} or in the current folder.",
            "Put it back, or run from the folder that it was moved to.",
            target=self.target,
        )


class PathNames:
    """How a record names paths, so that what lies beside a program is found again where it moved to.

    ``to_local(to_recorded(path)) == path`` while the program stays where it is. Its folders are looked up once.
    """

    def __init__(self, program: Program) -> None:
        # The program's own folder first: it may lie within the other, and moves with the program.
        self._folders = tuple(zip(("{program}", "{folder}"), program.locate(), strict=True))
        # Asked at every access to a file.
        self.to_recorded: Callable[[str], str] = lru_cache(maxsize=4096)(self._name)

    def _name(self, path: str) -> str:
        for name, folder in self._folders:
            if path == folder or path.startswith(folder + os.sep):
                return name + path[len(folder) :]
        return path

    def to_local(self, name: str, /) -> str:
        """Return the path that a recorded name means here."""
        for begin, folder in self._folders:
            if name == begin or name.startswith(begin + os.sep):
                return folder + name[len(begin) :]
        return name


def _current_folder() -> Path:
    """Return the working folder; the root where it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def name_function(function: Callable[..., object]) -> Program:
    """Name a function so that a fresh process can find it; inline when it cannot be found."""
    name = getattr(function, "__qualname__", "<lambda>")
    source = inspect.getsourcefile(function) if inspect.isfunction(function) else None
    # "<" marks a lambda, or a function inside another one.
    if source is None or "<" in name or not Path(source).is_file():
        return Program("inline", f"{getattr(function, '__module__', '') or ''}.{name}")
    root = Path.cwd().resolve()
    return Program("function", os.path.relpath(Path(source).resolve(), root), name, str(root))


def load(program: Program, *, is_async: bool = False) -> Callable[..., object]:
    """Import a function's module, which runs its top level, and return the function; E-PROGRAM-001 if it is none of a run.

    With ``is_async`` it may be an async function, of a run or of nothing.
    """
    if program.kind == "module":
        sys.path.insert(0, str(program.folder().resolve()))
        module = importlib.import_module(program.target)
    else:
        path = program.path()
        sys.path[:0] = dict.fromkeys([str(path.parent), str(program.folder().resolve())])
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None, "a .py path always has a loader"
        assert spec.loader is not None, "a .py path always has a loader"
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    found: object = module
    for part in program.function.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        offered = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        raise make_function_error(program.target, program.function, offered)
    if not (is_async and inspect.iscoroutinefunction(found)):
        require_runnable(found, str(program))
    return found


def takes_run(function: Callable[..., object]) -> bool:
    """Return whether an async function is called with a run, and not without arguments."""
    return bool(inspect.signature(function).parameters)


def require_runnable(function: Callable[..., object], name: str) -> None:
    """Refuse (E-PROGRAM-001) a class, a coroutine, a generator function, or one that does not take exactly one run."""
    if inspect.isclass(function):
        wrong = "is a class: calling it makes an object and runs nothing"
    elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        wrong = "is an async function: calling it executes none of its body"
    elif inspect.isgeneratorfunction(function):
        wrong = "is a generator function (it has a yield): calling it executes none of its body"
    else:
        try:
            inspect.signature(function).bind(None)
        except ValueError:  # made in C, and gives no signature
            return
        except TypeError:
            wrong = f"cannot be called with a run alone: it takes {inspect.signature(function)}"
        else:
            return
    raise ProgramNotFound(
        f"{name} {wrong}.",
        "Expected a plain function that takes one run.",
        "Write: def main(run): ...; and call the other from there, or read run.config."
        + (
            " An async function runs with --loop recorded, or --loop simulated."
            if inspect.iscoroutinefunction(function)
            else ""
        ),
        function=name,
    )


def make_function_error(target: str, function: str, names: Iterable[str]) -> ProgramNotFound:
    """Build the error for a function that its file or module does not have; ``names`` are the functions there."""
    offered = ", ".join(dict.fromkeys(names)) or "none"
    return ProgramNotFound(
        f"{target} has no function {function!r}.",
        f"Functions there: {offered}.",
        "A program is a function of a run: def main(run): ...; with --loop recorded or simulated also an async function.",
        target=target,
        function=function,
    )
