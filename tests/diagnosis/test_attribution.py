"""What stands on a located line, and on the way from it, decides which channel comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from twice.diagnosis.attribution import DifferingFactor, Observations, attribute
from twice.diagnosis.localization import callables as tags
from twice.diagnosis.localization.result import Located, Place
from twice.diagnosis.localization.source_facts import UNKNOWN

GUARD = Place("p.py", 1, "f", "if flag:")
OTHER_ENVIRONMENT = [DifferingFactor("env FLAG", "", "FLAG=1")]


def first_channel(
    factors: Sequence[DifferingFactor] = OTHER_ENVIRONMENT, /, **known: Any
) -> str | None:
    held: dict[str, Any] = dict.fromkeys(Located.__slots__, ())
    held |= dict.fromkeys(("name", "kind", "value_a", "value_b", "side", "thread"), "")
    of_line = {"code", "calls", "tags", "iterates", "seeds"} & known.keys()
    stated = {name: known.pop(name) for name in of_line}
    held |= {
        "place": Place("p.py", 1, "f", stated.get("code", "")),
        "facts": replace(UNKNOWN, **stated),
        "guard": None,
        "entered": None,
        "non_reproducing": "",
        **known,
    }
    found = attribute(Observations(located=Located(**held), factors=factors))
    return found[0].channel.value if found else None


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
