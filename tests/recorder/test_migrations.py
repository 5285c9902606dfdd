"""Versions of states: what a snapshot keeps of them, and what a restore makes of an older one."""

from __future__ import annotations

import json
import sys
from dataclasses import make_dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

import twice
from programs import recorded
from twice.errors import ComponentRefused, MigrationRefused
from twice.foundation.digests import Algorithm
from twice.recorder.components import component_of
from twice.recorder.snapshots import Captured, Cursors
from twice.recorder.states import Migration, capture_components, restore_components

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/format/snapshot-envelope.schema.json").read_text())
CURSORS = Cursors({}, 0, b"", 0, 0, 1, bytes(16))
VERSIONED = """
    class Pond:
        state_version = 4
        def __init__(self):
            self.fish = 3
    def main(run):
        run.track("pond", Pond())
        run.track("plain", {"n": 1})
        for _ in run.ticks(2):
            pass
"""


class Old:
    state_version = 1

    def __init__(self, fish: Any = 3) -> None:
        self.fish = fish

    def state(self) -> Any:
        return {"fish": self.fish}

    def restore(self, state: Any) -> None:
        self.fish = state["fish"]

    @staticmethod
    def migrate(state: Any, version: int) -> Any:
        raise AssertionError(f"nobody asked for a migration of {state} from {version}")


class New(Old):
    state_version = 2

    def __init__(self) -> None:
        super().__init__()
        self.weed = 0

    def state(self) -> Any:
        return {"fish": self.fish, "weed": self.weed}

    def restore(self, state: Any) -> None:
        self.fish, self.weed = state["fish"], state["weed"]

    @staticmethod
    def migrate(state: Any, version: int) -> Any:
        return {**state, "weed": 10 * version}


def captured_of(target: object) -> Captured:
    states, versions = capture_components({"pond": component_of("pond", target)})
    return Captured(5, states, CURSORS, {}, Algorithm.BLAKE3, versions)


def restored(target: object, captured: Captured) -> list[Migration]:
    return restore_components({"pond": component_of("pond", target)}, captured)


def changed(**members: Any) -> Any:
    return type("Changed", (New,), members)()


def test_a_snapshot_keeps_the_declared_version_and_nothing_for_an_undeclared_one(
    tmp_path: Path,
) -> None:
    with recorded(tmp_path, VERSIONED) as record:
        envelopes = [
            json.loads(record.reader.envelope(at)) for at in range(len(record.reader.snapshots))
        ]

    jsonschema.validate(envelopes[0], SCHEMA)
    assert envelopes[0]["subsystems"]["pond"]["state_version"] == 4
    assert set(envelopes[0]["subsystems"]["plain"]) == {"blob", "digest", "bytes"}


def test_a_record_that_knows_no_versions_restores_as_before() -> None:
    class Undeclared(Old):
        state_version = None

    target = Undeclared(0)
    old = captured_of(Undeclared(7))

    assert old.versions == {}
    assert restored(target, old) == []
    assert target.fish == 7


def test_a_state_of_the_present_version_is_not_migrated() -> None:
    target = Old(0)

    assert restored(target, captured_of(Old(7))) == []
    assert target.fish == 7


def test_an_older_state_is_migrated_and_told() -> None:
    target = New()

    assert restored(target, captured_of(Old(7))) == [Migration("pond", 1, 2, 5)]
    assert target.state() == {"fish": 7, "weed": 10}


def test_a_state_without_a_version_is_of_version_0() -> None:
    target = New()
    captured = replace(captured_of(Old(7)), versions={})

    assert restored(target, captured) == [Migration("pond", 0, 2, 5)]
    assert target.weed == 0


def test_attributes_are_migrated_like_a_state_of_its_own() -> None:
    def move(cls: Any, state: Any, version: int) -> Any:
        return {"fish": state["carp"], "seen": [version]}

    before = type("Pool", (), {"state_version": 1})()
    before.carp = 2
    after = type("Pool", (), {"state_version": 3, "migrate": classmethod(move)})()
    after.fish, after.seen = 0, []

    restored(after, captured_of(before))

    assert (after.fish, after.seen) == (2, [1])


def test_a_class_whose_fields_are_others_by_now_is_migrated_from_a_stand_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    module = ModuleType("ponds")
    monkeypatch.setitem(sys.modules, "ponds", module)
    module.Place = make_dataclass("Place", ["x", "y"], namespace={"__module__": "ponds"})  # type: ignore[attr-defined]
    old = captured_of(Old(module.Place(1, 2)))
    module.Place = make_dataclass("Place", ["at"], namespace={"__module__": "ponds"})  # type: ignore[attr-defined]

    def move(state: Any, version: int) -> Any:
        return {"fish": module.Place([value for _, value in state["fish"].fields]), "weed": version}

    target = changed(migrate=staticmethod(move))
    restored(target, old)

    assert target.fish == module.Place([1, 2])


def fail(state: Any, version: int) -> Any:
    raise KeyError("weed")


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"migrate": None}, "version 1 .* Changed has version 2 and no migrate"),
        ({"migrate": staticmethod(fail)}, "version 1 .* to version 2 raised KeyError: 'weed'"),
        ({"migrate": lambda self, state, version: state}, "raised TypeError"),
        ({"migrate": staticmethod(lambda *_: {1: object()})}, "no plain state"),
        ({"migrate": staticmethod(lambda *_: {"fish": 1})}, "cannot be put back: KeyError"),
        (
            {"migrate": staticmethod(lambda *_: {"fish": 1, "weed": 1, "x": 1})},
            r"came back different: state\['x'\]",
        ),
    ],
)
def test_a_state_that_cannot_be_migrated_is_one_error_with_both_versions(
    members: dict[str, Any], told: str
) -> None:
    with pytest.raises(MigrationRefused, match=told) as caught:
        restored(changed(**members), captured_of(Old()))

    assert caught.value.id == "E-TRACK-004"
    assert caught.value.fields == {"name": "pond", "snapshot_version": 1, "code_version": 2}


@pytest.mark.parametrize(
    ("target", "told"), [(Old(), "older version 1"), ({"fish": 3}, "has none")]
)
def test_a_snapshot_newer_than_the_code_is_refused(target: object, told: str) -> None:
    with pytest.raises(MigrationRefused, match=f"version 2 .*{told}"):
        restored(target, captured_of(New()))


@pytest.mark.parametrize("version", [0, -1, True, "2", 1.5])
def test_a_version_that_is_none_is_refused_where_it_is_tracked(version: object) -> None:
    with pytest.raises(ComponentRefused, match="state_version"):
        component_of("pond", changed(state_version=version))


def test_a_property_of_that_name_is_state_and_no_declaration() -> None:
    target = changed(state_version=property(lambda self: "seventh"))

    assert component_of("pond", target).state_version == 0


def test_golden_records_know_no_versions() -> None:
    with twice.open(ROOT / "tests/golden/session/run-session-1.twice") as record:
        envelopes = [
            json.loads(record.reader.envelope(at)) for at in range(len(record.reader.snapshots))
        ]

    assert not [each for each in envelopes if "state_version" in json.dumps(each)]
