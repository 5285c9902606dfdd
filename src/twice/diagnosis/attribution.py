"""Through which of the ten channels did the difference come? By evidence, ranked.

Each observation speaks for a channel with a weight: what stands on the first differing line, which
surroundings flip the parting, how the values differ (order, a few ulps, a generator's position),
whether the second run was resumed from a snapshot. Weights are added per channel and normalised.

Experiments (``--confirm``) weigh more than what was observed: a cause that they bear out lifts its
channel, and a channel all of whose causes they refute sinks.

Invariant: a channel appears only with at least one observation, in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from twice.diagnosis.divergence import Attribution, Confirmation
from twice.diagnosis.environment_role import EnvironmentEvidence
from twice.diagnosis.localization import callables as tags
from twice.diagnosis.localization.result import Located
from twice.diagnosis.operations.operation_inside import OperationInside
from twice.diagnosis.read_comparison import BY_LIBRARY
from twice.diagnosis.surroundings_factors import DifferingFactor
from twice.diagnosis.tracing.paths import OBJECT
from twice.diagnosis.tracing.value_preview import ON_GPU
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.dataclass import dataclass
from twice.foundation.environment import is_numeric
from twice.foundation.printable import pluralize
from twice.recorder.effects.ops import RECEIVED


@dataclass
class Observations:
    """What is known of two runs that part; steps of a diagnosis add to it.

    Attributes:
        columns: judged columns that differ.
        located: the operation, or None.
        fields: typed differences of state.
        factors: differing surroundings, tried or not.
        resumed: the second run was restored from a snapshot of the first.
        blind_spots: paths that differ and belong to no declared state.
        substituted: inputs that a branch replaced.
        seeds_differ: the two runs have other master seeds.
        clock_policy: the two runs have clocks of their own by policy.
        reads_differ: the runs read different values from the world before the parting.
        library_reads: what libraries read otherwise anywhere before the parting.
        unsteady: components that reading changes, or that read differently each time: what was seen of them.
        experiments: causes that were tried.
        environment: what the runs ran on, and what the executions say of it.
        restores: component -> file and first line of its ``restore``, of a run that was put back.
        non_reproducing: label of the side that does not reproduce itself, or None.
        surer: where no operation was named, what would tell more; empty otherwise.
        inside: the operation of a library that first gave other results, or why none is blamed; None if none was looked for.
        evidence: what was observed, in sentences.
        caveats: what was not seen.
    """

    columns: Sequence[str] = ()
    located: Located | None = None
    fields: Sequence[FieldDifference] = ()
    factors: Sequence[DifferingFactor] = ()
    resumed: bool = False
    blind_spots: Sequence[str] = ()
    substituted: Sequence[str] = ()
    seeds_differ: bool = False
    clock_policy: bool = False
    reads_differ: Sequence[str] = ()
    library_reads: Sequence[str] = ()
    unsteady: Mapping[str, Any] = field(default_factory=dict)
    experiments: list[Confirmation] = field(default_factory=list)
    environment: EnvironmentEvidence = field(default_factory=EnvironmentEvidence)
    restores: Mapping[str, Any] = field(default_factory=dict)
    non_reproducing: str | None = None
    surer: str = ""
    inside: OperationInside | None = None
    evidence: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)

    def describe_unsteady(self) -> list[str]:
        """Describe the reads that change state or differ each time, a sentence a component."""
        told = []
        for name, entry in self.unsteady.items():
            where = f" ({entry['where']})" if entry["where"] else ""
            said = [f"changes {', '.join(entry['paths'])}"] * bool(entry["paths"])
            said += ["gives another value each time"] * bool(entry["again"])
            told.append(f"reading the state of {name}{where} {' and '.join(said)}")
        return told


@dataclass
class _Ballot:
    """Weights and sentences, by channel."""

    weights: dict[Channel, float] = field(default_factory=dict)
    sentences: dict[Channel, list[str]] = field(default_factory=dict)

    def add(self, channel: Channel, weight: float, sentence: str) -> None:
        self.weights[channel] = self.weights.get(channel, 0.0) + weight
        self.sentences.setdefault(channel, []).append(sentence)


def attribute(seen: Observations) -> list[Attribution]:
    """Channels by weight of evidence, the likeliest first."""
    ballot = _Ballot()
    if seen.resumed and not seen.substituted:
        _resumed(seen, ballot)
    else:
        if seen.located is not None:
            _line(seen, seen.located, ballot)
            if not ballot.weights:
                _library(seen, seen.located, ballot)
        _surroundings(seen, ballot)
        _fields(seen, ballot)
    for vote in seen.environment.list_votes():
        ballot.add(*vote)
    for name in seen.unsteady:
        sentence = f"reading the state of {name} changes it, or gives another value each time"
        ballot.add(Channel.SNAPSHOT, 6.0, sentence)
    if seen.substituted:
        names = ", ".join(seen.substituted)
        ballot.add(Channel.REPLAY, 4.0, f"a branch substituted the input {names}")
    verdicts = _experiments(seen.experiments, ballot)
    total = sum(ballot.weights.values()) or 1.0
    ranked = sorted(ballot.weights, key=lambda one: (-ballot.weights[one], one.artifact))
    return [
        Attribution(
            one,
            min(ballot.weights[one] / total, ballot.weights[one] / 5.0, 0.99),
            tuple(dict.fromkeys(ballot.sentences[one])),
            verdicts.get(one),
        )
        for one in ranked
    ]


def _experiments(tried: Sequence[Confirmation], ballot: _Ballot) -> dict[Channel, bool]:
    """Let experiments decide over what was observed; the verdict on each channel that they told of."""
    told: dict[Channel, list[Confirmation]] = {}
    for each in tried:
        if each.outcome == "open":
            continue
        # What is read from the world and becomes a seed comes in through both.
        becomes_seed = each.channel is Channel.EFFECTS and Channel.SEEDS in ballot.weights
        for channel in (each.channel, *([Channel.SEEDS] if becomes_seed else [])):
            told.setdefault(channel, []).append(each)
    verdicts = {}
    for channel, about in told.items():
        confirmed = [each.sentence for each in about if each.outcome == "confirmed"]
        if confirmed:
            for sentence in confirmed:
                ballot.add(channel, _CONFIRMED / len(confirmed), sentence)
        elif channel in ballot.weights:
            ballot.weights[channel] *= _REFUTED
            ballot.sentences[channel] += [each.sentence for each in about]
        verdicts[channel] = bool(confirmed)
    return verdicts


READS_CLOCK = "the line reads the clock"
_CONFIRMED = 5.0
_REFUTED = 0.2

_LINE: tuple[tuple[str, Channel, float, str], ...] = (
    (tags.UNSEEDED, Channel.SEEDS, 5.0, "the line makes a generator without a seed"),
    (tags.CLOCK, Channel.EFFECTS, 4.0, READS_CLOCK),
    (tags.ENTROPY, Channel.EFFECTS, 4.0, "the line reads entropy from the system"),
    (tags.ENVIRONMENT, Channel.EFFECTS, 4.0, "the line reads the environment"),
    (tags.VARIABLE, Channel.EFFECTS, 4.0, "the line reads the environment"),
    (tags.LISTING, Channel.EFFECTS, 4.0, "the line lists a folder"),
    (tags.HASH, Channel.ENCODING, 4.0, "the line uses hash(), which differs between processes"),
    (tags.PICKLE, Channel.ENCODING, 4.5, "the line keeps the bytes of a pickle"),
    (tags.REPR, Channel.ENCODING, 3.5, "the line keeps the text of an object"),
    (tags.ADDRESS, Channel.CONCURRENCY, 4.0, "the line uses id(), an address"),
    (tags.MATMUL, Channel.FLOATING_POINT, 4.0, "the line calls a product of a BLAS library"),
    (tags.SUM, Channel.FLOATING_POINT, 2.0, "the line adds up values in an order that may differ"),
    (tags.SHARED_DRAW, Channel.RNG, 3.0, "the line draws from a generator that others share"),
)


def _library(seen: Observations, located: Located, ballot: _Ballot) -> None:
    """Vote on a line that calls a library and has no telling names."""
    is_told = f"{_ENTROPY}{BY_LIBRARY}" in seen.reads_differ
    if located.facts.calls and _ENTROPY in seen.library_reads and not is_told:
        what = f"the line calls {located.facts.calls[-1]}, and a library took entropy ({_ENTROPY}) before"
        # A read that is known to differ explains more than one that may have been drawn from.
        weight = 1.0 if seen.reads_differ else 3.0
        ballot.add(Channel.SEEDS, weight, f"{what}: nobody gave it a seed")
        ballot.add(Channel.EFFECTS, 1.0, what)


_ENTROPY = "entropy.urandom"
_BECOMES_SEED = frozenset({tags.CLOCK, tags.ENTROPY, tags.HASH, tags.ENVIRONMENT, tags.VARIABLE})


def _line(seen: Observations, located: Located, ballot: _Ballot) -> None:
    """Vote on the contents of the first differing line."""
    present = set(located.facts.tags)
    if located.facts.seeds and present & _BECOMES_SEED:
        name = ", ".join(located.facts.seeds)
        ballot.add(Channel.SEEDS, 6.0, f"what the line reads from the world becomes a seed: {name}")
    elif tags.SEEDING in located.passed and present & _BECOMES_SEED:
        ballot.add(
            Channel.SEEDS, 6.0, "what the line reads from the world becomes a seed further on"
        )
    elif tags.SEEDING in present and present & {tags.CLOCK, tags.ENTROPY, tags.HASH}:
        ballot.add(Channel.SEEDS, 6.0, "the line seeds a generator from the world")
    for tag, channel, weight, sentence in _LINE:
        if tag in present:
            ballot.add(channel, weight, sentence)
    of = located.name.removeprefix(OBJECT)
    made = [name for name in seen.reads_differ if name == f"entropy.urandom{BY_LIBRARY}"]
    if located.kind == "stream position" and made and located.name != "stream positions":
        sentence = f"a library seeded this generator from the system's entropy: {of}"
        ballot.add(Channel.SEEDS, 6.0, sentence)
    elif located.kind == "stream position":
        named = "" if of == "stream positions" else f": {of}"  # the fields say which streams moved
        ballot.add(Channel.RNG, 5.0, f"the position of a generator differs after it{named}")
        if tags.DRAW in present:
            ballot.add(Channel.RNG, 2.0, "the line draws from it")
    elif tags.DRAW in present and located.guard is not None:
        ballot.add(Channel.RNG, 5.0, "only one run draws there")
    elif tags.DRAW in present:
        ballot.add(Channel.RNG, 2.0, "the line draws from a generator")
    elif tags.SEEDING in present and (located.guard is not None or not present & tags.WORLD):
        ballot.add(Channel.RNG, 4.0, "the line derives seeds from something that differs")
    elif tags.SEEDING in located.passed and located.guard is not None and located.side != "both":
        ballot.add(Channel.RNG, 4.0, "only one run changes what later seeds are derived from")
    if tags.RESTORING in present and located.guard is not None:
        ballot.add(Channel.SNAPSHOT, 6.0, "only one run restores there what was saved")
    if located.facts.iterates and located.kind == "order":
        what = ", ".join(located.facts.iterates)
        ballot.add(Channel.CONCURRENCY, 4.5, f"the order in which {what} is iterated differs")
    elif located.facts.iterates and _has(seen.factors, "hash seed"):
        what = ", ".join(located.facts.iterates)
        ballot.add(Channel.CONCURRENCY, 3.0, f"the line iterates {what} under another hash seed")
    if _STARTS_THREAD.match(located.place.code):
        ballot.add(
            Channel.CONCURRENCY, 2.5, "the line starts a thread, and shows what the thread did"
        )
    if _WAITS_FOR_THREAD.search(located.place.code):
        ballot.add(
            Channel.CONCURRENCY, 4.0, "the line waits for a thread, and shows what the thread did"
        )
    if _is_on_gpu(located):
        ballot.add(Channel.GPU, 6.0, "the line computes on a GPU")
    if located.thread not in {"", "MainThread", "main"}:
        ballot.add(Channel.CONCURRENCY, 5.0, f"the operation ran on the thread {located.thread!r}")


def _surroundings(seen: Observations, ballot: _Ballot) -> None:
    """Which surroundings differ, and which of them flip the parting on their own."""
    tried = [factor for factor in seen.factors if factor.flips is not None]
    alone = len(seen.factors) == 1
    together = bool(tried) and all(factor.flips is False for factor in seen.factors)
    is_text = seen.located is not None and tags.TEXT in seen.located.facts.tags
    for factor in seen.factors:
        if factor.flips is False and not together:
            continue
        named = _name_factor(factor.name)
        if together:
            weight, how = (
                1.0,
                f"{named} differs, and makes the difference only together with others",
            )
        elif factor.flips:
            weight, how = 3.0, f"{named} makes the difference on its own"
        elif alone and not tried:
            weight, how = 1.5, f"the runs were started alike, except for {named}"
        else:
            weight, how = 0.5, f"{named} differs"
        channel = channel_of_factor(factor.name)
        if is_text and factor.name in _OF_TEXT:
            channel, weight = Channel.ENCODING, weight + 2.0
        ballot.add(channel, weight, f"{how} ({factor.a or 'unset'} / {factor.b or 'unset'})")
    if seen.seeds_differ:
        ballot.add(Channel.SEEDS, 12.0, "the two runs have different master seeds")
    if seen.clock_policy:
        ballot.add(Channel.EFFECTS, 1.0, "the two runs were given different clocks")
    code = seen.located.place.code if seen.located is not None else ""
    if RECEIVED.name in seen.reads_differ and _MAY_RECEIVE.search(code):
        sentence = "the line may receive from a connection, and other bytes came in on one"
        ballot.add(Channel.EFFECTS, 3.0, sentence)
    if seen.reads_differ:
        names = ", ".join(seen.reads_differ)
        ballot.add(Channel.EFFECTS, 1.0, f"the runs read different values from the world: {names}")


def _name_factor(name: str) -> str:
    """Name a factor as the subject of a sentence in the singular."""
    if name.startswith("env "):
        return f"the variable {name.removeprefix('env ')}"
    return {"threads": "the number of threads", "addresses": "the layout of addresses"}.get(
        name, f"the {name}"
    )


def channel_of_factor(name: str) -> Channel:
    """Return the channel through which a surrounding enters a run."""
    variable = name.removeprefix("env ")
    if name in _ORDERS:
        return Channel.CONCURRENCY
    if variable != name and variable.startswith(_OF_GPU):
        return Channel.GPU
    if name in {"threads", "cpu dispatch"} or (variable != name and is_numeric(variable)):
        return Channel.FLOATING_POINT
    return Channel.EFFECTS


_OF_GPU = ("CUDA", "CUBLAS_", "CUDNN_", "NCCL_", "NVIDIA_", "XLA_")
"""Beginnings of the variables that libraries of a GPU read."""


_OF_TEXT = frozenset(
    ("locale", *(f"env PYTHON{name}" for name in ("COERCECLOCALE", "IOENCODING", "UTF8")))
)
_ORDERS = frozenset(
    {
        "hash seed", "addresses", "memory layout", "garbage collection", "switch interval", "processors",
        "task order",
    }
)  # fmt: skip


def _fields(seen: Observations, ballot: _Ballot) -> None:
    """How the values differ."""
    kinds = [difference.kind for difference in seen.fields]
    if kinds and all(kind == "order" for kind in kinds):
        ballot.add(Channel.CONCURRENCY, 1.5, "the same elements stand in another order")
    ulps = [difference.ulps for difference in seen.fields if difference.ulps is not None]
    if ulps and len(ulps) == len(seen.fields) and max(ulps) <= _FEW_ULPS:
        sentence = f"values differ by {pluralize(max(ulps), 'ulp')} at most: another order of the same arithmetic"
        is_gpu = seen.located is not None and _is_on_gpu(seen.located)
        ballot.add(Channel.GPU if is_gpu else Channel.FLOATING_POINT, 2.5, sentence)
    if tuple(seen.columns) == ("streams",):
        ballot.add(Channel.RNG, 3.0, "only the positions of generators differ")


def _is_on_gpu(located: Located) -> bool:
    return any(value.startswith(ON_GPU) for value in (located.value_a, located.value_b))


_FEW_ULPS = 4096
_MAY_RECEIVE = re.compile(
    r"\b(recv\w*|read\w*|urlopen|request\w*|get|post|put|fetch\w*|execute|run|text|json|content)\b"
)
_STARTS_THREAD = re.compile(r"[\w.\[\]]+\.start\(\)\s*(#|$)")  # a statement of its own
_WAITS_FOR_THREAD = re.compile(
    r"\.join\(\s*(timeout=.*)?\)"
)  # of a thread: text is joined with an argument


def _resumed(seen: Observations, ballot: _Ballot) -> None:
    """Vote on a restored second run: state that restoring left out, or changed besides."""
    located = seen.located
    present = set(located.facts.tags) if located is not None else set()
    reseeds = bool(present & {tags.SEEDING, tags.UNSEEDED})
    if reseeds:
        where = located.place.function if located is not None else "restore"
        ballot.add(Channel.REPLAY, 6.0, f"restoring seeds a generator again, in {where}")
    if seen.blind_spots:
        paths = ", ".join(seen.blind_spots[:3])
        weight = 1.0 if reseeds else 5.0  # a generator that is seeded again differs, of course
        sentence = f"state that state() leaves out differs after restoring: {paths}"
        ballot.add(Channel.SNAPSHOT, weight, sentence)
    ballot.add(Channel.SNAPSHOT, 1.0, "the second run was restored from a snapshot of the first")


def _has(factors: Iterable[DifferingFactor], name: str) -> bool:
    return any(factor.name == name and factor.flips is not False for factor in factors)
