"""Prose sheets of three systems, whose labels say what is adopted and what is left open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twice.specification.adoption.adopt import Adoption, adopt_folder
from twice.specification.workspace import Workspace

SET = Path(__file__).parents[1] / "corpora" / "prose_sheets"
SYSTEMS = sorted(each.parent.relative_to(SET).as_posix() for each in SET.rglob("labels.json"))


def adopt(system: str, project: Path) -> Adoption:
    component = system.partition("/")[2]
    return adopt_folder(SET / system, Workspace(project, {}), component)


@pytest.mark.parametrize("system", SYSTEMS)
def test_keys_are_adopted_or_left_open_as_the_labels_say(system: str, tmp_path: Path) -> None:
    labels = json.loads((SET / system / "labels.json").read_text("utf-8"))
    done = adopt(system, tmp_path)
    adopted: dict[str, dict[str, object]] = {number: {} for number in labels["adopted"]}
    for each in done.adopted:
        adopted[each.sheet][each.key] = each.value
    unknown: dict[str, list[str]] = {number: [] for number in labels["unknown"]}
    for key in done.unknown:
        unknown[key.sheet].append(key.key)

    assert adopted == labels["adopted"]
    assert {number: sorted(keys) for number, keys in unknown.items()} == labels["unknown"]
    assert [*done.other] == labels["other"]
