"""The tools: what each is for, its arguments with their bounds, and the command that it becomes.

Invariant: an argument never becomes an option: values stand behind their option or behind ``--``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

Seconds = Annotated[
    int, Field(ge=1, le=3600, description="seconds after which the command is ended")
]
Tick = Annotated[int, Field(ge=0, description="a tick, counted from 0")]
Rows = Annotated[int, Field(ge=1, le=1000, description="entries of each list")]
Record = Annotated[str, Field(min_length=1, max_length=4096, description="path of a record")]
Out = Annotated[
    str | None,
    Field(max_length=4096, description="path of the new record; one that is free by default"),
]
Program = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4096,
        description="file.py:function whose one parameter is a run, or a script file.py as it is",
    ),
]
Words = Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=200)]
Seed = Annotated[
    int,
    Field(ge=0, lt=2**64, description="master seed; what twice seeds begins from it"),
]
Values = Annotated[
    dict[str, bool | int | float | str],
    Field(max_length=100, description="values of run.config, by name"),
]
Component = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9_]",
        description="whose sheets, where a project has several components",
    ),
]
DeterminismClass = Literal["bit-exact", "logical", "statistical"]


IgnoredOutput = Annotated[
    Words,
    Field(description="regular expressions: lines of output in which one matches are not compared"),
]


class Arguments(BaseModel):
    """What a tool is called with; unknown names are refused.

    Class attributes:
        files: names of the arguments that are paths, of one file or of several.
        programs: names of those that are programs.
    """

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)
    files: ClassVar[tuple[str, ...]] = ()
    programs: ClassVar[tuple[str, ...]] = ()

    timeout_s: Seconds = 600

    def to_command(self) -> list[str]:
        """Write the arguments of ``twice``, without ``--json``."""
        raise NotImplementedError


class RecordRun(Arguments):
    """Run a program once and record it: inputs, world, state at every tick, output."""

    files = ("out",)
    programs = ("program",)

    program: Program
    seed: Seed = 0
    args: Words = Field(default=[], description="the program's own arguments")
    config: Values = {}
    out: Out = None
    classes: Words = Field(
        default=[], description="CLASS, or NAME=CLASS for a component; bit-exact by default"
    )
    epsilon: float | None = Field(default=None, gt=0, description="tolerance of class logical")
    snapshots: str | None = Field(
        default=None, max_length=40, description="every=N, tick, decision, episode or none"
    )
    compare: Literal["tick", "decision", "snapshot", "episode"] = "tick"
    ignore_output: IgnoredOutput = []

    @override
    def to_command(self) -> list[str]:
        return [
            *("record", self.program, "--quiet", "--compare", self.compare),
            *option("--seed", self.seed),
            *option("-o", self.out),
            *option("--epsilon", self.epsilon),
            *option("--snapshots", self.snapshots),
            *settings(self.config),
            *(each for name in self.classes for each in ("--class", name)),
            *(f"--ignore-output={each}" for each in self.ignore_output),
            *(("--", *self.args) if self.args else ()),
        ]


class Verify(Arguments):
    """Execute a record's program again in a fresh process and compare every point: PASS, FAIL, PARTIAL or UNKNOWN."""

    files = ("record",)

    record: Record
    first: Tick | None = Field(default=None, alias="from")
    last: Tick | None = Field(default=None, alias="to")
    restores: bool = Field(default=False, description="also go on from kept snapshots")
    informational: bool = Field(
        default=False, description="go on though the code differs from the recorded one"
    )
    diagnose: bool = Field(default=False, description="when it fails, say where and why")

    @override
    def to_command(self) -> list[str]:
        return [
            *("verify", self.record),
            *option("--from", self.first),
            *option("--to", self.last),
            *flags(restores=self.restores, informational=self.informational),
            *flags(diagnose=self.diagnose),
        ]


class Diagnose(Arguments):
    """Find the first operation where two records part: tick, line, both values, channel, what to do."""

    files = ("a", "b")

    a: Record
    b: Record
    anyway: bool = Field(default=False, description="though seed, code or config differ")
    confirm: bool = Field(default=False, description="try the causes by experiment; slower")
    lines: bool = Field(default=True, description="execute both to find the line; else read only")

    @override
    def to_command(self) -> list[str]:
        return [
            *("diagnose", self.a, self.b),
            *flags(anyway=self.anyway, confirm=self.confirm),
            *flags(no_lines=not self.lines),
        ]


class Vary(Arguments):
    """Run a program under other surroundings (hash seed, time zone, locale, ...): which does its result depend on?

    A record brings its own program, seed and configuration.
    """

    programs = ("program",)

    program: Program
    seed: Seed = 0
    args: Words = Field(default=[], description="the program's own arguments")
    config: Values = {}
    factors: Words = Field(default=[], description="these alone, such as 'hash seed'; else all")
    ignore_output: IgnoredOutput = []

    @override
    def to_command(self) -> list[str]:
        return [
            *("vary", self.program),
            *(() if self.program.endswith(".twice") else option("--seed", self.seed)),
            *settings(self.config),
            *(each for name in self.factors for each in ("--factor", name)),
            *(f"--ignore-output={each}" for each in self.ignore_output),
            *(("--", *self.args) if self.args else ()),
        ]


class Branch(Arguments):
    """Leave a record before a tick with another input, and record what follows."""

    files = ("record", "out")

    record: Record
    at: Tick
    inputs: Values = Field(default={}, description="what the program gets, by name of the input")
    onwards: bool = Field(default=False, description="at every later tick too")
    sealed: bool = Field(default=False, description="refuse reads that go to the world")
    out: Out = None

    @override
    def to_command(self) -> list[str]:
        return [
            *("branch", self.record, "--quiet", "--at", str(self.at)),
            *option("-o", self.out),
            *(each for pair in toml(self.inputs) for each in ("--input", pair)),
            *flags(onwards=self.onwards, sealed=self.sealed),
        ]


class ShowState(Arguments):
    """Show a record, or what went in and what the state was at a tick. Nothing is executed, unless you ask."""

    files = ("record",)

    record: Record
    tick: Tick | None = None
    path: str | None = Field(
        default=None, max_length=1000, description="one part of the state, as swarm.energy"
    )
    execute: bool = Field(
        default=False, description="replay up to the tick: its state even without a snapshot there"
    )
    limit: Rows = 20

    @override
    def to_command(self) -> list[str]:
        if self.execute and self.tick is not None:
            return ["replay", self.record, "--at", str(self.tick)]
        return [
            *("show", self.record, "--limit", str(self.limit)),
            *option("--tick", self.tick),
            *option("--path", self.path),
        ]


class Check(Arguments):
    """Read Python code for what would make two runs differ. Nothing is executed."""

    files = ("paths",)

    paths: Words = Field(min_length=1, description="files and folders")
    kind: DeterminismClass | None = Field(default=None, alias="class")
    scope: Literal["process", "host", "cross-host"] | None = None
    select: Words = Field(default=[], description="rules or channels, these alone")
    min: Literal["informational", "low", "medium", "high", "critical"] = "medium"

    @override
    def to_command(self) -> list[str]:
        return [
            *("check", *self.paths, "--min", self.min),
            *option("--class", self.kind),
            *option("--scope", self.scope),
            *(each for name in self.select for each in ("--select", name)),
        ]


class Review(Arguments):
    """Review Python code: ten channels, findings, seeds without an owner, unknowns, what to do first."""

    files = ("paths",)

    paths: Words = Field(min_length=1, description="files and folders")
    kind: DeterminismClass | None = Field(default=None, alias="class")

    @override
    def to_command(self) -> list[str]:
        return ["review", *self.paths, *option("--class", self.kind)]


class Spec(Arguments):
    """Look at the specification of a project, or bring it on: open keys, what is owed, what changed."""

    action: Literal["status", "add", "fill", "changed", "bump", "refresh"] = "status"
    component: Component = None

    @override
    def to_command(self) -> list[str]:
        return ["spec", self.action, *option("--component", self.component)]


class Gate(Arguments):
    """Hold a specification against evidence that is made by running: PASS or the checks that fail, with places."""

    only: list[Annotated[int, Field(ge=1, le=17)]] = Field(
        default=[], max_length=17, description="numbers of checks; else all"
    )
    report: bool = Field(default=False, description="the last report; executes nothing")
    component: Component = None

    @override
    def to_command(self) -> list[str]:
        return [
            "gate",
            *option("--component", self.component),
            *option("--only", ",".join(map(str, self.only)) or None),
            *flags(report=self.report),
        ]


class Scaffold(Arguments):
    """Lay down the code that wires a component to its specification; without ``apply``, say what would be done."""

    component: str = Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_]")
    layers: list[
        Literal["seeds", "effects", "snapshot", "compare", "replay", "policies", "properties", "ci"]
    ] = Field(default=[], description="these alone; else all that the sheets ask for")
    apply: bool = False

    @override
    def to_command(self) -> list[str]:
        return [
            *("scaffold", self.component),
            *(each for name in self.layers for each in ("--layer", name)),
            *flags(plan=not self.apply),
        ]


class Records(Arguments):
    """List the records in a folder: program, seed, ticks, ending, parent."""

    files = ("folder",)

    folder: str = Field(default=".", max_length=4096)
    limit: Rows = 30

    @override
    def to_command(self) -> list[str]:
        return ["ls", self.folder, "--limit", str(self.limit)]


VERBS: Final[Mapping[str, type[Arguments]]] = {
    "record": RecordRun,
    "verify": Verify,
    "diagnose": Diagnose,
    "vary": Vary,
    "branch": Branch,
    "show_state": ShowState,
    "check": Check,
    "review": Review,
    "spec": Spec,
    "gate": Gate,
    "scaffold": Scaffold,
    "records": Records,
}


def executes(arguments: Arguments) -> bool:
    """Whether a call runs code of the project, or writes into it."""
    match arguments:
        case Check() | Review() | Records():
            return False
        case ShowState():
            return arguments.execute
        case Diagnose():
            return arguments.lines
        case Gate():
            return not arguments.report
        case Scaffold():
            return arguments.apply
        case Spec():
            return arguments.action not in {"status", "changed"}
    return True


def option(name: str, value: object) -> list[str]:
    """Write an option with its value, or nothing; a value never looks like an option."""
    if value is None:
        return []
    return [f"{name}={value}"] if name.startswith("--") else [name, str(value)]


def flags(**given: bool) -> list[str]:
    """Write the options that are on."""
    return [f"--{name.replace('_', '-')}" for name, is_on in given.items() if is_on]


def settings(config: Mapping[str, Any]) -> list[str]:
    """Write the values of run.config."""
    return [each for pair in toml(config) for each in ("--set", pair)]


def toml(values: Mapping[str, Any]) -> list[str]:
    """Write NAME=VALUE with values in TOML's form, so that a text that looks like a number stays a text."""
    import json

    return [f"{name}={json.dumps(value)}" for name, value in values.items()]
