"""From what was located to what is said of lines: which one, how sure it is, and what to do about it.

Not for: the channel, which has a weight of its own (``attribution``); a finding of the checker at that line, whose
remedy is closer (``cli`` puts it first).

Invariant: the operation that is named is one that ran inside a traced window.
"""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.attribution import Observations
from twice.diagnosis.divergence import Attribution, OperationFound, Result
from twice.diagnosis.localization import callables as tags
from twice.diagnosis.localization.function_source import function_lines, lines_called
from twice.diagnosis.localization.result import Located, Place
from twice.diagnosis.localization.source_facts import facts_at, line_facts
from twice.diagnosis.log_comparison import InputDifference
from twice.diagnosis.tracing.paths import OBJECT
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.dataclass import dataclass
from twice.recorder.program import Program

_OWN: Final = f"{Path(__file__).parents[1]}{os.sep}"
_STREAM_POSITIONS: Final = "stream positions"
_BESIDE: Final = 0.3  # of an earlier difference that nobody saw come in
_SURE: Final = 0.65
"""Below, a line is a candidate and not the operation."""
_EXPLAINS: Final = tags.WORLD | {
    tags.PICKLE,
    tags.REPR,
    tags.MATMUL,
    tags.SHARED_DRAW,
    tags.SEEDING,
}
_SEED_OF_RUN: Final = "give it a seed of the run: run.rng(name), or a seed derived from it"
_TIME_OF_RUN: Final = "take the time as an input: run.input(name, time.time)"
_DRAW_OF_RUN: Final = "draw it from a generator of the run: run.rng(name)"
_INPUT_OF_RUN: Final = "take it as an input: run.input(name, ...)"
_VALUE_OF_RUN: Final = "hand it in as configuration: run.config[name], or --set name=value"
_STREAM_OF_RUN: Final = "give each part a generator of its own: run.rng(name)"
_BY_TAG: Final = (
    (tags.UNSEEDED, Channel.SEEDS, _SEED_OF_RUN),
    (tags.CLOCK, Channel.EFFECTS, _TIME_OF_RUN),
    (tags.ENTROPY, Channel.EFFECTS, _DRAW_OF_RUN),
    (tags.LISTING, Channel.EFFECTS, "sort the listing"),
    (tags.ENVIRONMENT, Channel.EFFECTS, _INPUT_OF_RUN),
    (tags.VARIABLE, Channel.EFFECTS, _VALUE_OF_RUN),
    (tags.TEXT, Channel.ENCODING, 'say which encoding: encoding="utf-8"'),
    (tags.HASH, Channel.ENCODING, "use a digest that is the same in every process: hashlib, or zlib.crc32"),
    (tags.PICKLE, Channel.ENCODING, "write the value in a form with one order, as json with sort_keys=True"),
    (tags.REPR, Channel.ENCODING, "write the fields that matter, not the text of the object"),
    (tags.ADDRESS, Channel.CONCURRENCY, "use a number that the program gives, not an address"),
    (tags.MATMUL, Channel.FLOATING_POINT, "record both with one --float-profile, or declare a tolerance"),
    (tags.SUM, Channel.FLOATING_POINT, "add in one order, or with math.fsum, or declare a tolerance"),
    (tags.SHARED_DRAW, Channel.RNG, _STREAM_OF_RUN),
)  # fmt: skip
_BY_CHANNEL: Final = {
    Channel.SEEDS: "give every generator a seed of the run: run.rng(name), or reset(seed=...)",
    Channel.RNG: _STREAM_OF_RUN,
    Channel.SNAPSHOT: "return what is missing from state(), and put it back in restore()",
    Channel.EFFECTS: "record what comes from the world: run.input, or @twice.effect around the call",
    Channel.FLOATING_POINT: "record both with one --float-profile, or declare a tolerance",
    Channel.GPU: "give both runs the same switches of the GPU's libraries, and pin them: --env NAME=VALUE",
}
_OF_A_SCRIPT: Final = {
    _BY_CHANNEL[
        Channel.SEEDS
    ]: "give every generator a seed: random.Random(seed), default_rng(seed), reset(seed=...)",
    _BY_CHANNEL[Channel.EFFECTS]: "take it from the arguments, or from a file beside the program",
    _SEED_OF_RUN: "give it a seed from the arguments or the settings: random.Random(seed), default_rng(seed)",
    _TIME_OF_RUN: "take the time from the arguments, or leave the line that prints it out: --ignore-output",
    _DRAW_OF_RUN: "draw it from a generator with a seed: random.Random(seed), default_rng(seed)",
    _INPUT_OF_RUN: "take it from the arguments",
    _VALUE_OF_RUN: "take it from the arguments",
    _STREAM_OF_RUN: "give each part a generator of its own: random.Random(seed), SeedSequence.spawn",
}
"""What to do in a program that has no run: remedy for remedy."""
_ORDER: Final = "walk it in an order of its own: sorted({what})"
_ORDER_OF_OBJECTS: Final = (
    "keep the objects of {what} in a list or a dict, or sort them by a number or name of their own"
)
_LOOPS: Final = {"asyncio.run", "anyio.run", "trio.run", "uvloop.run"}
"""Calls that run a loop, and in it code of the user's that was not looked into."""
_LOOP_METHODS: Final = (".run_until_complete", ".run_forever")
_BUILTIN: Final = vars(builtins).keys() - {"input", "open"}
"""Calls that read nothing from the world by themselves."""
_OBJECT: Final = re.compile(r"^\W*<\w")
"""How a text begins of an object whose class may have no order, alone or first in a list."""


@dataclass(frozen=True)
class NamedLines:
    """What a verdict says of lines.

    Attributes:
        result: ``localised``, ``candidates`` or ``unlocalised``.
        operation: the line, when it is sure enough.
        candidates: lines of which none is, the likeliest first.
    """

    result: Result
    operation: OperationFound | None = None
    candidates: Sequence[OperationFound] = ()


def name_lines(
    located: Located | None,
    fields: Sequence[FieldDifference],
    *,
    library_read: bool,
    substituted: Collection[str] = (),
) -> NamedLines:
    """Name the line that the verdict prints, or the candidate lines.

    Args:
        located: the located operation.
        fields: typed differences of state.
        library_read: whether libraries read other values from the world before the runs parted.
        substituted: names of the inputs that a branch replaced.
    """
    if located is None:
        return NamedLines("unlocalised")
    is_replaced = any(located.name == f"inputs[{name!r}]" for name in substituted)
    if located.place.file.startswith(_OWN) and not is_replaced:
        return NamedLines("unlocalised")  # where a run begins, nothing of the user's ran
    confidence, surer = (
        (0.95, "") if is_replaced else _judge_line(located, library_read=library_read)
    )
    first = _operation_of(located, fields, confidence, surer)
    if confidence >= _SURE:
        return NamedLines("localised", first)
    found = [first]
    if located.beside is not None:
        place = located.beside
        found.append(
            OperationFound(place.file, place.line, place.function, place.code, "", "", "", _BESIDE)
        )
    return NamedLines("candidates", None, sorted(found, key=lambda one: -one.confidence))


def _operation_of(
    located: Located, fields: Sequence[FieldDifference], confidence: float, surer: str
) -> OperationFound:
    """Describe a line with its values; name a stream position by its stream."""
    name, a, b = located.name.removeprefix(OBJECT), located.value_a, located.value_b
    moved = [difference for difference in fields if difference.path.startswith("streams[")]
    if name == _STREAM_POSITIONS and moved:
        name, a, b = moved[0].path, moved[0].a, moved[0].b
    return OperationFound(
        file=located.place.file,
        line=located.place.line,
        function=located.place.function,
        code=located.place.code,
        name=name,
        a=a,
        b=b,
        confidence=confidence,
        surer=surer,
    )


def _judge_line(located: Located, *, library_read: bool) -> tuple[float, str]:
    """How sure the line is, 0 to 1, and what would tell more; empty where the line explains itself.

    A line that reads the world, hashes, draws or walks a set explains by itself why its result differs. One
    that calls code which nobody looked into may have passed on what came from elsewhere; one that only computes
    has read something that was not seen.
    """
    if located.before_window and located.entered is not None:
        return (0.8, "")  # of state that a snapshot leaves out: the line lets it in
    if located.before_window:
        older = "the difference is older than what was traced: record from an earlier state"
        return (0.3, older)
    if explains_itself(located):
        return (0.95, "")
    # What one side alone draws or puts back needs no other reason than the branch before it.
    is_alone = {tags.DRAW, tags.RESTORING} & set(located.facts.tags) and located.guard is not None
    if located.is_switched or is_alone:
        return (0.9, "")  # one side alone does it, and that is all it takes
    if any(name in _LOOPS or name.endswith(_LOOP_METHODS) for name in located.facts.calls):
        return (0.5, "see which coroutine reads the world there: twice check names its line")
    if located.kind == "stream position" or tags.DRAW in located.facts.tags:
        return (0.8 if located.beside is None else 0.6, _surer(located))
    if _is_walked(located):
        return (0.8, _surer(located))  # nothing else that it reads differs, so the order does
    # A library that read other values explains what a call brought; a line that only computes read something unseen.
    confidence = (
        0.75 if located.facts.calls and library_read else 0.65 if located.facts.calls else 0.5
    )
    if located.unseen:
        confidence -= 0.3
    if located.beside is not None:
        confidence -= 0.2
    return (confidence, _surer(located))


def explains_itself(located: Located) -> bool:
    """Whether what stands on the line is enough for its result to differ, whatever it read."""
    return bool(_EXPLAINS & set(located.facts.tags)) or (
        located.kind == "order" and bool(located.facts.iterates)
    )


def _is_walked(located: Located) -> bool:
    """Whether what differs is what a loop gives to its name, or ``yield from`` on; nobody saw an earlier difference."""
    name, facts = located.name.partition(".")[0].partition("[")[0], located.facts
    is_loop = facts.kind in {"For", "AsyncFor"} and name in facts.assigns
    is_loop = is_loop or (facts.yields and bool(facts.iterates))
    return is_loop and not located.unseen and located.beside is None


def _surer(located: Located) -> str:
    if located.beside is not None:
        return f"see whether {located.beside.file}:{located.beside.line} differs without it"
    if located.unseen:
        return f"track what the line reads: {located.unseen[0]}"
    calls = [name for name in located.facts.calls if not name.startswith("run.")]
    if asked := [name for name in calls if name not in _BUILTIN]:
        return f"record what {asked[-1]} reads, as a declared effect"
    return "track the state that the line reads"


def move_to_first_use(located: Located) -> Located:
    """Credit a difference that is older than the trace to the line that lets it into the tracked state."""
    place = located.entered
    if place is None:
        return located
    return replace(located, place=place, facts=facts_at(place))


def move_to_reseeding_line(located: Located, restores: Mapping[str, Any]) -> Located:
    """Credit a difference after a restore to the line of ``restore`` that seeds a generator.

    What draws afterwards only shows it. Methods that ``restore`` calls are looked through as well.

    Args:
        located: what was found.
        restores: component -> file and first line of its ``restore``.
    """
    for name in sorted(restores):
        if not any(path.startswith(f"{OBJECT}{name}") for path in located.untracked):
            continue
        file, first = restores[name]
        lines = [*function_lines(file, first), *lines_called(file, first)]
        for line in lines:
            facts = line_facts(file, line)
            if {tags.SEEDING, tags.UNSEEDED} & set(facts.tags):
                place = Place(file, line, f"{name}: restore", facts.code)
                return replace(located, place=place, facts=facts)
    return located


def list_blind_spots(located: Located) -> list[str]:
    """Paths that differ and belong to no declared state, as people write them."""
    spots = [path.removeprefix(OBJECT) for path in located.untracked if path.startswith(OBJECT)]
    return list(dict.fromkeys(spots))


def find_remedies(
    seen: Observations,
    ranked: Sequence[Attribution],
    program: Program,
    inputs: Sequence[InputDifference] = (),
) -> list[str]:
    """Return what to do: about other inputs, about the environment where that is suspected, or the likeliest channel.

    Args:
        seen: what is known of the runs.
        ranked: the channels, the likeliest first.
        program: of the runs.
        inputs: in which the runs differ, where the caller compares them anyway.
    """
    if inputs:
        names = ", ".join(row.what for row in inputs)
        return [f"record both runs with the same {names}: what differs may follow from that alone"]
    if elsewhere := seen.environment.remedy:
        return [elsewhere]
    has_run = not program.whole
    first = [find_remedy(seen.located, each.channel, has_run=has_run) for each in ranked[:1]]
    return [each for each in (seen.surer, *first) if each]


def find_remedy(located: Located | None, channel: Channel, *, has_run: bool) -> str:
    """Return what to do about a difference that came through a channel; empty where nothing is sure to help.

    Args:
        located: the line, where there is one.
        channel: of the difference.
        has_run: whether the program is a function of a run; a plain script is not.
    """
    remedy = _find_remedy(located, channel)
    return remedy if has_run else _OF_A_SCRIPT.get(remedy, remedy)


def _find_remedy(located: Located | None, channel: Channel) -> str:
    if located is not None:
        if channel is Channel.CONCURRENCY and located.facts.iterates:
            form = _ORDER_OF_OBJECTS if _walks_objects(located) else _ORDER
            return form.format(what=located.facts.iterates[-1])
        for tag, of, remedy in _BY_TAG:
            if of is channel and tag in located.facts.tags:
                return remedy
    return _BY_CHANNEL.get(channel, "")


def _walks_objects(located: Located) -> bool:
    """Whether what is walked are objects of classes, for which ``sorted`` may have no order."""
    item, _, attribute = located.name.partition(".")
    is_attribute = bool(attribute) and item in located.facts.assigns
    return is_attribute or bool(_OBJECT.match(located.value_a) or _OBJECT.match(located.value_b))
