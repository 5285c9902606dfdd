"""The command line ``twice``: from the arguments to an exit code.

Exit codes: 0 it holds, 1 it does not hold or something was found, 2 could not tell or wrong use. Results go to standard
output, everything else to standard error; an error under ``--json`` is JSON on standard output.

Invariant: every refusal is one error with id, what happened, what was expected and what to do.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from twice.cli.group import main_group, to_usage_error
from twice.cli.output import PRINTED, print_beside
from twice.errors import OutputUnwritable, TwiceError, UsageError
from twice.worker.exit_by_signal import exit_by_signals

_COMPLETE = "_TWICE_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and given[:1] == ["check"]:
        gc.disable()  # It leaves next to no cycles behind, and goes through millions of objects.
    _prepare_streams()
    PRINTED.clear()
    if arguments is None:
        exit_by_signals()
    try:
        try:
            os.getcwd()  # noqa: PTH109  (what raises)
        except FileNotFoundError as error:
            raise UsageError(
                "The current folder does not exist any more.",
                "Expected a folder in which programs and records are found.",
                "Go to one that is there: cd ..",
            ) from error
        code = dispatch(given)
        sys.stdout.flush()
    except TwiceError as error:
        code = _refuse(error, given)
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        _drop_output()
        code = 2
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            long = UsageError(
                f"{error.filename} is no path: {error.strerror}.",
                "Expected names of at most 255 bytes, and paths of at most 4,096.",
                "Check the arguments; names of commands and options stand before those of files.",
            )
            sys.exit(_refuse(long, given))
        if error.filename is not None:
            raise
        _drop_output()  # Only a stream has no file name.
        unwritable = OutputUnwritable(
            f"Standard output cannot be written: {error.strerror or error}.",
            "Expected room for the whole result.",
            "Send it elsewhere, or make room.",
        )
        print_beside(unwritable)
        code = 2
    if arguments is None:
        gc.freeze()  # The process ends: nobody has to look through all that it holds.
    sys.exit(code)


def dispatch(arguments: list[str]) -> int:
    """Find the command, read its options, run it; its exit code."""
    group = main_group()
    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "twice", _COMPLETE, os.environ[_COMPLETE])
    try:
        columns = max(30, min(shutil.get_terminal_size().columns, 80) - 1)
        with group.make_context("twice", arguments, terminal_width=columns) as context:
            code = group.invoke(context)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 2
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        raise to_usage_error(error) from None
    assert isinstance(code, int), "a command returns its exit code"
    return code


def _refuse(error: TwiceError, arguments: list[str]) -> int:
    """Say an error where the caller reads, if somebody reads there: 2."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    try:
        if "--json" in own and not PRINTED:
            import json

            facts = ("happened", "expected", "remedy")
            said = {"id": error.id, **{name: getattr(error, name) for name in facts}}
            print(json.dumps({"error": {**said, "fields": error.fields}}, indent=2, default=str))
        else:
            print_beside(error)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    return 2


def _prepare_streams() -> None:
    """Print into nowhere where the shell has closed a stream, and what a terminal cannot show as an escape."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (till the end)
            setattr(sys, name, nowhere)
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Drop the buffered output silently: nobody reads any more."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
