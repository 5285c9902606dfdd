"""The command line ``twice``: one file per command, and this one that finds it.

A command file has ``arrange(parser)`` and ``run(options) -> exit code``. It is
imported when it is asked for, so ``twice --help`` is quick. Exit codes: 0 it holds, 1 it does not
hold or something was found, 2 could not tell or wrong use. Results go to standard output,
everything else to standard error.

Invariant: every refusal is one error with id, what happened, what was expected and what to do.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from twice.errors import OutputUnwritable, TwiceError, UsageError
from twice.foundation.printable import printable_lines
from twice.worker.exit_by_signal import exit_by_signals

COMMANDS: dict[str, str] = {
    "record": "record a run of a program",
    "verify": "execute a record again and compare every point",
    "diagnose": "say where two runs part, and why",
    "replay": "look around in a record, tick by tick",
    "branch": "leave a record at a tick, with another input",
    "rerun": "run a record's program afresh: same seed, fresh effects",
    "vary": "vary the surroundings: which does a result depend on?",
    "check": "read a program for what would make two runs differ",
    "show": "say what a record holds, without executing anything",
    "ls": "list the records in a folder",
    "env": "print this environment, or compare it",
    "trace": "write the trace of one tick, to be compared elsewhere",
    "export": "write a record as JSON lines or Parquet",
    "migrate": "write a record anew: a torn one's intact part, an older format",
    "review": "review code: ten channels, what is wrong, what to do first",
    "audit": "list every draw, or every question to the world, and its owner",
    "spec": "write down what a system promises, sheet by sheet",
    "gate": "check a specification against evidence that is made by running",
    "cost": "measure what each rule of determinism costs on a program",
    "scaffold": "lay down the code that wires a component to its specification",
    "tools": "list and call tools that declare what they promise",
    "asset": "logs of pictures and sounds, their gate, and nothing of it in public",
    "report": "write one or two records as a page to look at",
    "demo": "see it happen: record, verify, diverge, diagnose",
}


_READS_RECORDS = frozenset(
    {
        "verify", "diagnose", "replay", "branch", "rerun", "show", "ls", "env", "trace", "export", "migrate",
        "report",
    }
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    """Words an argument error like every other error of twice."""

    def error(self, message: str) -> None:  # type: ignore[override]
        expected = "Expected the options and arguments that the command has."
        remedy = f"See: {self.prog} --help"
        if message.startswith("unrecognized") and self.prog.endswith((" record", " vary", " cost")):
            expected = "Expected the options of twice before --, and those of the program after it."
            remedy = f"For example: {self.prog} train.py --seed 7 -- --lr 3e-4"
        if message.startswith("argument --confirm:"):
            expected = "Expected a program: file.py:function, package.module:function, a script, or a module."
            remedy = f"For example: {self.prog} src --confirm='-m package' --seed 1"
        raise UsageError(f"{self.prog}: {message}.", expected, remedy)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and given[:1] == ["check"]:
        gc.disable()  # It leaves next to no cycles behind, and goes through millions of objects.
    _open_closed_streams()
    _never_fail_to_print()
    if arguments is None:
        exit_by_signals()
    try:
        _require_folder()
        code = dispatch(given)
        sys.stdout.flush()
    except TwiceError as error:
        print(printable_lines(str(error)), file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        _drop_output()
        code = 2
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            print(printable_lines(str(_too_long(error))), file=sys.stderr)
            sys.exit(2)
        if error.filename is not None:
            raise
        _drop_output()  # Only a stream has no file name.
        print(_unprinted(error), file=sys.stderr)
        code = 2
    if arguments is None:
        gc.freeze()  # The process ends: nobody has to look through all that it holds.
    sys.exit(code)


def _open_closed_streams() -> None:
    """Let what is printed go nowhere where the shell has closed a stream (``>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (till the end)
            setattr(sys, name, nowhere)


def _require_folder() -> None:
    """Refuse to start where nothing can be found, or written.

    Raises:
        UsageError: E-USE-001, when the current folder was removed.
    """
    try:
        os.getcwd()  # noqa: PTH109  (what raises)
    except FileNotFoundError as error:
        raise UsageError(
            "The current folder does not exist any more.",
            "Expected a folder in which programs and records are found.",
            "Go to one that is there: cd ..",
        ) from error


def _too_long(error: OSError) -> UsageError:
    return UsageError(
        f"{error.filename} is no path: {error.strerror}.",
        "Expected names of at most 255 bytes, and paths of at most 4,096.",
        "Check the arguments; names of commands and options stand before those of files.",
    )


def _unprinted(error: OSError) -> OutputUnwritable:
    return OutputUnwritable(
        f"Standard output cannot be written: {error.strerror or error}.",
        "Expected room for the whole result.",
        "Send it elsewhere, or make room.",
    )


def _own(arguments: list[str]) -> tuple[list[str], list[str]]:
    """A command's own arguments, and those after ``--`` that it passes on.

    argparse cannot tell them apart where options stand between the two positional arguments.
    """
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def _never_fail_to_print() -> None:
    """A character that the terminal cannot show is written as an escape, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Nobody reads any more: let what is still buffered go nowhere, without a word."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def dispatch(arguments: list[str]) -> int:
    """Find the command, read its options, run it; its exit code."""
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(overview())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from importlib.metadata import version

        print(f"twice {version('twice')}")
        return 0
    name = arguments[0]
    if name not in COMMANDS:
        raise UsageError(
            f"There is no command {name!r}.",
            f"Commands: {', '.join(COMMANDS)}.",
            "See: twice --help",
        )
    command = importlib.import_module(f"twice.surfaces.cli.{name}")
    parser = _Parser(
        prog=f"twice {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.arrange(parser)
    own, rest = _own(arguments[1:]) if hasattr(command, "PASSES_ON") else (arguments[1:], [])
    mixed = hasattr(command, "MIXES")  # Options may stand between the paths.
    options = parser.parse_intermixed_args(own) if mixed else parser.parse_args(own)
    if rest:
        setattr(options, command.PASSES_ON, [*getattr(options, command.PASSES_ON), *rest])
    code = _run(name, command, options)
    assert isinstance(code, int), "a command returns its exit code"
    return code


def _run(name: str, command: Any, options: argparse.Namespace) -> Any:
    """Run a command; what a forged record brings it to is one error, and with ``python -X dev`` a traceback."""
    if name not in _READS_RECORDS or sys.flags.dev_mode:
        return command.run(options)
    from twice.recording.record_form import reading

    with reading("something", "A record"):
        return command.run(options)


def overview() -> str:
    """What ``twice --help`` prints."""
    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "twice: record a run, prove that it replays, find where two runs part.",
            "",
            *rows,
            "",
            "See: twice COMMAND --help",
        ]
    )
