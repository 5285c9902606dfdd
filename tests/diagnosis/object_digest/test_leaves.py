"""Everything that hangs on an object has a path and a digest, and no line of the object's own code runs for it."""

from __future__ import annotations

from typing import Any

from twice.diagnosis.object_digest.leaves import leaves, paths_apart


class Claiming:
    """Whoever asks what its class is runs its code."""

    def __init__(self, number: int) -> None:
        self.inside = [self, {"number": number}]

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise AssertionError("the class was asked for")


def test_nothing_of_the_objects_own_code_runs() -> None:
    one, two = (leaves({"it": [Claiming(number)]}) for number in (1, 2))

    assert paths_apart(one, two) == ["it[0].inside[1]['number']"]


def test_what_is_long_or_plain_is_one_leaf() -> None:
    found = leaves({"plain": [1, 2.0, "a"], "long": [[]] * 65, "empty": (), "names": {1: 2}})

    assert sorted(found) == ["empty", "long", "names", "plain"]


def test_a_shared_object_has_its_first_path_and_a_cycle_ends() -> None:
    shared: dict[str, Any] = {"x": 1}
    shared["again"] = shared

    assert sorted(leaves({"a": shared, "b": shared})) == ["a['x']"]
