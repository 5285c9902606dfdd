"""Claims about the example project: it builds end to end, and nothing is missing from its logs unseen."""

from __future__ import annotations

import copy
import dataclasses
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from completelogs import holder, leaves
from twice.assets.gate.facts import Facts
from twice.assets.gate.gate import judged, run_gate
from twice.assets.gate.gathering import gather
from twice.assets.model.log import SUFFIX
from twice.assets.model.reading import examine, to_document

EXAMPLE = Path(__file__).parents[2] / "examples" / "assets"
NAMES = (
    "theme", "narration", "rain", "hall", "keeper", "chart", "lighthouse", "buoy", "sky",
)  # fmt: skip
HOSTED = ("keeper", "sky")


@dataclasses.dataclass(frozen=True)
class Built:
    """The example as it was built here, and what the build said."""

    out: Path
    said: str

    @property
    def hot(self) -> Path:
        return self.out / "hot"

    def skipped(self, name: str) -> str:
        """Why an asset was left out; "" when it was not."""
        lines = (each for each in self.said.splitlines() if each.startswith(f"skipped: {name} "))
        return next(lines, "").partition("(")[2].rstrip(")")

    def facts(self, name: str) -> Facts:
        """What the gate sees of an asset; skips the test where it could not be rendered here."""
        if why := self.skipped(name):
            pytest.skip(f"{name}: {why}")
        every = gather(self.hot)
        return next(each for each in every if Path(each.name).stem == name)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The example, built once for all workers."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent / "example-assets" if "PYTEST_XDIST_WORKER" in os.environ else base / "one"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = place / "said"
        if not said.exists():
            command = [sys.executable, str(EXAMPLE / "build.py"), str(place / "out")]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=around(place)
            )
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
            said.write_text(done.stdout)
        return Built(place / "out", said.read_text())


def around(place: Path) -> dict[str, str]:
    """The environment of the build: what is remembered of recipes goes nowhere else."""
    return {**os.environ, "XDG_STATE_HOME": str(place / "state")}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_asset_of_the_example_is_rendered_judged_and_published(built: Built, name: str) -> None:
    facts = built.facts(name)
    promise = facts.log.promise
    assert promise is not None
    assert (promise.mode == "non-deterministic") == (name in HOSTED)
    assert [each for each in judged([facts]).rows if each.status != "green"] == []
    assert (built.out / "public" / Path(facts.name).name).is_file()
    assert list((built.out / "handover").rglob(f"{name}-*{SUFFIX}"))


@pytest.mark.slow
def test_the_gate_passes_the_whole_example_measured_again(built: Built) -> None:
    report = run_gate(built.hot, measure=True)
    assert (report.exit_code, report.wanting()) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_required_field_that_is_taken_out_of_a_log_turns_its_row_red_and_no_other(
    built: Built, name: str
) -> None:
    facts = built.facts(name)
    document = to_document(facts.log)
    taken = 0
    for pointer, _value in leaves(document):
        lacking = without(document, pointer)
        examined = examine(lacking)
        if pointer not in {each.pointer for each in examined.problems}:
            continue  # The promise does not need it.
        taken += 1
        changed = dataclasses.replace(facts, examined=examined)
        red = [each for each in judged([changed]).rows if each.status == "red"]
        assert [each.check for each in red] == [f"complete:{pointer}"]
        assert pointer in red[0].fix
    assert taken >= (20 if name in HOSTED else 60)


def without(document: dict[str, Any], pointer: str) -> dict[str, Any]:
    """A log that lacks one field."""
    changed = copy.deepcopy(document)
    inside, key = holder(changed, pointer)
    del inside[key]
    return changed


@pytest.mark.slow
def test_a_log_of_the_example_with_a_field_missing_on_disk_blocks_the_build(
    built: Built, tmp_path: Path
) -> None:
    facts = built.facts("rain")
    sidecar = built.hot / facts.log_path
    document = json.loads(sidecar.read_bytes())
    del document["seed"]["effective"]
    asset = built.hot / facts.name
    (tmp_path / asset.name).write_bytes(asset.read_bytes())
    (tmp_path / sidecar.name).write_text(json.dumps(document))
    report = run_gate(tmp_path / asset.name)
    assert report.exit_code == 1
    assert "complete:/seed/effective" in {each.check for each in report.wanting()}
