"""Options of the commands that run something: trust, outputs, the program, its seed, its configuration, its class.

Invariant: a value that is given on the command line wins over the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from twice.cli.options import PATH, Option, gather, several
from twice.cli.output_file import write_output
from twice.errors import UsageError
from twice.foundation.seeds import Seed
from twice.recording.config import parse_settings, read_config
from twice.recording.naming import AS_MAIN, is_record, parse_program
from twice.recording.program import Program
from twice.recording.sealing.inventory import parse_allowed
from twice.replayer.preconditions import trusting


@dataclass(frozen=True, slots=True)
class TrustOptions:
    """What a record from elsewhere may use of the world: it stands on the command line."""

    trust: bool = False
    allow: tuple[str, ...] = ()

    @contextmanager
    def trusting(self, *records: Path) -> Iterator[None]:
        """Trust records for as long as the block runs, where the user said so.

        Raises:
            UsageError: E-USE-001, when something is allowed that nobody trusts.
        """
        if not self.trust and self.allow and records:
            raise UsageError(
                "--allow was given without --trust.",
                "Expected both: a record that this account made keeps what it was allowed.",
                "For a record from elsewhere: --trust --allow NAME",
            )
        with ExitStack() as stack:
            for record in records if self.trust else ():
                stack.enter_context(trusting(record, allow=parse_allowed(self.allow)))
            yield


_TRUST = click.option("--trust", is_flag=True, help="execute a record that another account made")
trust_options: Final = gather(
    "trust",
    TrustOptions,
    _TRUST,
    several(
        "--allow", "allow", metavar="NAME",
        help="what a record that another account made may use of the world; with --trust",
    ),
)  # fmt: skip
trust_alone: Final = gather("trust", TrustOptions, _TRUST)
"""Where ``--allow`` says what a recording may use."""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The one file or folder that a command makes."""

    out: Path
    force: bool

    def writing(self, *sources: Path) -> AbstractContextManager[Path]:
        """Give a path that takes its real name when everything went well; see ``write_output``."""
        return write_output(self.out, *sources, force=self.force)


def output_options(what: str) -> Option:
    """``-o`` and ``--force``."""
    return gather(
        "output",
        OutputOptions,
        click.option("-o", "--out", type=PATH, required=True, metavar="FILE", help=what),
        click.option("--force", is_flag=True, help="replace an existing output"),
    )


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The program, its own arguments, and ``-m``."""

    program: str | None
    arguments: tuple[str, ...] = ()
    module: str | None = None

    def find(self, command: str) -> Program:
        """Give the program: the first argument, unless a module is run, whose arguments they all are.

        Raises:
            UsageError: E-USE-001, when there is none, or a function of a run was given arguments.
            ProgramNotFound: E-PROGRAM-001.
        """
        given = [] if self.program is None else [self.program]
        if self.module is not None:
            return parse_program(AS_MAIN + self.module, arguments=[*given, *self.arguments])
        if self.program is None:
            raise UsageError(
                f"twice {command}: no program was given.",
                "Expected file.py:function, package.module:function, a script, or -m package.module.",
                f"For example: twice {command} train.py --seed 7 -- --lr 3e-4",
            )
        program = parse_program(self.program, arguments=self.arguments)
        if not program.whole and program.arguments:
            raise UsageError(
                f"{program} was given arguments: {' '.join(program.arguments)}.",
                "Expected none: a function of a run reads run.config, and only a script has arguments.",
                "Give values with --set KEY=VALUE; run a script without :function, a module with -m.",
            )
        return program

    def records(self) -> list[Path]:
        """Give the record that stands in the program's place; none, where a program does."""
        if self.program is None or self.module is not None or not is_record(self.program):
            return []
        return [Path(self.program)]


program_options: Final = gather(
    "program",
    ProgramOptions,
    click.argument("program", required=False),
    click.argument("arguments", nargs=-1),
    click.option(
        "-m", "--module", help="run a module or package, as python -m does", metavar="MODULE"
    ),
)
"""Of a command that passes on what stands after ``--``."""


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What every command is given that starts a program: its seed, its configuration, its class."""

    seed: str | None
    config: Path | None
    settings: tuple[str, ...]
    classes: tuple[str, ...]

    def master_seed(self) -> Seed | None:
        """Give the seed that was given, or None.

        Raises:
            SeedRefused: E-SEED-003, when it is no integer in range.
        """
        return None if self.seed is None else Seed.parse(self.seed)

    def values(self) -> dict[str, Any]:
        """Give the configuration: the file's values, then those of ``--set``.

        Raises:
            ConfigError: E-CONFIG-001.
        """
        config = {} if self.config is None else read_config(self.config)
        config.update(parse_settings(self.settings))
        return config


def start_options(classes: str) -> Option:
    """``--seed``, ``--config``, ``--set`` and ``--class``.

    Args:
        classes: the classes that the command takes, as its help names them.
    """
    return gather(
        "start",
        StartOptions,
        click.option(
            "--seed", metavar="N", help="master seed, an integer; or the variable TWICE_SEED"
        ),
        click.option("--config", type=PATH, help="TOML, JSON or YAML file for run.config"),
        several(
            "--set", "settings", metavar="KEY=VALUE",
            help="one value of run.config, typed as TOML types it",
        ),
        several(
            "--class", "classes", metavar="CLASS",
            help=f"{classes}; or NAME=CLASS for one component",
        ),
    )  # fmt: skip
