"""What is decided about a run besides its program and seed, as options: policies, and variables of its surroundings.

Invariant: a command that takes these makes the run that ``twice record`` makes with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import click

from twice.cli.options import gather, several, split_pairs, switch_off
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


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """What decides how a run is recorded, as it was typed."""

    variables: tuple[str, ...]
    compare: str
    snapshots: str | None
    strategy: str
    digest: str
    clock: str
    allow: tuple[str, ...]
    files: str
    copy_limit: str
    file_policies: tuple[str, ...]
    compare_errors: bool
    ignored_output: tuple[str, ...]
    auto_points: bool
    redact_names: tuple[str, ...]
    redact_patterns: tuple[str, ...]
    redact_off: tuple[str, ...]

    def to_setup(self) -> dict[str, Any]:
        """Give the fields of ``Setup`` that these options decide.

        Raises:
            ClassRefused: E-CLASS-001. UsageError: E-USE-001. RedactionRefused: E-REDACT-001, for a value that there
                is not.
        """
        redaction = Policy(self.redact_names, self.redact_patterns, self.redact_off)
        redaction.check()
        granularity = parse_granularity(self.compare)
        given = self.snapshots
        cadence = default_cadence(granularity) if given is None else parse_cadence(given)
        require_dense(granularity, cadence)
        return {
            "algorithm": _algorithm(self.digest),
            "granularity": granularity,
            "cadence": cadence,
            "strategy": parse_strategy(self.strategy),
            "clock": parse_clock(self.clock),
            "compare_errors": self.compare_errors,
            "ignored_output": parse_ignored_output(self.ignored_output),
            "redaction": redaction,
            "allow": parse_allowed(self.allow),
            "files": parse_files(self.files),
            "copy_limit": parse_size(self.copy_limit),
            "file_policies": tuple(map(parse_file_policy, self.file_policies)),
            "auto_points": self.auto_points,
        }

    def environment(self) -> dict[str, str]:
        """Give the variables of ``--env``, by name.

        Raises:
            UsageError: E-USE-001, for what is no NAME=VALUE.
        """
        return split_pairs(self.variables, "--env", "OMP_NUM_THREADS=1")


policy_options: Final = gather(
    "policies",
    PolicyOptions,
    several(
        "--env", "variables", metavar="NAME=VALUE",
        help="an environment variable of the run, part of its record",
    ),
    click.option(
        "--compare", default="tick", metavar="WHEN", help="tick, decision, snapshot or episode"
    ),
    click.option(
        "--snapshots", metavar="WHEN", help="every=N (100), tick, decision, episode or none"
    ),
    click.option(
        "--strategy", default="hybrid", metavar="HOW", help="full, delta, event-sourced or hybrid"
    ),
    click.option(
        "--digest", default="blake3", metavar="NAME", help="blake3, sha256 or xxh3_128"
    ),
    click.option(
        "--clock", default="record", metavar="CLOCK", help="record, or ticks:ORIGIN,STEP"
    ),
    several(
        "--allow", "allow", metavar="NAME",
        help="a source of the world that may be used although it is not recorded",
    ),
    click.option(
        "--files", default="digest", metavar="WHAT",
        help="contents of files that are read: digest (default), contents (carried whole) or none",
    ),
    click.option(
        "--copy-limit", default=f"{COPY_LIMIT_BYTES >> 20}M", metavar="SIZE",
        help="largest file that is copied before the run changes it: bytes, or with K, M or G",
    ),
    several(
        "--file-policy", "file_policies", metavar="PATTERN=POLICY",
        help="compare files that code other than Python writes by content (default), existence, or ignore them",
    ),
    switch_off(
        "--ignore-errors", "compare_errors",
        help="do not compare standard error",
    ),
    several(
        "--ignore-output", "ignored_output", metavar="REGEX",
        help="do not compare lines of output in which this matches",
    ),
    switch_off(
        "--no-auto-points", "auto_points",
        help="of a whole program: do not compare the steps of environments and optimisers",
    ),
    several(
        "--redact", "redact_names", metavar="NAME",
        help="an environment variable whose value is secret, whatever its name says",
    ),
    several(
        "--redact-pattern", "redact_patterns", metavar="REGEX",
        help="blank what this matches, or what its groups match, in everything recorded",
    ),
    several(
        "--no-redact", "redact_off", metavar="RULE", help=f"switch a rule off: {', '.join(RULES)}"
    ),
)  # fmt: skip


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
