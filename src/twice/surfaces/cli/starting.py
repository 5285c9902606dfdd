"""Options that every command has that starts a program: its seed, its configuration, its class.

Invariant: a value that is given on the command line wins over the file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from twice.foundation.seeds import Seed
from twice.recording.config import parse_settings, read_config


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
