"""Everything that is decided about a run before it begins.

A ``Setup`` is plain data: it travels to the process that executes the program, and stands in the
record's identity, so a verification is set up exactly like the recording was.

Invariant: ``Setup.from_json(setup.to_json()) == setup``, and a policy reads back what it prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from twice.errors import ClassRefused, NumericPolicyRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import Predicate
from twice.foundation.digests import Algorithm
from twice.foundation.seeds import RULE, Seed
from twice.recorder.audit.inventory import parse_allowed
from twice.recorder.cadence import (
    Cadence,
    Granularity,
    Strategy,
    parse_cadence,
    parse_granularity,
    parse_strategy,
    require_dense,
)
from twice.recorder.config import describe_floats, require_bounded, restore_floats
from twice.recorder.kernel.file_policies import Policy as FilePolicy
from twice.recorder.kernel.file_policies import PolicyRow, parse_file_policy, parse_files
from twice.recorder.output import parse_ignored_output
from twice.recorder.program import Program
from twice.recorder.redaction.policy import Policy
from twice.simulation.order import Order

if TYPE_CHECKING:
    from twice.recorder.environment.surroundings import Surroundings

COPY_LIMIT_BYTES = 256 << 20
FLOAT_PROFILES = ("native", "x86-64-v3", "x86-64-v2")
GPU_POLICIES = ("deterministic",)
RECORDED = "recorded"
"""The policy of a loop whose rounds are recorded."""


@dataclass(frozen=True)
class TickClock:
    """A clock that is a function of the run: seconds = origin + step x tick."""

    origin: float
    step: float

    asks_libraries = False

    def read(self, tick: int, *, in_ns: bool, is_wall: bool) -> float:
        """Return the time at a tick, in seconds or nanoseconds, for every clock; construction, tick -1, reads the origin."""
        del is_wall
        seconds = self.origin + self.step * max(tick, 0)
        return round(seconds * 1_000_000_000) if in_ns else seconds

    def sleep(self, seconds: float) -> None:
        """Do nothing: time passes with the ticks."""

    def __str__(self) -> str:
        return f"ticks:{self.origin!r},{self.step!r}"


def parse_clock(text: str) -> TickClock | None:
    """Read a clock policy: ``record`` (the default) or ``ticks:ORIGIN,STEP`` in seconds; others are E-CLASS-001."""
    if text == "record":
        return None
    kind, _, numbers = text.partition(":")
    try:
        origin, step = (float(part) for part in numbers.split(","))
    except ValueError:
        kind = ""
    if kind != "ticks":
        raise ClassRefused(
            f"{text!r} is not a clock policy.",
            "Expected record, or ticks:ORIGIN,STEP with two numbers of seconds.",
            "For example: --clock ticks:0,0.01",
        )
    return TickClock(origin, step)


def parse_profile(text: str) -> str:
    """Read the name of a floating-point profile, empty for none; others are E-POLICY-001."""
    if text and text not in FLOAT_PROFILES:
        raise NumericPolicyRefused(
            f"There is no floating-point profile {text!r}.",
            f"Expected one of {', '.join(FLOAT_PROFILES)}.",
            "For example: --float-profile x86-64-v3",
            profile=text,
        )
    return text


def parse_gpu_policy(text: str) -> str:
    """Read the name of a policy of computation on a GPU, empty for none; others are E-POLICY-001."""
    if text and text not in GPU_POLICIES:
        raise NumericPolicyRefused(
            f"There is no policy of a GPU {text!r}.",
            f"Expected {', '.join(GPU_POLICIES)}.",
            f"For example: --gpu-policy {GPU_POLICIES[0]}",
            profile=text,
        )
    return text


@dataclass(frozen=True)
class Setup:
    """What a session is made from."""

    program: Program
    seed: Seed  # the master seed
    config: Mapping[str, Any] = field(default_factory=dict)  # plain values for ``run.config``
    predicate: Predicate = field(default_factory=Predicate)
    algorithm: Algorithm = Algorithm.BLAKE3  # for everything in the record
    granularity: Granularity = "tick"
    cadence: Cadence = field(default_factory=Cadence)
    strategy: Strategy = "hybrid"
    clock: TickClock | None = None  # None for the recorded one
    order: Order | None = (
        None  # of the steps of a simulated asyncio; None for the program's own loop
    )
    records_loop: bool = False  # whether each round of the program's own loop is recorded
    compare_errors: bool = True  # whether standard error is compared as well
    ignored_output: tuple[str, ...] = ()  # expressions; lines in which one matches are not compared
    strict_packages: tuple[str, ...] = ()  # installed packages whose reads of the world are strict
    redaction: Policy = field(default_factory=Policy)
    allow: tuple[str, ...] = ()  # sources that may be used although they are not recorded
    files: FilePolicy = "digest"
    # Size of the largest file that is copied before code of any language changes it.
    copy_limit: int = COPY_LIMIT_BYTES
    file_policies: tuple[PolicyRow, ...] = ()  # files that are compared less closely
    auto_points: bool = True  # whether known libraries' steps are compared in a whole program
    float_profile: str = ""  # of floating-point arithmetic; empty for none
    gpu_policy: str = ""  # of computation on a GPU; empty for none
    audit_operations: bool = False  # whether operations of torch that may vary are listed
    rule: int = RULE  # of the derivation of seeds

    @property
    def governs_loop(self) -> bool:
        """Whether the order of an event loop's callbacks is recorded, or chosen."""
        return self.records_loop or self.order is not None

    def __post_init__(self) -> None:
        """Refuse a configuration that no record can contain: ``ConfigError``, E-CONFIG-001."""
        require_bounded(self.config)
        parse_profile(self.float_profile)
        parse_gpu_policy(self.gpu_policy)

    def require_recordable(self) -> None:
        """Refuse policies that only old records have: ``RedactionRefused``, E-REDACT-001; ``SnapshotCadence``, E-SNAPSHOT-001."""
        self.redaction.check()
        require_dense(self.granularity, self.cadence)

    def apply_policies(self, surroundings: Surroundings) -> Surroundings:
        """Copy surroundings with what the policies of numbers set; E-POLICY-001 where that is not possible."""
        if not self.float_profile and not self.gpu_policy:
            return surroundings
        # Few runs need the tables.
        from twice.recorder.environment.float_profile import apply_profile
        from twice.recorder.environment.gpu_policy import apply_gpu_policy

        return apply_gpu_policy(apply_profile(surroundings, self.float_profile), self.gpu_policy)

    def to_json(self) -> dict[str, object]:
        """Return plain values, as in the identity under ``setup``."""
        return {
            "program": self.program.to_json(),
            "seed": str(self.seed.value),
            "config": dict(self.config),
            **describe_floats(self.config),
            "predicate": self.predicate.to_json(),
            "policies": {
                "digest": self.algorithm.value,
                "compare": self.granularity,
                "snapshots": str(self.cadence),
                "strategy": self.strategy,
                "clock": "record" if self.clock is None else str(self.clock),
                **({} if self.order is None else {"loop": self.order.to_json()}),
                **({"loop": RECORDED} if self.records_loop else {}),
                "compare_errors": self.compare_errors,
                **({"ignored_output": list(self.ignored_output)} if self.ignored_output else {}),
                "strict_packages": list(self.strict_packages),
                **({"auto_points": self.auto_points} if self.program.whole else {}),
                "redaction": self.redaction.to_json(),
                "allow": list(self.allow),
                "files": self.files,
                "copy_limit": self.copy_limit,
                "file_policies": [f"{name}={policy}" for name, policy in self.file_policies],
                **({"float_profile": self.float_profile} if self.float_profile else {}),
                **({"gpu_policy": self.gpu_policy} if self.gpu_policy else {}),
                **({"audit_operations": True} if self.audit_operations else {}),
            },
            "seed_rule": self.rule,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Setup:
        """Build it from the JSON of ``to_json``."""
        policies, program = data["policies"], Program.from_json(data["program"])
        loop = policies.get("loop")
        loop = loop if loop is None or loop == RECORDED else Order.from_json(loop)
        return cls(
            program=program,
            seed=Seed(int(data["seed"])),
            config=restore_floats(data["config"], data),
            predicate=Predicate.from_json(data["predicate"]),
            algorithm=Algorithm(policies["digest"]),
            granularity=parse_granularity(policies["compare"]),
            cadence=parse_cadence(policies["snapshots"]),
            strategy=parse_strategy(policies["strategy"]),
            clock=parse_clock(policies["clock"]),
            order=loop if isinstance(loop, Order) else None,
            records_loop=loop == RECORDED,
            compare_errors=bool(policies["compare_errors"]),
            ignored_output=parse_ignored_output(policies.get("ignored_output", ())),
            strict_packages=tuple(policies["strict_packages"]),
            redaction=Policy.from_json(policies.get("redaction", {})),
            # Records of earlier versions do not have it.
            allow=parse_allowed(policies.get("allow", ())),
            # Records from before files were governed hold nothing about them.
            files=parse_files(policies.get("files", "none")),
            copy_limit=int(policies.get("copy_limit", COPY_LIMIT_BYTES)),
            file_policies=tuple(map(parse_file_policy, policies.get("file_policies", ()))),
            auto_points=bool(policies.get("auto_points", not program.whole)),
            float_profile=policies.get("float_profile", ""),
            gpu_policy=policies.get("gpu_policy", ""),
            audit_operations=bool(policies.get("audit_operations", False)),
            rule=int(data["seed_rule"]),
        )
