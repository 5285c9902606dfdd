"""What every command is given that starts a program: its name, its seed, its configuration, its class.

Invariant: a value that is given on the command line wins over the file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from twice.errors import UsageError
from twice.foundation.seeds import Seed
from twice.recording.config import parse_settings, read_config
from twice.recording.naming import AS_MAIN, is_record, parse_program
from twice.recording.program import Program


def add_program(parser: argparse.ArgumentParser, what: str) -> None:
    """The program, its own arguments, and ``-m``.

    Args:
        parser: the command's, whose module passes what stands after ``--`` on as ``arguments``.
        what: what the program may be, as its help names it.
    """
    parser.add_argument("program", nargs="?", help=what)
    parser.add_argument(
        "arguments", nargs="*", default=[], help="of a script; after -- where they are options"
    )
    parser.add_argument("-m", "--module", help="run a module or package, as python -m does")


def program_of(options: argparse.Namespace, command: str) -> Program:
    """The program: the first argument, unless a module is run, whose arguments they all are.

    Raises:
        UsageError: E-USE-001, when there is none, or a function of a run was given arguments.
        ProgramNotFound: E-PROGRAM-001.
    """
    given = [] if options.program is None else [options.program]
    if options.module is not None:
        return parse_program(AS_MAIN + options.module, arguments=[*given, *options.arguments])
    if not given:
        raise UsageError(
            f"twice {command}: the following arguments are required: program.",
            "Expected file.py:function, package.module:function, a script, or -m package.module.",
            f"For example: twice {command} train.py --seed 7 -- --lr 3e-4",
        )
    program = parse_program(options.program, arguments=options.arguments)
    if not program.whole and program.arguments:
        raise UsageError(
            f"{program} was given arguments: {' '.join(program.arguments)}.",
            "Expected none: a function of a run reads run.config, and only a script has arguments.",
            "Give values with --set KEY=VALUE; run a script without :function, a module with -m.",
        )
    return program


def records_in(options: argparse.Namespace) -> list[Path]:
    """The record that was given where a program may stand; none, where a program was."""
    given = options.program
    return [Path(given)] if given and options.module is None and is_record(given) else []


def add_starting(parser: argparse.ArgumentParser, *, classes: str) -> None:
    """``--seed``, ``--config``, ``--set`` and ``--class``.

    Args:
        parser: the command's.
        classes: the classes that the command takes, as its help names them.
    """
    parser.add_argument("--seed", help="master seed, an integer; or the variable TWICE_SEED")
    parser.add_argument("--config", type=Path, help="TOML, JSON or YAML file for run.config")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="one value of run.config, typed as TOML types it; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--class", action="append", default=[], dest="classes", metavar="CLASS",
        help=f"{classes}; or NAME=CLASS for one component; repeatable",
    )  # fmt: skip


def seed_of(options: argparse.Namespace) -> Seed | None:
    """The seed that was given, or None.

    Raises:
        SeedRefused: E-SEED-003, when it is no integer in range.
    """
    return None if options.seed is None else Seed.parse(options.seed)


def config_of(options: argparse.Namespace) -> dict[str, Any]:
    """The configuration: the file's values, then those of ``--set``.

    Raises:
        ConfigError: E-CONFIG-001.
    """
    config = {} if options.config is None else read_config(options.config)
    config.update(parse_settings(options.settings))
    return config
