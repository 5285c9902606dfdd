"""Claims about rendering again: grades, what is caught, what cannot be judged, and what never runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hotstore import HOW, laid, picture
from PIL import Image
from renders import (
    DRAW,
    ONCE,
    SYNTH,
    again,
    drawn,
    edited,
    put,
    recipe_of,
    rendered,
    sealed,
    turning,
)

from programs import cli
from twice.assets.errors import InputChanged, RecipeUntrusted
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.io import read_log, to_document
from twice.assets.log.models import RerenderOutcome
from twice.assets.render.calibration import calibrate, with_threads, write_limits, write_verdict
from twice.assets.render.command import RenderJob
from twice.assets.render.recipe import RerenderOptions
from twice.assets.render.rerender import UNPROMISED, rerender_each
from twice.assets.store.seal import Sealed, merge_documents
from twice.assets.store.store import Store
from twice.errors import UsageError

REPRODUCED, DIFFERS = RerenderOutcome.REPRODUCED, RerenderOutcome.DIFFERS
CANNOT_JUDGE = RerenderOutcome.CANNOT_JUDGE
TRUSTED = RerenderOptions(runs=1, trust=True, allow=("python", "sh", "cp"))
CHANCE = np.random.default_rng(7)
PLANE = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)[..., None].repeat(3, axis=2)
SCATTERED = [PLANE + CHANCE.integers(0, 3, PLANE.shape, np.uint8) for _ in range(9)]
WILD = [CHANCE.integers(0, 256, PLANE.shape, np.uint8) for _ in range(3)]


def specks() -> list[Any]:
    """Draw pictures that differ by one bright pixel."""
    planes = [np.full_like(PLANE, 90) for _ in range(4)]
    for at, plane in enumerate(planes):
        plane[9 * at, 30] = 120 + 20 * at
    return planes


@pytest.mark.integration
def test_a_synthesiser_is_reproduced_in_bytes(cue: Sealed) -> None:
    found = again(cue, RerenderOptions(runs=2))
    assert (found.outcome, found.grade, found.runs) == (REPRODUCED, "bytes", 2)
    assert len(found.artefacts) == 1


@pytest.mark.integration
def test_a_drawing_is_reproduced_in_bytes_and_another_picture_in_its_place_is_refused(
    store: Store,
) -> None:
    one = drawn(store, DRAW, "{seed}", seed=7)
    found = again(one)
    assert (found.outcome, found.grade) == (REPRODUCED, "bytes")
    picture(store.root / "a.png")
    with pytest.raises(InputChanged, match=r"a\.png"):
        again(one)


def test_a_payload_that_stays_breaks_a_promise_of_bytes_alone(store: Store) -> None:
    one = turning(store, [PLANE] * 4, grade="payload")
    found = again(one, RerenderOptions(runs=2))
    assert (found.outcome, found.grade) == (REPRODUCED, "payload")
    found = again(edited(one, promise={"mode": "deterministic", "grade": "bytes"}))
    assert (found.outcome, found.grade) == (DIFFERS, "payload")


def test_scatter_within_its_tolerance_holds_and_the_worst_run_counts(store: Store) -> None:
    one = turning(store, SCATTERED, grade="tolerance")
    found = again(one, RerenderOptions(runs=3, profile="image-numeric"))
    assert (found.outcome, found.grade) == (DIFFERS, "different")
    assert "psnr_db" in found.reason
    loose = {"name": "loose", "limits": {"max_error_255": 3.0, "psnr_db": 40.0}}
    promise = {"mode": "deterministic", "grade": "tolerance", "profile": loose}
    found = again(edited(one, promise=promise), RerenderOptions(runs=3))
    assert (found.outcome, found.grade, len(found.artefacts)) == (REPRODUCED, "tolerance", 3)
    assert found.metrics["max_error_255"] == 2


def test_calibrated_limits_hold_for_further_runs(store: Store) -> None:
    one = turning(store, SCATTERED, grade="tolerance")
    found = calibrate(one.path, RerenderOptions(runs=2), (2,), lambda _what: None)
    assert (found.grade, found.runs, found.pairs) == ("tolerance", 4, 10)
    assert found.limits["psnr_db"] == pytest.approx(found.metrics["psnr_db"] - 3, abs=0.01)
    assert write_limits(found, HOW.created) == 2
    assert to_document(read_log(one.path))["evidence"]["/promise/profile"]["level"] == "declared"
    assert again(one).outcome == REPRODUCED


def test_a_single_pixel_decides_no_calibrated_limit(store: Store) -> None:
    one = turning(store, specks(), grade="tolerance")
    found = calibrate(one.path, RerenderOptions(runs=3), (), lambda _what: None)
    assert found.metrics["max_error_255"] > 16
    assert set(found.limits) == {"psnr_db", "worst_tile_psnr_db", "ssim"}


def test_repeats_that_have_nothing_in_common_get_no_tolerance(store: Store) -> None:
    one = turning(store, WILD, grade="tolerance")
    found = calibrate(one.path, RerenderOptions(runs=2), (), lambda _what: None)
    assert (found.limits, "lets nearly everything pass" in found.reason) == ({}, True)
    with pytest.raises(UsageError, match="nearly everything"):
        write_limits(found, HOW.created)
    wide = {"name": "wide", "limits": {"psnr_db": 1.0, "max_error_255": 255.0}}
    promise = {"mode": "deterministic", "grade": "tolerance", "profile": wide}
    judged = again(edited(one, promise=promise))
    assert (judged.outcome, judged.runs) == (CANNOT_JUDGE, 0)
    assert "nearly everything" in judged.reason


def test_equal_repeats_propose_no_tolerance(store: Store) -> None:
    one = turning(store, [PLANE] * 4)
    found = calibrate(one.path, ONCE, (), lambda _what: None)
    assert (found.grade, found.limits) == ("payload", {})
    with pytest.raises(UsageError, match="do not differ"):
        write_limits(found, HOW.created)


def test_threads_are_set_by_variables_and_by_the_option_of_a_known_renderer() -> None:
    job = with_threads(RenderJob(argv=("povray", "+WT1", "+Ia.pov"), env={"TZ": "UTC"}), 4)
    assert job.argv == ("povray", "+Ia.pov", "+WT4")
    assert (job.env["OMP_NUM_THREADS"], job.env["TZ"]) == ("4", "UTC")


@pytest.mark.integration
@pytest.mark.parametrize("changed", [["8", "cue.wav"], ["7", "cue.wav", "0.5001"]])
def test_a_changed_seed_or_parameter_is_caught_but_only_where_it_was_recorded(
    cue: Sealed, changed: list[str]
) -> None:
    recipe = recipe_of(cue, argv=["python", "synth.py", *changed])
    found = again(edited(cue, recipe=recipe), TRUSTED)
    assert (found.outcome, found.grade) == (DIFFERS, "different")
    assert found.metrics["lag_samples"] == 0

    elsewhere = to_document(cue.log.environment)
    elsewhere["packages"]["numpy"] = "1.0.0"
    found = again(edited(cue, recipe=recipe, environment=elsewhere), TRUSTED)
    assert (found.outcome, found.grade) == (CANNOT_JUDGE, "different")
    elsewhere["cpu"]["features"] = ["mmx"]
    same = again(edited(cue, environment=elsewhere))
    assert (same.outcome, len(same.elsewhere)) == (REPRODUCED, 2)


@pytest.mark.integration
def test_a_changed_input_is_refused_by_name_and_stops_no_other(cue: Sealed) -> None:
    script = cue.path.parent / "synth.py"
    script.write_text(SYNTH + "\n")
    with pytest.raises(InputChanged, match=r"synth\.py"):
        again(cue)
    report = rerender_each([cue.path, cue.path], ONCE, lambda _what: None)
    assert (report.exit_code, [each.outcome for each in report.rows]) == (2, ["refused"] * 2)
    script.unlink()
    with pytest.raises(InputChanged, match="is not there"):
        again(cue)


@pytest.mark.integration
def test_a_changed_font_from_outside_is_refused_by_name(store: Store, tmp_path: Path) -> None:
    font = tmp_path / "drawn.ttf"
    font.write_bytes(b"a font")
    picture(tmp_path / "made.png")
    line = f"cat $1 > /dev/null; cp {tmp_path}/made.png a.png"
    one = sealed(store, rendered(store, "a.png", "sh", "-c", line, "sh", str(font)))
    assert to_document(one.log.environment)["fonts"][0]["name"] == "drawn.ttf"
    assert again(one).outcome == REPRODUCED
    font.write_bytes(b"another font")
    with pytest.raises(InputChanged, match=r"drawn\.ttf"):
        again(one)


HOSTED: dict[str, Any] = {"provider": {"name": "a service", "endpoint": "hosted"}}
UNJUDGED: dict[str, dict[str, Any]] = {
    "hosted": HOSTED,
    "seal it again": {"asset": {"payload": {"method": "packets/1"}}},
    "not installed": {"recipe": {"argv": ["no-such-renderer", "cue.wav"]}},
    "no recipe: by hand": {"recipe": {"not_applicable": "by hand"}},
}


@pytest.mark.integration
@pytest.mark.parametrize("why", UNJUDGED)
def test_what_cannot_be_rendered_here_cannot_be_judged(cue: Sealed, why: str) -> None:
    found = again(edited(cue, **merge_documents(to_document(cue.log), UNJUDGED[why])))
    assert (found.outcome, found.runs) == (CANNOT_JUDGE, 0)
    assert why in found.reason


@pytest.mark.integration
def test_an_asset_without_a_promise_is_not_held_to_one(cue: Sealed) -> None:
    why = {"why": "It breathes.", "why_code": "other", "constraints": ["x"]}
    found = again(edited(cue, promise={"mode": "non-deterministic", **why}))
    assert (found.outcome, found.reason) == (UNPROMISED, "It breathes.")


@pytest.mark.integration
def test_a_strangers_recipe_does_not_run(
    cue: Sealed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = {
        "argv": {"recipe": recipe_of(cue, argv=["python", "synth.py", "9", "cue.wav"])},
        "seed": {"seed": {"requested": "8", "effective": "8"}},
    }
    for over in changed.values():
        with pytest.raises(RecipeUntrusted, match="python"):
            again(edited(cue, **over))
    for name in ("LD_PRELOAD", "PYTHONPATH", "PATH"):
        with pytest.raises(RecipeUntrusted, match=name):
            again(edited(cue, recipe=recipe_of(cue, env={name: "outside/evil.so"})), TRUSTED)
    edited(cue)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "stranger"))
    for how in (ONCE, RerenderOptions(trust=True), RerenderOptions(trust=True, allow=("sh",))):
        with pytest.raises(RecipeUntrusted, match="python"):
            again(cue, how)
    assert again(cue, TRUSTED).outcome == REPRODUCED


@pytest.mark.integration
@pytest.mark.parametrize("trust", [False, True])
def test_a_strangers_program_is_not_even_asked_for_its_version(
    cue: Sealed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trust: bool
) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in (str(evil), "x/../evil"):
        recipe = recipe_of(cue, argv=[name, "cue.wav"])
        with pytest.raises(RecipeUntrusted, match="evil"):
            again(edited(cue, recipe=recipe), RerenderOptions(trust=trust, allow=("python",)))
    assert not (tmp_path / "ran").exists()


# What is recorded copies ``made.png``; then the arguments are changed. ``kept.png`` has the same pixels in other bytes.
HANDED: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "its input made.png holds the asset": ("cp {made} a.png", ["made.png"], {}),
    "its input kept.png holds the asset": ("cp {made} a.png", ["kept.png"], {}),
    "its input draw.sh names the asset itself": ("cp {made} a.png", ["draw.sh"], {}),
    "its arguments name the asset itself": (
        "cp {made} a.png", [], {"argv": ["sh", "-c", "cp {hot}/a.png a.png"]}),
    "leads out of the folder": ("cp {made} a.png", [], {"argv": ["cp", "../../kept.png", "a.png"]}),
    "did not write b.png": ("cp {made} a.png", ["b.png"], {"output": "b.png"}),
    "did not write b.png/a.png": ("cp {made} a.png", ["b.png"], {"output": "b.png/a.png"}),
}  # fmt: skip


@pytest.mark.parametrize("why", HANDED)
def test_a_rendering_that_is_handed_its_result_shows_nothing(store: Store, why: str) -> None:
    line, inputs, over = HANDED[why]
    folder = store.root.parent / "made"
    folder.mkdir()
    picture(folder / "made.png")
    picture(store.root / "b.png", colour=9)
    shutil.copy(folder / "made.png", store.root)
    Image.open(folder / "made.png").save(store.root / "kept.png", compress_level=0)
    put(store, "draw.sh", f"cp {store.root}/a.png a.png\n")
    places = {"made": folder / "made.png", "hot": store.root}
    done = rendered(
        store, "a.png", "sh", "-c", line.format(**places), grade="payload",
        inputs=[store.root / each for each in inputs],
    )  # fmt: skip
    one = sealed(store, done)
    if "argv" in over:
        over = {"argv": [each.format(**places) for each in over["argv"]]}
    found = again(edited(one, recipe=recipe_of(one, **over)), TRUSTED)
    assert (found.outcome, found.runs) == (CANNOT_JUDGE, 0)
    assert why in found.reason


@pytest.mark.heavy
def test_a_renderer_that_reads_the_delivered_asset_by_itself_shows_nothing(
    store: Store, tmp_path: Path
) -> None:
    picture(tmp_path / "kept.png")
    kept = f"{str(tmp_path / 'kept.png')!r}"
    (tmp_path / "other").mkdir()
    other = laid(tmp_path / "other")
    place = f"__import__('os').path.join({str(other.root)!r}, 'a.png')"
    falling_back = f"{place} if __import__('os').path.exists({place}) else {kept}"
    for own, read in ((store, kept), (other, falling_back)):
        found = again(drawn(own, f"import shutil, sys\nshutil.copy({read}, sys.argv[1])\n"))
        assert (found.outcome, "read the asset itself" in found.reason) == (CANNOT_JUDGE, True)


def test_another_program_of_the_same_name_and_version_is_told(store: Store, tmp_path: Path) -> None:
    tool = tmp_path / "paint"
    text = "#!/bin/sh\ncase $1 in --version) echo paint 1.0;; *) printf 'P1 1 1 1' > $1;; esac\n"
    tool.write_text(text)
    tool.chmod(0o755)
    one = sealed(store, rendered(store, "a.pbm", str(tool), str(store.root / "a.pbm"), kind="art"))
    assert again(one).elsewhere == ()
    tool.write_text(f"{text}# another\n")
    found = again(one)
    assert (found.outcome, len(found.elsewhere)) == (REPRODUCED, 1)
    assert "paint is another program" in found.elsewhere[0]
    tool.write_text(text.replace("1 1 1", "1 1 0").replace("paint 1.0", "paint 1.1"))
    found = again(one)
    assert found.outcome == CANNOT_JUDGE
    assert "paint is 1.1, not 1.0; " in found.reason


@pytest.mark.integration
def test_a_verdict_is_a_new_revision_that_the_gate_takes(cue: Sealed) -> None:
    assert write_verdict(again(cue), "2026-02-01T00:00:00Z") == 2
    (verdict,) = read_log(cue.path).verdicts or ()
    assert (verdict.outcome, verdict.grade, verdict.runs) == (REPRODUCED, "bytes", 1)
    assert run_gate(cue.path.parent).result is AssetGateResult.PASS
    assert again(cue).outcome == REPRODUCED


@pytest.mark.heavy
def test_the_command_answers_by_exit_code(cue: Sealed, tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}

    def told(*more: str, **other: str) -> tuple[int, str]:
        found = cli("asset", "rerender", cue.path, "--n", "1", *more, cwd=tmp_path, env=env | other)
        return found.returncode, found.stdout + found.stderr

    code, words = told("--profile", "audio-16bit", "--write")
    assert (code, words.split()[0]) == (2, "E-USE-001")
    assert told("--write")[0] == 0
    code, words = told(XDG_STATE_HOME=str(tmp_path / "none"))
    assert (code, words.split()[0]) == (2, "E-ASSET-RENDER-004")
    assert told("--trust", "--allow", "python", XDG_STATE_HOME=str(tmp_path / "none"))[0] == 0
    edited(cue, recipe=recipe_of(cue, argv=["python", "synth.py", "8", "cue.wav"]))
    code, words = told("--trust", "--allow", "python", "--json")
    assert (code, json.loads(words)["result"]) == (1, "below")
    edited(cue, **HOSTED)
    assert told()[0] == 2
