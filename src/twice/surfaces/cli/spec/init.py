"""Ask what is needed first, and lay down sheets 00 to 03, or say that none are needed.

  twice spec init --component swarm --program examples/swarm.py:main --seed 42 --source examples
  twice spec init --component swarm --yes state,replay --no diverging,existing,consumed ...

On a terminal what is not given is asked. In a script every question that matters is answered by --yes or
--no. A system without state ends in one page that says no (--owner, --because); one whose runs
disagree now is sent to twice diagnose, one whose code exists to twice check, before anything is written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from twice.errors import OutputExists, UsageError
from twice.foundation.determinism_class import Axis, DeterminismClass, Scope
from twice.specification.create import create_workspace
from twice.specification.front_matter import Value
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
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, print_next, shown
from twice.surfaces.cli.spec.stepping import completing
from twice.writing import write

NO_MEMO = "no-replay.md"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--component", required=True, help="the name of the system")
    parser.add_argument("--program", help="what is executed: file.py:function")
    parser.add_argument("--seed", type=int, help="the master seed of the gate's runs")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="its configuration"
    )
    parser.add_argument(
        "--source", action="append", default=[], metavar="PATH", help="folders of its code"
    )
    parser.add_argument(
        "--goal", action="append", default=[], metavar="TEXT", help="what replay is for"
    )
    parser.add_argument("--owner", help="who answers for the sheets")
    parser.add_argument(
        "--class", dest="kind", choices=[each.value for each in DeterminismClass], help="01's class"
    )
    parser.add_argument(
        "--scope", choices=[each.value for each in Scope], help="how far the promise reaches"
    )
    parser.add_argument(
        "--tier", choices=[each.value for each in Tier], help="not below what the answers need"
    )
    words = ", ".join(each.value for each in Question)
    parser.add_argument("--yes", action="append", default=[], metavar="WORDS", help=f"of: {words}")
    parser.add_argument("--no", action="append", default=[], metavar="WORDS", help="the same words")
    parser.add_argument("--because", help='why not, where the answers end in "no"')
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, decide, lay down."""
    project: Path = options.project or Path()
    _refuse_existing(project)
    answers = _answers(options)
    while (question := next_question(answers)) is not None:
        answers[question] = _ask(question, answers)
    decision = decide(answers)
    if decision.way is Way.NO:
        return _say_no(options, project, decision)
    if decision.way is not Way.SPECIFY:
        return _send_away(options, decision)
    tier = _tier(options, decision)
    workspace = create_workspace(
        Workspace(project, {}),
        options.component,
        tier,
        find_traits(answers),
        _known(options, answers),
    )
    (project / FOLDER / EVIDENCE).mkdir(parents=True, exist_ok=True)
    written = save(Workspace(project, {}), workspace)
    return _report(options, workspace, tier, decision, written)


def _refuse_existing(project: Path) -> None:
    if list_sheet_files(project):
        there = open_workspace(project)
        raise OutputExists(
            f"{project / FOLDER} has {len(there.sheets)} sheets already.",
            "Expected a project without a specification.",
            "Go on with it: twice spec status",
        )


def _answers(options: argparse.Namespace) -> dict[Question, bool]:
    found: dict[Question, bool] = {}
    for given, meant in ((options.yes, True), (options.no, False)):
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


def _say_no(options: argparse.Namespace, project: Path, decision: Advice) -> int:
    because = options.because or " ".join(decision.reasons)
    text = (
        f"# {options.component}: no replay\n\n"
        f"{because}\n\n"
        "Replay is the wrong primitive here: there is nothing to run again that its inputs do not say already.\n"
        "Look at this again when the system gets state that outlives a call, or decides step by step.\n\n"
        f"Owner: {options.owner or '?'}\n"
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
    path = place.as_posix()
    if options.json:
        print_json(
            {
                "format": FORMAT,
                "way": decision.way.value,
                "reasons": list(decision.reasons),
                "wrote": [path],
            }
        )
    else:
        print(f"No specification is needed: {because}\nwrote {path}")
    return 0


def _send_away(options: argparse.Namespace, decision: Advice) -> int:
    sources = " ".join(options.source) or "SOURCES"
    steps = {
        Way.DIAGNOSE: ["twice diagnose A.twice B.twice"],
        Way.CHECK: [
            f"twice check {sources}",
            f"twice review {sources}",
            "then again, with --yes checked",
        ],
    }[decision.way]
    if options.json:
        print_json({
            "format": FORMAT, "way": decision.way.value, "reasons": list(decision.reasons), "next": steps,
        })  # fmt: skip
    else:
        print(f"{decision.reasons[0]}\nNothing was written.\nnext: " + "\n      ".join(steps))
    return 1


def _tier(options: argparse.Namespace, decision: Advice) -> Tier:
    if options.tier is None:
        return decision.tier
    wanted = Tier(options.tier)
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


def _known(
    options: argparse.Namespace, answers: dict[Question, bool]
) -> dict[str, dict[str, Value]]:
    common: dict[str, Value] = {"owner": options.owner} if options.owner else {}
    scope = options.scope or ("cross-host" if answers.get(Question.CROSS_MACHINE) else None)
    said: dict[str, dict[str, Value]] = {
        number: dict(common) for number in ("00", "01", "02", "03")
    }
    optional: dict[str, tuple[tuple[str, Value | None], ...]] = {
        "00": (
            ("program", options.program), ("seed", options.seed), ("config", list(options.set) or None),
            ("sources", list(options.source) or None), ("goals", list(options.goal) or None),
        ),
        "01": (
            ("class", options.kind), ("scope", scope),
            ("axis", (Scope(scope).axis if scope else Axis.DETERMINISM).value if scope else None),
            ("contested", answers.get(Question.CONTESTED)),
            ("closed_world", answers.get(Question.SUBSTITUTABLE, not answers.get(Question.EXTERNAL_EFFECTS))),
        ),
        "02": (("audit", list(options.source) or None),),
    }  # fmt: skip
    for number, pairs in optional.items():
        said[number] |= {key: value for key, value in pairs if value is not None}
    return said


def _report(
    options: argparse.Namespace,
    workspace: Workspace,
    tier: Tier,
    decision: Advice,
    written: tuple[str, ...],
) -> int:
    paths = [shown(workspace, each) for each in written]
    contested = "02" not in workspace.sheets
    settle = ["settle in 01 when two runs count as the same, then: twice spec add"]
    after = settle if contested else list(completing(workspace))
    if options.json:
        print_json({
            "format": FORMAT, "way": decision.way.value, "tier": tier.value,
            "reasons": list(decision.reasons), "wrote": paths, "next": after,
        })  # fmt: skip
        return 0
    print(f"{options.component}: tier {tier}, {tier.meaning}")
    print("\n".join(f"  {reason}" for reason in decision.reasons))
    print("\n".join(f"wrote {path}" for path in paths))
    print_next(after)
    return 0
