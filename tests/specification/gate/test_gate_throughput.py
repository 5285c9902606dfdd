"""Checks 7 and 17 hold the figures of the sheets against measured ones; a text that is no figure changes nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gatefacts import BLOCKED, FAIL, PASS, RAINED, good_evidence, good_heads, judged

from twice.specification.cost.result import Spread
from twice.specification.gate.evidence.files import gather_costs
from twice.specification.gate.model import CheckResult

REPLAY = {"ratio": Spread(1.8, 1.5, 2.0), "ticks_per_s": Spread(900, 800, 1000)}


def throughput(folder: Path, said: str, replay: dict[str, Spread] | None = None) -> CheckResult:
    heads = good_heads("M")
    heads["06"]["throughput"] = said
    costs = replace(good_evidence(heads)["costs"], replay=replay or {})
    return judged(folder, 7, "M", heads=heads, costs=costs)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("1.4 times as long as the recording", "at most 1.4 times as long .* 1.80 times as long"),
        ("as fast: at least 1,200 ticks/s", "at least 1,200 ticks/s, and 900 ticks/s"),
        ("2 times as fast", "at most 0.5 times as long .* 1.80 times as long"),
    ],
)
def test_a_figure_beyond_the_measured_one_fails_with_both_numbers(
    tmp_path: Path, said: str, told: str
) -> None:

    found = throughput(tmp_path, said, REPLAY)

    assert found.outcome is FAIL
    assert re.search(told, found.reason)
    assert "06-replay-infrastructure-spec.md:" in found.reason


@pytest.mark.parametrize("said", ["2 times as long", "700 ticks/s", "1.7 times as long"])
def test_a_figure_that_was_kept_or_lies_within_the_spread_is_green(
    tmp_path: Path, said: str
) -> None:
    found = throughput(tmp_path, said, REPLAY)

    assert found.outcome is PASS
    assert any("promised" in each for each in found.evidence)


def test_a_figure_that_nobody_measured_is_no_pass(tmp_path: Path) -> None:
    found = throughput(tmp_path, "2 times as long")

    assert found.outcome is BLOCKED
    assert "twice cost --replay --write" in found.reason


def test_figures_that_tell_nothing_neither_pass_nor_fail(tmp_path: Path) -> None:
    heads = good_heads("M")
    costs = replace(good_evidence(heads)["costs"], result="unknown", total_percent=343.8)

    found = judged(tmp_path, 17, "M", heads=heads, costs=costs)

    assert found.outcome is BLOCKED
    assert "measure a longer run" in found.reason


def test_a_text_that_is_no_figure_leaves_a_green_check_green(tmp_path: Path) -> None:
    assert throughput(tmp_path / "a", "no slower than recording").outcome is PASS
    heads = good_heads("M")
    assert judged(tmp_path / "b", 7, "M", heads=heads, costs=RAINED).outcome is PASS


def gathered(project: Path, **members: Any) -> Any:
    (project / "cost.json").write_text(json.dumps({"format": "twice.cost/1", **members}))
    workspace = SimpleNamespace(text=lambda *_: "cost.json")
    return gather_costs(SimpleNamespace(workspace=workspace, project=project))  # type: ignore[arg-type]


def test_measured_replays_are_read_from_the_evidence(tmp_path: Path) -> None:
    spread = {"median": 1.8, "lowest": 1.5, "highest": 2.0}

    found = gathered(
        tmp_path, replay={"ratio": spread, "ticks_per_s": None, "wall_s": {"median": 1}}
    )

    assert found.replay == {"ratio": REPLAY["ratio"]}
    assert found.rules == {"sealed replay": False}


@pytest.mark.parametrize(
    "said", [None, [], 3, {"ratio": {"median": "1", "lowest": 1, "highest": 1}}]
)
def test_what_is_no_figure_of_replay_is_left_out(tmp_path: Path, said: object) -> None:
    assert gathered(tmp_path, replay=said).replay == {}
