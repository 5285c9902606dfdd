"""How a program is written down by a person, and refused when nothing can be run under that name.

``file.py:function``, ``package.module:function``, the path of a script, or ``-m package.module``. A
script and ``-m`` are whole programs as Python itself runs them; the others are functions of a run.

Invariant: nothing of the user's is executed or imported here.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

from twice.errors import ProgramNotFound
from twice.recorder.program import Program, make_function_error

AS_MAIN = "-m "
_SHOWN_MAX = 80


def parse_program(text: str, *, arguments: Iterable[str] = (), cwd: Path | None = None) -> Program:
    """Read a program as it is written on the command line; E-PROGRAM-001 when the text names nothing that can be run.

    The ``arguments`` are what a script or a module gets as ``sys.argv[1:]``.
    """
    root, given = (cwd or Path.cwd()).resolve(), tuple(arguments)
    if text.startswith(AS_MAIN):
        name = text.removeprefix(AS_MAIN).strip()
        _require_main_module(name, root)
        return Program("main", name, "", str(root), given)
    is_script = False
    with suppress(OSError, ValueError):  # Too long for a path, or with a zero byte in it.
        is_script = bool(text) and (root / text).exists()
        is_script = is_script or (text.endswith(".py") and ":" not in text)
    if is_script:
        _require_script(text, root / text, root)
        relative = os.path.relpath((root / text).resolve(), root)
        return Program("script", relative, "", str(root), given, typed=text)
    target, colon, function = text.rpartition(":")
    if not colon:
        target, function = text, ""
    if target.endswith(".py") and (function or not colon):
        path = root / target
        if not path.is_file():
            raise _no_file(target, root)
        _require_function(path, function)
        return Program(
            "function", os.path.relpath(path.resolve(), root), function, str(root), given
        )
    if not function or not _is_dotted(target):
        raise ProgramNotFound(
            f"{text[:_SHOWN_MAX]!r} does not name a program.",
            "Expected file.py:function, package.module:function, a script, or -m package.module.",
            "For example: twice record examples/swarm.py:main --seed 42",
            target=text,
        )
    spec = None
    with suppress(ImportError, ValueError):
        # An installed package may make its submodules as it likes: its own name is enough.
        spec = importlib.util.find_spec(target.split(".", maxsplit=1)[0])
    if spec is None and _locate_module(target, root) is None:
        raise _no_module(target, root, "Check the name, or give a path: file.py:function.")
    return Program("module", target, function, str(root), given)


def list_run_functions(path: Path) -> list[str]:
    """Return the names of a file's functions that take exactly a ``run``, without executing it."""
    return [
        node.name
        for node in _parse_file(path).body
        if isinstance(node, ast.FunctionDef)
        and [argument.arg for argument in node.args.args] == ["run"]
    ]


def is_record(path: str | os.PathLike[str]) -> bool:
    """Return whether a path means a record, and not a program."""
    text = os.fspath(path)
    return not text.endswith(".py") and (text.endswith(".twice") or Path(text).is_file())


def _require_script(text: str, path: Path, root: Path) -> None:
    if path.is_dir():
        raise ProgramNotFound(
            f"{text} is a folder.",
            "Expected a script, the file that Python would run.",
            f"Name the file in it, or run the package: twice record -m {path.resolve().name}",
            target=text,
        )
    if not path.is_file():
        raise _no_file(text, root)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The program will say them itself.
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise _not_python(path, error) from error


def _no_file(target: str, root: Path) -> ProgramNotFound:
    return ProgramNotFound(
        f"There is no file {target}.",
        f"Expected a Python file, looked for in {root}.",
        "Check the path; a program is file.py:function, module:function, script.py or -m module.",
        target=target,
    )


def _parse_file(path: Path) -> ast.Module:
    """Parse the file as Python decodes it: by its own coding line, else as UTF-8."""
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        raise _not_python(path, error) from error


def _not_python(path: Path, error: Exception) -> ProgramNotFound:
    line = getattr(error, "lineno", None)
    where = f" line {line}" if line else ""
    return ProgramNotFound(
        f"{path.name}{where} is not Python: {getattr(error, 'msg', error)}.",
        f"Expected a file that Python {sys.version_info.major}.{sys.version_info.minor} reads.",
        f"Run: python {path}",
    )


def _require_function(path: Path, function: str) -> None:
    """Refuse early, without running the file, when no statement in it can bind the function's name."""
    tree = _parse_file(path)
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    first = function.split(".", maxsplit=1)[0]
    if not first.isidentifier() or first not in bound:
        functions = [
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        raise make_function_error(path.name, function, functions)


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _no_module(name: str, root: Path, remedy: str) -> ProgramNotFound:
    return ProgramNotFound(
        f"There is no module {name}.",
        f"Expected a module that can be imported from {root}.",
        remedy,
        target=name,
    )


def _require_main_module(name: str, root: Path) -> None:
    """Refuse a module that Python would not run with ``-m``, without importing any of it."""
    if not _is_dotted(name):
        is_path = os.sep in name or name.endswith(".py")
        raise ProgramNotFound(
            f"-m {name[:_SHOWN_MAX]!r} is {'a path' if is_path else 'no name of a module'}.",
            "Expected a module's dotted name after -m, such as package.module.",
            f"Run the file itself: twice record {name}"
            if is_path
            else "For example: twice record -m package.module --seed 7",
            target=name,
        )
    found = _locate_module(name, root)
    if found is None:
        remedy = "Check the name, and that this Python is the one it is installed for."
        raise _no_module(name, root, remedy)
    if found == "package" and _locate_module(f"{name}.__main__", root) is None:
        raise ProgramNotFound(
            f"{name} is a package without a __main__ module.",
            "Expected a module, or a package that can be executed.",
            f"Name a module in it: twice record -m {name}.MODULE",
            target=name,
        )


def _locate_module(name: str, root: Path) -> str | None:
    """Return whether a dotted name is a ``package`` or a ``module`` here; None when it is neither."""
    folders: Iterable[str] | None = [str(root), *sys.path]
    for depth, part in enumerate(name.split(".")):
        if folders is None:
            return None
        # By its last name alone: a namespace's finder looks for the parents of a whole name among the imported modules.
        spec = PathFinder.find_spec(part, list(folders))
        if spec is None and depth == 0:
            with suppress(ImportError, ValueError):  # Built in, frozen, or another importer's.
                spec = importlib.util.find_spec(part)
        if spec is None:
            return None
        folders = spec.submodule_search_locations
    return "module" if folders is None else "package"
