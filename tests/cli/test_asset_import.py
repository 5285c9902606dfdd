"""``twice asset import``: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import ANY

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from programs import cli
from twice.assets.log.block import Mode
from twice.assets.log.drafts import draft
from twice.assets.log.models import AssetKind
from twice.assets.media.payload import digest_payload
from twice.cli import main

DATA = Path(__file__).parents[1] / "assets" / "importers" / "data"
SWARM = DATA / "swarm.png"
LOG = {
    "format": "twice.determinism-log/1", "log_id": "pier-01", "kind": "art", "revision": 1,
    "art": {"sampler": "ddim"}, "evidence": {},
}  # fmt: skip


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["asset", "import", *map(str, arguments)])
    code = ended.value.code
    assert isinstance(code, int)
    return code


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "pier-01.detlog.json"
    path.write_text(json.dumps(LOG))
    return path


@pytest.fixture
def two_seeds(tmp_path: Path) -> Path:
    path = tmp_path / "graph.json"
    graph = {
        "1": {"class_type": "KSampler", "inputs": {"seed": 5, "steps": 20}},
        "2": {"class_type": "KSampler", "inputs": {"seed": 6, "steps": 20, "latent_image": ["1", 0]}},
        "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0]}},
    }  # fmt: skip
    path.write_text(json.dumps(graph))
    return path


def test_what_is_found_is_printed_with_where_it_stood(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(DATA / "a1111.png") == 0
    out = capsys.readouterr().out

    assert out.startswith("a1111.png: AUTOMATIC1111 v1.9.4\n")
    assert "  /seed/effective                      1057871485" in out
    assert "tEXt parameters" in out


def test_what_was_measured_stands_apart(capsys: pytest.CaptureFixture[str]) -> None:
    run(SWARM, "--json")
    found = json.loads(capsys.readouterr().out)

    assert (found["format"], found["result"]) == ("twice.asset-import/1", "settled")
    assert found["measured"].pop("decoder").startswith("pillow ")
    assert found["measured"] == {"width_px": 64, "height_px": 64, "mode": "RGB"}
    assert (found["values"]["/art/width_px"], found["log"]) == (1024, None)


def test_an_ambiguous_file_cannot_be_told_a_choice_tells_and_merge_leaves_it_out(
    two_seeds: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = log.read_bytes()

    assert run(two_seeds) == 2
    assert "--choose '" in capsys.readouterr().out
    run(two_seeds, "--choose", "/seed/effective=6", "--json")
    assert json.loads(capsys.readouterr().out)["values"]["/seed/effective"] == "6"
    assert run(two_seeds, "--into", log) == 2
    assert log.read_bytes() == before
    assert run(two_seeds, "--into", log, "--merge") == 0
    assert "effective" not in json.loads(log.read_text()).get("seed", {})


@pytest.mark.parametrize("name", ["late", "trail"])
def test_a_file_that_says_nothing_cannot_be_told(name: str) -> None:
    assert run(DATA / f"{name}.png") == 2


def test_a_conflict_writes_nothing_and_a_choice_or_merge_a_new_revision(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = log.read_bytes()

    assert run(SWARM, "--into", log) == 1
    assert log.read_bytes() == before
    assert "the log says ddim  the file says euler" in capsys.readouterr().out
    assert run(SWARM, "--into", log, "--merge") == 0
    first = json.loads(log.read_text())
    assert run(SWARM, "--into", log, "--choose", "/art/sampler=euler") == 0
    second = json.loads(log.read_text())
    assert (first["revision"], first["art"]["sampler"], first["art"]["steps"]) == (2, "ddim", 20)
    assert (second["revision"], second["art"]["sampler"]) == (3, "euler")
    assert second["evidence"]["/art/sampler"]["level"] == "imported"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.png"], "E-ASSET-FILE-001"), ([SWARM, "--merge"], "--merge was given without --into"),
        ([SWARM, "--choose", "sampler"], "--choose 'sampler' is not a name and a value"),
        ([SWARM, "--choose", "/art/steps=21"], "E-ASSET-IMPORT-001"),
        ([SWARM, "--into", DATA / "late.png"], "E-ASSET-LOG-001"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_error(
    arguments: list[object], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    assert words in capsys.readouterr().err


def test_a_log_that_says_something_impossible_is_refused_as_it_is(log: Path) -> None:
    log.write_text(json.dumps(LOG | {"art": {"steps": -5}}))
    before = log.read_bytes()

    assert run(SWARM, "--into", log, "--merge") == 2
    assert log.read_bytes() == before


def test_a_draft_is_filled_and_stays_a_draft_of_that_picture(tmp_path: Path) -> None:
    path = tmp_path / "pier.json"
    path.write_text(json.dumps(draft(AssetKind.ART, Mode.DETERMINISTIC)))

    assert run(SWARM, "--into", path) == 0
    found = json.loads(path.read_text())
    assert (found["art"]["steps"], found["seed"]["effective"]) == (20, "42")
    assert ("revision" in found, found["environment"]["os"]) == (False, {"wanted": ANY})
    assert found["asset"]["payload"]["digest"] == digest_payload(SWARM).digest


@pytest.mark.integration
def test_a_log_in_a_store_is_revised_and_the_store_holds_together(tmp_path: Path) -> None:
    hot = tmp_path / "hot"
    hot.mkdir()
    (hot / "pier.png").write_bytes(SWARM.read_bytes())
    (tmp_path / "pier.json").write_text('{"art": {"steps": 20}}')
    assert cli("asset", "init", hot, "--public", tmp_path / "public").returncode == 0
    assert cli("asset", "seal", hot / "pier.png", "--log", tmp_path / "pier.json").returncode == 0
    (sealed,) = hot.glob("*.detlog.json")

    assert run(hot / "pier.png", "--into", sealed) == 0
    verified = cli("asset", "verify", hot)
    assert json.loads(sealed.read_text())["revision"] == 2
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_picture_fills_the_log_of_its_own_payload_alone(
    tmp_path: Path, two_seeds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = digest_payload(SWARM)
    path, other, text = tmp_path / "pier-02.detlog.json", tmp_path / "other.png", PngInfo()
    about = {"asset": {"payload": {"method": own.method, "digest": own.digest}}}
    path.write_text(json.dumps(LOG | {"art": {}} | about))
    text.add_text("parameters", "a pier\nSteps: 4, Sampler: Euler, CFG scale: 7, Seed: 77")
    Image.new("RGB", (8, 8), (1, 2, 3)).save(other, pnginfo=text)
    before = path.read_bytes()

    assert run(other, "--into", path) == 2
    said = capsys.readouterr().err
    assert ("E-ASSET-IMPORT-001" in said, "--force" in said) == (True, True)
    assert path.read_bytes() == before
    for file in (two_seeds, SWARM):
        assert run(file, "--into", path, "--merge") == 0
    assert run(other, "--into", path, "--merge", "--force") in {0, 1}
