"""Rules of determinism as data, and how they are switched off and on again."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pytest
from costedprograms import SWARM, declared, written

from twice.recording.surroundings import THREAD_CAPS
from twice.specifying.costing.making import Making
from twice.specifying.costing.rounds import bare_of, plans_of
from twice.specifying.costing.rules import NOT_SWITCHED, RULES, Rule
from twice.specifying.sheets import SHEETS

SWITCHED = [rule for rule in RULES if rule.switch and not rule.kind]
NAMES = [rule.name for rule in SWITCHED]


def test_every_rule_has_a_sheet_that_answers_and_a_name_of_its_own() -> None:
    names = [each.name for each in (*RULES, *NOT_SWITCHED)]

    assert len(set(names)) == len(names)
    assert {each.artifact for each in (*RULES, *NOT_SWITCHED)} <= set(SHEETS)
    assert {"02", "03", "04", "05", "08", "10", "11"} <= {
        each.artifact for each in (*RULES, *NOT_SWITCHED)
    }


def test_every_rule_can_be_measured_and_is_read_back() -> None:
    assert [rule.name for rule in RULES if not (rule.switch or rule.others)] == []
    assert [rule.name for rule in RULES if not rule.seen] == []


@pytest.mark.parametrize("rule", SWITCHED, ids=NAMES)
def test_a_switch_taken_back_leaves_the_declared_making(rule: Rule) -> None:
    making = declared(SWARM)
    off = rule.switch.applied(making)

    assert off != making
    assert rule.switch.applied(off) == off
    assert rule.switch.taken_back(off, making) == making


@pytest.mark.parametrize("rule", SWITCHED, ids=NAMES)
def test_switches_do_not_touch_what_is_another_rules(rule: Rule) -> None:
    making = declared(SWARM)
    alone = rule.switch.taken_back(bare_of(making), making)
    others = [each.switch for each in SWITCHED if each is not rule]

    assert reduce(lambda found, switch: switch.applied(found), others, making) == alone


def test_the_bare_making_pins_and_keeps_nothing() -> None:
    bare = bare_of(declared(SWARM))

    assert not bare.written
    assert not bare.captured
    assert bare.in_force.missing() == ["generators", "reads", "watch", "points"]
    assert str(bare.setup.cadence) == "none"
    assert not {*THREAD_CAPS, "PYTHONHASHSEED", "TZ", "LC_ALL"} & set(bare.surroundings.variables)


def test_a_making_comes_back_from_plain_data() -> None:
    for making in (declared(SWARM), bare_of(declared(SWARM))):
        assert Making.from_json(making.to_json()) == making


def test_plans_hold_every_rule_that_is_in_force_off_and_alone() -> None:
    plans, idle = plans_of(declared(SWARM, files="none"), RULES)
    keys = [each.key for each in plans]

    assert keys[:2] == ["everything", "bare"]
    assert len(set(keys)) == len(keys)
    assert "without snapshots" in keys
    assert "alone snapshots" in keys
    assert "other --digest sha256" in keys
    assert "other --digest blake3" not in keys, "that is the declared one"
    assert idle["files"] == "it is not in force in this run: --files none"
    assert "whole programs" in idle["library steps"]


def test_steps_of_libraries_are_a_rule_of_scripts(tmp_path: Path) -> None:
    from twice.foundation.seeds import Seed
    from twice.recording.naming import parse_program
    from twice.recording.setup import Setup
    from twice.recording.surroundings import for_recording

    script = parse_program(str(written(tmp_path, "print('here')")))
    making = Making(Setup(script, Seed(1)), for_recording({}))
    plans, _ = plans_of(making, RULES)

    assert "without library steps" in [each.key for each in plans]
