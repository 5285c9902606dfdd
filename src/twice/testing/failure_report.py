"""Say what does not hold: the example as commands, the first difference, and where it comes from.

The report is made on the spot, from fresh recordings of the shrunk example: the operation and its
channel are what ``twice diagnose`` says of them.

Invariant: every line is either a fact about the example or a command.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from twice.diagnosis.diagnose import diagnose, diagnose_failure
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.restore_gaps import missing_state
from twice.diagnosis.text_layout import describe_field
from twice.diagnosis.vary.report import format_record_command
from twice.errors import PropertyBroken, TwiceError
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.recorder.runrecord import RunRecord
from twice.replayer.other_seed import OTHER_SEEDS
from twice.replayer.verify import verify
from twice.testing.counterexamples import FILE, Example
from twice.testing.executor import Executor
from twice.testing.faults import active
from twice.testing.property_search import Counterexample, PropertySearch

_RESTORING = ("snapshot_round_trip", "restore_idempotence", "fork_and_converge")
_MISSING_MAX = 8


def describe_counterexample(search: PropertySearch, found: Counterexample) -> PropertyBroken:
    """Return the error for a counterexample, with its report."""
    name, label = search.name.replace("_", " "), search.subject.label
    example, violation = found.example, found.violation
    config = json.dumps(example.config, ensure_ascii=False)
    lines = [
        f"{name} does not hold for {label}: {violation.said}.",
        f"example: seed {example.seed}, config {config}",
    ]
    if search.schedule:
        lines.append(f"order of tasks: {search.schedule}={example.choices['order']}")
    if (failure := violation.failure) is not None:
        at = f" at {failure.at}" if failure.at else ""
        where = f"{failure.name} of tick {failure.tick}, in {', '.join(failure.columns)}"
        lines += [
            f"first difference: compare-point {failure.index}, {where}{at}",
            *list_fields(violation.fields),
        ]
        if failure.has_values:
            lines += [f"  recorded: {failure.recorded}", f"  here:     {failure.replayed}"]
    fault = active()
    lines += _diagnose(search, found) if fault is None else [f"planted: {fault}"]
    lines += found.confirmed
    if search.folder is not None and not search.needs_one:
        where = f"{search.folder / FILE}, and replayed first from now on"
        lines.append(f"this example is {'one of those ' if found.is_kept else ''}kept in {where}")
    return PropertyBroken(
        "\n".join(lines),
        f"Expected: {search.check.__doc__ or ''}".strip(),
        "\n  ".join(["see it again:", *list_commands(search, found)]),
        property=search.name,
        subject=label,
        seed=example.seed,
        config=dict(example.config),
        choices=dict(example.choices),
    )


def list_commands(search: PropertySearch, found: Counterexample) -> list[str]:
    """Return what shows a counterexample again, by hand."""
    example, name, both = found.example, search.name, "twice diagnose a.twice b.twice"

    def record(to: str, seed: int = example.seed, variables: Mapping[str, str] = {}) -> str:
        setup = search.subject.setup(example.config, seed)
        return format_record_command(setup, dict(variables), to)

    if search.needs_one:
        other = record("b", OTHER_SEEDS[0].value)
        return [record("a"), other, f"{both} --anyway", "twice audit seeds"]
    if name == "replay_equivalence" or (name == "schedule_independence" and not search.schedule):
        with Executor(search.vary) as executor:
            again = record("b", variables=executor.variables)
        verify_it = ["twice verify a.twice --diagnose"] if name == "replay_equivalence" else []
        return [record("a"), *verify_it, again, both]
    every = f"{record('a')} --snapshots tick"
    if name in {"snapshot_round_trip", "restore_idempotence"}:
        return [every, "twice verify a.twice --restores --all"]
    if found.violation.branch is not None:
        fork, values = found.violation.branch
        given = [f" --input {key}={json.dumps(v, default=str)}" for key, v in values.items()]
        return [every, f"twice branch a.twice --at {fork}{''.join(given)} -o b.twice"]
    return [record("a"), "twice show a.twice"]


def list_fields(fields: Iterable[FieldDifference]) -> Iterator[str]:
    """Yield the lines of each field that differs, with both values."""
    for each in fields:
        yield from describe_field(each)


def _diagnose(search: PropertySearch, found: Counterexample) -> list[str]:
    """Return where the difference comes from, by fresh recordings of the example."""
    example, channel = found.example, found.violation.channel
    lines: list[str] = []
    try:
        with Executor(search.vary) as executor, executor.only_fresh():
            if search.name in {"replay_equivalence", "schedule_independence"}:
                divergence = _locate(executor, search, example)
                # Without the commands that name records which are gone by then.
                text = replace(divergence, next=()).to_text()
                lines = ["", *text.replace(f"{executor.folder}/", "").splitlines(), ""]
                if divergence.attribution:
                    return lines
            elif search.name in _RESTORING and channel in {Channel.SNAPSHOT, Channel.REPLAY}:
                path = executor.record(search.subject.setup(example.config, example.seed))
                with RunRecord.open(path) as record:
                    entries = record.reader.snapshots
                    tick = entries[example.at % len(entries)].tick if entries else 0
                places = missing_state(path, tick)[:_MISSING_MAX]
                lines = [f"  not put back: {place}" for place in places]
    except TwiceError as error:
        lines = [f"no diagnosis: {error.happened}"]
    means = channel.facts.meaning
    if search.needs_one:
        means = "What draws does not go back to the seed of the run."
    return [*lines, f"  channel: {channel.value}, artifact {channel.artifact} ({means})"]


def _locate(executor: Executor, search: PropertySearch, example: Example) -> Divergence:
    def record(more: Mapping[str, object] = {}, *, other: bool = False) -> Path:
        setup = search.subject.setup({**example.config, **more}, example.seed)
        return executor.record(setup, other=other)

    if search.schedule:
        order = list(example.choices["order"])
        one, two = (record({search.schedule: each}) for each in (sorted(order), order))
        return diagnose(one, two, anyway=True)
    one = record()
    verified = verify(one)
    if verified.failure is not None:
        return diagnose_failure(one, verified.failure, environment=verified.environment)
    return diagnose(one, record(other=True))
