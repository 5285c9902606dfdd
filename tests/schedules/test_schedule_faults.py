"""Small services with one known fault each, or none, under labels that were written before the first search."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import twice
from twice.schedules.explore import explore

pytestmark = pytest.mark.heavy

FAULTS = Path(__file__).parents[1] / "corpora" / "schedule_faults"
LABELS = tomllib.loads((FAULTS / "labels.toml").read_text(encoding="utf-8"))
NOTHING = "nothing"
CASES = [
    *(
        (name, row.get("requires", ""), row.get("found", row.get("failure", NOTHING)))
        for name, row in LABELS.items()
    ),
    *((name, row["mended"], NOTHING) for name, row in LABELS.items() if "mended" in row),
]


@pytest.mark.parametrize(("name", "library", "wanted"), CASES)
def test_a_fault_is_found_and_what_has_none_is_left_in_peace(
    name: str, library: str, wanted: str, tmp_path: Path
):
    if library:
        distribution, _, wanted_version = library.partition("==")
        pytest.importorskip(distribution.replace("-", "_"))
        if version(distribution) != wanted_version:
            pytest.skip(f"the label is about {library}")

    found = explore(f"{FAULTS / name}.py:main", seed=1, schedules=300, out=tmp_path)

    if wanted == NOTHING:
        assert (found.result, found.outcomes) == ("none-found", 1)
        return
    (failure,) = found.failures
    assert failure.error["type"].rpartition(".")[2].casefold() == wanted.casefold()
    assert (failure.schedule == 0) == (LABELS[name]["fifo"] == "fails")
    assert failure.record is not None
    assert twice.verify(failure.record).result == "PASS"
