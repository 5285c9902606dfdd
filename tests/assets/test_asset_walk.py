"""Claims about walking from a picture to a sealed log: drafts stay with their file, what lacks is said at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hotstore import laid, picture

from programs import cli

pytest.importorskip("PIL")
INFOTEXT = "a lighthouse in fog\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Size: 64x32"


def generated(path: Path, colour: int = 7) -> None:
    from PIL import Image, PngImagePlugin

    note = PngImagePlugin.PngInfo()
    note.add_text("parameters", INFOTEXT)
    Image.new("RGB", (64, 32), (colour, 20, 30)).save(path, pnginfo=note)


@pytest.mark.heavy
def test_a_draft_that_a_picture_filled_is_sealed_with_that_picture_alone(tmp_path: Path) -> None:
    store = laid(tmp_path)
    generated(store.root / "a.png")
    picture(store.root / "b.png", colour=9)
    draft = tmp_path / "a.json"
    draft.write_text(cli("asset", "show", "--draft", "art", cwd=tmp_path).stdout)

    told = cli("asset", "import", "hot/a.png", "--into", "a.json", cwd=tmp_path)
    assert (told.returncode, "it stays a draft" in told.stdout) == (0, True)
    refused = cli("asset", "seal", "hot/b.png", "--log", "a.json", cwd=tmp_path)
    assert (refused.returncode, "about other bytes" in refused.stderr) == (2, True)
    sealed = cli("asset", "seal", "hot/a.png", "--log", "a.json", cwd=tmp_path)
    assert sealed.returncode == 0
    again = cli("asset", "seal", "hot/a.png", "--log", "a.json", "--force", "--json", cwd=tmp_path)
    missing = json.loads(again.stdout)["missing"]
    assert sealed.stdout.count("still missing: ") == len(missing) > 15

    shown = cli("asset", "show", "hot/a.png", cwd=tmp_path).stdout.splitlines()[-1]
    assert shown == "next: twice asset gate hot/a.png"


@pytest.mark.integration
def test_a_draft_that_is_filled_by_force_belongs_to_no_picture(tmp_path: Path) -> None:
    generated(tmp_path / "a.png")
    (tmp_path / "a.json").write_text('{"kind": "art"}')
    told = cli("asset", "import", "a.png", "--into", "a.json", "--force", cwd=tmp_path)
    assert told.returncode == 0
    assert "asset" not in json.loads((tmp_path / "a.json").read_text())


@pytest.mark.integration
def test_everything_that_a_render_lacks_is_said_before_it_runs(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (store.root / "draw.py").write_text("raise SystemExit('it ran')\n")
    command = ("asset", "record", "-o", "hot/a.png", "--", "python", "hot/draw.py", "hot/a.png")
    told = cli(*command, cwd=tmp_path)
    assert told.returncode == 2
    for lacking in ("/work_unit", "/producer", "/promise", "/seed", "/art", "/evidence//who"):
        assert f"{lacking} (" in told.stderr
    assert "--set producer.role=ROLE" in told.stderr
    assert "it ran" not in told.stderr


@pytest.mark.integration
def test_a_value_that_cannot_be_is_refused_before_anything_is_rendered(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (store.root / "draw.py").write_text("raise SystemExit('it ran')\n")
    told = cli(
        "asset", "record", "-o", "hot/a.png", "--program", "--no-seed", "it draws none",
        "--promise", "bytes", "--declared-by", "me", "--set", "work_unit=unknown",
        "--set", "producer.role=illustrator", "--", "python", "hot/draw.py", "hot/a.png",
        cwd=tmp_path,
    )  # fmt: skip
    assert (told.returncode, "it ran" in told.stderr) == (2, False)
    assert '/work_unit (the work unit that the asset was made in) is "unknown"' in told.stderr


@pytest.mark.integration
def test_a_picture_without_a_prompt_says_so_when_it_is_exported(tmp_path: Path) -> None:
    from hotstore import HOW, art_draft

    from twice.assets.store.seal import seal

    store = laid(tmp_path)
    picture(store.root / "a.png")
    draft = art_draft(store)
    draft["art"]["prompt"] = {"not_applicable": "a program drew it"}
    seal(store, store.root / "a.png", draft, HOW)
    told = cli("asset", "export", "art-manifest", "hot", "--project", "P", cwd=tmp_path)
    assert (told.returncode, "a.png has no prompt" in told.stderr) == (2, True)


@pytest.mark.integration
@pytest.mark.parametrize("shape", ["empty", "folders in folders"])
def test_a_scan_that_looked_at_nothing_is_no_success(tmp_path: Path, shape: str) -> None:
    public = tmp_path / "public"
    (public / ("a/b" if shape != "empty" else "")).mkdir(parents=True)
    told = cli("asset", "leaks", "public", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("E-LEAKS-001  There is no file in public: nothing was looked at.")
    assert cli("asset", "leaks", "public", "--allow-empty", cwd=tmp_path).returncode == 0
    (tmp_path / "page.txt").write_text("The lamp is lit.")
    both = cli("asset", "leaks", "page.txt", "public", cwd=tmp_path)
    assert (both.returncode, both.stdout) == (2, "")
