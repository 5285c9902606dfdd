"""What is decided about a run besides its program and seed, as options: policies, and variables of its surroundings.

Invariant: a command that takes these makes the run that ``twice record`` makes with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from twice.cli.options import option, split_pairs
from twice.errors import UsageError
from twice.foundation.digests import Algorithm
from twice.recorder.audit.inventory import parse_allowed
from twice.recorder.cadence import (
    default_cadence,
    parse_cadence,
    parse_granularity,
    parse_strategy,
    require_dense,
)
from twice.recorder.kernel.file_policies import parse_file_policy, parse_files
from twice.recorder.output import parse_ignored_output
from twice.recorder.redaction.policy import RULES, Policy
from twice.recorder.setup import COPY_LIMIT_BYTES, FLOAT_PROFILES, GPU_POLICIES, parse_clock
from twice.simulation.order import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedOutputOptions:
    """What of the output is not compared."""

    # fmt: off
    compare_errors: Annotated[bool, option("--ignore-errors", "do not compare standard error")] = True
    ignored_output: Annotated[tuple[str, ...], option(
        "--ignore-output REGEX", "do not compare lines of output in which this matches")]
    # fmt: on

    def to_setup(self) -> dict[str, Any]:
        """Give the fields of ``Setup`` that these options change.

        Raises:
            UsageError: E-USE-001, for a pattern that is none.
        """
        given: dict[str, Any] = {} if self.compare_errors else {"compare_errors": False}
        if self.ignored_output:
            given["ignored_output"] = parse_ignored_output(self.ignored_output)
        return given


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions:
    """The policies of a run, as they were typed."""

    # fmt: off
    variables: Annotated[tuple[str, ...], option(
        "--env NAME=VALUE", "an environment variable of the run, part of its record")]
    compare: Annotated[str, option("--compare WHEN", "tick, decision, snapshot or episode")] = "tick"
    snapshots: Annotated[str | None, option("--snapshots WHEN", "every=N (100), tick, decision, episode or none")]
    strategy: Annotated[str, option("--strategy HOW", "full, delta, event-sourced or hybrid")] = "hybrid"
    digest: Annotated[str, option(
        "--digest NAME", "blake3, sha256 or xxh3_128", Algorithm
    )] = "blake3"
    clock: Annotated[str, option("--clock CLOCK", "record, or ticks:ORIGIN,STEP")] = "record"
    loop: Annotated[str, option(
        "--loop LOOP", "asyncio: the program's own loop, the same with each round recorded, or one in virtual time",
        ["own", "recorded", "simulated"],
    )] = "own"
    allow: Annotated[tuple[str, ...], option(
        "--allow NAME", "a source of the world that may be used although it is not recorded")]
    files: Annotated[str, option(
        "--files WHAT", "contents of files that are read: digest (default), contents (carried whole) or none",
    )] = "digest"
    copy_limit: Annotated[str, option(
        "--copy-limit SIZE", "largest file that is copied before the run changes it: bytes, or with K, M or G",
    )] = f"{COPY_LIMIT_BYTES >> 20}M"
    file_policies: Annotated[tuple[str, ...], option(
        "--file-policy PATTERN=POLICY",
        "compare files that code other than Python writes by content (default), existence, or ignore them")]
    output: ComparedOutputOptions
    auto_points: Annotated[bool, option(
        "--no-auto-points", "of a whole program: do not compare the steps of environments and optimisers")] = True
    float_profile: Annotated[str | None, option(
        "--float-profile PROFILE", "threads, kernels and modes of numerical libraries: set, read back and held", FLOAT_PROFILES,
    )]
    gpu_policy: Annotated[str | None, option(
        "--gpu-policy POLICY", "algorithms and precision of a GPU's libraries: set, read back and held", GPU_POLICIES,
    )]
    audit_operations: Annotated[bool, option(
        "--audit-operations", "list the operations of torch that may vary from run to run; slow")]
    redact_names: Annotated[tuple[str, ...], option(
        "--redact NAME", "an environment variable whose value is secret, whatever its name says")]
    redact_patterns: Annotated[tuple[str, ...], option(
        "--redact-pattern REGEX", "blank what this matches, or what its groups match, in everything recorded")]
    redact_off: Annotated[tuple[str, ...], option("--no-redact RULE", f"switch a rule off: {', '.join(RULES)}")]
    # fmt: on

    def to_setup(self) -> dict[str, Any]:
        """Give the fields of ``Setup`` that these options decide.

        Raises:
            ClassRefused: E-CLASS-001. UsageError: E-USE-001. RedactionRefused: E-REDACT-001, for a value that there
                is not.
        """
        size = re.fullmatch(r"([0-9]{1,15})([KMG]?)B?", self.copy_limit.strip(), re.IGNORECASE)
        if size is None:
            raise UsageError(
                f"{self.copy_limit!r} is not a size.",
                "Expected a whole number of bytes, or one with K, M or G.",
                "For example: --copy-limit 512M",
                size=self.copy_limit,
            )
        redaction = Policy(self.redact_names, self.redact_patterns, self.redact_off)
        redaction.check()
        granularity = parse_granularity(self.compare)
        cadence = (
            default_cadence(granularity)
            if self.snapshots is None
            else parse_cadence(self.snapshots)
        )
        require_dense(granularity, cadence)
        return {
            "algorithm": Algorithm(self.digest),
            "granularity": granularity,
            "cadence": cadence,
            "strategy": parse_strategy(self.strategy),
            "clock": parse_clock(self.clock),
            "order": Order() if self.loop == "simulated" else None,
            "records_loop": self.loop == "recorded",
            **self.output.to_setup(),
            "redaction": redaction,
            "allow": parse_allowed(self.allow),
            "files": parse_files(self.files),
            "copy_limit": int(size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size[2].upper()],
            "file_policies": tuple(map(parse_file_policy, self.file_policies)),
            "auto_points": self.auto_points,
            "float_profile": self.float_profile or "",
            "gpu_policy": self.gpu_policy or "",
            "audit_operations": self.audit_operations,
        }

    def environment(self) -> dict[str, str]:
        """Give the variables of ``--env``, by name.

        Raises:
            UsageError: E-USE-001, for what is no NAME=VALUE.
        """
        return split_pairs(self.variables, "--env", "OMP_NUM_THREADS=1")
