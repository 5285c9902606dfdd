"""Claims about the example project: it builds end to end, and nothing is missing from its logs unseen."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import environments
from twice.assets.gate.collector import collect_facts
from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.gate import judge_facts, run_gate
from twice.assets.log.models import SUFFIX
from twice.foundation.digests import Algorithm, digest_bytes

pytestmark = pytest.mark.heavy

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

    def facts(self, name: str) -> AssetFacts:
        """Return the gate's facts of an asset; skip the test if it could not be rendered here."""
        if why := self.skipped(name):
            pytest.skip(f"{name}: {why}")
        return next(each for each in collect_facts(self.hot) if Path(each.name).stem == name)

    def twice(self, *arguments: str, within: Path) -> subprocess.CompletedProcess[str]:
        """Run one command of twice on assets, as the account that built the example."""
        command = [sys.executable, "-m", "twice", "asset", *arguments]
        return subprocess.run(
            command, cwd=within, env=around(self.out.parent), capture_output=True, text=True,
            check=False,
        )  # fmt: skip


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build the example, once for all workers."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent / "example-assets" if "PYTEST_XDIST_WORKER" in os.environ else base / "one"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = place / "said"
        if not said.exists():
            command = [sys.executable, str(EXAMPLE / "build.py"), str(place / "out")]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False,
                env={**around(place), "TWICE_BLENDER_PYTHON": environments.blender()[0], "TWICE_PEDALBOARD_PYTHON": environments.effects()[0]},
            )  # fmt: skip
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
            said.write_text(done.stdout)
        return Built(place / "out", said.read_text())


def around(place: Path) -> dict[str, str]:
    """Return the environment of the build, in which remembered recipes go nowhere else."""
    return {**os.environ, "XDG_STATE_HOME": str(place / "state")}


@pytest.mark.parametrize("name", NAMES)
def test_an_asset_of_the_example_is_rendered_judged_and_published(built: Built, name: str) -> None:
    facts = built.facts(name)
    promise = facts.log.promise
    assert promise is not None
    assert (promise.mode == "non-deterministic") == (name in HOSTED)
    rows = judge_facts([facts]).rows
    assert [each for each in rows if each.status != "green"] == []
    assert ("re-rendered" in {each.check for each in rows}) == (name not in HOSTED)
    assert (built.out / "public" / Path(facts.name).name).is_file()
    assert list((built.out / "handover").rglob(f"{name}-*{SUFFIX}"))


def test_the_gate_passes_the_whole_example_measured_again(built: Built) -> None:
    report = run_gate(built.hot, measure=True)
    assert (report.exit_code, report.wanting()) == (0, [])


CHANGES = [
    ("rain", "seed", "41", "42"),
    ("hall", "room of the plugin", "0.6", "0.2"),
    ("theme", "gain", "0.6", "0.5"),
    ("narration", "pitch", "45", "46"),
    ("lighthouse", "antialiasing", "+A0.3", "-A"),
    ("buoy", "samples", "8", "9"),
    ("chart", "font", "inputs/title.ttf", ""),
    ("lighthouse", "scene", "inputs/lighthouse.pov", ""),
    ("narration", "text", "inputs/narration.txt", ""),
]


@pytest.mark.parametrize(("name", "what", "old", "new"), CHANGES)
def test_what_was_changed_in_a_recipe_is_caught_by_rendering_again(
    built: Built, tmp_path: Path, name: str, what: str, old: str, new: str
) -> None:
    facts = built.facts(name)
    hot = Path(shutil.copytree(built.hot, tmp_path / "hot"))
    sidecar = hot / facts.log_path
    log = json.loads(sidecar.read_bytes())
    argv, inputs = log["recipe"]["argv"], log["recipe"]["inputs"]
    if new:
        argv[argv.index(old)] = new
    else:
        (row,) = [each for each in inputs if each["path"] == old]
        edit(hot / old)
        silent = built.twice("rerender", facts.log_path, "--n", "1", within=hot)
        assert silent.returncode == 2
        assert f"E-ASSET-RENDER-002  The input {old} has changed" in silent.stderr
        row["sha256"] = digest_bytes((hot / old).read_bytes(), Algorithm.SHA256).hex
    sidecar.write_text(json.dumps(log))

    strange = built.twice("rerender", facts.log_path, "--n", "1", within=hot)
    trusted = ("--trust", "--allow", argv[0])
    done = built.twice("rerender", facts.log_path, "--n", "1", *trusted, "--json", within=hot)

    assert (strange.returncode, strange.stderr[:18]) == (2, "E-ASSET-RENDER-004")
    assert done.returncode == 1, done.stdout + done.stderr
    assert json.loads(done.stdout)["rows"][0]["outcome"] == "differs", what


def edit(path: Path) -> None:
    """Change a file so that what is made with it changes."""
    data = bytearray(path.read_bytes())
    if path.suffix == ".ttf":
        head = int.from_bytes(data[data.index(b"head") + 8 :][:4])
        data[head + 18 : head + 20] = b"\x10\x00"  # units to an em: its letters get smaller
    elif path.suffix == ".pov":
        data += b"sphere { <2, 1, -2>, 0.5 texture { pigment { rgb 1 } } }\n"
    else:
        data += b"Nobody answered.\n"
    path.write_bytes(bytes(data))


def test_the_public_build_is_clean_and_a_master_in_it_is_not(built: Built, tmp_path: Path) -> None:
    public = Path(shutil.copytree(built.out / "public", tmp_path / "public"))
    assert {"index.html", "skerry.epub"} <= {each.name for each in public.iterdir()}
    clean = built.twice("leaks", str(public), "--logs", ".", within=built.hot)
    assert clean.returncode == 0, clean.stdout

    facts = built.facts("rain")
    shutil.copy(built.hot / facts.log_path, public / "notes.json")
    leaking = built.twice("leaks", str(public), "--logs", ".", within=built.hot)
    assert leaking.returncode == 1
    assert "notes.json" in leaking.stdout


def test_what_is_not_installed_is_named_and_the_rest_is_still_there(tmp_path: Path) -> None:
    code = (
        "import json, pieces; every = [*pieces.sounds('http://x'), *pieces.pictures('http://x')];"
        "print(json.dumps({each.name: each.lacking for each in every}))"
    )
    environ = {"PATH": str(tmp_path), "PYTHONPATH": str(EXAMPLE)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    lacking = json.loads(done.stdout)
    assert set(lacking) == set(NAMES)
    assert {name for name, why in lacking.items() if not why} == {"rain", "chart", *HOSTED}
    assert lacking["theme"] == "no fluidsynth: apt-get install fluidsynth"
    assert lacking["buoy"].startswith("no Blender: TWICE_BLENDER_PYTHON")
