"""What goes into the tests that are laid down beside the wiring.

Invariant: every test records the run of the specification itself, and none needs another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twice.specifying.scaffolding.facts import Facts
from twice.specifying.scaffolding.literals import assigned
from twice.specifying.scaffolding.piece import Piece, filled
from twice.specifying.scaffolding.places import TESTS, Places
from twice.specifying.scaffolding.regions import Layer, Mode

_RAW: Final = ("numpy", "python")  # Kinds whose first draws are numbers of 64 bits.
READ_ONLY: Final = frozenset({"start", "step", "seek", "observe", "end"})
BRANCHING: Final = frozenset({"branch", "step-with"})


def _common(places: Places) -> dict[str, str]:
    return {"package": places.module, "run": filled("run_of_tests.py", {}).rstrip("\n")}


def _seeds(facts: Facts, places: Places) -> Mapping[str, str]:
    kinds = {str(row["stream"]): str(row["kind"]) for row in facts.rows("03", "slots")}
    seeds = tuple(
        (row["master"], str(row["name"]), str(row["seed"])) for row in facts.rows("02", "vectors")
    )
    draws = tuple(
        (row["master"], str(row["stream"]), tuple(map(str, row["draws"])))
        for row in facts.rows("03", "vectors")
        if kinds.get(str(row["stream"])) in _RAW
    )
    return {
        **_common(places),
        "seeds": assigned("SEEDS", seeds, "Final[tuple[tuple[int, str, str], ...]]"),
        "draws": _draws(draws),
        "test_of_draws": filled("test_draws.py", {}) if draws else "",
    }


def _draws(draws: tuple[object, ...]) -> str:
    if not draws:
        return ""
    kind = "Final[tuple[tuple[int, str, tuple[str, ...]], ...]]"
    return assigned("DRAWS", draws, kind) + "\n"


def _effects(facts: Facts, places: Places) -> Mapping[str, str]:
    facts.rows("10", "inventory")
    accepted = tuple(str(row["place"]) for row in facts.rows("10", "accepted"))
    return {
        **_common(places),
        "audited": assigned("AUDITED", facts.listed("10", "audit")),
        "accepted": assigned("ACCEPTED", accepted, "Final[tuple[str, ...]]"),
    }


def _snapshots(facts: Facts, places: Places) -> Mapping[str, str]:
    restores = facts.text("04", "cadence") != "none"
    used = "import json\nimport subprocess" if restores else "import subprocess"
    return {
        **_common(places),
        "imports": used,
        "restores": filled("test_restores.py", {}) if restores else "",
    }


def _compare(facts: Facts, places: Places) -> Mapping[str, str]:
    facts.text("05", "granularity")
    return _common(places)


def _replay(facts: Facts, places: Places) -> Mapping[str, str] | None:
    claimed = {str(row["operation"]) for row in facts.rows("06", "operations")}
    tests = [
        filled(f"test_replay_{name}.py", {})
        for name, of in (
            ("verify", {"verify"}),
            ("read_only", READ_ONLY),
            ("branching", BRANCHING),
            ("rerun", {"rerun"}),
        )
        if claimed & of
    ]
    return {**_common(places), "tests": "".join(tests)} if tests else None


def _vector(facts: Facts, places: Places) -> Mapping[str, str]:
    del places
    return {
        "vector": assigned("VECTOR", facts.text("01", "vector")),
        "digest": assigned("VECTOR_DIGEST", facts.text("01", "vector_digest")),
    }


def _policies(facts: Facts, places: Places) -> Mapping[str, str]:
    facts.rows("08", "pins")
    facts.rows("09", "knobs")
    return _common(places)


def _conftest(facts: Facts, places: Places) -> Mapping[str, str]:
    facts.listed("00", "sources")
    return {"below": f' / "{places.below}"' if places.below else ""}


PIECES: Final = (
    Piece(Layer.BASE, f"{TESTS}/conftest.py", "conftest.py", _conftest, mode=Mode.ONCE),
    Piece(Layer.SEEDS, f"{TESTS}/test_determinism_seeds.py", "test_seeds.py", _seeds),
    Piece(Layer.EFFECTS, f"{TESTS}/test_determinism_effects.py", "test_effects.py", _effects),
    Piece(
        Layer.SNAPSHOT, f"{TESTS}/test_determinism_snapshots.py", "test_snapshots.py", _snapshots
    ),
    Piece(Layer.COMPARE, f"{TESTS}/test_determinism_compare.py", "test_compare.py", _compare),
    Piece(Layer.REPLAY, f"{TESTS}/test_determinism_replay.py", "test_replay.py", _replay),
    Piece(Layer.REPLAY, f"{TESTS}/test_determinism_vector.py", "test_vector.py", _vector),
    Piece(Layer.POLICIES, f"{TESTS}/test_determinism_policies.py", "test_policies.py", _policies),
)
"""Tests."""
