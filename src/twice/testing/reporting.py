"""Say what does not hold: the example as commands, the first difference, and where it comes from.

The report is made on the spot, from fresh recordings of the shrunk example: the operation and its
channel are what ``twice diagnose`` says of them.

Invariant: every line is either a fact about the example or a command.
"""

from __future__ import annotations

import json
from dataclasses import replace

from twice.diagnosis.diagnose import diagnose, diagnose_failure
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.restore_gaps import missing_state
from twice.diagnosis.vary.report import format_record_command
from twice.errors import PropertyBroken, TwiceError
from twice.foundation.channels import Channel
from twice.recording.runrecord import RunRecord
from twice.replayer.other_seed import OTHER_SEEDS
from twice.replayer.verify import verify
from twice.testing import examples
from twice.testing.checks import Broken
from twice.testing.examples import Example
from twice.testing.faults import active
from twice.testing.laboratory import Laboratory
from twice.testing.property_search import Counterexample, PropertyQuestion

_RESTORING = ("snapshot_round_trip", "restore_idempotence", "fork_and_converge")
_PUT_BACK = (Channel.SNAPSHOT, Channel.REPLAY)


def broken_by(question: PropertyQuestion, found: Counterexample) -> PropertyBroken:
    """The error for a counterexample, with its report."""
    name, label = question.name.replace("_", " "), question.subject.label
    example, broken = found.example, found.broken
    lines = [f"{name} does not hold for {label}: {broken.said}.", *_shown(question, found)]
    lines += _difference(broken)
    fault = active()
    if fault is None:
        lines += _report(question, example, broken)
    else:
        lines.append(f"planted: {fault}")
    lines += found.confirmed
    if fault is None and question.folder is not None and not question.once:
        where = question.folder / examples.FILE
        word = "is one of those kept in" if found.from_file else "is kept in"
        lines.append(f"this example {word} {where}, and replayed first from now on")
    remedy = ["see it again:", *(f"  {each}" for each in commands(question, example, broken))]
    return PropertyBroken(
        "\n".join(lines),
        f"Expected: {question.check.__doc__ or ''}".strip(),
        "\n".join(remedy),
        property=question.name,
        subject=label,
        seed=example.seed,
        config=dict(example.config),
        choices=dict(example.choices),
    )


def commands(question: PropertyQuestion, example: Example, broken: Broken) -> list[str]:
    """What shows a counterexample again, by hand."""
    setup = question.subject.setup(example.config, example.seed)
    recorded = format_record_command(setup, {}, "a")
    if question.name == "replay_equivalence":
        with Laboratory(question.vary) as lab:
            again = format_record_command(setup, lab.variables, "b")
        return [
            recorded,
            "twice verify a.twice --diagnose",
            again,
            "twice diagnose a.twice b.twice",
        ]
    if question.once:
        reseeded = question.subject.setup(example.config, OTHER_SEEDS[0].value)
        other = format_record_command(reseeded, {}, "b")
        return [recorded, other, "twice diagnose a.twice b.twice --anyway", "twice audit seeds"]
    every = f"{recorded} --snapshots tick"
    if question.name in {"snapshot_round_trip", "restore_idempotence"}:
        return [every, "twice verify a.twice --restores --all"]
    if question.name == "fork_and_converge" and broken.branch is not None:
        fork, values = broken.branch
        given = "".join(
            f" --input {name}={json.dumps(v, default=str)}" for name, v in values.items()
        )
        return [every, f"twice branch a.twice --at {fork}{given} -o b.twice"]
    if question.name == "schedule_independence" and not question.schedule:
        with Laboratory(question.vary) as lab:
            again = format_record_command(setup, lab.variables, "b")
        return [recorded, again, "twice diagnose a.twice b.twice"]
    return [recorded, "twice show a.twice"]


def _shown(question: PropertyQuestion, found: Counterexample) -> list[str]:
    example = found.example
    config = json.dumps(example.config, ensure_ascii=False)
    return [f"example: seed {example.seed}, config {config}", *_choices(question, example)]


def _choices(question: PropertyQuestion, example: Example) -> list[str]:
    if question.schedule and "order" in example.choices:
        return [f"order of tasks: {question.schedule}={example.choices['order']}"]
    return []


def _difference(broken: Broken) -> list[str]:
    failure = broken.failure
    if failure is None:
        return []
    at = f" at {failure.at}" if failure.at else ""
    where = f"{failure.name} of tick {failure.tick}, in {', '.join(failure.columns)}"
    lines = [
        f"first difference: compare-point {failure.index}, {where}{at}",
        f"  recorded: {failure.recorded}",
        f"  here:     {failure.replayed}",
    ]
    return lines + [
        f"  field: {each.path} ({each.kind}{_ulps(each.ulps)}): {each.a} / {each.b}"
        for each in broken.fields
    ]


def _ulps(ulps: int | None) -> str:
    return "" if ulps is None else f", {ulps} ulps"


def _report(question: PropertyQuestion, example: Example, broken: Broken) -> list[str]:
    """Where the difference comes from, from fresh recordings of the example."""
    lines: list[str] = []
    try:
        with Laboratory(question.vary) as lab, lab.only_fresh():
            if question.name in {"replay_equivalence", "schedule_independence"}:
                divergence = _diagnosed(lab, question, example)
                lines = _lines(divergence, lab)
                if divergence.attribution:
                    return lines
            elif question.name in _RESTORING and broken.channel in _PUT_BACK:
                lines = _not_put_back(lab, question, example)
    except TwiceError as error:
        lines = [f"no diagnosis: {error.happened}"]
    channel = broken.channel
    means = channel.facts.meaning
    if question.once:
        means = "What draws does not go back to the seed of the run."
    return [*lines, f"  channel: {channel.value}, artifact {channel.artifact} ({means})"]


def _diagnosed(lab: Laboratory, question: PropertyQuestion, example: Example) -> Divergence:
    if question.schedule:
        order = list(example.choices["order"])
        one, two = (
            lab.record(
                question.subject.setup({**example.config, question.schedule: each}, example.seed)
            )
            for each in (sorted(order), order)
        )
        return diagnose(one, two, anyway=True)
    setup = question.subject.setup(example.config, example.seed)
    one = lab.record(setup)
    statement = verify(one)
    if statement.failure is not None:
        return diagnose_failure(one, statement.failure)
    two = lab.record(setup, other=True)
    return diagnose(one, two)


def _not_put_back(lab: Laboratory, question: PropertyQuestion, example: Example) -> list[str]:
    """State that no snapshot holds, by its path."""
    path = lab.record(question.subject.setup(example.config, example.seed))
    with RunRecord.open(path) as record:
        count = len(record.reader.snapshots)
        number = int(example.choices.get("at", 0)) % max(count, 1)
        tick = record.reader.snapshots[number].tick if count else 0
    return [f"  not put back: {place}" for place in missing_state(path, tick)[:8]]


def _lines(divergence: Divergence, lab: Laboratory) -> list[str]:
    """A report without the commands that name records which are gone by then."""
    lines = replace(divergence, next=()).to_text().splitlines()
    return ["", *(line.replace(f"{lab.folder}/", "") for line in lines), ""]
