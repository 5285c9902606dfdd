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
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import click

from twice.errors import UsageError

COMMANDS: Final[dict[str, str]] = {
    "record": "record a run of a program",
    "verify": "execute a record again and compare every point",
    "diagnose": "say where two runs part, and why",
    "replay": "look around in a record, tick by tick",
    "branch": "leave a record at a tick, with another input",
    "rerun": "run a record's program afresh: same seed, fresh effects",
    "vary": "vary the surroundings: which does a result depend on?",
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
    "asset": "logs of pictures and sounds, their gate, and nothing of it in public",
    "report": "write a page about one or two records",
    "demo": "see it happen: record, verify, diverge, diagnose",
}

_WINGS: Final = {
    "check": "checking",
    "review": "checking",
    "audit": "checking",
    "spec": "specification",
    "gate": "specification",
    "cost": "specification",
    "scaffold": "specification",
    "tools": "tooling",
    "asset": "assets",
}
"""The room without which a command is not there."""

_READS_RECORDS: Final = frozenset(
    {
        "verify", "diagnose", "replay", "branch", "rerun", "show", "ls", "env", "trace", "export", "migrate",
        "report",
    }
)  # fmt: skip
_ENTRY_POINTS: Final = "twice.commands"
_HELP: Final = {"help_option_names": ["-h", "--help"]}


def has_wing(room: str) -> bool:
    """Whether a room that the house works without is installed."""
    return importlib.util.find_spec(f"twice.{room}") is not None


class _HelpFormatter(click.HelpFormatter):
    """Help as wide as the terminal, also where that is narrower than click supposes."""

    def __init__(self, *_: Any, **__: Any) -> None:
        columns = shutil.get_terminal_size().columns
        super().__init__(width=max(30, min(columns, 80) - 1))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options or commands; half of the line is for what they do."""
        super().write_dl(rows, min(col_max, self.width // 2 - 4), col_spacing)


class _Context(click.Context):
    formatter_class = _HelpFormatter


class Command(click.Command):
    """One command: its help is the docstring of its file, its function gives the exit code.

    Args:
        splits: whether what stands after ``--`` is the program's own, and goes into ``arguments``.
        **attributes: of a click command.
    """

    context_class = _Context

    def __init__(self, *, splits: bool = False, **attributes: Any) -> None:
        attributes.setdefault("context_settings", _HELP)
        super().__init__(**attributes)
        self._splits = splits

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a command's own arguments, and keep those after ``--`` for the program."""
        rest: list[str] = []
        if self._splits and "--" in args:
            at = args.index("--")
            args, rest = args[:at], args[at + 1 :]
        try:
            left = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # the parser of options sets none
            raise
        if self._splits:
            ctx.params["arguments"] = (*ctx.params.get("arguments", ()), *rest)
        return left

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; what a forged record brings it to is one error, and with ``python -X dev`` a traceback."""
        if self.name not in _READS_RECORDS or sys.flags.dev_mode:
            return super().invoke(ctx)
        from twice.recording.record_form import reading

        with reading("something", "A record"):
            return super().invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the docstring: sentences are wrapped to the terminal, examples stay as they are."""
        del ctx
        _write_help(self.help or "", formatter)


def _write_help(text: str, formatter: click.HelpFormatter) -> None:
    for block in text.strip("\n").split("\n\n"):
        formatter.write_paragraph()
        if block.startswith("  "):
            formatter.write(f"{block}\n")
        else:
            formatter.write_text(" ".join(block.split()))


class Group(click.Group):
    """Commands that are imported when they are asked for.

    Args:
        package: where they lie, dotted.
        summaries: one line for each, by name, in the order of the help.
        rooms: the room that a command needs, by name; without it the command is not listed.
        brought: whether other distributions may bring more.
        **attributes: of a click group.
    """

    context_class = _Context

    def __init__(
        self,
        *,
        package: str,
        summaries: Mapping[str, str],
        rooms: Mapping[str, str] | None = None,
        brought: bool = False,
        **attributes: Any,
    ) -> None:
        attributes.setdefault("context_settings", _HELP)
        attributes.setdefault("subcommand_metavar", "ACTION [OPTIONS]")
        super().__init__(**attributes)
        self._package = package
        self.summaries = summaries
        self._rooms = rooms or {}
        self._brought = brought

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands that are there."""
        del ctx
        return [*filter(self._is_there, self.summaries), *self._others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name in self.summaries and self._is_there(cmd_name):
            found = importlib.import_module(f"{self._package}.{cmd_name}").command
        elif cmd_name in (others := self._others()):
            found = others[cmd_name].load()
        else:
            return None
        assert isinstance(found, click.Command), f"{cmd_name} is a command"
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant.

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

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the docstring, as commands do."""
        del ctx
        _write_help(self.help or "", formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, and import none."""
        rows = [(name, self.summaries.get(name, "")) for name in self.list_commands(ctx)]
        with formatter.section("Commands" if ctx.parent is None else "Actions"):
            formatter.write_dl(rows)

    def _is_there(self, name: str) -> bool:
        return name not in self._rooms or has_wing(self._rooms[name])

    def _others(self) -> Mapping[str, Any]:
        if not self._brought:
            return {}
        from importlib.metadata import entry_points  # reads every installed distribution

        return {each.name: each for each in entry_points(group=_ENTRY_POINTS)}


def main_group() -> Group:
    """Give the command ``twice``."""
    return Group(
        name="twice",
        help="twice: record a run, prove that it replays, find where two runs part.",
        epilog="See: twice COMMAND --help",
        package="twice.cli.commands",
        summaries=COMMANDS,
        rooms=_WINGS,
        brought=True,
        subcommand_metavar="COMMAND [OPTIONS]",
        params=[
            click.Option(
                ["-V", "--version"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_print_version,
                help="print the version",
            )
        ],
    )


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        click.echo(f"twice {version}" if (version := find_version()) else "twice, not installed")
        ctx.exit()


def find_version() -> str:
    """Give the installed version; "" for a source tree that nobody installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("twice")
    except PackageNotFoundError:
        return ""


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
    if isinstance(error, click.NoSuchOption) and not near and _passes_on(context):
        expected = "Expected the options of twice before --, and those of the program after it."
        remedy = f"For example: {path} train.py --seed 7 -- --lr 3e-4"
    return UsageError(f"{path}: {happened.rstrip('.')}.", expected, remedy)


def _passes_on(context: click.Context | None) -> bool:
    params = () if context is None else context.command.params
    return any(isinstance(each, click.Argument) and each.name == "arguments" for each in params)


def make_command(
    *options: Callable[[Any], Any], splits: bool = False
) -> Callable[[Callable[..., int]], Command]:
    """Make a function the command of its file.

    Args:
        *options: decorators of click, in the order of the help.
        splits: whether what stands after ``--`` is the program's own.
    """

    def decorate(function: Callable[..., int]) -> Command:
        for option in reversed(options):
            function = option(function)
        module = function.__module__
        make = click.command(
            module.rpartition(".")[2],
            cls=Command,
            splits=splits,
            help=importlib.import_module(module).__doc__,
        )
        return make(function)

    return decorate


def make_group(package: str, summaries: Mapping[str, str]) -> Group:
    """Make the actions in a folder a command."""
    return Group(
        name=package.rpartition(".")[2],
        help=importlib.import_module(package).__doc__,
        package=package,
        summaries=summaries,
        no_args_is_help=False,
    )
