"""Claims about the commands for an asset's log, as a person or a script types them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from programs import cli

pytest.importorskip("soundfile")
Image = pytest.importorskip("PIL.Image")
sys.path.insert(0, str(Path(__file__).parents[1]))
from completelogs import marked  # noqa: E402

pytestmark = pytest.mark.integration


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a store with one picture, and nothing sealed."""
    made = cli("asset", "init", "hot", "--public", "public", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    Image.new("RGB", (64, 32), (1, 2, 3)).save(tmp_path / "hot" / "cover.png")
    draft = marked()
    del draft["asset"], draft["audio"]
    (tmp_path / "draft.json").write_text(json.dumps(draft | {"kind": "art", "log_id": "cover"}))
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_from_an_empty_folder_to_a_package_that_passes(project: Path) -> None:
    sealed = cli("asset", "seal", "hot/cover.png", "--log", "draft.json", cwd=project)
    gate = cli("asset", "gate", "hot", "--json", cwd=project)
    packaged = cli(
        "asset",
        "package",
        "--store",
        "hot",
        "--work-unit",
        "TU-2026-01-31-IL01",
        "--to",
        "out",
        cwd=project,
    )
    verified = cli("asset", "verify", "out/cover.detlog.json", cwd=project)
    document = json.loads(gate.stdout)

    assert [each.returncode for each in (sealed, gate, packaged)] == [0, 0, 0], gate.stdout
    assert (document["format"], document["result"]) == ("twice.asset-gate/1", "pass")
    assert {"asset", "check", "status", "evidence", "fix", "owner"} == set(document["rows"][0])
    assert sorted(path.name for path in (project / "out").iterdir()) == [
        "TU-2026-01-31-IL01.checkpoint.json", "cover.detlog.json", "index.json",
    ]  # fmt: skip
    assert verified.returncode == 1, "the asset did not travel with its log"


def test_the_exit_code_of_the_gate_is_the_verdict(project: Path) -> None:
    blocked = cli("asset", "gate", "hot", cwd=project)
    assert (blocked.returncode, blocked.stdout.splitlines()[0][:6]) == (1, "block:")
    cli("asset", "seal", "hot/cover.png", "--log", "draft.json", cwd=project)
    assert cli("asset", "gate", "hot/cover.png", cwd=project).returncode == 0
    both = cli("asset", "gate", "hot", "--markdown", "--json", cwd=project)
    assert (both.returncode, "Leave out --markdown or --json" in both.stdout) == (2, True)
    Image.new("RGB", (64, 32), (1, 2, 3)).save(project / "hot" / "cover.png", compress_level=0)
    conditional = cli("asset", "gate", "hot/cover.png", cwd=project)

    assert (conditional.returncode, conditional.stdout.splitlines()[0][:12]) == (2, "conditional:")


def test_a_printed_draft_can_be_filled_in_and_sealed(project: Path) -> None:
    printed = cli("asset", "show", "--draft", "art", "--mode", "non-deterministic", cwd=project)
    (project / "d.json").write_text(printed.stdout)
    sealed = cli(
        "asset", "seal", "hot/cover.png", "--log", "d.json", "--set", "work_unit=TU-1",
        "--set", 'promise.constraints=["one palette"]', "--id", "cover", "--declared-by", "the studio",
        "--json", cwd=project,
    )  # fmt: skip
    document = json.loads(sealed.stdout)

    assert sealed.returncode == 0, sealed.stderr
    assert document["log_id"] == "cover"
    assert document["missing"] == ["/producer", "/promise/why", "/promise/why_code", "/provider"]


def test_a_revision_differs_from_the_one_before(project: Path) -> None:
    seal = ("asset", "seal", "hot/cover.png", "--log", "draft.json")
    cli(*seal, cwd=project)
    old = project / "old.json"
    old.write_bytes((project / "hot" / "cover.detlog.json").read_bytes())
    refused = cli(*seal, "--set", "promise.why=Another reason.", cwd=project)
    revised = cli(*seal, "--set", "promise.why=Another reason.", "--revise", cwd=project)
    compared = cli("asset", "diff", old, "hot/cover.detlog.json", "--json", cwd=project)
    pointers = {each["pointer"] for each in json.loads(compared.stdout)["differences"]}

    assert (refused.returncode, revised.returncode, compared.returncode) == (2, 0, 1)
    assert "E-OUTPUT-001" in refused.stderr
    assert {"/promise/why", "/revision", "/supersedes"} <= pointers
    assert cli("asset", "diff", old, old, cwd=project).stdout == "The logs say the same.\n"
    shown = cli("asset", "show", "hot/cover.png", cwd=project)
    assert shown.stdout.startswith("cover revision 2: non-deterministic")


def test_a_value_set_by_hand_is_not_said_to_be_recorded(project: Path) -> None:
    draft = json.loads((project / "draft.json").read_text())
    run = {"level": "recorded", "record": "records/cover.twice"}
    (project / "draft.json").write_text(json.dumps(draft | {"evidence": {"": run}}))
    seal = ("asset", "seal", "hot/cover.png", "--log", "draft.json", "--set", "art.steps=20")
    refused = cli(*seal, cwd=project)
    sealed = cli(*seal, "--declared-by", "the studio", cwd=project)
    evidence = json.loads((project / "hot" / "cover.detlog.json").read_text())["evidence"]

    assert (refused.returncode, sealed.returncode) == (2, 0)
    assert refused.stderr.startswith("E-USE-001  art.steps is set by hand"), refused.stderr
    assert evidence["/art/steps"] | {"when": ""} == {
        "level": "declared", "who": "the studio", "when": "",
    }  # fmt: skip
    assert evidence[""] == run


def test_an_export_is_written_whole_or_not_at_all(project: Path) -> None:
    cli("asset", "seal", "hot/cover.png", "--log", "draft.json", cwd=project)
    export = ("asset", "export", "gatecheck", "hot", "--title", "TU-1", "-o", "gate.json")
    first, second = cli(*export, cwd=project), cli(*export, cwd=project)
    manifest = cli(
        "asset", "export", "art-manifest", "hot", "--project", "x", "-o", "art.json", cwd=project
    )

    assert (first.returncode, second.returncode) == (0, 2)
    assert len(json.loads((project / "gate.json").read_text())["bars"]) == 8
    assert manifest.returncode == 2
    assert "cover.png has no prompt" in manifest.stderr
    assert not (project / "art.json").exists()


@pytest.mark.parametrize(
    ("words", "rows", "of"),
    [
        (["gate", "hot"], "rows", 1),
        (["verify", "hot"], "rows", 1),
        (["diff", "a.json", "b.json"], "differences", 2),
        (["leaks", "hot", "page.txt", "--all"], "findings", 2),
    ],
)
@pytest.mark.sample(1)
def test_a_long_list_is_cut_where_that_is_asked_for(
    project: Path, words: list[str], rows: str, of: int
) -> None:
    for name, steps in (("a", 20), ("b", 30)):
        art = {"steps": steps, "sampler": name, "scheduler": name}
        (project / f"{name}.json").write_text(json.dumps({"kind": "art", "art": art}))
    secret = "-".join(("steps: 20, sampler: Euler a, cfg scale: 7, seed: 42",) * 2)
    (project / "page.txt").write_text(f"<!-- {secret} -->\nprompt: a pier, masterpiece\n")
    Image.new("RGB", (8, 8)).save(project / "hot" / "pier.png")
    whole = cli("asset", *words, "--json", cwd=project)
    cut = cli("asset", *words, "--json", "--limit", 1, cwd=project)
    every, first = json.loads(whole.stdout)[rows], json.loads(cut.stdout)

    assert len(every) >= of
    assert (first[rows], first["omitted"]) == (every[:1], len(every) - 1)
    assert cut.stderr == f"{len(every) - 1} more: --limit {len(every)} lists them\n"
    assert cut.returncode == whole.returncode


BAD = [
    (["init", "hot"], "E-OUTPUT-001"),
    (["init", "public/hot", "--public", "public"], "E-ASSET-STORE-001"),
    (["seal", "hot/gone.png"], "E-ASSET-FILE-001"),
    (["seal", "draft.json"], "E-ASSET-STORE-001"),
    (["seal", "hot/cover.png", "--public", "."], "E-ASSET-STORE-001"),
    (["seal", "hot/cover.png", "--log", "gone.json"], "E-ASSET-LOG-001"),
    (["seal", "hot/cover.png", "--log", "hot/cover.png"], "E-ASSET-LOG-001"),
    (["seal", "hot/cover.png", "--log", "draft.json", "--set", "seed"], "E-USE-001"),
    (
        ["seal", "hot/cover.png", "--log", "draft.json", "--set", "seed.effective=-1"],
        "E-ASSET-LOG-002",
    ),
    (["seal", "hot/cover.png", "--log", "draft.json", "--set", "x.y=1"], "E-ASSET-LOG-002"),
    (["seal", "hot/cover.png", "--log", "draft.json", "--id", "../x"], "E-ASSET-LOG-002"),
    (["record", "--seed", "7", "--no-seed", "none", "--", "true"], "E-USE-001"),
    (["record", "--promise", "tolerance", "--profile", "best", "--", "true"], "E-USE-001"),
    (["gate", "gone"], "E-ASSET-FILE-001"),
    (["gate", "public"], "E-ASSET-FILE-001"),
    (["calibrate", "hot", "--n", "1"], "E-USE-001"),
    (["seal", "hot/cover.png", "--revise"], "E-USE-001"),
    (["rerender", "hot", "--timeout", "inf"], "E-USE-001"),
    (["verify", "gone"], "E-ASSET-FILE-001"),
    (["show"], "E-USE-001"),
    (["show", "gone"], "E-ASSET-FILE-001"),
    (["diff", "draft.json", "gone"], "E-ASSET-LOG-001"),
    (["package", "--work-unit", "x", "--store", "hot"], "E-ASSET-STORE-001"),
    (["package", "--work-unit", "x"], "E-ASSET-STORE-001"),
    (["export", "gatecheck", "hot"], "E-USE-001"),
    (["export", "build-lock", "hot"], "E-ASSET-EXPORT-001"),
]


@pytest.mark.parametrize(("arguments", "error"), BAD)
@pytest.mark.sample(6)
def test_bad_input_is_one_error_and_nothing_is_written(
    project: Path, arguments: list[str], error: str
) -> None:
    before = tree(project)
    done = cli("asset", *arguments, cwd=project)

    assert done.returncode == 2
    assert done.stderr.startswith(error), done.stderr
    assert "Traceback" not in done.stderr
    assert tree(project) == before
