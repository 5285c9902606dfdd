"""How a program is named, found, loaded and hashed.

A program is ``file.py:function``, ``package.module:function`` or the path of a script. The same
value loads it while recording and finds it again later, from the same folder or another one.
A closure or a notebook cell has no such name; it is ``inline`` and cannot be started again.

Invariant: nothing here runs a program; loading one happens only inside a session's process.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from twice.errors import ProgramNotFound
from twice.foundation.digests import Algorithm, digest_bytes

Kind = Literal["function", "module", "script", "inline"]


@dataclass(frozen=True)
class Program:
    """What is executed.

    Attributes:
        kind: ``function`` (file and function), ``module`` (dotted module and function), ``script``
            (a file run as ``__main__``) or ``inline`` (cannot be started again).
        target: path relative to ``root`` for files, dotted name for modules, a label for inline.
        function: function name, possibly dotted; empty for scripts and inline code.
        root: folder that was current when the program was named.
        arguments: command-line arguments of a script.
    """

    kind: Kind
    target: str
    function: str = ""
    root: str = ""
    arguments: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.target}:{self.function}" if self.function else self.target

    @property
    def rerunnable(self) -> bool:
        """Whether the program can be started again from its name."""
        return self.kind != "inline"

    def to_json(self) -> dict[str, object]:
        """Plain values, as they stand in the run record's identity."""
        return {
            "kind": self.kind,
            "target": self.target,
            "function": self.function,
            "root": self.root,
            "arguments": list(self.arguments),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Program:
        """Read back what ``to_json`` wrote."""
        return cls(
            kind=data["kind"],
            target=str(data["target"]),
            function=str(data["function"]),
            root=str(data["root"]),
            arguments=tuple(str(part) for part in data["arguments"]),
        )

    def folder(self) -> Path:
        """The folder that its paths start from: the recorded one, or the current one if moved.

        The recorded folder counts while the program is in it. A checkout that was moved, or copied
        to another machine, is found from inside.
        """
        recorded, current = Path(self.root or "."), Path.cwd()
        return next((at for at in (recorded, current) if self._is_in(at)), recorded)

    def place(self, path: str) -> str:
        """A path as a record keeps it: what lies beside the program moves with it."""
        root = self.folder().resolve()
        beside = (root / self.target).resolve().parent if self.target.endswith(".py") else root
        for name, folder in (("{program}", str(beside)), ("{folder}", str(root))):
            if path == folder or path.startswith(folder + os.sep):
                return name + path[len(folder) :]
        return path

    def near(self, folder: Path) -> Program:
        """The same program, looked for beside its record when it is nowhere else.

        A record that travels with its program finds it there, under its own name.
        """
        if self.kind not in {"function", "script"} or self._is_in(self.folder()):
            return self
        for target in (self.target, Path(self.target).name):
            if (folder / target).is_file():
                return replace(self, root=str(folder.resolve()), target=target)
        return self

    def _is_in(self, folder: Path) -> bool:
        if self.kind == "module":
            place = folder / self.target.split(".", maxsplit=1)[0]
            return place.is_dir() or place.with_suffix(".py").is_file()
        return (folder / self.target).is_file()

    def path(self) -> Path:
        """The program's file.

        Raises:
            ProgramNotFound: E-PROGRAM-001, when it is not there.
        """
        found = self.folder() / self.target
        if found.is_file():
            return found.resolve()
        raise ProgramNotFound(
            f"The program file {self.target} is not there.",
            f"Expected it in {self.root or os.curdir} or in the current folder.",
            "Put it back, or run from the folder that it was moved to.",
            target=self.target,
        )


def parse_program(text: str, *, arguments: Iterable[str] = (), cwd: Path | None = None) -> Program:
    """Read a program as it is written on the command line.

    Args:
        text: ``file.py:function``, ``package.module:function`` or ``script.py``.
        arguments: what a script gets as ``sys.argv[1:]``.
        cwd: folder that relative paths start from; the current one by default.

    Raises:
        ProgramNotFound: E-PROGRAM-001, when the text names nothing that can be run.
    """
    root = (cwd or Path.cwd()).resolve()
    target, colon, function = text.rpartition(":")
    if not colon:
        target, function = text, ""
    if target.endswith(".py") and (function or not colon):
        path = Path(target) if Path(target).is_absolute() else root / target
        if not path.is_file():
            raise ProgramNotFound(
                f"There is no file {target}.",
                f"Expected a Python file, looked for in {root}.",
                "Check the path; a program is file.py:function, module:function or script.py.",
                target=target,
            )
        relative = os.path.relpath(path.resolve(), root)
        kind: Kind = "function" if function else "script"
        if function:
            _require_function_text(path, function)
        return Program(kind, relative, function, str(root), tuple(arguments))
    if not function or not all(part.isidentifier() for part in target.split(".")):
        raise ProgramNotFound(
            f"{text!r} does not name a program.",
            "Expected file.py:function, package.module:function or a script ending in .py.",
            "For example: twice record examples/swarm.py:main --seed 42",
            target=text,
        )
    _require_module(target, root)
    return Program("module", target, function, str(root), tuple(arguments))


def program_of(function: Callable[..., object]) -> Program:
    """Name a function so that a fresh process can find it; inline when it cannot be found."""
    name = getattr(function, "__qualname__", "<lambda>")
    source = inspect.getsourcefile(function) if inspect.isfunction(function) else None
    module = getattr(function, "__module__", "") or ""
    label = f"{module}.{name}"
    if source is None or "<" in name or not Path(source).is_file():
        return Program("inline", label)
    root = Path.cwd().resolve()
    return Program("function", os.path.relpath(Path(source).resolve(), root), name, str(root))


def load(program: Program) -> Callable[..., object]:
    """Import the program's module and return its function. Runs the module's top level.

    Raises:
        ProgramNotFound: E-PROGRAM-001, when the function is not there.
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
        raise _no_function(program.target, program.function, names_in(vars(module)))
    require_runnable(found, str(program))
    return found


def require_runnable(function: Callable[..., object], name: str) -> None:
    """Refuse what would not execute when it is called with a run.

    Raises:
        ProgramNotFound: E-PROGRAM-001, for a class, a coroutine, a generator function, and a
            function that does not take exactly one run.
    """
    if inspect.isclass(function):
        wrong = "is a class: calling it makes an object and runs nothing"
    elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        wrong = "is an async function: calling it executes none of its body"
    elif inspect.isgeneratorfunction(function):
        wrong = "is a generator function (it has a yield): calling it executes none of its body"
    elif not _takes_one(function):
        wrong = f"cannot be called with a run alone: it takes {inspect.signature(function)}"
    else:
        return
    raise ProgramNotFound(
        f"{name} {wrong}.",
        "Expected a plain function that takes one run.",
        "Write: def main(run): ...; and call the other from there, or read run.config.",
        function=name,
    )


def _takes_one(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # Something made in C, which does not say what it takes.
        return True
    return True


def names_in(namespace: Mapping[str, object]) -> list[str]:
    """Names of the functions that a namespace defines, in order, for messages."""
    return [name for name, value in namespace.items() if inspect.isfunction(value)]


def source_digests(paths: Iterable[Path], root: Path) -> dict[str, str]:
    """Digest of each source file, by its path relative to the root. Missing files are left out."""
    found = {}
    for path in sorted(paths):
        if path.is_file():
            name = os.path.relpath(path, root)
            found[name] = str(digest_bytes(path.read_bytes(), Algorithm.SHA256))
    return found


def user_modules() -> list[Path]:
    """Files of the modules now loaded that belong to the user: not installed, not ours."""
    return sorted(
        {
            Path(origin).resolve()
            for module in list(sys.modules.values())
            if (origin := getattr(module, "__file__", None))
            and str(origin).endswith(".py")
            and is_user_file(str(origin))
        }
    )


_FOREIGN = tuple(
    {
        os.path.realpath(path) + os.sep
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
        if (path := sysconfig.get_paths().get(name))
    }
    | {os.path.realpath(sys.prefix) + os.sep + "lib" + os.sep}
    | {os.path.realpath(sys.base_prefix) + os.sep + "lib" + os.sep}
)
_OURS = os.path.realpath(Path(__file__).parents[1]) + os.sep


def is_user_file(path: str) -> bool:
    """Whether a source path is the user's own: not the interpreter's, not installed, not twice."""
    if path.startswith("<"):
        return False
    real = os.path.realpath(path)
    return (
        not real.startswith(_FOREIGN)
        and not real.startswith(_OURS)
        and f"{os.sep}site-packages{os.sep}" not in real
    )


def _require_function_text(path: Path, function: str) -> None:
    """Refuse early, without running the file, when no such function can be in it."""
    tree = _parsed(path)
    first = function.split(".", maxsplit=1)[0]
    if not first.isidentifier() or first not in _bound_names(tree):
        raise _no_function(path.name, function, _functions(tree))


def runs_in(path: Path) -> list[str]:
    """Names of a file's functions that take exactly a ``run``, read without executing it."""
    import ast

    return [
        node.name
        for node in _parsed(path).body
        if isinstance(node, ast.FunctionDef)
        and [argument.arg for argument in node.args.args] == ["run"]
    ]


def _parsed(path: Path) -> Any:
    """The file's syntax tree, decoded as Python decodes it: by its own coding line, else UTF-8."""
    import ast

    try:
        return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" line {line}" if line else ""
        raise ProgramNotFound(
            f"{path.name}{where} is not Python: {getattr(error, 'msg', error)}.",
            f"Expected a file that Python {sys.version_info.major}.{sys.version_info.minor} reads.",
            f"Run: python {path}",
        ) from error


def _functions(tree: Any) -> list[str]:
    """Names of the functions at a module's top level, in order."""
    import ast

    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def _bound_names(tree: Any) -> list[str]:
    """Names that a module's own statements may bind, in order; imports with a star bind any."""
    import ast

    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [(alias.asname or alias.name).split(".")[0] for alias in node.names]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return names


def _require_module(target: str, root: Path) -> None:
    parts = target.split(".")
    local = root.joinpath(*parts)
    if local.with_suffix(".py").is_file() or (local / "__init__.py").is_file():
        return
    try:
        spec = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ProgramNotFound(
            f"There is no module {target}.",
            f"Expected a module that can be imported from {root}.",
            "Check the name, or give a path: file.py:function.",
            target=target,
        )


def _no_function(target: str, function: str, names: list[str]) -> ProgramNotFound:
    offered = ", ".join(dict.fromkeys(names)) or "none"
    return ProgramNotFound(
        f"{target} has no function {function!r}.",
        f"Functions there: {offered}.",
        "A program is a function of a run: def main(run): ...",
        target=target,
        function=function,
    )
