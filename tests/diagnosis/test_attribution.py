"""What stands on a located line, and on the way from it, decides which channel comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from twice.diagnosis import window
from twice.diagnosis.attribution import Observations, attribute, channel_of_factor
from twice.diagnosis.divergence import Attribution
from twice.diagnosis.line_judgement import find_remedies, find_remedy, name_lines
from twice.diagnosis.localization import callables as tags
from twice.diagnosis.localization.result import Located, Place
from twice.diagnosis.localization.source_facts import UNKNOWN
from twice.diagnosis.log_comparison import InputDifference
from twice.diagnosis.surroundings_factors import DifferingFactor
from twice.foundation.channels import Channel
from twice.recorder.program import Program

GUARD = Place("p.py", 1, "f", "if flag:")
OTHER_ENVIRONMENT = [DifferingFactor("env FLAG", "", "FLAG=1")]


def first_channel(
    factors: Sequence[DifferingFactor] = OTHER_ENVIRONMENT, /, **known: Any
) -> str | None:
    of_runs = {"library_reads", "reads_differ", "seeds_differ"} & known.keys()
    runs = {name: known.pop(name) for name in of_runs}
    found = attribute(Observations(located=located(**known), factors=factors, **runs))
    return found[0].channel.value if found else None


def located(**known: Any) -> Located:
    held: dict[str, Any] = dict.fromkeys(Located.__slots__, ())
    held |= dict.fromkeys(("name", "kind", "value_a", "value_b", "side", "thread"), "")
    of_line = {"assigns", "calls", "code", "iterates", "seeds", "tags"} & known.keys()
    stated = {name: known.pop(name) for name in of_line}
    held |= {
        "place": Place("p.py", 1, "f", stated.get("code", "")),
        "facts": replace(UNKNOWN, **stated),
        "guard": None,
        "entered": None,
        "non_reproducing": "",
        **known,
    }
    return Located(**held)


def test_a_clock_that_becomes_a_seed_in_another_function_is_a_matter_of_seeds():
    assert first_channel(tags=(tags.CLOCK,), passed=(tags.SEEDING,)) == "seeds"
    assert first_channel(tags=(tags.CLOCK,)) == "effects"


def test_a_count_that_one_run_moves_and_seeds_come_from_is_a_matter_of_generators():
    behind = {"guard": GUARD, "side": "b"}
    assert first_channel(passed=(tags.SEEDING,), **behind) == "rng"
    assert first_channel(**behind) == "effects"


def test_a_draw_behind_a_variable_on_the_same_line_is_a_matter_of_generators():
    on_line = (tags.DRAW, tags.ENVIRONMENT)
    assert first_channel(tags=on_line, kind="stream position") == "rng"


def test_the_text_of_a_set_in_the_state_is_a_matter_of_encoding_under_another_hash_seed():
    flips = [DifferingFactor("hash seed", "1", "2", flips=True)]
    assert first_channel(flips, tags=(tags.REPR,)) == "encoding"
    walked = {"tags": (tags.REPR, tags.ITERATION), "iterates": ("names",)}
    assert first_channel(flips, **walked) == "concurrency"


@pytest.mark.parametrize(
    ("code", "channel"),
    [
        ("thread.start()", "concurrency"),
        ("self.workers[0].start()  # go", "concurrency"),
        ("at = match.start()", "effects"),
        ("thread.join()", "concurrency"),
        ("text = sep.join(words)", "effects"),
    ],
)
def test_a_line_that_starts_or_awaits_a_thread_shows_what_the_thread_did(code, channel):
    assert first_channel(code=code) == channel


def test_a_read_that_differs_explains_more_than_entropy_that_a_library_may_have_drawn_from():
    taken = {"calls": ("pandas.Timestamp.now",), "library_reads": ("entropy.urandom",)}
    assert first_channel([], **taken) == "seeds"
    assert first_channel([], **taken, reads_differ=("clock.time_ns",)) == "effects"


def test_runs_of_two_seeds_part_by_their_seeds():
    assert first_channel([], kind="stream position", seeds_differ=True) == "seeds"


def test_no_line_of_twice_itself_is_named():
    begins = located(place=Place(window.__file__, 1, "f", "self._tracer.start()"))
    assert name_lines(begins, (), library_read=False).result == "unlocalised"


def test_the_call_that_a_branch_replaced_is_named_where_a_tool_session_takes_it():
    taken = located(
        name="inputs['call']", place=Place(window.__file__, 1, "f", "run.input('call')")
    )
    assert name_lines(taken, (), library_read=False, substituted=("call",)).result == "localised"


@pytest.mark.parametrize(
    ("known", "is_sorted"),
    [
        ({"name": "name", "assigns": ("name",), "value_a": "'ash'", "value_b": "'elm'"}, True),
        ({"name": "box.log", "assigns": ("name",), "value_a": "3", "value_b": "4"}, True),
        ({"name": "boat.name", "assigns": ("boat",), "value_a": "'ash'"}, False),
        ({"name": "boats", "value_a": "[<v.Boat name='ash'>, <v.Boat", "value_b": "[]"}, False),
    ],
)
def test_objects_of_a_class_are_not_told_to_be_sorted_by_themselves(
    known: dict[str, Any], is_sorted: bool
) -> None:
    place = located(iterates=("boats",), **known)
    remedy = find_remedy(place, Channel.CONCURRENCY, has_run=True)
    assert (remedy == "walk it in an order of its own: sorted(boats)") == is_sorted


@pytest.mark.parametrize("channel", [Channel.SEEDS, Channel.RNG, Channel.EFFECTS])
def test_a_script_is_told_nothing_of_a_run_that_it_does_not_have(channel: Channel) -> None:
    places = [None, *(located(tags=frozenset({tag})) for tag in tags.WORLD | {tags.SHARED_DRAW})]
    for place in places:
        told = find_remedy(place, channel, has_run=False)
        assert told
        assert "run." not in told
        assert find_remedy(place, channel, has_run=True)


@pytest.mark.parametrize(
    ("calls", "surer"),
    [
        (("track", "dict"), "record what track reads, as a declared effect"),
        (("run.rng", "dict", "len"), "track the state that the line reads"),
    ],
)
def test_a_builtin_that_reads_nothing_is_not_told_to_be_recorded(
    calls: tuple[str, ...], surer: str
) -> None:
    named = name_lines(located(calls=calls, beside=None), (), library_read=True)
    assert named.operation is not None
    assert named.operation.surer == surer


@pytest.mark.parametrize(
    ("calls", "result"),
    [
        (("replay", "asyncio.run"), "candidates"),
        (("loop.run_until_complete",), "candidates"),
        (("subprocess.run",), "localised"),
    ],
)
def test_a_line_that_runs_a_loop_is_no_more_than_a_candidate(
    calls: tuple[str, ...], result: str
) -> None:
    named = name_lines(located(calls=calls, beside=None), (), library_read=True)

    assert named.result == result


def test_other_inputs_are_the_first_thing_to_do_about() -> None:
    ranked = [Attribution(Channel.RNG, 0.99, ("the position of a generator differs after it",))]
    program = Program("function", "p.py", "main")

    (alike,) = find_remedies(
        Observations(), ranked, program, [InputDifference("config.n", "2", "3")]
    )

    assert alike.startswith("record both runs with the same config.n: ")
    assert find_remedies(Observations(), ranked, program) != [alike]


@pytest.mark.parametrize(
    ("factor", "channel"),
    [
        ("env NCCL_ALGO", Channel.GPU),
        ("env CUBLAS_WORKSPACE_CONFIG", Channel.GPU),
        ("env MKL_CBWR", Channel.FLOATING_POINT),
        ("threads", Channel.FLOATING_POINT),
        ("hash seed", Channel.CONCURRENCY),
        ("env LABEL", Channel.EFFECTS),
        ("CUDA", Channel.EFFECTS),
    ],
)
def test_a_surrounding_enters_by_its_channel(factor: str, channel: Channel) -> None:
    assert channel_of_factor(factor) is channel
