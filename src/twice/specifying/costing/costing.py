"""From a program, or a record of it, to what each rule costs on it.

Invariant: nothing outlives the call but the value that it gives.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import rfc8785

from twice.errors import UsageError
from twice.foundation.digests import digest_bytes
from twice.foundation.environment import Fingerprint
from twice.recording.environment import measure
from twice.recording.runrecord import RunRecord
from twice.recording.setup import Setup
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.replayer.replay_job import surroundings_of
from twice.specifying.costing.budget import By, Culprit, judge
from twice.specifying.costing.cost import Cost, OtherCost, RuleCost
from twice.specifying.costing.figures import added
from twice.specifying.costing.making import Making
from twice.specifying.costing.rounds import (
    BARE,
    EVERYTHING,
    Made,
    Plan,
    Progress,
    Rounds,
    measure_rounds,
    plans_of,
)
from twice.specifying.costing.rules import NOT_SWITCHED, RULES, Rule, Unswitched

ROUNDS: Final = 5
_ROUNDS_LEAST: Final = 2
SHORT_S: Final = 0.05
"""A bare run that takes less than this is shorter than what starting and stopping a process moves."""


def making_of_record(path: str) -> Making:
    """Give what a record was made with.

    Raises:
        RecordUnreadable: E-RECORD-002 and its kin, for what is no record.
        ProgramNotRerunnable: E-PROGRAM-002. ProgramChanged: E-PROGRAM-004.
    """
    with RunRecord.open(path) as record:
        require_rerunnable(record)
        require_same_code(record, informational=False)
        return Making(record.setup, surroundings_of(record))


def chosen_rules(names: Sequence[str]) -> list[Rule]:
    """Give rules by name, in the order of the list; all for no name.

    Raises:
        UsageError: E-USE-001, for a name that there is not.
    """
    for name in names:
        if name not in {rule.name for rule in RULES}:
            raise UsageError(
                f"There is no rule {name!r} that can be switched off.",
                f"Rules: {', '.join(rule.name for rule in RULES)}.",
                "See: twice cost --list",
            )
    return [rule for rule in RULES if not names or rule.name in names]


def measure_cost(
    declared: Making,
    *,
    rounds: int = ROUNDS,
    rules: Sequence[Rule] = RULES,
    budget_percent: int | None = None,
    by: By = "wall",
    project: Path | None = None,
    progress: Progress | None = None,
) -> Cost:
    """Measure what each rule costs on one program.

    Args:
        declared: the run with everything that holds in it.
        rounds: how often every run is made, at least 2.
        rules: which of them are switched off.
        budget_percent: how much slower a recorded run may be; None for no budget.
        by: which clock the budget is judged by, ``wall`` or ``cpu``.
        project: from where paths of source files are given; the program's own folder when None.
        progress: called with what is being done.

    Raises:
        UsageError: E-USE-001, for fewer than two rounds.
        ProgramFailed: E-PROGRAM-003, when the program fails although nothing is switched off.
        TwiceError: what the program's process refused.
    """
    if rounds < _ROUNDS_LEAST:
        raise UsageError(
            f"--rounds is {rounds}.",
            "Expected 2 or more: a figure without a spread says nothing.",
            f"For example: --rounds {ROUNDS}",
            rounds=rounds,
        )
    plans, idle = plans_of(declared, rules)
    found = measure_rounds(plans, rounds, progress or (lambda _: None))
    everything, bare = found.took(EVERYTHING), found.took(BARE)
    overhead = added(everything, bare, bare)
    costs = [each for rule in rules if (each := _cost_of(rule, found)) is not None]
    short = max(each.wall_s for each in bare) < SHORT_S
    culprits = [Culprit(each.rule.name, each.rule.artifact, each.off.percent(by)) for each in costs]
    return Cost(
        about=_about(declared, found.made[EVERYTHING][0], project),
        rounds=rounds,
        by=by,
        everything=everything,
        bare=bare,
        overhead=overhead,
        rules=costs,
        others=_others(plans, found),
        unmeasured=_unmeasured(rules, idle, found),
        budget_percent=budget_percent,
        judgement=judge(budget_percent, overhead.percent(by), culprits, too_short=short),
        caveats=_caveats(declared.setup, found, short=short),
    )


def _cost_of(rule: Rule, found: Rounds) -> RuleCost | None:
    """Give a rule's cost; None when it has none."""
    without = found.took(f"without {rule.name}")
    if not without:
        return None
    everything, bare = found.took(EVERYTHING), found.took(BARE)
    alone = found.took(f"alone {rule.name}")
    return RuleCost(
        rule,
        added(everything, without, bare),
        added(alone, bare, bare) if alone else None,
        _same(found.made[EVERYTHING], found.made[f"without {rule.name}"]),
    )


def _others(plans: Sequence[Plan], found: Rounds) -> list[OtherCost]:
    everything, bare = found.took(EVERYTHING), found.took(BARE)
    return [
        OtherCost(plan.rule, plan.key.removeprefix("other "), added(took, everything, bare))
        for plan in plans
        if plan.rule is not None
        and plan.key.startswith("other ")
        and (took := found.took(plan.key))
    ]


def _same(declared: Sequence[Made], without: Sequence[Made]) -> bool | None:
    """Whether the runs without a rule came to the same as those with everything.

    None when it could not be told of one, or when those with everything are not alike: then a difference says
    nothing about the rule.
    """
    there = [each.outcome for each in declared]
    if "" in there or len(set(there)) > 1:
        return None
    found = [each.outcome for each in without]
    return None if "" in found else all(each == there[0] for each in found)


def _unmeasured(rules: Sequence[Rule], idle: Mapping[str, str], found: Rounds) -> list[Unswitched]:
    without = []
    for rule in rules:
        why = idle.get(rule.name) or found.dropped.get(f"without {rule.name}")
        if not rule.switch:
            why = "it cannot be off; other ways to keep it are held against it instead"
        if why:
            without.append(Unswitched(rule.name, rule.artifact, why))
    # A rule that was not asked for is not said to be unmeasurable.
    return [*without, *(NOT_SWITCHED if len(rules) == len(RULES) else ())]


def _caveats(setup: Setup, found: Rounds, *, short: bool) -> list[str]:
    said = []
    everything, bare = found.took(EVERYTHING), found.took(BARE)
    outcomes = [each.outcome for each in found.made[EVERYTHING]]
    if short:
        start = max(each.start_cpu_s for each in everything)
        said.append(
            f"the bare program runs for {max(each.wall_s for each in bare) * 1e3:.1f} ms, and starting its "
            f"process takes {start * 1e3:.0f} ms of CPU: the start dominates, and percentages say little; "
            f"{_what_to_raise(setup)}"
        )
    if "" in outcomes:
        said.append("what the run came to could not be read: whether a rule changes it is not told")
    elif len(set(outcomes)) > 1:
        said.append(
            "the program comes to something else each time, because of what it reads from the world: "
            "whether a rule changes what it does is not told"
        )
    if not any(each.ticks for each in everything):
        said.append("the run has no ticks: state between its start and its end is not compared")
    return said


def _what_to_raise(setup: Setup) -> str:
    """Say what makes the run longer, where its configuration has a number that might."""
    numbers = {
        name: value
        for name, value in setup.config.items()
        if type(value) is int and 0 < value < 10**9
    }
    for name in ("ticks", "steps", "episodes", *sorted(numbers)):
        if name in numbers:
            return f"raise it: --set {name}={numbers[name] * 100}"
    return "give it more to do"


def _about(declared: Making, made: Made, project: Path | None) -> dict[str, Any]:
    setup = declared.setup
    root = setup.program.folder().resolve()
    start = root if project is None else project.resolve()
    files = {
        Path(os.path.relpath(root / path, start)).as_posix(): digest
        for path, digest in made.files.items()
    }
    code = dict(sorted(files.items()))
    config = dict(setup.config)
    return {
        "program": str(setup.program),
        "arguments": list(setup.program.arguments),
        "seed": str(setup.seed.value),
        "config": config,
        "config_digest": str(digest_bytes(rfc8785.dumps(config))),
        "policies": setup.to_json()["policies"],
        "code": code,
        "code_digest": str(digest_bytes(rfc8785.dumps(dict(code)))),
        "machine": _machine(measure(probes=False)),
    }


def _machine(environment: Fingerprint) -> dict[str, object]:
    return {
        "processor": environment.cpu.model or environment.cpu.arch,
        "processors": environment.settings.get("processors", ""),
        "system": f"{environment.os.system} {environment.os.release}",
        "python": environment.python.version,
        "libraries": dict(sorted(environment.libraries.items())),
    }
