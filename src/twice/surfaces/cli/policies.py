"""What is decided about a run besides its program and seed, as options: policies, and variables of its surroundings.

Invariant: a command that takes these makes the run that ``twice record`` makes with them.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

from twice.errors import UsageError
from twice.foundation.digests import Algorithm
from twice.recording.cadence import (
    default_cadence,
    parse_cadence,
    parse_granularity,
    parse_strategy,
    require_dense,
)
from twice.recording.compared_output import parse_ignored_output
from twice.recording.effects.files.policies import parse_files
from twice.recording.effects.tick_clock import parse_clock
from twice.recording.kernel.file_policies import parse_file_policy
from twice.recording.redaction.policy import RULES, Policy
from twice.recording.sealing.inventory import parse_allowed
from twice.recording.setup import COPY_LIMIT_BYTES


def add_policies(parser: argparse.ArgumentParser) -> None:
    """``--env``, ``--compare``, ``--snapshots`` and whatever else decides how a run is recorded."""
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", dest="variables",
        help="an environment variable of the run, part of its record; repeatable",
    )  # fmt: skip
    parser.add_argument("--compare", default="tick", help="tick, decision, snapshot or episode")
    parser.add_argument("--snapshots", help="every=N (100), tick, decision, episode or none")
    parser.add_argument("--strategy", default="hybrid", help="full, delta, event-sourced or hybrid")
    parser.add_argument("--digest", default="blake3", help="blake3, sha256 or xxh3_128")
    parser.add_argument("--clock", default="record", help="record, or ticks:ORIGIN,STEP")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="NAME",
        help="a source of the world that may be used although it is not recorded; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--files", default="digest",
        help="contents of files that are read: digest (default), contents (carried whole) or none",
    )  # fmt: skip
    parser.add_argument(
        "--copy-limit", default=f"{COPY_LIMIT_BYTES >> 20}M", metavar="SIZE",
        help="largest file that is copied before the run changes it: bytes, or with K, M or G",
    )  # fmt: skip
    parser.add_argument(
        "--file-policy", action="append", default=[], metavar="PATTERN=POLICY", dest="file_policies",
        help="compare files that code other than Python writes by content (default), existence, or ignore "
        "them; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--ignore-errors", action="store_false", dest="compare_errors",
        help="do not compare standard error",
    )  # fmt: skip
    parser.add_argument(
        "--ignore-output", action="append", default=[], metavar="REGEX", dest="ignored_output",
        help="do not compare lines of output in which this matches; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--no-auto-points", action="store_false", dest="auto_points",
        help="of a whole program: do not compare the steps of environments and optimisers",
    )  # fmt: skip
    parser.add_argument(
        "--redact", action="append", default=[], metavar="NAME", dest="redact_names",
        help="an environment variable whose value is secret, whatever its name says; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--redact-pattern", action="append", default=[], metavar="REGEX", dest="redact_patterns",
        help="blank what this matches, or what its groups match, in everything recorded; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--no-redact", action="append", default=[], metavar="RULE", dest="redact_off",
        help=f"switch a rule off: {', '.join(RULES)}; repeatable",
    )  # fmt: skip


def policies_of(options: argparse.Namespace) -> dict[str, Any]:
    """Give the fields of ``Setup`` that these options decide.

    Raises:
        ClassRefused: E-CLASS-001. UsageError: E-USE-001. RedactionRefused: E-REDACT-001, for a value that there
            is not.
    """
    redaction = Policy(
        tuple(options.redact_names), tuple(options.redact_patterns), tuple(options.redact_off)
    )
    redaction.check()
    granularity = parse_granularity(options.compare)
    given = options.snapshots
    cadence = default_cadence(granularity) if given is None else parse_cadence(given)
    require_dense(granularity, cadence)
    return {
        "algorithm": _algorithm(options.digest),
        "granularity": granularity,
        "cadence": cadence,
        "strategy": parse_strategy(options.strategy),
        "clock": parse_clock(options.clock),
        "compare_errors": options.compare_errors,
        "ignored_output": parse_ignored_output(options.ignored_output),
        "redaction": redaction,
        "allow": parse_allowed(options.allow),
        "files": parse_files(options.files),
        "copy_limit": parse_size(options.copy_limit),
        "file_policies": tuple(map(parse_file_policy, options.file_policies)),
        "auto_points": options.auto_points,
    }


def parse_size(text: str) -> int:
    """Read a number of bytes: ``4096``, ``64K``, ``256M``, ``2G``.

    Raises:
        UsageError: E-USE-001, for what is no size.
    """
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise UsageError(
            f"{text!r} is not a size.",
            "Expected a whole number of bytes, or one with K, M or G.",
            "For example: --copy-limit 512M",
            size=text,
        )
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2].upper()]


def _algorithm(text: str) -> Algorithm:
    try:
        return Algorithm(text)
    except ValueError:
        raise UsageError(
            f"There is no digest {text!r}.",
            f"Expected {', '.join(algorithm.value for algorithm in Algorithm)}.",
            "For example: --digest sha256",
        ) from None


def variables_of(options: argparse.Namespace) -> dict[str, str]:
    """Give the variables of ``--env``, by name.

    Raises:
        UsageError: E-USE-001, for what is no NAME=VALUE.
    """
    found = {}
    for pair in options.variables:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(
                f"--env {pair!r} is not a name and a value.",
                "Expected NAME=VALUE.",
                "For example: --env OMP_NUM_THREADS=1",
            )
        found[name] = value
    return found
