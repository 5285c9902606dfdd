"""Claims about re-renderings that would say "same" of nothing: what is not run, not believed, not compared."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from renders import SYNTH, again, drawn, edited, laid, put, recipe_of, rendered, sealed, synth

from programs import cli
from twice.assets.errors import RecipeUntrusted
from twice.assets.log.io import to_document
from twice.assets.log.models import RerenderOutcome
from twice.assets.media.similarity import compare_images, compare_sounds, exceed_limits
from twice.assets.render.calibration import calibrate, write_limits
from twice.assets.render.rerender import RerenderOptions
from twice.assets.store.store import Store
from twice.errors import UsageError

soundfile = pytest.importorskip("soundfile")
Image = pytest.importorskip("PIL.Image")

ONCE = RerenderOptions(runs=1)
PICTURE = "from PIL import Image\nImage.new('RGB', (40, 40), (9, 8, 7)).save('a.png')\n"


def program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.integration
@pytest.mark.parametrize("trust", [False, True])
def test_a_strangers_program_is_not_even_asked_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trust: bool
) -> None:
    one = synth(laid(tmp_path))
    evil = program(tmp_path, "evil", f"touch {tmp_path}/ran")
    monkeypatch.chdir(tmp_path)
    for name in (str(evil), "x/../evil"):
        recipe = recipe_of(one, argv=[name, "cue.wav"])
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(RecipeUntrusted, match="evil"):
            again(
                edited(one, recipe=recipe), RerenderOptions(runs=1, trust=trust, allow=("python",))
            )
    assert not (tmp_path / "ran").exists()


@pytest.mark.integration
def test_a_seed_that_was_changed_in_the_log_alone_is_no_recipe_of_ones_own(tmp_path: Path) -> None:
    one = synth(laid(tmp_path))
    with pytest.raises(RecipeUntrusted, match="python"):
        again(edited(one, seed={"requested": "8", "effective": "8"}))


@pytest.mark.integration
@pytest.mark.heavy
def test_a_renderer_that_reads_the_delivered_asset_by_itself_shows_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    Image.new("RGB", (40, 40), (9, 8, 7)).save(tmp_path / "kept.png")
    copying = "import sys\nopen(sys.argv[1], 'wb').write(open({!r}, 'rb').read())\n"
    one = drawn(store, copying.format(str(tmp_path / "kept.png")))
    found = again(one)
    assert (found.outcome, "read the asset itself" in found.reason) == (
        RerenderOutcome.CANNOT_JUDGE,
        True,
    )

    other = laid_anew(tmp_path / "other")
    fallback = (
        f"import os, sys\nfrom PIL import Image\npath = os.path.join({str(other.root)!r}, 'a.png')\n"
        "if os.path.exists(path):\n    open(sys.argv[1], 'wb').write(open(path, 'rb').read())\nelse:\n"
        "    Image.new('RGB', (4, 4), tuple(os.urandom(3))).save(sys.argv[1])\n"
    )
    found = again(drawn(other, fallback))
    assert (found.outcome, "read the asset itself" in found.reason) == (
        RerenderOutcome.CANNOT_JUDGE,
        True,
    )


def laid_anew(folder: Path) -> Store:
    folder.mkdir()
    return laid(folder)


@pytest.mark.integration
def test_what_a_script_read_without_an_input_is_told_when_it_is_recorded(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (tmp_path / "palette.txt").write_text("9 8 7")
    script = (
        f"import sys\nfrom PIL import Image\ncolour = open({str(tmp_path / 'palette.txt')!r}).read()\n"
        "Image.new('RGB', (4, 4), tuple(map(int, colour.split()))).save(sys.argv[1])\n"
    )
    out = str(store.root / "a.png")
    done = rendered(store, "a.png", "python", put(store, "draw.py", script), out)
    assert done.unnamed == (tmp_path / "palette.txt",)
    done = rendered(store, "b.wav", "python", put(store, "s.py", SYNTH), "{seed}",
                    str(store.root / "b.wav"), seed="7")  # fmt: skip
    assert done.unnamed == ()


@pytest.mark.integration
def test_an_input_that_is_the_asset_shows_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    kept = store.root / "kept.png"
    Image.new("RGB", (40, 40), (9, 8, 7)).save(kept)
    one = drawn(store, "import shutil, sys\nshutil.copy(*sys.argv[1:])\n", str(kept))
    found = again(one)
    assert (found.outcome, found.runs) == (RerenderOutcome.CANNOT_JUDGE, 0)
    assert "kept.png holds the asset" in found.reason


@pytest.mark.integration
def test_an_input_with_the_pixels_of_the_asset_shows_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    kept = store.root / "kept.png"
    Image.new("RGB", (40, 40), (9, 8, 7)).save(kept, compress_level=0)
    resave = "import sys\nfrom PIL import Image\nImage.open(sys.argv[1]).save(sys.argv[2])\n"
    found = again(drawn(store, resave, str(kept), grade="payload"))
    assert (found.outcome, found.runs) == (RerenderOutcome.CANNOT_JUDGE, 0)


def test_an_argument_that_names_the_asset_where_it_lies_shows_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    Image.new("RGB", (40, 40), (9, 8, 7)).save(tmp_path / "kept.png")
    line = f"cp {tmp_path}/kept.png a.png"
    one = sealed(store, rendered(store, "a.png", "sh", "-c", line))
    line = f"cp {store.root}/a.png a.png"
    recipe = recipe_of(one, argv=["sh", "-c", line])
    found = again(edited(one, recipe=recipe), RerenderOptions(runs=1, trust=True, allow=("sh",)))
    assert found.outcome == RerenderOutcome.CANNOT_JUDGE
    assert "name the asset itself" in found.reason


def test_an_argument_that_leads_out_of_the_folder_shows_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    Image.new("RGB", (40, 40), (9, 8, 7)).save(tmp_path / "kept.png")
    one = sealed(
        store, rendered(store, "a.png", "cp", str(tmp_path / "kept.png"), str(store.root / "a.png"))
    )
    recipe = recipe_of(one, argv=["cp", "../../kept.png", "a.png"], inputs=[])
    found = again(edited(one, recipe=recipe), RerenderOptions(runs=1, trust=True, allow=("cp",)))
    assert (found.outcome, found.runs) == (RerenderOutcome.CANNOT_JUDGE, 0)
    assert "leads out" in found.reason


def test_a_script_that_names_the_asset_where_it_lies_shows_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    Image.new("RGB", (40, 40), (9, 8, 7)).save(tmp_path / "kept.png")
    lies = f"{store.root}/a.png"
    script = put(store, "draw.sh", f"cp {lies} a.png 2>/dev/null || cp {tmp_path}/kept.png a.png\n")
    found = again(sealed(store, rendered(store, "a.png", "sh", script)))
    assert (found.outcome, found.runs) == (RerenderOutcome.CANNOT_JUDGE, 0)
    assert "draw.sh names the asset itself" in found.reason


@pytest.mark.integration
def test_a_recipe_whose_file_is_there_before_it_runs_has_rendered_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (tmp_path / "made.png").write_bytes(b"x")
    one = drawn(store, PICTURE.replace("'a.png'", "__import__('sys').argv[1]"))
    recipe = to_document(one.log.recipe)
    recipe["inputs"].append(
        {"path": "b.png", "sha256": file_hash(store, "b.png", b"not the asset")}
    )
    found = again(edited(one, recipe={**recipe, "output": "b.png"}),
                  RerenderOptions(runs=1, trust=True, allow=("python",)))  # fmt: skip
    assert found.outcome == RerenderOutcome.CANNOT_JUDGE
    assert "did not write b.png" in found.reason


def file_hash(store: Store, name: str, data: bytes) -> str:
    from twice.assets.media.measure import digest_file

    (store.root / name).write_bytes(data)
    return digest_file(store.root / name)


@pytest.mark.integration
def test_another_program_of_the_same_name_and_version_is_told(tmp_path: Path) -> None:
    store = laid(tmp_path)
    tool = program(
        tmp_path, "paint", "case $1 in --version) echo paint 1.0;; *) printf 'P1 1 1 1' > $1;; esac"
    )
    out = str(store.root / "a.pbm")
    one = sealed(store, rendered(store, "a.pbm", str(tool), out, kind="art"))
    assert again(one).elsewhere == ()
    tool.write_text(tool.read_text() + "\n# another\n")
    found = again(one)
    assert (found.outcome, len(found.elsewhere)) == (RerenderOutcome.REPRODUCED, 1)
    assert "paint is another program" in found.elsewhere[0]
    tool.write_text(tool.read_text().replace("1 1 1", "1 1 0"))
    found = again(one)
    assert (found.outcome, "another program" in found.reason) == (
        RerenderOutcome.CANNOT_JUDGE,
        True,
    )


def wave(path: Path, samples: Any) -> Path:
    soundfile.write(path, samples, 8000, subtype="FLOAT")
    return path


def test_samples_that_are_no_numbers_are_like_nothing(tmp_path: Path) -> None:
    tone = np.sin(np.arange(800) * 0.1).astype(np.float32)
    one = wave(tmp_path / "a.wav", tone)
    for odd in (np.nan, np.inf):
        two = wave(tmp_path / "b.wav", np.where(np.arange(800) == 7, odd, tone))
        figures, why = compare_sounds(one, two)
        assert (figures, "no numbers" in why) == ({}, True)


def test_pixels_that_are_no_numbers_are_like_nothing(tmp_path: Path) -> None:
    plane = np.zeros((8, 8), np.float32)
    Image.fromarray(plane, "F").save(tmp_path / "a.tiff")
    plane[3, 3] = np.nan
    Image.fromarray(plane, "F").save(tmp_path / "b.tiff")
    figures, why = compare_images(tmp_path / "a.tiff", tmp_path / "b.tiff")
    assert (figures, "no numbers" in why) == ({}, True)


def test_a_figure_that_is_no_number_is_beyond_every_limit() -> None:
    assert exceed_limits({"psnr_db": float("nan")}, {"psnr_db": 0}) == ["psnr_db"]


TONE = (
    np.stack([np.sin(np.arange(4000) * 0.05), 0.5 * np.sin(np.arange(4000) * 0.08)], axis=1) * 0.5
)


@pytest.mark.parametrize(
    "other",
    [TONE * 0, TONE[:, ::-1], TONE[:2000], np.concatenate([TONE, TONE[:9]]), -TONE,
     np.roll(TONE, 1, axis=0), TONE * 1.02, np.where(np.arange(4000)[:, None] < 3990, TONE, 0)],
    ids=["silence", "swapped", "shorter", "longer", "turned", "late", "louder", "cut"],
)  # fmt: skip
def test_a_sound_that_is_another_one_is_beyond_every_profile(tmp_path: Path, other: Any) -> None:
    from twice.assets.media.similarity import PROFILES

    figures, why = compare_sounds(wave(tmp_path / "a.wav", TONE), wave(tmp_path / "b.wav", other))
    assert why == ""
    assert exceed_limits(figures, PROFILES["audio-numeric"])
    assert exceed_limits(figures, PROFILES["audio-16bit"])


@pytest.mark.integration
def test_one_odd_tile_of_a_large_picture_is_beyond_every_profile(tmp_path: Path) -> None:
    from twice.assets.media.similarity import PROFILES

    plane = np.full((640, 640, 3), 90, np.uint8)
    Image.fromarray(plane).save(tmp_path / "a.png")
    plane[64:80, 64:80] = 110
    Image.fromarray(plane).save(tmp_path / "b.png")
    figures, _ = compare_images(tmp_path / "a.png", tmp_path / "b.png")
    assert exceed_limits(figures, PROFILES["image-numeric"])
    assert exceed_limits(figures, PROFILES["image-stochastic"])


def test_frames_that_stand_longer_are_another_film(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), (n, 0, 0)) for n in (0, 90)]
    for name, lasts in (("a", 100), ("b", 400)):
        frames[0].save(
            tmp_path / f"{name}.gif", save_all=True, append_images=frames[1:], duration=lasts
        )
    figures, why = compare_images(tmp_path / "a.gif", tmp_path / "b.gif")
    assert (figures, "long" in why) == ({}, True)


WILD = """
import os, sys
import numpy as np
from PIL import Image
Image.fromarray(np.frombuffer(os.urandom(64 * 64 * 3), np.uint8).reshape(64, 64, 3)).save(sys.argv[1])
"""


@pytest.mark.integration
def test_repeats_that_have_nothing_in_common_get_no_tolerance(tmp_path: Path) -> None:
    one = drawn(laid(tmp_path), WILD, grade="tolerance")
    found = calibrate(one.path, RerenderOptions(runs=2), (), lambda what: None)
    assert (found.limits, "lets nearly everything pass" in found.reason) == ({}, True)
    with pytest.raises(UsageError, match="nearly everything"):
        write_limits(found)


@pytest.mark.integration
def test_a_tolerance_without_limits_to_speak_of_judges_nothing(tmp_path: Path) -> None:
    one = drawn(laid(tmp_path), WILD, grade="tolerance")
    wide = {"name": "wide", "limits": {"psnr_db": 1.0, "max_error_255": 255.0}}
    found = again(
        edited(one, promise={"mode": "deterministic", "grade": "tolerance", "profile": wide})
    )
    assert (found.outcome, found.runs) == (RerenderOutcome.CANNOT_JUDGE, 0)
    assert "nearly everything" in found.reason


@pytest.mark.integration
def test_records_of_assets_that_share_a_name_stand_beside_each_other(tmp_path: Path) -> None:
    store = laid(tmp_path)
    script = put(store, "draw.py", PICTURE.replace("'a.png'", "__import__('sys').argv[1]"))
    kept = []
    for folder in ("one", "two"):
        out = str(store.root / folder / "a.png")
        kept.append(rendered(store, f"{folder}/a.png", "python", script, out).record)
    assert len(set(kept)) == 2
    assert sorted(os.listdir(store.root / "records")) == sorted(each.name for each in kept)


@pytest.mark.integration
def test_a_verdict_by_another_tolerance_is_not_written(tmp_path: Path) -> None:
    one = synth(laid(tmp_path))
    told = cli("asset", "rerender", one.path, "--profile", "audio-16bit", "--write", cwd=tmp_path)
    assert (told.returncode, told.stderr.split()[0]) == (2, "E-USE-001")


SPECKS = """
import os, sys
import numpy as np
from PIL import Image
plane = np.full((64, 64, 3), 90, np.uint8)
at = np.frombuffer(os.urandom(2), np.uint8) % 64
plane[at[0], at[1]] = 90 + 30 + os.urandom(1)[0] % 100
Image.fromarray(plane).save(sys.argv[1])
"""


@pytest.mark.integration
def test_a_single_pixel_decides_no_calibrated_limit(tmp_path: Path) -> None:
    one = drawn(laid(tmp_path), SPECKS, grade="tolerance")
    found = calibrate(one.path, RerenderOptions(runs=3), (), lambda what: None)
    assert found.figures["max_error_255"] > 16
    assert set(found.limits) == {"psnr_db", "worst_tile_psnr_db", "ssim"}
