"""The page about the command line, made from the commands themselves.

    python -m twice.surfaces.cli.reference > docs/reference/cli.md

It reads the parsers' own data, not their help text, which differs between versions of Python.

Invariant: one checkout gives one page, on every version of Python.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator

from twice.surfaces.cli import COMMANDS, overview

_HEAD = """\
# Command line

Made from the commands by `python -m twice.surfaces.cli.reference`; do not edit it by hand.

Results go to standard output, everything else to standard error. Exit codes: 0 it holds, 1 it does
not hold or something was found, 2 could not tell or wrong use. `--json` prints one JSON document.
"""


def page() -> Iterator[str]:
    """The lines of the page."""
    yield _HEAD
    yield f"```\n{overview()}\n```"
    for name in COMMANDS:
        yield from _command(name)


def _command(name: str) -> Iterator[str]:
    command = importlib.import_module(f"twice.surfaces.cli.{name}")
    yield from _section(f"## twice {name}", str(command.__doc__))
    parser = argparse.ArgumentParser(prog=f"twice {name}", add_help=False)
    command.arrange(parser)
    chosen = next((each for each in parser._actions if _has_actions(each)), None)
    if chosen is None:
        yield from _options(parser)
        return
    assert isinstance(chosen.choices, dict), "an action that has actions names their parsers"
    for action, own in chosen.choices.items():
        yield from _section(f"### twice {name} {action}", own.description or "")
        yield from _options(own)


def _has_actions(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)


def _section(heading: str, said: str) -> Iterator[str]:
    title, _, rest = said.partition("\n\n")
    yield f"\n{heading}\n\n{title}\n"
    for block in rest.strip("\n").split("\n\n"):
        examples = block.startswith("  twice ")
        yield f"```\n{_without_indent(block)}\n```\n" if examples else f"{block.strip()}\n"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield "| option | what |\n|---|---|"
    for action in parser._actions:
        if not isinstance(action, argparse._HelpAction):
            yield f"| `{_spelled(action)}` | {_explained(action)} |"


def _spelled(action: argparse.Action) -> str:
    named = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices is not None:
        named = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return f"{named} ..." if action.nargs in {"*", "+"} else named
    takes = action.nargs if isinstance(action.nargs, int) else 1
    return f"{', '.join(action.option_strings)}{f' {named}' * takes}"


def _explained(action: argparse.Action) -> str:
    said = (action.help or "").replace("|", "\\|")
    plain = isinstance(action.default, str | int) and not isinstance(action.default, bool)
    default = f"default `{action.default}`" if plain else ""
    needed = "required" if action.option_strings and action.required else ""
    return "; ".join(part for part in (said, default, needed) if part)


def _without_indent(block: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in block.splitlines())


if __name__ == "__main__":
    print("\n".join(page()))
