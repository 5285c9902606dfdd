"""Claims about recording a render: what fills itself, what is asked for, and what is never written."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from renders import DRAW, WHO, laid, put, rendered, sealed, synth

from programs import cli
from twice.assets.errors import RenderFailed, RenderIncomplete
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.render.command import rewrite_command
from twice.assets.render.declarations import Declarations, RenderProject, read_project
from twice.assets.render.trust import is_remembered
from twice.errors import OutputExists, UsageError

pytest.importorskip("soundfile")
pytest.importorskip("PIL")


def draft_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


@pytest.mark.integration
def test_a_recorded_render_is_complete_and_passes_the_gate(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = synth(store)
    assert one.missing == ()
    assert run_gate(store.root).result is AssetGateResult.PASS


@pytest.mark.integration
def test_seed_versions_inputs_and_surroundings_come_from_the_run(tmp_path: Path) -> None:
    store = laid(tmp_path)
    log = synth(store).log
    document = draft_of(store.root / "cue.wav.draft.json")

    assert document["seed"] == {"requested": "7", "effective": "7"}
    assert document["recipe"]["argv"] == ["python", "synth.py", "7", "cue.wav"]
    assert [each["path"] for each in document["recipe"]["inputs"]] == ["synth.py"]
    assert {"python", "numpy"} <= set(document["environment"]["packages"])
    assert document["environment"]["threads"] == 1
    assert document["evidence"][""]["level"] == "recorded"
    assert (store.root / document["evidence"][""]["record"]).is_file()
    assert document["evidence"]["/work_unit"]["who"] == "the studio"
    assert log.deterministic


@pytest.mark.integration
def test_what_nobody_says_is_listed_in_one_error_and_nothing_is_written(tmp_path: Path) -> None:
    store = laid(tmp_path)
    script = put(store, "draw.py", DRAW)
    with pytest.raises(RenderIncomplete) as caught:
        rendered(
            store, "a.png", "python", script, "{seed}", str(store.root / "a.png"), seed="1",
            project=RenderProject(), program=False, declared={},
        )  # fmt: skip
    assert {"/work_unit", "/producer", "/promise", "/evidence//who"} <= set(
        str(caught.value.fields["pointers"]).split("'")
    )
    assert "--promise" in caught.value.remedy
    assert sorted(each.name for each in store.root.iterdir()) == ["assets.toml", "draw.py"]


@pytest.mark.integration
def test_an_unlisted_program_has_to_say_whether_it_is_one(tmp_path: Path) -> None:
    """Nothing of a generator is excused for a script that may load a model."""
    store = laid(tmp_path)
    script = put(store, "draw.py", DRAW)
    with pytest.raises(RenderIncomplete, match="/art"):
        rendered(store, "a.png", "python", script, "1", str(store.root / "a.png"), program=False)


@pytest.mark.integration
def test_a_file_that_no_argument_names_is_not_there_unless_it_is_given(tmp_path: Path) -> None:
    store = laid(tmp_path)
    put(store, "part.txt", "7")
    script = put(store, "copy.py", "open('a.bin', 'w').write(open('part.txt').read())")
    command = ("python", script)
    with pytest.raises(RenderFailed, match=r"part\.txt"):
        rendered(store, "a.bin", *command, kind="art")
    done = rendered(store, "a.bin", *command, kind="art", inputs=[store.root / "part.txt"])
    assert done.asset.read_text() == "7"


def test_a_child_sees_no_variable_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_MINE", "hunter2")
    store = laid(tmp_path)
    program = put(store, "show.sh", "#!/bin/sh\nenv > a.bin\n")
    os.chmod(program, 0o755)
    done = rendered(store, "a.bin", program, kind="art")
    names = {line.partition("=")[0] for line in done.asset.read_text().splitlines()}
    assert "A_SECRET_OF_MINE" not in names
    assert {"HOME", "PATH", "TMPDIR", "TZ", "LC_ALL"} <= names


@pytest.mark.integration
def test_shell_characters_are_text(tmp_path: Path) -> None:
    store = laid(tmp_path)
    script = put(store, "say.py", "import sys; open('a.bin', 'w').write(' '.join(sys.argv[1:]))")
    nasty = ["; touch hacked", "$(id)", "`id`", "| cat", "&& echo", "> over", "*"]
    done = rendered(store, "a.bin", "python", script, *nasty, kind="art")
    assert done.asset.read_text() == " ".join(nasty)
    program = put(store, "say.sh", '#!/bin/sh\nprintf "%s\\n" "$@" > b.bin\n')
    os.chmod(program, 0o755)
    assert rendered(store, "b.bin", program, *nasty, kind="art").asset.read_text().split("\n") == [
        *nasty,
        "",
    ]


@pytest.mark.heavy
def test_a_render_that_is_too_slow_is_ended_and_leaves_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    program = put(store, "slow.sh", "#!/bin/sh\nsleep 60\n")
    os.chmod(program, 0o755)
    with pytest.raises(RenderFailed, match=r"within 0\.2 s"):
        rendered(store, "a.bin", program, kind="art", timeout_s=0.2)
    assert not (store.root / "a.bin").exists()


@pytest.mark.parametrize(
    ("text", "match"),
    [("#!/bin/sh\nexit 3\n", "exit code 3"), ("#!/bin/sh\n:\n", "did not write a.bin")],
)
def test_a_render_that_fails_is_an_error(tmp_path: Path, text: str, match: str) -> None:
    store = laid(tmp_path)
    program = put(store, "fail.sh", text)
    os.chmod(program, 0o755)
    with pytest.raises(RenderFailed, match=match):
        rendered(store, "a.bin", program, kind="art")


@pytest.mark.integration
def test_an_asset_that_is_there_is_not_rendered_over(tmp_path: Path) -> None:
    store = laid(tmp_path)
    synth(store)
    before = (store.root / "cue.wav").read_bytes()
    with pytest.raises(OutputExists):
        rendered(store, "cue.wav", "python", str(store.root / "synth.py"), "8", "cue.wav")
    assert (store.root / "cue.wav").read_bytes() == before


def test_a_seed_that_reaches_nobody_is_refused(tmp_path: Path) -> None:
    store = laid(tmp_path)
    with pytest.raises(UsageError, match="reaches nobody"):
        rendered(store, "a.wav", "espeak-ng", "-w", "a.wav", "hello", seed="7")
    with pytest.raises(UsageError, match="asks for a seed"):
        rewrite_command(["sox", "{seed}"], store, [], [], "")


@pytest.mark.integration
def test_what_lies_outside_is_named_by_where_it_was(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (tmp_path / "bank.sf2").write_bytes(b"sounds")
    script = put(
        store, "copy.py", "import sys; open('a.bin', 'wb').write(open(sys.argv[1], 'rb').read())"
    )
    done = rendered(store, "a.bin", "python", script, str(tmp_path / "bank.sf2"), kind="art")
    recipe = draft_of(done.draft)["recipe"]
    assert recipe["argv"] == ["python", "copy.py", "outside/bank.sf2"]
    assert recipe["inputs"][1]["found_at"] == str(tmp_path / "bank.sf2")
    assert sealed(store, done).missing == ()
    assert not [r for r in run_gate(store.root).rows if r.check == "stale" and r.status != "green"]


@pytest.mark.integration
def test_a_recipe_is_own_once_it_was_recorded_and_not_when_it_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = laid(tmp_path)
    synth(store)
    recipe = draft_of(store.root / "cue.wav.draft.json")["recipe"]
    assert is_remembered(recipe, "7")
    assert not is_remembered({**recipe, "argv": [*recipe["argv"], "more"]}, "7")
    assert not is_remembered({**recipe, "env": {"LD_PRELOAD": "x.so"}}, "7")
    assert not is_remembered(recipe, "8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not is_remembered(recipe, "7")


@pytest.mark.parametrize(
    "text",
    ["who = 7", "[all.asset]\nfile = 'x'", "[all]\nnonsense = 1", "[other]", "[all", "assets = 3"],
)
def test_a_project_file_that_says_what_nobody_declares_is_refused(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "render.toml"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_project(path)


def test_what_one_asset_declares_stands_over_what_all_do(tmp_path: Path) -> None:
    path = tmp_path / "render.toml"
    path.write_text(
        'who = "a"\n[all]\nwork_unit = "TU-1"\nkind = "art"\n[assets."b.png"]\nwork_unit = "TU-2"\n'
    )
    said = Declarations(project=read_project(path), declared={"kind": "audio"})
    assert said.about("b.png") == {"work_unit": "TU-2", "kind": "audio"}
    assert said.about("c.png")["work_unit"] == "TU-1"


@pytest.mark.integration
def test_a_value_that_is_declared_takes_the_place_of_a_reason(tmp_path: Path) -> None:
    store = laid(tmp_path)
    loud = {"audio": {"loudness": {"target_lufs": -16}}}
    one = synth(store, project=replace(WHO, assets={"cue.wav": loud}))
    document = draft_of(store.root / "cue.wav.draft.json")
    assert document["audio"]["loudness"] == {"target_lufs": -16}
    assert document["evidence"]["/audio/loudness"]["level"] == "declared"
    assert one.missing == ()


@pytest.mark.integration
def test_the_command_records_seals_and_rerenders(tmp_path: Path) -> None:
    store = laid(tmp_path)
    put(store, "draw.py", DRAW)
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    (tmp_path / "render.toml").write_text(
        'who = "the studio"\n[all]\nwork_unit = "TU-1"\nproducer = {role = "illustrator"}\n'
    )
    command = (
        "asset", "record", "--from", "render.toml", "--program", "--promise", "bytes", "--seed", "3",
        "-o", "hot/a.png", "--", "python", "hot/draw.py", "{seed}", "hot/a.png",
    )  # fmt: skip
    made = cli(*command, cwd=tmp_path, env=env)
    assert made.returncode == 0, made.stderr
    again = cli(*command, cwd=tmp_path, env=env)
    assert (again.returncode, again.stderr.split()[0]) == (2, "E-OUTPUT-001")
    seal = cli("asset", "seal", "hot/a.png", "--log", "hot/a.png.draft.json", cwd=tmp_path, env=env)
    assert seal.returncode == 0, seal.stderr
    found = cli("asset", "rerender", "hot", "--n", "1", "--json", cwd=tmp_path, env=env)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["rows"][0]["grade"] == "bytes"


@pytest.mark.integration
def test_in_a_pipe_nobody_is_asked(tmp_path: Path) -> None:
    laid(tmp_path)
    found = cli(
        "asset", "record", "-o", "hot/a.wav", "--", "espeak-ng", "hi", cwd=tmp_path, input="x\n"
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(("E-ASSET-RENDER-003", "E-ASSET-RENDER-001"))
