"""The cell magic ``%%twice``: a notebook's cell as a program, recorded in a process of its own.

The code of a cell gets a file in the folder ``__twice__``, with a name that follows from the code. So a record that
was made of a cell is verified after the cell was edited, and without the notebook.

Not for: code that needs the variables of the notebook. ``twice.recording`` records such code where it runs.

Invariant: a file of a cell holds the code that its name says, on the lines that the cell has.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from twice.errors import TwiceError, UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import printable, printable_lines
from twice.foundation.seeds import Seed
from twice.recorder.config import parse_settings, refuse_unread
from twice.recorder.program import Program
from twice.recorder.program_spec import list_run_functions
from twice.recorder.recorder import choose_master_seed, record
from twice.recorder.runrecord import RunRecord
from twice.writing import make_folder, write

FOLDER: Final = "__twice__"
"""A name that Python imports from: a cell that is a script runs as a module in it, and imports from beside it."""
_HEAD: Final = "# A cell of a notebook. Written by %%twice, which finds it by its content: edit the cell instead.\n"
_DIGITS: Final = 12
_UNDEFINED: Final = re.compile(r"name '(\w+)' is not defined")


class _OptionParser(argparse.ArgumentParser):
    """Options of the magic; a mistake in them is an error of twice."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(
            f"%%twice: {message}.",
            f"Expected {' '.join(self.format_usage().split()[1:])}.",
            "For example: %%twice --seed 7 --set n=100 --as walk",
        )


def load_ipython_extension(ipython: Any) -> None:
    """Register the magic: IPython calls this at ``%load_ext twice``."""
    parser = _OptionParser(prog="%%twice", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("--seed", metavar="N", help="master seed, an integer; or the variable TWICE_SEED")
    add("--set", metavar="KEY=VALUE", action="append", default=[], help="one value of run.config")
    add("-o", "--out", metavar="FILE", type=Path, help="path of the record")
    add("--force", action="store_true", help="replace an existing record")
    add("--as", metavar="NAME", dest="name", help="a variable for the record")

    def run(line: str, cell: str) -> RunRecord:
        try:
            return _record_cell(parser, line, cell, ipython.user_ns)
        except TwiceError as error:
            # IPython shows this in place of a traceback, which would have no line of the user's.
            lines = printable_lines(str(error)).splitlines()
            error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
            raise

    run.__doc__ = f"Record this cell in a process of its own.\n\n{parser.format_help()}"
    ipython.register_magic_function(run, "cell", "twice")


def _record_cell(
    parser: _OptionParser, line: str, cell: str, variables: dict[str, object]
) -> RunRecord:
    try:
        options = parser.parse_args(shlex.split(line))
    except ValueError as error:  # a quotation mark without its other one
        parser.error(str(error).lower())
    name = options.name
    if name is not None and not name.isidentifier():
        parser.error(f"--as {name} is not the name of a variable")
    seed = choose_master_seed(None if options.seed is None else Seed.parse(options.seed))
    config = parse_settings(options.set)
    program, stem = _write_cell(cell)
    out = options.out or Path(f"{name or stem}.twice")
    made = record(program, seed=seed, config=config, out=out, force=options.force, show=True)
    if name is not None:
        variables[name] = made
    ending = made.ending or {}
    _explain_exception(ending.get("exception") or {}, variables)
    if ending.get("how") == "completed":
        refuse_unread(ending.get("config_unread", ()), out)
    return made


def _write_cell(cell: str) -> tuple[Program, str]:
    """Write the code of a cell to its file; return the program, and the name of the file without its ending.

    Raises:
        ProgramNotFound: E-PROGRAM-001, for code that is not Python.
    """
    source, root = (_HEAD + cell).encode("utf-8", "surrogatepass"), Path.cwd().resolve()
    stem = f"cell_{digest_bytes(source, Algorithm.SHA256).hex[:_DIGITS]}"
    path = make_folder(root / FOLDER) / f"{stem}.py"
    write(path, source)
    if "main" in list_run_functions(path):
        return Program("function", f"{FOLDER}/{path.name}", "main", str(root)), stem
    return Program("main", f"{FOLDER}.{stem}", "", str(root)), stem


def _explain_exception(exception: Mapping[str, Any], variables: Mapping[str, object]) -> None:
    """Say of a name that the recorded process lacked, and the notebook has, why it is so."""
    found = _UNDEFINED.search(str(exception.get("message")))
    if found is None or found[1] not in variables:
        return
    name = printable(found[1])
    sys.stderr.write(
        f"note: {name} is a variable of the notebook. A recorded cell is a program of its own, and sees only the names "
        f"that it defines or imports. Define {name} in the cell, import it from a module, or give a plain value to "
        f"main(run): --set {name}={{{name}}}, and run.config[{name!r}]\n"
    )
