"""Ask what is needed first, and create sheets 00 to 03, or say that none are needed.

  twice spec init --component swarm --program swarm.py:main --seed 42
  twice spec init --component swarm --yes state,replay --no existing,gpu ...

On a terminal you are asked for every answer that you did not give. In a script, answer every question that matters by
--yes or --no. Where sheets are there already, such as adopted ones, only what they leave open is asked and filled in.
A system without state ends in one page that says no (--owner, --because). One whose runs disagree now is
sent to twice diagnose, one whose code exists to twice check, before anything is written.

Without --class, at most three questions lead to the weakest class that is enough: single-runs, decisions-enough and
tolerance-enough. It is written to sheet 01 where you accept it (--yes proposed-class). In a script, they may stay open.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from twice.cli.commands.spec.workspace import (
    ProjectOptions,
    list_steps,
    shorten_path,
    tell_spec,
)
from twice.cli.options import AsJson, build_command, option, split_commas
from twice.cli.output import pick
from twice.errors import OutputExists, UsageError
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.printable import pluralize
from twice.specification.create import create_workspace
from twice.specification.fill import Proposal, fill_sheets
from twice.specification.front_matter import Scalar, Value
from twice.specification.gate.runner import EVIDENCE
from twice.specification.location import choose_base, list_sheet_files
from twice.specification.lock import Lock
from twice.specification.questionnaire import (
    OF_CLASS,
    Advice,
    ClassProposal,
    Question,
    Way,
    decide,
    find_traits,
    next_class_question,
    next_question,
    propose_class,
)
from twice.specification.schema import UNKNOWN
from twice.specification.tiers import Tier
from twice.specification.workspace import Workspace, open_workspace, save
from twice.writing import make_folder, write

FindsNext = Callable[[Mapping[Question, bool]], Question | None]


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """What is known of a system before its sheets are created."""

    component: Annotated[str, option("--component NAME", "the name of the system")]
    program: Annotated[str | None, option("--program PROGRAM", "what is executed: file.py:function")]  # fmt: skip
    seed: Annotated[int | None, option("--seed N", "the master seed of the gate's runs")]
    settings: Annotated[tuple[str, ...], option("--set KEY=VALUE", "its configuration")]
    sources: Annotated[tuple[str, ...], option("--source PATH", "folders of its code")]
    goals: Annotated[tuple[str, ...], option("--goal TEXT", "what replay is for")]
    owner: Annotated[str | None, option("--owner WHO", "who answers for the sheets")]
    kind: Annotated[str | None, option(
        "--class", "01's class", DeterminismClass)]  # fmt: skip
    scope: Annotated[str | None, option(
        "--scope", "how far the promise reaches", Scope)]  # fmt: skip
    tier: Annotated[str | None, option(
        "--tier", "not below what the answers need", Tier)]  # fmt: skip
    because: Annotated[str | None, option("--because TEXT", 'why not, where the answers end in "no"')]  # fmt: skip

    def find_tier(self, decision: Advice) -> Tier:
        """Give the tier that was asked for, else the one that the answers need.

        Raises:
            UsageError: E-USE-001, when it is below or above what the answers allow.
        """
        wanted = decision.tier if self.tier is None else Tier(self.tier)
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

    def to_sheets(
        self, answers: Mapping[Question, bool], proposal: ClassProposal | None
    ) -> dict[str, dict[str, Value]]:
        """Give what options and answers say, by sheet and key."""
        taken = proposal if answers.get(Question.PROPOSED_CLASS) else None
        scope = self.scope or ("cross-host" if answers.get(Question.CROSS_MACHINE) else None)
        scope = scope or (taken.scope.value if taken else None)
        settings, sources, goals = map(list[Scalar], (self.settings, self.sources, self.goals))
        is_closed = not answers.get(Question.EXTERNAL_EFFECTS)
        said: dict[str, dict[str, Value | None]] = {
            "00": {
                "program": self.program, "seed": self.seed, "config": settings, "sources": sources,
                "goals": goals,
            },
            "01": {
                "class": taken.kind.value if taken else self.kind, "measure": taken.measure if taken else None,
                "weakest": proposal.kind.value if proposal else None, "scope": scope, "axis": Scope(scope).axis.value if scope else None,
                "contested": answers.get(Question.CONTESTED),
                "closed_world": answers.get(Question.SUBSTITUTABLE, is_closed),
            },
            "02": {"audit": sources},
            "03": {},
        }  # fmt: skip
        owner = {"owner": self.owner}
        return {
            number: {
                key: value
                for key, value in {**owner, **values}.items()
                if value not in (None, "", [])
            }
            for number, values in said.items()
        }


@build_command
def command(
    known: ComponentOptions,
    yes: Annotated[tuple[str, ...], option("--yes WORDS", f"of: {', '.join(Question)}")],
    no: Annotated[tuple[str, ...], option("--no WORDS", "the same words")],
    where: ProjectOptions,
    as_json: AsJson,
) -> int:
    """Ask, decide, create."""
    project = where.project or Path()
    base = choose_base(project, known.component)
    answers = _read_answers(yes, no)
    if known.kind is not None and answers.get(Question.PROPOSED_CLASS):
        raise UsageError(
            f"--class {known.kind} and --yes {Question.PROPOSED_CLASS} were given.",
            "Expected one class: yours, or the proposed one.",
            "Leave one out.",
        )
    there = open_workspace(project, base) if list_sheet_files(project, base) else None
    if there is not None:
        if there.component() not in {"", known.component}:
            raise _refuse_existing(there)
        _take_answers(there, answers)
    while (question := next_question(answers)) is not None:
        answers[question] = _ask(question, answers, next_question)
    if there is not None:
        return _go_on(there, known, answers, as_json=as_json)
    decision = decide(answers)
    reasons, paths = [*decision.reasons], " ".join(known.sources) or "SOURCES"
    document: dict[str, object] = {"way": decision.way.value, "reasons": reasons}
    if decision.way is Way.NO:
        because = known.because or " ".join(reasons)
        page = _write_no(project / base / "no-replay.md", known, because)
        lines = [f"No specification is needed: {because}", f"wrote {page}"]
        return tell_spec(document | {"wrote": [page]}, lines, as_json=as_json)
    if decision.way is not Way.SPECIFY:
        steps = [f"twice check {paths}", f"twice review {paths}", "then again, with --yes checked"]
        if decision.way is Way.DIAGNOSE:
            steps = ["twice diagnose A.twice B.twice"]
        lines = [reasons[0], "Nothing was written."]
        return tell_spec(document | {"next": steps}, lines, steps, as_json=as_json, code=1)
    tier, empty = known.find_tier(decision), Workspace(project, {}, base)
    proposal = _choose_class(known, answers)
    said = known.to_sheets(answers, proposal)
    workspace = create_workspace(empty, known.component, tier, find_traits(answers), said)
    make_folder(workspace.folder / EVIDENCE)
    written = [shorten_path(workspace, each) for each in save(empty, workspace)]
    steps = ["settle in 01 when two runs count as the same, then: twice spec add"]
    if "02" in workspace.sheets:
        steps = list_steps(workspace, Lock())
    document["tier"] = tier.value
    if proposal is not None:
        is_taken, kind = answers.get(Question.PROPOSED_CLASS, False), proposal.kind.value
        reasons.append(f"The weakest class that is enough is {proposal}.")
        document["class"] = {
            "proposed": kind, "scope": proposal.scope.value, "why": proposal.why, "written": is_taken,
        }  # fmt: skip
        if not is_taken and known.kind is None:
            steps = [f'write your class into 01, for example class: "{kind}"', *steps]
    lines = [
        f"{known.component}: tier {tier}, {tier.meaning}",
        *(f"  {reason}" for reason in reasons),
        *(f"wrote {path}" for path in written),
    ]
    return tell_spec(document | {"wrote": written, "next": steps}, lines, steps, as_json=as_json)


def _read_answers(yes: tuple[str, ...], no: tuple[str, ...]) -> dict[Question, bool]:
    """Read the words of --yes and --no."""
    answers: dict[Question, bool] = {}
    for meant, words in ((True, split_commas(yes)), (False, split_commas(no))):
        for word in words:
            if word not in set(Question):
                raise UsageError(
                    f"There is no question {word!r}.",
                    f"Questions: {', '.join(Question)}.",
                    "See: twice spec init --help",
                )
            if answers.setdefault(Question(word), meant) != meant:
                raise UsageError(
                    f"{word!r} is answered with yes and with no.",
                    "Expected one answer.",
                    "Remove one.",
                )
    return answers


def _choose_class(known: ComponentOptions, answers: dict[Question, bool]) -> ClassProposal | None:
    """Ask for the class, where nobody gave one, and for what a script began to answer; the weakest that is enough."""
    asks = known.kind is None and sys.stdin.isatty()
    if answers[Question.CONTESTED] or not (asks or OF_CLASS & answers.keys()):
        return None
    while (question := next_class_question(answers)) is not None:
        answers[question] = _ask(question, answers, next_class_question)
    proposal = propose_class(answers)
    if asks and Question.PROPOSED_CLASS not in answers:
        print(f"The weakest class that is enough is {proposal}.", file=sys.stderr)
        answers[Question.PROPOSED_CLASS] = _ask(
            Question.PROPOSED_CLASS, answers, next_class_question
        )
    return proposal


def _take_answers(workspace: Workspace, answers: dict[Question, bool]) -> None:
    """Answer the questions that sheets which are there have settled; only those of open keys are left."""
    settled: dict[Question, object] = {
        Question.STATE: True, Question.DIVERGING: False, Question.EXISTING: False,
        Question.CONTESTED: workspace.value("01", "contested"),
        Question.SUBSTITUTABLE: workspace.value("01", "closed_world"),
    }  # fmt: skip
    settled |= {Question(each.value): here for each, here in workspace.situation().traits.items()}
    if workspace.text("01", "tier") or workspace.text("00", "tier"):
        settled[Question.REPLAY] = False
    for question, answer in settled.items():
        if isinstance(answer, bool):
            answers.setdefault(question, answer)


def _has_key(workspace: Workspace, number: str, key: str) -> bool:
    sheet = workspace.get(number)
    return sheet is not None and key in sheet.head.entries


def _refuse_existing(workspace: Workspace) -> OutputExists:
    return OutputExists(
        f"{workspace.folder} has {pluralize(len(workspace.sheets), 'sheet')} already.",
        "Expected a project without a specification, or an answer to a key that is open.",
        "Go on with it: twice spec status",
    )


def _go_on(
    before: Workspace, known: ComponentOptions, answers: dict[Question, bool], *, as_json: bool
) -> int:
    """Put answers in where sheets that are there leave a key open, and add those of the first ones that are missing."""
    declared = before.text("01", "tier") or before.text("00", "tier")
    tier = Tier(declared) if declared else known.find_tier(decide(answers))
    proposal = None if before.text("01", "class") else _choose_class(known, answers)
    first = create_workspace(
        Workspace(before.project, {}, before.base),
        known.component, tier, find_traits(answers), known.to_sheets(answers, proposal),
    )  # fmt: skip
    proposals = [
        Proposal(sheet.number, key, entry.value, "answered")
        for sheet in first.sheets.values()
        for key, entry in sheet.head.entries.items()
        # A key that a sheet leaves out was not asked for.
        if entry.value != UNKNOWN and _has_key(before, sheet.number, key)
    ]
    done = fill_sheets(before, proposals)
    sheets = {**first.sheets, **done.workspace.sheets}
    after = replace(before, sheets=dict(sorted(sheets.items())))
    added = [first.sheets[each].path for each in first.sheets if each not in before.sheets]
    if not (done.put_in or added):
        raise _refuse_existing(before)
    save(before, after)
    put_in, steps = (
        [pick(e, "sheet", "key", "value") for e in done.put_in],
        list_steps(after, Lock()),
    )
    wrote = [shorten_path(after, path) for path in added]
    lines = [
        f"{known.component}: tier {after.situation().tier}, {pluralize(len(put_in), 'key')} answered",
        *(f"  {each.sheet} {each.key}" for each in done.put_in),
        *(f"wrote {path}" for path in wrote),
    ]
    document = {"way": Way.SPECIFY.value, "tier": tier.value, "answered": put_in, "wrote": wrote, "next": steps}  # fmt: skip
    return tell_spec(document, lines, steps, as_json=as_json)


def _ask(question: Question, answers: dict[Question, bool], following: FindsNext) -> bool:
    """Ask on the terminal; without one, or at the end of its input, refuse and name every question that is open."""
    line = "\n"
    while line and sys.stdin.isatty():
        print(f"{question.text} [y/n] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        said = line.strip().lower()
        if said in {"y", "yes", "n", "no"}:
            return said.startswith("y")
    rest, open_ones = dict(answers), []
    while (each := following(rest)) is not None:
        open_ones.append(each.value)
        rest[each] = each in {Question.STATE, Question.CHECKED, *OF_CLASS}
    raise UsageError(
        f"{question.text} Nobody is here to answer ({question.value}).",
        f"Expected answers to: {', '.join(open_ones)}.",
        f"For example: --yes {question.value}, or --no {question.value}; lists take commas.",
        questions=open_ones,
    )


def _write_no(place: Path, known: ComponentOptions, because: str) -> str:
    """Write the page that says why no replay is needed; its path."""
    text = (
        f"# {known.component}: no replay\n\n"
        f"{because}\n\n"
        "Replay is the wrong primitive here: there is nothing to run again that its inputs do not say already.\n"
        "Look at this again when the system gets state that outlives a call, or decides step by step.\n\n"
        f"Owner: {known.owner or '?'}\n"
    )
    if place.exists() and place.read_bytes() != text.encode():
        raise OutputExists(
            f"{place} is there already, and says something else.",
            "Expected to write the page that says why no replay is needed.",
            f"Write into it yourself, or remove it: rm {place}",
        )
    make_folder(place.parent)
    write(place, text.encode())
    return place.as_posix()
