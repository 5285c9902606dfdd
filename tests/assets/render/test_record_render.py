"""Claims about recording a render: what fills itself, what is asked for, and what is never written."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hotstore import list_files
from renders import DRAW, WHO, put, rendered, sealed, synth

from programs import cli
from twice.assets.errors import RenderFailed, RenderIncomplete
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.io import examine
from twice.assets.render.command import is_recordable, looks_python, rewrite_command
from twice.assets.render.draft import read_declarations
from twice.assets.render.provenance import ask_version
from twice.assets.render.recipe import find_obstacle, is_remembered
from twice.assets.render.recorder import record_render
from twice.assets.store.seal import Sealed
from twice.assets.store.store import Store
from twice.errors import OutputExists, OutputUnwritable, UsageError

COPY = "import sys; open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())"


def draft_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def run_shell(store: Store, text: str, *words: str, **said: Any) -> Path:
    """Record what a script of the store writes to a.bin, and return that."""
    done = rendered(
        store, "a.bin", put(store, "run.sh", f"#!/bin/sh\n{text}\n"), *words, kind="art", **said
    )
    return done.asset


@pytest.mark.integration
def test_a_recorded_render_is_complete_and_passes_the_gate(store: Store) -> None:
    loud = {"audio": {"loudness": {"target_lufs": -10}}}
    one = synth(store, assets={"cue.wav": loud})
    document = draft_of(store.root / "cue.wav.draft.json")

    assert one.missing == ()
    assert document["audio"]["loudness"] == {"target_lufs": -10}
    assert document["evidence"]["/audio/loudness"]["level"] == "declared"
    assert run_gate(store.root).result is AssetGateResult.PASS


@pytest.mark.integration
def test_seed_versions_inputs_and_surroundings_come_from_the_run(
    cue: Sealed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = cue.path.parent
    document = draft_of(store / "cue.wav.draft.json")
    recipe = document["recipe"]

    assert run_gate(store).result is AssetGateResult.PASS
    assert cue.log.deterministic
    assert document["seed"] == {"requested": "7", "effective": "7"}
    assert recipe["argv"] == ["python", "synth.py", "7", "cue.wav"]
    assert [each["path"] for each in recipe["inputs"]] == ["synth.py"]
    assert {"python", "numpy"} <= set(document["environment"]["packages"])
    assert document["environment"]["threads"] == 1
    assert document["evidence"][""]["level"] == "recorded"
    assert (store / document["evidence"][""]["record"]).is_file()
    assert document["evidence"]["/work_unit"]["who"] == "the studio"

    assert is_remembered(document)
    for name, over in (("argv", [*recipe["argv"], "more"]), ("env", {"LD_PRELOAD": "x.so"})):
        assert not is_remembered({**document, "recipe": {**recipe, name: over}})
    assert not is_remembered({**document, "seed": {"effective": "8"}})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not is_remembered(document)


def test_what_nobody_says_is_listed_in_one_error_and_nothing_is_written(store: Store) -> None:
    script, out = put(store, "draw.py", DRAW), str(store.root / "a.png")
    with pytest.raises(RenderIncomplete) as caught:
        rendered(
            store, "a.png", "python", script, "1", out, all={}, who="", program=False, declared={}
        )
    pointers = caught.value.fields["pointers"]
    assert isinstance(pointers, list)
    # Nothing of a generator is excused for a script that may load a model, unless somebody says so.
    assert {"/work_unit", "/producer", "/promise", "/evidence//who", "/art"} <= {*pointers}
    assert "--promise" in caught.value.remedy
    assert sorted(each.name for each in store.root.iterdir()) == ["assets.toml", "draw.py"]


@pytest.mark.integration
@pytest.mark.heavy
def test_what_no_argument_names_is_not_there_and_what_is_read_from_outside_is_told(
    store: Store, tmp_path: Path
) -> None:
    put(store, "part.txt", "7")
    (tmp_path / "palette.txt").write_text("9")
    text = (
        f"open('a.bin', 'w').write(open('part.txt').read() + open('{tmp_path}/palette.txt').read())"
    )
    command = ("python", put(store, "copy.py", text))
    with pytest.raises(RenderFailed, match=r"part\.txt"):
        rendered(store, "a.bin", *command, kind="art")
    done = rendered(store, "a.bin", *command, kind="art", inputs=[store.root / "part.txt"])
    assert done.asset.read_text() == "79"
    assert done.unnamed == (tmp_path / "palette.txt",)
    with pytest.raises(OutputExists):
        rendered(store, "a.bin", *command, kind="art")


@pytest.mark.integration
@pytest.mark.heavy
def test_what_lies_outside_is_named_by_where_it_was(store: Store, tmp_path: Path) -> None:
    (tmp_path / "bank.sf2").write_bytes(b"sounds")
    (store.root / "one").mkdir()
    kept, typed = [], ("python", put(store, "copy.py", COPY), str(tmp_path / "bank.sf2"))
    for name in ("a.bin", "one/a.bin"):
        done = rendered(store, name, *typed, str(store.root / name), kind="art")
        kept.append(done.record)
        recipe = draft_of(done.draft)["recipe"]
        assert recipe["argv"] == ["python", "copy.py", "outside/bank.sf2", name]
        assert recipe["inputs"][1]["found_at"] == str(tmp_path / "bank.sf2")
    # Records of assets that share a name stand beside each other.
    assert sorted((store.root / "records").iterdir()) == sorted({*kept})
    assert sealed(store, done).missing == ()
    assert not [r for r in run_gate(store.root).rows if r.check == "stale" and r.status != "green"]


def test_a_child_sees_no_variable_of_its_caller(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_MINE", "hunter2")
    told = run_shell(store, "env > a.bin").read_text()
    names = {line.partition("=")[0] for line in told.splitlines()}
    assert "A_SECRET_OF_MINE" not in names
    assert {"HOME", "PATH", "TMPDIR", "TZ", "LC_ALL"} <= names


def test_shell_characters_are_text(store: Store) -> None:
    nasty = ["; touch hacked", "$(id)", "`id`", "| cat", "&& echo", "> over", "*"]
    told = run_shell(store, 'printf "%s\\n" "$@" > a.bin', *nasty).read_text()
    assert told.split("\n") == [*nasty, ""]


@pytest.mark.parametrize(
    ("text", "match"),
    [("exit 3", "exit code 3"), (":", r"did not write a\.bin"), ("echo > b", "it wrote b"),
     ("kill -9 $$", "signal 9"), ('test "$1" || sleep 60', r"within 0\.2 s")],
)  # fmt: skip
def test_a_render_that_fails_is_an_error_and_leaves_nothing(
    store: Store, text: str, match: str
) -> None:
    with pytest.raises(RenderFailed, match=match):
        run_shell(store, text, timeout_s=0.2 if "sleep" in text else 60.0)
    assert not (store.root / "a.bin").exists()


def test_without_a_named_output_every_new_file_is_one(store: Store) -> None:
    said = replace(
        WHO, kind="art", declared={"promise": {"mode": "deterministic", "grade": "bytes"}}
    )
    script = put(store, "two.sh", 'test "$1" && for each in "$@"; do echo > $each.bin; done\n')
    job = rewrite_command(["sh", script, "b", "a"], store)
    done = record_render(store, job, said)
    assert [each.asset.name for each in done] == ["a.bin", "b.bin"]
    assert [draft_of(each.draft)["recipe"]["output"] for each in done] == ["a.bin", "b.bin"]
    with pytest.raises(OutputExists, match=r"a\.bin"):
        record_render(store, job, said)
    with pytest.raises(RenderFailed, match="wrote no file"):
        record_render(store, rewrite_command(["true"], store), said)
    with pytest.raises(RenderFailed, match="not installed"):
        record_render(store, rewrite_command(["no-such-renderer"], store), said)


def test_a_seed_that_reaches_nobody_and_one_that_is_missing_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="reaches nobody"):
        rewrite_command(["espeak-ng", "hello"], store, seed=7)
    for typed, env in ((["sox", "{seed}"], {}), (["sox"], {"SEED": "{seed}"})):
        with pytest.raises(UsageError, match="asks for a seed"):
            rewrite_command(typed, store, env=env)
        job = rewrite_command(typed, store, env=env, seed=7)
        assert "7" in (*job.argv, *job.env.values())


def test_a_command_is_rewritten_for_its_folder(store: Store, tmp_path: Path) -> None:
    own = store.root / "tools/draw"
    own.parent.mkdir()
    other = tmp_path / "bin/python3"
    other.parent.mkdir()
    other.symlink_to(sys.executable)
    (store.root / "tool").mkdir()
    modules = {each: store.root / each for each in ("tool/__init__.py", "tool/paint.py")}
    for path in (own, store.root / "in.txt", tmp_path / "out.txt", *modules.values()):
        path.write_text("7")
    root, inside = store.root, {"in.txt": store.root / "in.txt"}
    cases: list[tuple[list[str], list[str], dict[str, Path]]] = [
        # An installed program stays where it is: a copy would have lost the environment that it belongs to.
        (["/bin/sh", "draw.sh"], ["/bin/sh", "draw.sh"], {}),
        ([str(other), "draw.py"], [str(other), "draw.py"], {}),
        ([str(own), "a"], ["./tools/draw", "a"], {"tools/draw": own}),
        (["sox", f"{root}/../{root.name}/in.txt"], ["sox", "in.txt"], inside),
        (["sox", f"--from={root}/in.txt"], ["sox", "--from=in.txt"], inside),
        (["sox", f"+I{root}/in.txt"], ["sox", "+Iin.txt"], inside),
        (["sox", f"{root}/../out.txt"], ["sox", "outside/out.txt"], {"outside/out.txt": tmp_path / "out.txt"}),
        ([sys.executable, "draw.py"], ["python", "draw.py"], {}),
        (["python", "-m", "tool.paint"], ["python", "-m", "tool.paint"], modules),
    ]  # fmt: skip
    for typed, argv, inputs in cases:
        job = rewrite_command(typed, store)
        assert (list(job.argv), job.inputs) == (argv, inputs)
        assert looks_python(job.argv) == ("python" in argv[0])
        assert is_recordable(job.argv) == (argv[0] == "python")
    with pytest.raises(UsageError, match="does not lie in the hot store"):
        rewrite_command(["sox"], store, outputs=[tmp_path / "a.wav"])


def test_a_version_behind_a_letter_is_read_whole(tmp_path: Path) -> None:
    program = tmp_path / "perl"
    program.write_text("#!/bin/sh\necho 'This is perl 5, version 36 (v5.36.0) built for x'\n")
    program.chmod(0o755)
    assert ask_version(program) == "5.36.0"


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
        read_declarations(path)


def test_what_one_asset_declares_stands_over_what_all_do(tmp_path: Path) -> None:
    path = tmp_path / "render.toml"
    path.write_text(
        'who = "a"\n[all]\nwork_unit = "TU-1"\nkind = "art"\n[assets."b.png"]\nwork_unit = "TU-2"\n'
    )
    said = replace(read_declarations(path), declared={"kind": "audio"})
    assert said.about("b.png") == {"work_unit": "TU-2", "kind": "audio"}
    assert said.about("c.png")["work_unit"] == "TU-1"


def test_of_a_render_that_cannot_be_put_into_the_store_nothing_is(store: Store) -> None:
    run_shell(store, 'echo 1 > "$1"', str(store.root / "a.bin"))
    (store.root / "a.bin.draft.json").unlink()
    (store.root / "a.bin.draft.json").mkdir()
    (store.root / "run.sh").write_text("")
    before = list_files(store.root)
    (store.root / "run.sh").unlink()
    with pytest.raises(OutputUnwritable, match="is a folder"):
        run_shell(store, 'echo 2 > "$1"', str(store.root / "a.bin"), force=True)
    (store.root / "run.sh").write_text("")
    assert list_files(store.root) == before


def test_a_secret_of_a_program_is_in_no_file_of_the_store_and_its_recipe_does_not_run(
    store: Store,
) -> None:
    text = 'echo "$2 $KEY_TOKEN" > "$1"; echo "$KEY_TOKEN"'
    words = (str(store.root / "a.bin"), "--password=hunter2hunter2")
    run_shell(store, text, *words, env={"KEY_TOKEN": "a-secret-of-mine-9"})
    for name, data in list_files(store.root).items():
        is_own = name in {"a.bin", "run.sh"}
        assert is_own or not (b"hunter2" in data or b"secret-of-mine" in data), name
    log = examine(draft_of(store.root / "a.bin.draft.json")).log
    assert "secret" in find_obstacle(log)


@pytest.mark.integration
def test_a_secret_variable_of_a_recorded_render_does_not_stop_the_gate(store: Store) -> None:
    script, out = put(store, "draw.py", DRAW), str(store.root / "a.png")
    env = {"SERVICE_TOKEN": "a-secret-of-mine-9"}
    sealed(store, rendered(store, "a.png", "python", script, "{seed}", out, seed=7, env=env))
    assert run_gate(store.root).wanting() == []


@pytest.mark.integration
def test_the_command_records_seals_and_rerenders(store: Store, tmp_path: Path) -> None:
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
    # In a pipe, nobody is asked.
    typed = ("asset", "record", "-o", "hot/b.wav", "--", "sh", "-c", "true")
    asked = cli(*typed, cwd=tmp_path, input="x\n")
    assert (asked.returncode, asked.stdout, asked.stderr[:18]) == (2, "", "E-ASSET-RENDER-003")
