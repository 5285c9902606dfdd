"""Claims about the program of a render: where it is found, and what it keeps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hotstore import laid

from twice.assets.making.command import rewritten
from twice.assets.store.seal import merge_documents


def test_an_installed_program_stays_where_it_is_and_one_of_the_store_is_an_input(
    tmp_path: Path,
) -> None:
    store = laid(tmp_path)
    own = store.root / "tools/draw"
    own.parent.mkdir()
    own.write_bytes(b"#!/bin/sh\n")

    installed = rewritten([sys.executable, "draw.py"], store, [], [], "")
    ours = rewritten([str(own), "a"], store, [], [], "")

    # A copy of an interpreter would have lost the environment that it belongs to.
    assert (installed.argv[0], installed.inputs) == (sys.executable, {})
    assert (ours.argv[0], ours.inputs) == ("./tools/draw", {"tools/draw": own})


@pytest.mark.parametrize(
    ("under", "over", "comes"),
    [
        ({"not_applicable": "no preset"}, {"room": 0.6}, {"room": 0.6}),
        ({"room": 0.6}, {"not_applicable": "no preset"}, {"not_applicable": "no preset"}),
        ({"not_applicable": "a"}, {"not_applicable": "b"}, {"not_applicable": "b"}),
        ({"room": 0.6}, {"wet": 0.3}, {"room": 0.6, "wet": 0.3}),
    ],
)
def test_a_value_takes_the_place_of_a_reason_and_the_other_way_round(
    under: dict[str, Any], over: dict[str, Any], comes: dict[str, Any]
) -> None:
    assert merge_documents({"presets": under}, {"presets": over}) == {"presets": comes}
