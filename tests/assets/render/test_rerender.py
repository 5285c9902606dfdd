"""Claims about rendering again: grades, what is caught, what cannot be judged, and what never runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from renders import (
    DRAW,
    SCATTER,
    STAMPED,
    SYNTH,
    again,
    drawn,
    edited,
    laid,
    put,
    recipe_of,
    rendered,
    sealed,
    synth,
)

from programs import cli
from tiers import sampled
from twice.assets.errors import InputChanged, RecipeUntrusted
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.io import read_log, to_document
from twice.assets.log.models import RerenderOutcome
from twice.assets.render.calibration import calibrate, with_threads, write_limits, write_verdict
from twice.assets.render.rerender import UNPROMISED, RerenderOptions
from twice.assets.render.runner import RenderJob
from twice.errors import UsageError

pytest.importorskip("soundfile")
pytest.importorskip("PIL")

ONCE = RerenderOptions(runs=1)
TRUSTED = RerenderOptions(runs=1, trust=True, allow=("python",))


@pytest.mark.integration
def test_a_synthesiser_is_reproduced_in_bytes(tmp_path: Path) -> None:
    found = again(synth(laid(tmp_path)), RerenderOptions(runs=2))
    assert (found.outcome, found.grade, found.runs) == (RerenderOutcome.REPRODUCED, "bytes", 2)
    assert len(found.artefacts) == 1


@pytest.mark.integration
def test_a_drawing_is_reproduced_in_bytes(tmp_path: Path) -> None:
    found = again(drawn(laid(tmp_path), DRAW, "{seed}", seed="7"))
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, "bytes")


@pytest.mark.integration
@pytest.mark.heavy
def test_a_stamp_in_the_file_keeps_the_payload_and_breaks_a_promise_of_bytes(
    tmp_path: Path,
) -> None:
    store = laid(tmp_path)
    one = drawn(store, STAMPED, grade="payload")
    found = again(one)
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, "payload")
    promise = {"mode": "deterministic", "grade": "bytes"}
    found = again(edited(one, promise=promise))
    assert (found.outcome, found.grade) == (RerenderOutcome.DIFFERS, "payload")


@pytest.mark.integration
def test_scatter_within_its_tolerance_holds_and_the_worst_run_counts(tmp_path: Path) -> None:
    one = drawn(laid(tmp_path), SCATTER, grade="tolerance")
    found = again(one, RerenderOptions(runs=3, profile="image-numeric"))
    assert (found.outcome, found.grade) == (RerenderOutcome.DIFFERS, "different")
    assert "psnr_db" in found.reason
    loose = {"name": "loose", "limits": {"max_error_255": 3.0, "psnr_db": 40.0}}
    promise = {"mode": "deterministic", "grade": "tolerance", "profile": loose}
    found = again(edited(one, promise=promise), RerenderOptions(runs=3))
    assert (found.outcome, found.grade, len(found.artefacts)) == (
        RerenderOutcome.REPRODUCED,
        "tolerance",
        3,
    )
    assert found.figures["max_error_255"] == 2


@pytest.mark.integration
@pytest.mark.parametrize(
    "argv",
    [
        ["python", "synth.py", "8", "cue.wav"],
        ["python", "synth.py", "7", "cue.wav", "0.5001"],
    ],
    ids=["seed", "parameter"],
)
def test_a_changed_seed_or_parameter_is_caught(tmp_path: Path, argv: list[str]) -> None:
    one = synth(laid(tmp_path))
    found = again(edited(one, recipe=recipe_of(one, argv=argv)), TRUSTED)
    assert (found.outcome, found.grade) == (RerenderOutcome.DIFFERS, "different")
    assert found.figures["lag_samples"] == 0


@pytest.mark.integration
def test_a_changed_input_is_refused_by_name(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = synth(store)
    put(store, "synth.py", SYNTH + "\n")
    with pytest.raises(InputChanged, match=r"synth\.py"):
        again(one)
    (store.root / "synth.py").unlink()
    with pytest.raises(InputChanged, match="is not there"):
        again(one)


@pytest.mark.integration
@pytest.mark.heavy
def test_a_changed_font_is_refused_by_name(tmp_path: Path) -> None:
    font = tmp_path / "drawn.ttf"
    font.write_bytes(b"a font")
    store = laid(tmp_path)
    script = put(
        store, "text.py",
        "import sys\nfrom PIL import Image\n"
        "size = len(open(sys.argv[1], 'rb').read())\nImage.new('L', (size, 9)).save(sys.argv[2])\n",
    )  # fmt: skip
    out = str(store.root / "text.png")
    one = sealed(store, rendered(store, "text.png", "python", script, str(font), out))
    assert to_document(one.log.environment)["fonts"][0]["name"] == "drawn.ttf"
    assert again(one).outcome == RerenderOutcome.REPRODUCED
    font.write_bytes(b"another font")
    with pytest.raises(InputChanged, match=r"drawn\.ttf"):
        again(one)


@pytest.mark.integration
def test_a_changed_asset_is_refused(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = drawn(store, DRAW, "{seed}", seed="7")
    from PIL import Image

    Image.new("RGB", (80, 64)).save(store.root / "a.png")
    with pytest.raises(InputChanged, match=r"a\.png"):
        again(one)


@pytest.mark.integration
def test_a_hosted_service_cannot_be_judged(tmp_path: Path) -> None:
    one = edited(synth(laid(tmp_path)), provider={"name": "a service", "endpoint": "hosted"})
    found = again(one)
    assert (found.outcome, found.runs) == (RerenderOutcome.CANNOT_JUDGE, 0)
    assert "hosted" in found.reason


@pytest.mark.integration
def test_a_payload_by_a_method_of_before_cannot_be_judged(tmp_path: Path) -> None:
    one = synth(laid(tmp_path))
    asset = to_document(one.log.asset)
    asset["payload"]["method"] = "packets/1"
    found = again(edited(one, asset=asset))
    assert (found.outcome, "seal it again" in found.reason) == (RerenderOutcome.CANNOT_JUDGE, True)


@pytest.mark.integration
def test_a_renderer_that_is_absent_cannot_be_judged(tmp_path: Path) -> None:
    one = synth(laid(tmp_path))
    found = again(edited(one, recipe=recipe_of(one, argv=["no-such-renderer", "cue.wav"])), TRUSTED)
    assert found.outcome == RerenderOutcome.CANNOT_JUDGE
    assert "not installed" in found.reason


@pytest.mark.integration
@pytest.mark.parametrize("where", sampled(["processor", "version"], {"version"}))
def test_a_difference_in_other_surroundings_cannot_be_judged(tmp_path: Path, where: str) -> None:
    one = synth(laid(tmp_path))
    elsewhere = to_document(one.log.environment)
    if where == "processor":
        elsewhere["cpu"]["features"] = ["mmx"]
    else:
        elsewhere["packages"]["numpy"] = "1.0.0"
    same = again(edited(one, environment=elsewhere))
    assert (same.outcome, len(same.elsewhere)) == (RerenderOutcome.REPRODUCED, 1)
    argv = ["python", "synth.py", "8", "cue.wav"]
    other = edited(one, environment=elsewhere, recipe=recipe_of(one, argv=argv))
    found = again(other, TRUSTED)
    assert (found.outcome, found.grade) == (RerenderOutcome.CANNOT_JUDGE, "different")


@pytest.mark.integration
def test_an_asset_without_a_promise_is_not_held_to_one(tmp_path: Path) -> None:
    promise = {
        "mode": "non-deterministic", "why": "It breathes.", "why_code": "other", "constraints": ["x"],
    }  # fmt: skip
    found = again(edited(synth(laid(tmp_path)), promise=promise))
    assert (found.outcome, found.reason) == (UNPROMISED, "It breathes.")


@pytest.mark.integration
def test_a_strangers_recipe_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = laid(tmp_path)
    one = synth(store)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "stranger"))
    for how in (
        ONCE,
        RerenderOptions(trust=True),
        RerenderOptions(trust=True, allow=("fluidsynth",)),
    ):
        with pytest.raises(RecipeUntrusted, match="python"):
            again(one, how)
    assert again(one, TRUSTED).outcome == RerenderOutcome.REPRODUCED


@pytest.mark.integration
def test_an_allowed_program_may_not_be_made_to_load_something(tmp_path: Path) -> None:
    one = synth(laid(tmp_path))
    for name in ("LD_PRELOAD", "PYTHONPATH", "PATH"):
        recipe = recipe_of(one, env={name: "outside/evil.so"})
        with pytest.raises(RecipeUntrusted, match=name):
            again(edited(one, recipe=recipe), TRUSTED)


@pytest.mark.integration
def test_sealing_does_not_make_a_recipe_ones_own(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = synth(store)
    other = recipe_of(one, argv=["python", "synth.py", "9", "cue.wav"])
    with pytest.raises(RecipeUntrusted):
        again(edited(one, recipe=other))


@pytest.mark.integration
def test_a_verdict_is_a_new_revision_that_the_gate_takes(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = synth(store)
    assert write_verdict(again(one), "2026-02-01T00:00:00Z") == 2
    log = read_log(one.path)
    assert log.verdicts is not None
    assert (log.revision, log.verdicts[0].outcome) == (2, RerenderOutcome.REPRODUCED)
    assert log.verdicts[0].grade == "bytes"
    assert run_gate(store.root).result is AssetGateResult.PASS
    assert again(one).outcome == RerenderOutcome.REPRODUCED


@pytest.mark.integration
@pytest.mark.heavy
def test_calibrated_limits_hold_for_further_runs(tmp_path: Path) -> None:
    one = drawn(laid(tmp_path), SCATTER, grade="tolerance")
    found = calibrate(one.path, RerenderOptions(runs=2), (2,), lambda what: None)
    assert (found.grade, found.runs, found.pairs) == ("tolerance", 4, 10)
    assert found.limits["psnr_db"] == pytest.approx(found.figures["psnr_db"] - 3, abs=0.01)
    assert write_limits(found) == 2
    assert again(one).outcome == RerenderOutcome.REPRODUCED


@pytest.mark.integration
def test_equal_repeats_propose_no_tolerance(tmp_path: Path) -> None:
    one = synth(laid(tmp_path))
    found = calibrate(one.path, RerenderOptions(runs=2), (), lambda what: None)
    assert (found.grade, found.limits) == ("bytes", {})
    with pytest.raises(UsageError, match="do not differ"):
        write_limits(found)


def test_threads_are_set_by_variables_and_by_the_option_of_a_known_renderer() -> None:
    job = with_threads(RenderJob(argv=("povray", "+WT1", "+Ia.pov"), env={"TZ": "UTC"}), 4)
    assert job.argv == ("povray", "+Ia.pov", "+WT4")
    assert (job.env["OMP_NUM_THREADS"], job.env["TZ"]) == ("4", "UTC")


@pytest.mark.heavy
def test_the_command_answers_by_exit_code(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = synth(store)
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}

    def told(*more: str, **other: str) -> tuple[int, str]:
        found = cli("asset", "rerender", one.path, "--n", "1", *more, cwd=tmp_path, env=env | other)
        return found.returncode, found.stdout + found.stderr

    assert told("--write")[0] == 0
    code, words = told(XDG_STATE_HOME=str(tmp_path / "none"))
    assert (code, words.split()[0]) == (2, "E-ASSET-RENDER-004")
    assert told("--trust", "--allow", "python", XDG_STATE_HOME=str(tmp_path / "none"))[0] == 0
    argv = ["python", "synth.py", "8", "cue.wav"]
    edited(one, recipe=recipe_of(one, argv=argv))
    code, words = told("--trust", "--allow", "python", "--json")
    assert (code, json.loads(words)["result"]) == (1, "below")
    edited(one, provider={"name": "a service", "endpoint": "hosted"})
    assert told()[0] == 2
