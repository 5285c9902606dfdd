"""Ask what is needed first, and lay down sheets 00 to 03, or say that none are needed.

  twice spec init --component swarm --program examples/swarm.py:main --seed 42 --source examples
  twice spec init --component swarm --yes state,replay --no diverging,existing,consumed ...

On a terminal what is not given is asked. In a script every question that matters is answered by --yes or
--no. A system without state ends in one page that says no (--owner, --because); one whose runs
disagree now is sent to twice diagnose, one whose code exists to twice check, before anything is written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    shown,
    workspace_options,
)
from twice.cli.commands.spec.stepping import completing
from twice.cli.group import make_command
from twice.cli.options import gather, json_option, several
from twice.cli.output import tell
from twice.errors import OutputExists, UsageError
from twice.foundation.determinism_class import Axis, DeterminismClass, Scope
from twice.specification.create import create_workspace
from twice.specification.front_matter import Scalar, Value
from twice.specification.gate.runner import EVIDENCE
from twice.specification.questionnaire import (
    Advice,
    Question,
    Way,
    decide,
    find_traits,
    next_question,
)
from twice.specification.tiers import Tier
from twice.specification.workspace import FOLDER, Workspace, list_sheet_files, open_workspace, save
from twice.writing import write

NO_MEMO = "no-replay.md"


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """What is known of a system before its sheets are laid down."""

    component: str
    program: str | None
    seed: int | None
    settings: tuple[str, ...]
    sources: tuple[str, ...]
    goals: tuple[str, ...]
    owner: str | None
    kind: str | None
    scope: str | None
    tier: str | None
    because: str | None


_COMPONENT: Final = gather(
    "known",
    ComponentOptions,
    click.option("--component", required=True, metavar="NAME", help="the name of the system"),
    click.option("--program", metavar="PROGRAM", help="what is executed: file.py:function"),
    click.option("--seed", type=int, metavar="N", help="the master seed of the gate's runs"),
    several("--set", "settings", metavar="KEY=VALUE", help="its configuration"),
    several("--source", "sources", metavar="PATH", help="folders of its code"),
    several("--goal", "goals", metavar="TEXT", help="what replay is for"),
    click.option("--owner", metavar="WHO", help="who answers for the sheets"),
    click.option(
        "--class", "kind", type=click.Choice([each.value for each in DeterminismClass]),
        help="01's class",
    ),
    click.option(
        "--scope", type=click.Choice([each.value for each in Scope]),
        help="how far the promise reaches",
    ),
    click.option(
        "--tier", type=click.Choice([each.value for each in Tier]),
        help="not below what the answers need",
    ),
    click.option("--because", metavar="TEXT", help='why not, where the answers end in "no"'),
)  # fmt: skip


@make_command(
    _COMPONENT,
    several("--yes", "yes", metavar="WORDS", help=f"of: {', '.join(Question)}"),
    several("--no", "no", metavar="WORDS", help="the same words"),
    workspace_options,
    json_option,
)
def command(
    known: ComponentOptions,
    yes: tuple[str, ...],
    no: tuple[str, ...],
    where: WorkspaceOptions,
    as_json: bool,
) -> int:
    """Ask, decide, lay down."""
    project = where.project or Path()
    _refuse_existing(project)
    answers = _parse_answers(yes, no)
    while (question := next_question(answers)) is not None:
        answers[question] = _ask(question, answers)
    decision = decide(answers)
    if decision.way is Way.NO:
        return _say_no(known, project, decision, as_json=as_json)
    head = {"format": FORMAT, "way": decision.way.value}
    reasons = list(decision.reasons)
    if decision.way is not Way.SPECIFY:
        steps = _list_steps(decision.way, known.sources)
        lines = [reasons[0], "Nothing was written.", *next_lines(steps)]
        return tell({**head, "reasons": reasons, "next": steps}, lines, as_json=as_json, code=1)
    tier = _find_tier(known.tier, decision)
    workspace = create_workspace(
        Workspace(project, {}),
        known.component,
        tier,
        find_traits(answers),
        _list_known(known, answers),
    )
    (project / FOLDER / EVIDENCE).mkdir(parents=True, exist_ok=True)
    paths = [shown(workspace, each) for each in save(Workspace(project, {}), workspace)]
    settle = ["settle in 01 when two runs count as the same, then: twice spec add"]
    after = list(completing(workspace)) if "02" in workspace.sheets else settle
    lines = [
        f"{known.component}: tier {tier}, {tier.meaning}",
        *(f"  {reason}" for reason in reasons),
        *(f"wrote {path}" for path in paths),
        *next_lines(after),
    ]
    document = {"tier": tier.value, "reasons": reasons, "wrote": paths, "next": after}
    return tell({**head, **document}, lines, as_json=as_json)


def _refuse_existing(project: Path) -> None:
    if list_sheet_files(project):
        there = open_workspace(project)
        raise OutputExists(
            f"{project / FOLDER} has {len(there.sheets)} sheets already.",
            "Expected a project without a specification.",
            "Go on with it: twice spec status",
        )


def _parse_answers(yes: Sequence[str], no: Sequence[str]) -> dict[Question, bool]:
    found: dict[Question, bool] = {}
    for given, meant in ((yes, True), (no, False)):
        for word in (each.strip() for words in given for each in words.split(",")):
            if word not in set(Question):
                raise UsageError(
                    f"There is no question {word!r}.",
                    f"Questions: {', '.join(Question)}.",
                    "See: twice spec init --help",
                )
            if found.get(Question(word), meant) != meant:
                raise UsageError(
                    f"{word!r} is answered with yes and with no.",
                    "Expected one answer.",
                    "Remove one.",
                )
            found[Question(word)] = meant
    return found


def _ask(question: Question, answers: dict[Question, bool]) -> bool:
    if not sys.stdin.isatty():
        raise _unanswered(question, answers)
    while True:
        print(f"{question.text} [y/n] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        said = line.strip().lower()
        if said in {"y", "yes"}:
            return True
        if said in {"n", "no"}:
            return False
        if not line:  # The end of input, which no further asking changes.
            raise _unanswered(question, answers)


def _unanswered(question: Question, answers: dict[Question, bool]) -> UsageError:
    """Name every question that is open, as far as the answers tell."""
    rest, open_ones = dict(answers), []
    while (each := next_question(rest)) is not None:
        open_ones.append(each.value)
        rest[each] = each in {Question.STATE, Question.CHECKED}
    return UsageError(
        f"{question.text} Nobody is here to answer ({question.value}).",
        f"Expected answers to: {', '.join(open_ones)}.",
        f"For example: --yes {question.value}, or --no {question.value}; lists take commas.",
        questions=open_ones,
    )


def _say_no(known: ComponentOptions, project: Path, decision: Advice, *, as_json: bool) -> int:
    because = known.because or " ".join(decision.reasons)
    text = (
        f"# {known.component}: no replay\n\n"
        f"{because}\n\n"
        "Replay is the wrong primitive here: there is nothing to run again that its inputs do not say already.\n"
        "Look at this again when the system gets state that outlives a call, or decides step by step.\n\n"
        f"Owner: {known.owner or '?'}\n"
    )
    place = project / FOLDER / NO_MEMO
    if place.exists() and place.read_bytes() != text.encode():
        raise OutputExists(
            f"{place} is there already, and says something else.",
            "Expected to write the page that says why no replay is needed.",
            f"Write into it yourself, or remove it: rm {place}",
        )
    place.parent.mkdir(exist_ok=True)
    write(place, text.encode())
    document = {
        "format": FORMAT,
        "way": decision.way.value,
        "reasons": list(decision.reasons),
        "wrote": [place.as_posix()],
    }
    lines = [f"No specification is needed: {because}", f"wrote {place.as_posix()}"]
    return tell(document, lines, as_json=as_json)


def _list_steps(way: Way, sources: Sequence[str]) -> list[str]:
    if way is Way.DIAGNOSE:
        return ["twice diagnose A.twice B.twice"]
    paths = " ".join(sources) or "SOURCES"
    return [f"twice check {paths}", f"twice review {paths}", "then again, with --yes checked"]


def _find_tier(given: str | None, decision: Advice) -> Tier:
    if given is None:
        return decision.tier
    wanted = Tier(given)
    if wanted < decision.tier:
        raise UsageError(
            f"--tier {wanted} is below {decision.tier}, which the answers need.",
            f"Expected {decision.tier} or more: {decision.reasons[-1]}",
            "Answer otherwise, or leave --tier out.",
        )
    if wanted > Tier.S and decision.capped:
        raise UsageError(
            f"--tier {wanted} cannot be held.",
            f"Expected at most S. {decision.reasons[-1]}",
            "Use --tier S.",
        )
    return wanted


def _list_known(
    options: ComponentOptions, answers: dict[Question, bool]
) -> dict[str, dict[str, Value]]:
    common: dict[str, Value] = {"owner": options.owner} if options.owner else {}
    scope = options.scope or ("cross-host" if answers.get(Question.CROSS_MACHINE) else None)
    said: dict[str, dict[str, Value]] = {
        number: dict(common) for number in ("00", "01", "02", "03")
    }
    sources: list[Scalar] = [*options.sources]
    settings: list[Scalar] = [*options.settings]
    goals: list[Scalar] = [*options.goals]
    optional: dict[str, tuple[tuple[str, Value | None], ...]] = {
        "00": (
            ("program", options.program), ("seed", options.seed), ("config", settings or None),
            ("sources", sources or None), ("goals", goals or None),
        ),
        "01": (
            ("class", options.kind), ("scope", scope),
            ("axis", (Scope(scope).axis if scope else Axis.DETERMINISM).value if scope else None),
            ("contested", answers.get(Question.CONTESTED)),
            ("closed_world", answers.get(Question.SUBSTITUTABLE, not answers.get(Question.EXTERNAL_EFFECTS))),
        ),
        "02": (("audit", sources or None),),
    }  # fmt: skip
    for number, pairs in optional.items():
        said[number] |= {key: value for key, value in pairs if value is not None}
    return said
