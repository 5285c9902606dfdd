"""How options are declared: those that most commands take, and groups of them as one typed value.

Invariant: nothing heavy is imported here; every command imports this file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import click

from twice.errors import UsageError

Option = Callable[[Any], Any]
"""A decorator of click, or several of them."""

PATH: Final = click.Path(path_type=Path)
json_option: Final = click.option("--json", "as_json", is_flag=True, help="print one JSON document")
limit_option: Final = click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="list so many at most"
)
informational_option: Final = click.option(
    "--informational", is_flag=True, help="go on though code differs"
)
quiet_option: Final = click.option(
    "--quiet", is_flag=True, help="do not pass the program's output on"
)
record_argument: Final = click.argument("record", type=PATH)


def several(flags: str, name: str, **attributes: Any) -> Option:
    """Make an option that may be given more than once."""
    attributes["help"] = f"{attributes['help']}; repeatable"
    return click.option(flags, name, multiple=True, **attributes)


def switch_off(flag: str, name: str, **attributes: Any) -> Option:
    """Make a flag whose value is what it switches off: True without it."""
    # Not ``flag_value=False, default=True``: releases of click read that in two ways.
    return click.option(
        flag, name, is_flag=True, callback=lambda *given: not given[2], **attributes
    )


def gather(name: str, kind: type, *options: Option) -> Option:
    """Make options one argument of the command's function.

    Args:
        name: of that argument.
        kind: a dataclass whose fields are named like the options.
        *options: in the order of the help.
    """

    def collect() -> None:
        """Collect the options' parameters, as click does on a command's function."""

    for option in reversed(options):
        option(collect)
    known = {each.name for each in fields(kind)}
    names = {each.name for each in getattr(collect, "__click_params__", ())}
    assert names <= known, f"{kind.__name__} has a field for each of its options"
    names |= known & {"arguments"}  # what stands after ``--``, for a command that splits

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(**given: Any) -> Any:
            own = kind(**{each: given.pop(each) for each in names if each in given})
            return function(**{name: own}, **given)

        for option in reversed(options):
            call = option(call)
        return call

    return decorate


def split_pairs(pairs: Iterable[str], option: str, example: str) -> dict[str, str]:
    """Read ``NAME=VALUE`` pairs, each name once.

    Args:
        pairs: as they were typed.
        option: that took them.
        example: of a pair.

    Raises:
        UsageError: E-USE-001, for a pair without a name or a ``=``, or a name given twice.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name or name in values:
            again = " again" if name in values else ""
            raise UsageError(
                f"{option} {pair!r} is not a name and a value{again}.",
                "Expected NAME=VALUE, each name once.",
                f"For example: {option} {example}",
            )
        values[name] = text
    return values
