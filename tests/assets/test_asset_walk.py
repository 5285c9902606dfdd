"""Claims about walking from a picture to a sealed log: drafts stay with their file, what lacks is said at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hotstore import HOW, art_draft, laid, picture
from PIL import Image, PngImagePlugin

from programs import call
from twice.assets.store.seal import seal

INFOTEXT = "a lighthouse in fog\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Size: 64x32"


def generated(path: Path) -> None:
    note = PngImagePlugin.PngInfo()
    note.add_text("parameters", INFOTEXT)
    Image.new("RGB", (64, 32), (7, 20, 30)).save(path, pnginfo=note)


def test_a_draft_that_a_picture_filled_is_sealed_with_that_picture_alone(tmp_path: Path) -> None:
    store = laid(tmp_path)
    generated(store.root / "a.png")
    picture(store.root / "b.png", colour=9)
    draft = tmp_path / "a.json"
    draft.write_text(call("asset", "show", "--draft", "art", cwd=tmp_path).stdout)

    told = call("asset", "import", "hot/a.png", "--into", "a.json", cwd=tmp_path)
    assert (told.returncode, "it stays a draft" in told.stdout) == (0, True)
    refused = call("asset", "seal", "hot/b.png", "--log", "a.json", cwd=tmp_path)
    assert (refused.returncode, "about other bytes" in refused.stderr) == (2, True)
    seal_it = ("asset", "seal", "hot/a.png", "--log", "a.json")
    sealed = call(*seal_it, cwd=tmp_path)
    assert sealed.returncode == 0
    again = call(*seal_it, "--force", "--json", cwd=tmp_path)
    missing = json.loads(again.stdout)["missing"]
    assert sealed.stdout.count("still missing: ") == len(missing) > 15

    shown = call("asset", "show", "hot/a.png", cwd=tmp_path).stdout.splitlines()[-1]
    assert shown == "next: twice asset gate hot/a.png"


def test_a_draft_that_is_filled_by_force_belongs_to_no_picture(tmp_path: Path) -> None:
    generated(tmp_path / "a.png")
    (tmp_path / "a.json").write_text('{"kind": "art"}')
    told = call("asset", "import", "a.png", "--into", "a.json", "--force", cwd=tmp_path)
    assert told.returncode == 0
    assert "asset" not in json.loads((tmp_path / "a.json").read_text())


IMPOSSIBLE = (
    "--program", "--no-seed", "it draws none", "--promise", "bytes", "--declared-by", "me",
    "--set", "work_unit=unknown", "--set", "producer.role=illustrator",
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            (),
            ["/work_unit (", "/producer (", "/promise (", "/seed (", "/art (", "/evidence//who (", "--set producer.role=ROLE"],
        ),
        (IMPOSSIBLE, ['/work_unit (the work unit that the asset was made in) is "unknown"']),
    ],
)  # fmt: skip
def test_what_a_render_lacks_is_said_before_it_runs(
    options: tuple[str, ...], words: list[str], tmp_path: Path
) -> None:
    store = laid(tmp_path)
    (store.root / "draw.py").write_text("raise SystemExit('it ran')\n")
    command = ("--", "python", "hot/draw.py", "hot/a.png")
    told = call("asset", "record", "-o", "hot/a.png", *options, *command, cwd=tmp_path)

    assert told.returncode == 2
    assert [each for each in words if each not in told.stderr] == []
    assert "it ran" not in told.stderr


def test_a_picture_without_a_prompt_says_so_when_it_is_exported(tmp_path: Path) -> None:
    store = laid(tmp_path)
    picture(store.root / "a.png")
    draft = art_draft(store)
    draft["art"]["prompt"] = {"not_applicable": "a program drew it"}
    seal(store, store.root / "a.png", draft, HOW)
    told = call("asset", "export", "art-manifest", "hot", "--project", "P", cwd=tmp_path)
    assert (told.returncode, "a.png has no prompt" in told.stderr) == (2, True)


@pytest.mark.parametrize("below", ["", "a/b"])
def test_a_scan_that_looked_at_nothing_is_no_success(tmp_path: Path, below: str) -> None:
    (tmp_path / "public" / below).mkdir(parents=True)
    told = call("asset", "leaks", "public", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("E-LEAKS-001  There is no file in public: nothing was looked at.")
    assert call("asset", "leaks", "public", "--allow-empty", cwd=tmp_path).returncode == 0
    (tmp_path / "page.txt").write_text("The lamp is lit.")
    both = call("asset", "leaks", "page.txt", "public", cwd=tmp_path)
    assert (both.returncode, both.stdout) == (2, "")
