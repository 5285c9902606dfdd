"""Rounds of runs in fresh processes: everything, bare, each rule off, each rule alone, each other way.

Round after round every run is made once, in an order that is turned on each time. A run that fails, or whose
process reads back that its switch had no effect, takes its rule out, with the reason.

Invariant: the run with everything and the bare run are in every round.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Final

from twice.errors import ConfigKeyUnused, ProgramFailed, TwiceError
from twice.recording.surroundings import environ_for_child
from twice.specifying.costing.figures import Took, orders
from twice.specifying.costing.making import Making
from twice.specifying.costing.rules import RULES, Rule
from twice.worker.process import FreshWorker

_CHILD: Final = "twice.specifying.costing"
EVERYTHING, BARE = "everything", "bare"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """One run: what it took and what its process said of it.

    Args:
        took: the figures.
        seen: what the process read back, by name.
        outcome: digest of what the run came to; "" when it could not be told.
        files: digests of the program's files, by path.
    """

    took: Took
    seen: Mapping[str, str]
    outcome: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """One run that every round makes.

    Args:
        key: what it is: ``everything``, ``bare``, ``without NAME``, ``alone NAME``, ``other NAME``.
        making: what it is made with.
        rule: whose figure it is for; None for the two that all are held against.
    """

    key: str
    making: Making
    rule: Rule | None = None


@dataclass(slots=True)
class Rounds:
    """What the rounds gave.

    Args:
        made: the runs of each plan, in order of rounds, by key.
        dropped: plans that were taken out, by key, and why.
    """

    made: dict[str, list[Made]] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)

    def took(self, key: str) -> list[Took]:
        """Give what a plan's runs took; [] for one that was taken out."""
        return [] if key in self.dropped else [each.took for each in self.made.get(key, [])]


def bare_of(declared: Making) -> Making:
    """Give the making in which no rule holds."""
    rules = [rule for rule in RULES if rule.speaks_of(declared)]
    return reduce(lambda making, rule: rule.switch.applied(making), rules, declared)


def plans_of(declared: Making, rules: Sequence[Rule]) -> tuple[list[Plan], dict[str, str]]:
    """Give what every round makes, and the rules that are not in force here, with the reason."""
    bare = bare_of(declared)
    plans, idle = [Plan(EVERYTHING, declared), Plan(BARE, bare)], {}
    for rule in rules:
        if not rule.speaks_of(declared):
            idle[rule.name] = "it is a rule of whole programs, and this is a function of a run"
            continue
        if rule.switch:
            without = rule.switch.applied(declared)
            if without == declared:
                idle[rule.name] = f"it is not in force in this run: {rule.off}"
            else:
                alone = rule.switch.taken_back(bare, declared)
                plans.append(Plan(f"without {rule.name}", without, rule))
                plans.append(Plan(f"alone {rule.name}", alone, rule))
        for other in rule.others:
            making = other.switch.applied(declared)
            if making != declared:
                plans.append(Plan(f"other {other.name}", making, rule))
    return plans, idle


def measure_rounds(plans: Sequence[Plan], rounds: int, progress: Progress) -> Rounds:
    """Make every run ``rounds`` times, after one of each that is not counted but looked at.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the program fails although nothing is switched off, or bare.
        TwiceError: what the program's process refused.
    """
    found = Rounds()
    with tempfile.TemporaryDirectory(prefix="twice-cost-") as text:
        out = Path(text).resolve() / "run.twice"
        first: dict[str, Made] = {}
        for at, plan in enumerate(plans):
            progress(f"trying {at + 1}/{len(plans)}: {plan.key}")
            one = _made_or_dropped(plan, out, found)
            if one is not None:
                first[plan.key] = one
                if why := _no_effect(plan, first):
                    found.dropped[plan.key] = why
        kept = [plan for plan in plans if plan.key not in found.dropped]
        for number, order in enumerate(orders(len(kept), rounds)):
            for done, at in enumerate(order):
                key = kept[at].key
                progress(f"round {number + 1}/{rounds}, run {done + 1}/{len(kept)}: {key}")
                if key not in found.dropped:
                    one = _made_or_dropped(kept[at], out, found)
                    found.made.setdefault(key, []).extend([] if one is None else [one])
    return found


def _made_or_dropped(plan: Plan, out: Path, found: Rounds) -> Made | None:
    """Make a run; where it fails, its plan is taken out, unless all others are held against it."""
    try:
        return made(plan.making, out)
    except TwiceError as error:
        if plan.key == BARE and isinstance(error, ProgramFailed):
            raise _fails_bare(plan.making, error) from error
        if plan.rule is None:
            raise
        found.dropped[plan.key] = f"the program fails like this: {error.happened}"
        return None


def _fails_bare(making: Making, error: ProgramFailed) -> ProgramFailed:
    return ProgramFailed(
        f"{making.setup.program} runs as declared, and fails where nothing is pinned and nothing recorded: "
        f"{error.happened}",
        "Expected it to run bare as well: what a rule costs is told in percent of that.",
        "Let it set up by itself what it needs (a variable, a hash seed), or measure a part that does not.",
        **error.fields,
    )


def _no_effect(plan: Plan, first: Mapping[str, Made]) -> str:
    """Say why a rule's switch had no effect; "" when it had one."""
    if plan.rule is None or not plan.key.startswith("without "):
        return ""
    declared, now = first[EVERYTHING].seen, first[plan.key].seen
    if any(declared.get(name) != now.get(name) for name in plan.rule.seen):
        return ""
    read = ", ".join(f"{name} is still {declared.get(name) or 'none'}" for name in plan.rule.seen)
    return f"it was switched off and nothing changed: {read}"


def made(making: Making, out: Path) -> Made:
    """Make one run in a fresh process.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the program fails or its process dies.
        ConfigKeyUnused: E-CONFIG-002, when it never reads a value that it was given.
        TwiceError: what the process refused.
    """
    out.unlink(missing_ok=True)
    environ = environ_for_child(os.environ, making.surroundings)
    with FreshWorker(_CHILD, environ) as child:
        message = child.ask({"making": making.to_json(), "out": str(out)})
        child.wait()
        if message["how"] not in {"completed", "exit"} or message["exit_code"]:
            raise _failed(making, message, child.errors_tail())
    if message["unread"]:
        raise ConfigKeyUnused(
            f"The program never read the configuration key {', '.join(message['unread'])}.",
            "Expected every key that is given to be one that the program knows.",
            "Check the spelling; nothing was measured.",
            keys=", ".join(message["unread"]),
        )
    took = Took(
        message["wall_s"],
        message["cpu_s"],
        message["start_cpu_s"],
        message["ticks"],
        message["bytes"],
    )
    return Made(took, message["seen"], message["outcome"], message["files"])


def _failed(making: Making, message: Mapping[str, Any], tail: str) -> ProgramFailed:
    raised = message.get("exception")
    how = (
        f"{raised['type']}: {raised['message']}"
        if raised
        else f"{message['how']}, exit code {message['exit_code']}"
    )
    return ProgramFailed(
        f"{making.setup.program} fails: {how}.",
        f"Its last words: {tail}"
        if tail
        else "Expected a run that ends well: its cost is measured.",
        f"Make it run first: twice record {making.setup.program} --seed {making.setup.seed.value}",
        exit_code=message["exit_code"],
    )
