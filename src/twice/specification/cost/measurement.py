"""Rounds of runs in fresh processes: everything as declared, bare, and each rule off; and what a program is measured with.

Round after round every run is made once, in an order that is turned on each time. A run that fails, or whose
process reads back that its switch had no effect, takes its rule out, with the reason.

A replay is timed beside its recording. Both times begin when the program is loaded; the recording's ends with its record
closed, the replay's with the last comparison.

Invariant: the run with everything and the bare run are in every round.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Final, cast

from twice.errors import ConfigKeyUnused, ProgramFailed, TwiceError, UsageError
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.surroundings import environ_for_child
from twice.recorder.runrecord import RunRecord
from twice.replayer.outcome import Replay
from twice.replayer.preconditions import require_rerunnable, require_same_code, trusting
from twice.replayer.replay_job import surroundings_of
from twice.replayer.replay_run import Plan, execute_once
from twice.specification.cost.result import ClockName, Cost, MeasuredReplay, MeasuredRun
from twice.specification.cost.rules import (
    NOT_SWITCHED,
    RULES,
    SEALED_REPLAY,
    CostRule,
    RunVariant,
    Unmeasured,
)
from twice.worker.process import FreshWorker

EVERYTHING, BARE = "everything", "bare"
LEAST_ROUNDS, MOST_ROUNDS = 2, 5
_WORKER: Final = "twice.specification.cost"
_LIMIT_S: Final = 60
"""How long a measurement may take before it is left with fewer rounds: whoever waits longer leaves."""

Progress = Callable[[str], None]
_read_clock_s = cast("Callable[[], float]", REAL[ops.MONOTONIC])


def read_variant(path: str) -> RunVariant:
    """Give what a record was made with.

    Raises:
        RecordUnreadable: E-RECORD-002 and its kin, for what is no record.
        ProgramNotRerunnable: E-PROGRAM-002. ProgramChanged: E-PROGRAM-004.
    """
    with RunRecord.open(path) as record:
        require_rerunnable(record)
        require_same_code(record, informational=False)
        return RunVariant(record.setup, surroundings_of(record))


def measure_cost(
    declared: RunVariant,
    *,
    rounds: int | None = None,
    rules: Sequence[CostRule] = RULES,
    budget_percent: int | None = None,
    by: ClockName = "wall",
    project: Path | None = None,
    progress: Progress = lambda _: None,
    with_replay: bool = False,
) -> Cost:
    """Measure what each rule costs on one program.

    Args:
        declared: the run with everything that holds in it.
        rounds: how often every run is made, at least 2; None for 2 to 5, as many as fit into a minute.
        rules: which of them are switched off.
        budget_percent: how much slower a recorded run may be; None for no budget.
        by: which clock the budget is judged by, ``wall`` or ``cpu``.
        project: from where paths of source files are given; the program's own folder when None.
        progress: called with what is being done.
        with_replay: replay each recording with everything, in the same round.

    Raises:
        UsageError: E-USE-001, for fewer than two rounds.
        ProgramFailed: E-PROGRAM-003, when the program fails although nothing is switched off, or bare.
        TwiceError: what the program's process refused.
    """
    if rounds is not None and rounds < LEAST_ROUNDS:
        raise UsageError(
            f"--rounds is {rounds}.",
            "Expected 2 or more: a figure without a spread says nothing.",
            f"For example: --rounds {MOST_ROUNDS}",
            rounds=rounds,
        )
    variants, reasons = plan_variants(declared, rules)
    replaying = ReplayMeasurement()
    recorded = replaying.add if with_replay else None
    runs, dropped = measure_rounds(variants, rounds, progress, recorded)
    reasons |= dropped
    unmeasured = [
        Unmeasured(rule.name, rule.artifact, reasons[rule.name])
        for rule in rules
        if rule.name in reasons
    ]
    # A rule that was not asked for is not said to be unmeasurable.
    stay = NOT_SWITCHED if len(rules) == len(RULES) else ()
    unmeasured += [each for each in stay if not with_replay or each.name != SEALED_REPLAY]
    if replaying.why:
        unmeasured.append(Unmeasured(SEALED_REPLAY, "06", replaying.why))
    return Cost(
        about=_describe_run(declared, runs[EVERYTHING][0], project),
        by=by,
        everything=runs[EVERYTHING],
        bare=runs[BARE],
        without=[(rule, runs[rule.name]) for rule in rules if rule.name in runs],
        unmeasured=unmeasured,
        budget_percent=budget_percent,
        replays=replaying.agreed_replays,
    )


def plan_variants(
    declared: RunVariant, rules: Iterable[CostRule]
) -> tuple[dict[str, RunVariant], dict[str, str]]:
    """Give what every round makes, by name, and the rules that are not in force here, with the reason."""
    absent = {rule.name: rule.describe_absence(declared) for rule in RULES}
    bare = reduce(lambda variant, rule: rule.switch_off(variant), RULES, declared)
    variants = {rule.name: rule.switch_off(declared) for rule in rules if not absent[rule.name]}
    reasons = {rule.name: absent[rule.name] for rule in rules if absent[rule.name]}
    return {EVERYTHING: declared, BARE: bare, **variants}, reasons


def measure_rounds(
    variants: Mapping[str, RunVariant],
    rounds: int | None,
    progress: Progress,
    recorded: Callable[[Path, MeasuredRun], None] | None = None,
) -> tuple[dict[str, list[MeasuredRun]], dict[str, str]]:
    """Make every run ``rounds`` times, after one with everything that warms the machine and is not counted.

    Return the runs of each variant, in order of rounds, and the variants that were taken out, with the reason.
    ``recorded`` is called with each counted record of a run with everything, before the next run replaces it.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the program fails although nothing is switched off, or bare.
        TwiceError: what the program's process refused.
    """
    runs: dict[str, list[MeasuredRun]] = {}
    dropped: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="twice-cost-") as text:
        out = Path(text).resolve() / "run.twice"
        progress("trying it once")
        declared = measure_once(variants[EVERYTHING], out).seen
        began = _read_clock_s()
        number, last = 0, rounds or MOST_ROUNDS
        while number < last:
            kept = [name for name in variants if name not in dropped]
            for at, name in enumerate(turn_order(kept, number, last)):
                progress(f"round {number + 1}/{last}, run {at + 1}/{len(kept)}: {name}")
                try:
                    run = measure_once(variants[name], out)
                except TwiceError as error:
                    if name == BARE and isinstance(error, ProgramFailed):
                        raise ProgramFailed(
                            f"{variants[BARE].setup.program} runs as declared, and fails where nothing is pinned "
                            f"and nothing recorded: {error.happened}",
                            "Expected it to run bare as well: what a rule costs is told in percent of that.",
                            "Let it set up by itself what it needs (a variable, a hash seed), or measure a part that does not.",
                            **error.fields,
                        ) from error
                    if name in {EVERYTHING, BARE}:
                        raise
                    dropped[name] = f"the program fails like this: {error.happened}"
                    runs.pop(name, None)
                    continue
                if name == EVERYTHING and recorded is not None:
                    progress(f"round {number + 1}/{last}: its replay")
                    recorded(out, run)
                if name in {EVERYTHING, BARE} or run.seen.get(name) != declared.get(name):
                    runs.setdefault(name, []).append(run)
                    continue
                still = f"{name} is still {declared.get(name) or 'none'}"
                dropped[name] = f"it was switched off and nothing changed: {still}"
                runs.pop(name, None)
            number += 1
            if number == 1 and rounds is None:
                last = choose_rounds(_read_clock_s() - began)
    return runs, dropped


def choose_rounds(round_s: float) -> int:
    """Give how many rounds of so many seconds fit into a minute, at least 2 and at most 5."""
    return min(MOST_ROUNDS, max(LEAST_ROUNDS, int(_LIMIT_S // max(round_s, 1e-6))))


def turn_order(names: Sequence[str], number: int, rounds: int) -> list[str]:
    """Give the order of one round: each begins further on, the first with the first.

    A machine that slows down, or a cache that fills, falls on every run alike.
    """
    turn = number * len(names) // rounds
    return [*names[turn:], *names[:turn]]


def measure_once(variant: RunVariant, out: Path) -> MeasuredRun:
    """Make one run in a fresh process.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the program fails or its process dies.
        ConfigKeyUnused: E-CONFIG-003, when it never reads a value that it was given.
        TwiceError: what the process refused.
    """
    out.unlink(missing_ok=True)
    environ = environ_for_child(os.environ, variant.surroundings)
    program = variant.setup.program
    job = {
        "setup": variant.setup.to_json(),
        "surroundings": variant.surroundings.to_json(),
        "off": list(variant.off),
        "out": str(out),
    }
    with FreshWorker(_WORKER, environ) as child:
        message = child.ask(job)
        child.wait()
        tail = child.errors_tail()
    if message["how"] not in {"completed", "exit"} or message["exit_code"]:
        raised = message.get("exception") or {
            "type": message["how"],
            "message": f"exit code {message['exit_code']}",
        }
        raise ProgramFailed(
            f"{program} fails: {raised['type']}: {raised['message']}.",
            f"Its last words: {tail}"
            if tail
            else "Expected a run that ends well: its cost is measured.",
            f"Make it run first: twice record {program} --seed {variant.setup.seed.value}",
            exit_code=message["exit_code"],
        )
    if message["unread"]:
        raise ConfigKeyUnused(
            f"The program never read the configuration key {', '.join(message['unread'])}.",
            "Expected every key that is given to be one that the program knows.",
            "Check the spelling; nothing was measured.",
            keys=", ".join(message["unread"]),
        )
    return MeasuredRun(**message["run"])


def _describe_run(declared: RunVariant, run: MeasuredRun, project: Path | None) -> dict[str, Any]:
    """Give what was measured, on which code and machine."""
    setup, machine = declared.setup, measure(probes=False)
    root = setup.program.folder().resolve()
    start = root if project is None else project.resolve()
    code = {
        Path(os.path.relpath(root / path, start)).as_posix(): digest
        for path, digest in run.files.items()
    }
    return {
        "program": str(setup.program),
        "arguments": list(setup.program.arguments),
        "seed": str(setup.seed.value),
        "config": dict(setup.config),
        "policies": setup.to_json()["policies"],
        "code": dict(sorted(code.items())),
        "machine": {
            "processor": machine.cpu.model or machine.cpu.arch,
            "processors": machine.settings.get("processors", ""),
            "system": f"{machine.os.system} {machine.os.release}",
            "python": machine.python.version,
            "libraries": dict(sorted(machine.libraries.items())),
        },
    }


@dataclass(slots=True)
class ReplayMeasurement:
    """Replays of recorded runs, one in each round; or ``why`` there is no figure, once one did not agree."""

    replays: list[MeasuredReplay] = field(default_factory=list)
    why: str = ""

    def add(self, path: Path, run: MeasuredRun) -> None:
        """Replay a record that was just made, and note how long that took beside the recording."""
        if self.why:
            return
        try:
            replay = _replay(path)
        except TwiceError as error:
            self.why = f"its replay is refused: {error.happened}"
            return
        if (failure := replay.failure) is not None:
            place = f"{failure.name} of tick {failure.tick}: {', '.join(failure.columns)}"
            self.why = f"its replay differs at {place}"
        elif replay.death or replay.took_s is None:
            self.why = f"its replay gave no answer: {replay.death}"
        else:
            self.replays.append(MeasuredReplay(run.wall_s, replay.took_s, run.ticks))

    @property
    def agreed_replays(self) -> Sequence[MeasuredReplay]:
        """The replays, where all of them agreed."""
        return () if self.why else self.replays


def _replay(path: Path) -> Replay:
    with RunRecord.open(path) as record:
        allow = record.recorded_allow
    # It was made here, from a program that is executed anyway.
    with trusting(path, allow=allow), RunRecord.open(path) as record:
        return execute_once(record, Plan(predicate=record.setup.predicate))
