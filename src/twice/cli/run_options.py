"""Options of the commands that run something: trust, outputs, the program, its seed, its configuration, its class.

Invariant: a value that is given on the command line wins over the file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from twice.cli.options import argument, option, refuse_without
from twice.errors import OutputUnwritable, UsageError
from twice.foundation.record_url import to_path
from twice.foundation.seeds import Seed
from twice.recorder.audit.inventory import parse_allowed
from twice.recorder.config import parse_settings, read_config
from twice.recorder.program import Program
from twice.recorder.program_spec import AS_MAIN, is_record, parse_program
from twice.recorder.recorder import refuse_existing
from twice.replayer.preconditions import trusting


@dataclass(frozen=True, slots=True)
class TrustFlag:
    """What a record from elsewhere may use of the world is not asked for, or by other options."""

    trust: Annotated[bool, option("--trust", "execute a record that another account made")] = False
    allow: tuple[str, ...] = ()

    @contextmanager
    def trusting(self, *records: Path) -> Iterator[None]:
        """Trust records for as long as the block runs, where the user said so.

        Raises:
            UsageError: E-USE-001, when something is allowed that nobody trusts.
        """
        if records:
            refuse_without({"--allow": self.allow}, {"--trust": self.trust})
        with ExitStack() as stack:
            for record in records if self.trust else ():
                stack.enter_context(trusting(record, allow=parse_allowed(self.allow)))
            yield


@dataclass(frozen=True, slots=True)
class TrustOptions(TrustFlag):
    """What a record from elsewhere may use of the world: it stands on the command line."""

    allow: Annotated[
        tuple[str, ...],
        option("--allow NAME", "what a record that another account made may use of the world; with --trust"),
    ] = ()  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The one file or folder that a command makes."""

    out: Annotated[Path, option("-o, --out FILE", "path of the output")]
    force: Annotated[bool, option("--force", "replace an existing output")]

    @contextmanager
    def writing(self, *sources: Path) -> Iterator[Path]:
        """Give a path to write to, for a file or a folder of files; it takes its real name if all went well.

        Args:
            *sources: what the output is made from; never replaced.

        Raises:
            OutputExists: E-OUTPUT-001. OutputUnwritable: E-OUTPUT-002. UsageError: E-USE-001.
        """
        refuse_own_source(self.out, *sources)
        refuse_existing(self.out, force=self.force)
        partial = self.out.absolute().with_name(f".{self.out.name}.{os.getpid()}.partial")
        try:
            yield partial
            if partial.is_dir() and self.out.is_dir():
                for file in sorted(partial.iterdir()):
                    file.replace(self.out / file.name)
            else:
                if partial.is_file():
                    partial.chmod(0o600)  # like the record that it is made from
                partial.replace(self.out)
        except OSError as error:
            raise OutputUnwritable(
                f"{self.out} cannot be written: {error.strerror or error}.",
                "Expected a folder that is there and writable, and room on the disk.",
                "Choose another path with -o, or make room.",
                path=str(self.out),
            ) from error
        finally:
            with suppress(OSError):  # a place that takes no files gives none up either
                if partial.is_dir():
                    shutil.rmtree(partial, ignore_errors=True)
                else:
                    partial.unlink()


def refuse_own_source(out: Path, *sources: Path) -> None:
    """Refuse to write over the file that is read, with or without ``--force``.

    Raises:
        UsageError: E-USE-001.
    """
    for source in sources:
        with suppress(OSError):  # a path that cannot be looked at is another file
            if out.samefile(source):
                raise UsageError(
                    f"{out} is the file that is read.",
                    "Expected another path for the output: what was recorded is never replaced by it.",
                    "Choose one with -o.",
                    path=str(out),
                )


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The program, its own arguments, and ``-m``."""

    program: Annotated[str | None, argument()]
    arguments: Annotated[tuple[str, ...], argument()] = ()
    module: Annotated[
        str | None, option("-m, --module MODULE", "run a module or package, as python -m does")
    ] = None

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
        return [to_path(self.program)]


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What every command is given that starts a program: its seed, its configuration, its class."""

    seed: Annotated[
        str | None, option("--seed N", "master seed, an integer; or the variable TWICE_SEED")
    ]
    config: Annotated[
        Path | None, option("--config PATH", "TOML, JSON or YAML file for run.config")
    ]
    settings: Annotated[
        tuple[str, ...],
        option("--set KEY=VALUE", "one value of run.config, typed as TOML types it"),
    ]
    classes: Annotated[
        tuple[str, ...],
        option("--class CLASS", "bit-exact or logical; or NAME=CLASS for one component"),
    ]

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
