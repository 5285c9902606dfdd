"""Options, each written once: beside the type of the parameter that takes it, spelled as the help shows it.

A command is a function of annotated parameters, and a group of options is a dataclass of such fields:

    @build_command
    def command(record: RecordPath, first: Annotated[int | None, option("--from T", "first tick")], as_json: AsJson): ...

The type says what click makes of it. A ``bool`` is a flag, which switches off a parameter whose default is True.
``X | None`` is optional, ``tuple[X, ...]`` is repeatable, ``tuple[X, X]`` takes two values, ``Literal`` is a choice, and
any other type without a default is required.

Invariant: nothing heavy is imported here; every command imports this file.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import click

from twice.cli.group import Command
from twice.errors import UsageError
from twice.foundation.record_url import to_path


class _PathOrUrl(click.Path):
    """A path, or the URL of an object in a store."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path: Any = super().convert(value, param, ctx)
        return to_path(path)


PATH: Final = click.Path(path_type=Path)
RECORD: Final = _PathOrUrl()

Declared = Callable[..., click.Parameter]
"""What is written beside the type of a parameter: from its name, its type and its default to click's parameter."""


def _make(
    kind: type[click.Parameter], flags: Sequence[str], attributes: Mapping[str, Any],
    name: str, hint: Any, default: Any, **others: Any,
) -> click.Parameter:  # fmt: skip
    """Make the parameter of click; attributes that are given win over what the type says."""
    made = {**attributes, **others}
    is_optional = NoneType in get_args(hint)
    if is_optional:
        hint = get_args(hint)[0]
    parts = get_args(hint)
    if hint is bool:
        made["is_flag"] = True
        if default is True:
            # Not ``flag_value=False, default=True``: releases of click read that in two ways.
            made["callback"] = lambda *given: not given[2]
        return kind([*flags, name], **made)
    if get_origin(hint) is Literal:
        made["type"] = click.Choice(parts)
    elif get_origin(hint) is tuple:
        is_optional = True
        hint = parts[0]
        if Ellipsis not in parts:
            made["nargs"] = len(parts)
        elif kind is click.Argument:
            made["nargs"] = -1
        else:
            made |= {"multiple": True, "help": f"{made['help']}; repeatable"}
    made.setdefault("type", PATH if hint is Path else hint)
    if default not in {Parameter.empty, None, ()}:
        made["default"] = default
    made.setdefault("required", not is_optional and "default" not in made)
    return kind([*flags, name], **made)


def option(spelled: str, said: str, words: Iterable[str] = (), **attributes: Any) -> Declared:
    """Declare an option.

    Args:
        spelled: its flags and the name of its value, as the help shows them: ``-o, --out FILE``.
        said: its help, lower case and without a full stop.
        words: the values that it takes, if not any; a type of words, too.
        **attributes: of ``click.Option``, where the type does not give them.
    """
    if choices := [*map(str, words)]:
        attributes["type"] = click.Choice(choices)
    *flags, last = spelled.split(", ")
    flag, _, metavar = last.partition(" ")
    attributes |= {"metavar": metavar or None, "help": said}
    return partial(_make, click.Option, [*flags, flag], attributes)


def argument(**attributes: Any) -> Declared:
    """Declare an argument; the attributes are those of ``click.Argument``."""
    return partial(_make, click.Argument, (), attributes)


AFTER_DASHES: Final = "after --"
"""Beside a type: the parameter takes what stands after ``--``, and the command's own arguments end there."""

RecordPath = Annotated[Path, argument(type=RECORD)]
AsJson = Annotated[bool, option("--json", "print one JSON document")]
Limit = Annotated[int | None, option("--limit N", "list so many at most", type=click.IntRange(1))]
Informational = Annotated[bool, option("--informational", "go on though code differs")]
Quiet = Annotated[bool, option("--quiet", "do not pass the program's output on")]


def build_command(function: Callable[..., int]) -> Command:
    """Build a command: its options are the parameters of a function, its help the docstring.

    Args:
        function: gives the exit code. The help of a file's one ``command`` is the file's docstring. Beside the type of
            a group may be other help for its fields: ``Annotated[OutputOptions, {"out": "path of the page"}]``.
    """
    name, said = function.__name__, function.__doc__
    if name == "command":
        name = function.__module__.rpartition(".")[2].replace("_", "-")
        said = sys.modules[function.__module__].__doc__
    command = Command(
        name=name,
        help=cleandoc(said or ""),
        callback=lambda **values: _call(function, values),
    )
    _declare(command, function, {})
    return command


def _declare(command: Command, owner: Callable[..., Any], helps: Mapping[str, str]) -> None:
    """Give a command the options of a function, or of a group."""
    for name, hint, beside, default in _read_parameters(owner):
        if isinstance(hint, type) and is_dataclass(hint):
            _declare(command, hint, beside[0] if beside else {})
        elif AFTER_DASHES in beside:
            command.rest = name
        elif beside:
            others = {"help": helps[name]} if name in helps else {}
            command.params.append(beside[0](name, hint, default, **others))


def _call(owner: Callable[..., Any], values: dict[str, Any]) -> Any:
    """Call a function, or make a group, with its share of the values of a command."""
    given = {}
    for name, hint, *_ in _read_parameters(owner):
        if isinstance(hint, type) and is_dataclass(hint):
            given[name] = _call(hint, values)
        elif name in values:
            given[name] = values[name]
    return owner(**given)


def _read_parameters(
    owner: Callable[..., Any],
) -> Iterator[tuple[str, Any, tuple[Any, ...], Any]]:
    """Read the parameters of a function, or the fields of a group: name, type, what is beside it, default."""
    hints = get_type_hints(owner, include_extras=True)
    for name, each in signature(owner).parameters.items():
        beside = getattr(hints[name], "__metadata__", ())
        yield name, hints[name].__origin__ if beside else hints[name], beside, each.default


def split_commas(given: Sequence[str]) -> tuple[str, ...]:
    """Give what stands between commas and in repeated options."""
    return tuple(each.strip() for one in given for each in one.split(",") if each.strip())


def split_pairs(pairs: Iterable[str], option: str, example: str) -> dict[str, str]:
    """Read ``NAME=VALUE`` pairs, each name once.

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


_TIME: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(s|m|h)?")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}


def read_time_limit(given: str | None) -> float | None:
    """Read the value of ``--time-limit`` in seconds, such as 60s, 5m or 1h.

    Raises:
        UsageError: E-USE-001.
    """
    if given is None:
        return None
    read = _TIME.fullmatch(given)
    seconds = float(read[1]) * _SECONDS[read[2] or "s"] if read else 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise UsageError(
            f"--time-limit is {given!r}.",
            "Expected a time above zero, in seconds, minutes or hours.",
            "For example: --time-limit 60s",
        )
    return seconds


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value != ()  # Zero was given.


def refuse_without(options: Mapping[str, object], needed: Mapping[str, object]) -> None:
    """Refuse options that mean nothing without one of some others.

    Args:
        options: their values, by how they are typed; None, False and () were not given.
        needed: the others, in the same way.

    Raises:
        UsageError: E-USE-001.
    """
    given = [name for name, value in options.items() if _is_given(value)]
    if given and not any(map(_is_given, needed.values())):
        others = " or ".join(needed)
        raise UsageError(
            f"{given[0]} was given without {others}.",
            f"Expected {others} beside it.",
            f"Add {others}, or leave out {given[0]}.",
        )


def refuse_together(options: Mapping[str, object], expected: str) -> None:
    """Refuse options that exclude each other.

    Args:
        options: their values, by how they are typed; None, False and () were not given.
        expected: instead, in words.

    Raises:
        UsageError: E-USE-001, when several were given.
    """
    given = [name for name, value in options.items() if _is_given(value)]
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(given)} were given together.",
            f"Expected {expected}.",
            f"Leave out {' or '.join(given)}.",
        )
