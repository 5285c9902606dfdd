"""The page about the command line, made from the commands themselves.

    python -m twice.cli.reference > docs/reference/cli.md

It reads the commands' own data, not their help text, which depends on the terminal.

Invariant: one checkout gives one page, on every version of Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

import click

from twice.cli.group import COMMANDS, Group, main_group

_HEAD = """\
# Command line

Made from the commands by `python -m twice.cli.reference`; do not edit it by hand.

Results go to standard output, everything else to standard error; an error under `--json` is `{"error": {...}}` on
standard output. Exit codes: 0 it holds, 1 it does not hold or something was found, 2 could not tell or wrong use.

Completion of commands and options, for bash, zsh and fish: `eval "$(_TWICE_COMPLETE=bash_source twice)"` in the
shell's own file of settings, with `zsh_source` or `fish_source` for the others.
"""


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield _HEAD
    yield "| command | what |\n|---|---|"
    yield from (f"| [`{name}`](#twice-{name}) | {said} |" for name, said in COMMANDS.items())
    context = click.Context(main_group(), info_name="twice")
    for name in COMMANDS:
        command = main_group().get_command(context, name)
        assert command is not None, "in the table"
        yield from _section(f"## twice {name}", command)
        if isinstance(command, Group):
            for action in command.summaries:
                found = command.get_command(context, action)
                assert found is not None, "in the table"
                yield from _section(f"### twice {name} {action}", found)
                yield from _options(found)
        else:
            yield from _options(command)


def _section(heading: str, command: click.Command) -> Iterator[str]:
    title, _, rest = (command.help or "").partition("\n\n")
    yield f"\n{heading}\n\n{title}\n"
    for block in rest.strip("\n").split("\n\n"):
        # click keeps the lines of a block with this mark as they are.
        examples = dedent(block.removeprefix("\b\n"))
        yield f"```\n{examples}\n```\n" if block.startswith("\b") else f"{block.strip()}\n"


def _options(command: click.Command) -> Iterator[str]:
    yield "| option | what |\n|---|---|"
    for each in command.params:
        if isinstance(each, click.Option):
            names, kind = ", ".join([*each.opts, *each.secondary_opts]), each.type
            if not (each.is_flag or each.count):
                choices = getattr(kind, "choices", ())
                names += " " + (
                    each.metavar
                    or (f"{{{','.join(map(str, choices))}}}" if choices else kind.name.upper())
                )
            value = each.default
            is_plain = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
            default = f"default `{value}`" if is_plain and not each.is_flag else ""
            said = "; ".join(filter(None, (each.help, default, "required" * each.required)))
            yield f"| `{_escape(names)}` | {_escape(said)} |"
        else:
            yield f"| `{each.make_metavar(click.Context(command))}` | |"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print("\n".join(page()))
