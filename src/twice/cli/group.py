"""The commands of ``twice``: which there are, how they are found, how their help and their errors look.

A command lies in a file of its own under ``commands``, as ``command``; it is imported when it is asked for. A command
of another distribution comes by an entry point of the group ``twice.commands``.

Invariant: ``twice --help`` imports no command.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from twice.errors import UsageError
from twice.foundation.version import VERSION

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS: Final[dict[str, str]] = {
    "record": "record a run of a program",
    "verify": "execute a record again and compare every point",
    "sweep": "record a program under many seeds and values, failures by cause",
    "diagnose": "say where two runs part, and why",
    "replay": "look around in a record, tick by tick",
    "branch": "leave a record at a tick, with another input",
    "rerun": "run a record's program afresh: same seed, fresh effects",
    "vary": "vary the surroundings: which does a result depend on?",
    "resume-check": "kill a training and resume it: does it end as if it had never stopped?",
    "explore": "search for an order of steps in which an asyncio program fails",
    "check": "read a program for what would make two runs differ",
    "show": "show the contents of a record, without executing anything",
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
    "agent": "teach a coding agent to use twice: skills, commands, settings",
    "mcp": "serve the verbs to a coding agent over the Model Context Protocol",
    "asset": "logs of pictures and sounds, their gate, and nothing of it in public",
    "view": "look at runs on a page of this machine, tick by tick",
    "report": "write a page about one or two records",
    "demo": "see it happen: record, verify, diverge, diagnose",
}

_PLACES: Final = {
    **{name: f"derived_files:{name}" for name in ("export", "migrate", "trace", "report")},
    **{name: f"derived_runs:{name}" for name in ("branch", "rerun")},
    "resume-check": "resume_check:command",
}
"""``module:function`` of a command that shares its file with others."""

_WINGS: Final = {
    "checker": {"check", "review", "audit", "agent", "mcp"},
    "specification": {"spec", "gate", "cost", "scaffold", "agent", "mcp"},
    "tools": {"tools", "mcp"},
    "assets": {"asset"},
    "agent": {"agent", "mcp"},
    "schedules": {"explore"},
    "view": {"view"},
}
"""The commands that need a room; without it, they are not listed."""

_READS_RECORDS: Final = {
    "verify", "diagnose", "replay", "branch", "rerun", "show", "ls", "env", "trace", "export", "migrate", "view", "report"
}  # fmt: skip
_ENTRY_POINTS: Final = "twice.commands"
_SETTINGS: Final = {"help_option_names": ["-h", "--help"]}


def has_wing(room: str) -> bool:
    """Whether a room that the house works without is installed."""
    return importlib.util.find_spec(f"twice.{room}") is not None


class _HelpFormatter(click.HelpFormatter):
    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options or commands; half of the line is for their help, on a narrow terminal too."""
        super().write_dl(rows, min(col_max, self.width // 2 - 4), col_spacing)


class _Context(click.Context):
    formatter_class = _HelpFormatter


def _keep_examples(docstring: str | None) -> str:
    """Mark the indented blocks of a docstring, so that click wraps the text alone."""
    return re.sub(r"\n\n(?=  )", "\n\n\b\n", docstring or "")


class Command(click.Command):
    """One command: its help is the docstring of its file, its function gives the exit code.

    Args:
        **attributes: of a click command.
    """

    context_class = _Context

    def __init__(self, **attributes: Any) -> None:
        super().__init__(context_settings=_SETTINGS, **attributes)
        self.help = _keep_examples(self.help)
        self.rest: str | None = None
        """The parameter that takes the arguments after ``--``, where those are not the command's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a command's own arguments, and keep those after ``--`` for the program."""
        if self.rest is not None:
            at = args.index("--") if "--" in args else len(args)
            ctx.params[self.rest] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; whatever a forged record leads to is one error, and with ``python -X dev`` a traceback."""
        if self.name not in _READS_RECORDS or sys.flags.dev_mode:
            return super().invoke(ctx)
        from twice.recorder.record_form import reading

        with reading("something", "A record"):
            return super().invoke(ctx)


class Group(click.Group):
    """Commands that are imported when they are asked for.

    Args:
        package: of their files, dotted; its last part is the name.
        actions: ``module:function`` in the package, and one line for the help, by name.
        finds_others: whether other distributions add commands.
        **attributes: of a click group.
    """

    context_class = _Context

    def __init__(
        self,
        package: str,
        actions: Mapping[str, tuple[str, str]],
        *,
        finds_others: bool = False,
        **attributes: Any,
    ) -> None:
        made = {"name": package.rpartition(".")[2], "subcommand_metavar": "ACTION [OPTIONS]"}
        super().__init__(context_settings=_SETTINGS, **{**made, **attributes})
        self.help = _keep_examples(self.help)
        self.summaries = {name: said for name, (_, said) in actions.items()}
        self._places = {name: f"{package}.{place}" for name, (place, _) in actions.items()}
        self._others = _find_others if finds_others else dict[str, Any]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        del ctx
        return [*self.summaries, *self._others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name in self._places:
            module, _, name = self._places[cmd_name].partition(":")
            found = getattr(importlib.import_module(module), name)
        elif (other := self._others().get(cmd_name)) is not None:
            found = other.load()
        else:
            return None
        assert isinstance(found, click.Command), f"{cmd_name} is a command"
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest one.

        Raises:
            UsageError: E-USE-001, when there is none of that name.
        """
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, args[1:]
        names = self.list_commands(ctx)
        near = difflib.get_close_matches(name, names, n=2)
        kind = "command" if ctx.parent is None else "action"
        raise UsageError(
            f"{ctx.command_path}: there is no {kind} {name!r}.",
            f"Expected one of: {', '.join(names)}.",
            f"Did you mean {' or '.join(near)}?" if near else f"See: {ctx.command_path} --help",
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, and import none."""
        rows = [(name, self.summaries.get(name, "")) for name in self.list_commands(ctx)]
        with formatter.section("Commands" if ctx.parent is None else "Actions"):
            formatter.write_dl(rows)


def _find_others() -> Mapping[str, EntryPoint]:
    """Find the commands of other distributions."""
    # To import importlib.metadata takes a fifth of ``twice --help``, and few environments have such commands:
    # the files are searched first.
    patterns = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")
    files = (file for each in sys.path for pattern in patterns for file in Path(each).glob(pattern))
    if not any(_ENTRY_POINTS.encode() in file.read_bytes() for file in files):
        return {}
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=_ENTRY_POINTS)}


def main_group() -> Group:
    """Make the command ``twice``."""

    def print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(f"twice {VERSION}")
            ctx.exit()

    version = click.Option(
        ["-V", "--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=print_version,
        help="print the version",
    )
    return Group(
        "twice.cli.commands",
        {
            name: (_PLACES.get(name, f"{name}:command"), said)
            for name, said in COMMANDS.items()
            if all(name not in needing or has_wing(room) for room, needing in _WINGS.items())
        },
        name="twice",
        help="twice: record a run, prove that it replays, find where two runs part.",
        epilog="See: twice COMMAND --help",
        finds_others=True,
        subcommand_metavar="COMMAND [OPTIONS]",
        params=[version],
    )


def to_usage_error(error: click.ClickException) -> UsageError:
    """Word what click refuses like every other error of twice."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "twice"
    near: Sequence[str] = getattr(error, "possibilities", None) or ()
    given = getattr(error, "option_name", "")
    near = difflib.get_close_matches(given, near, n=2, cutoff=0.75)
    happened = re.split(r" \(?(?:Did you mean|Possible)", error.format_message())[0]
    happened = happened[:1].lower() + happened[1:]
    expected = "Expected the options and arguments that the command has."
    remedy = f"Did you mean {' or '.join(near)}?" if near else f"See: {path} --help"
    params = () if context is None else context.command.params
    passes_on = any(
        isinstance(each, click.Argument) and each.name == "arguments" for each in params
    )
    if isinstance(error, click.NoSuchOption) and not near and passes_on:
        expected = "Expected the options of twice before --, and those of the program after it."
        remedy = f"For example: {path} train.py --seed 7 -- --lr 3e-4"
    return UsageError(f"{path}: {happened.rstrip('.')}.", expected, remedy)
