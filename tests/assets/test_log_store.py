"""Claims about the hot store: sealing, revising, embedding, packaging, and that nothing is lost."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hotstore import HOW, art_draft, laid, picture, sealed_art, sealed_audio, sha256, sound

from completelogs import HEX
from twice.assets.errors import LogRefused, StoreRefused
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import Result
from twice.assets.log.io import canonical, log_digest, read_log
from twice.assets.payload import payload
from twice.assets.store import index
from twice.assets.store.checkpoint import checkpoint_path, listed
from twice.assets.store.embedding import embed, embedded
from twice.assets.store.packaging import package
from twice.assets.store.project import find_store, lay_store, open_store
from twice.assets.store.sealing import seal
from twice.errors import OutputExists, OutputUnwritable

UNIT = "TU-2026-01-31-IL01"


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_sealed_log_stands_beside_its_asset_and_in_the_index(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed = sealed_art(store)
    (entry,) = index.read(store)

    assert sealed.path == store.root / "art-one.detlog.json"
    assert sealed.missing == ()
    assert sealed.path.read_bytes() == canonical(read_log(sealed.path))
    assert (entry.log, entry.asset) == ("art-one.detlog.json", "picture.png")
    assert entry.log_digest == log_digest(sealed.log)
    assert find_store(store.root / "picture.png") == store


def test_sealing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    before = tree(tmp_path)
    sealed_art(store)

    assert tree(tmp_path) == before


def test_a_revision_supersedes_and_keeps_the_one_before(tmp_path: Path) -> None:
    store = laid(tmp_path)
    first = sealed_art(store)
    text = first.path.read_bytes()
    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    with pytest.raises(OutputExists):
        seal(store, store.root / "picture.png", draft, HOW)
    assert first.path.read_bytes() == text

    second = seal(store, store.root / "picture.png", draft, replace(HOW, revise=True))
    kept = list((store.root / "superseded").iterdir())

    assert (second.log.revision, second.log.supersedes) == (2, log_digest(first.log))
    assert [path.read_bytes() for path in kept] == [text]
    assert run_gate(store.root).result is Result.PASS


def test_force_writes_over_a_log_and_keeps_it_all_the_same(tmp_path: Path) -> None:
    store = laid(tmp_path)
    text = sealed_art(store).path.read_bytes()
    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    seal(store, store.root / "picture.png", draft, replace(HOW, force=True))

    assert [path.read_bytes() for path in (store.root / "superseded").iterdir()] == [text]


@pytest.mark.parametrize("inside", ["public", "public/deep/hot"])
def test_a_store_inside_the_public_tree_is_refused(tmp_path: Path, inside: str) -> None:
    with pytest.raises(StoreRefused, match="public tree"):
        lay_store(tmp_path / inside, (str(tmp_path / "public"),))
    assert not (tmp_path / inside).exists()


def test_a_store_that_became_public_seals_nothing(tmp_path: Path) -> None:
    store = laid(tmp_path)
    picture(store.root / "a.png")
    before = tree(tmp_path)
    for public in (store.root, tmp_path):
        opened = find_store(store.root, (public,))
        assert opened is not None
        with pytest.raises(StoreRefused, match="public tree"):
            seal(opened, store.root / "a.png", {}, HOW)

    assert tree(tmp_path) == before


def test_a_link_into_the_public_tree_is_seen_through(tmp_path: Path) -> None:
    (tmp_path / "public" / "real").mkdir(parents=True)
    (tmp_path / "hot").symlink_to(tmp_path / "public" / "real")

    with pytest.raises(StoreRefused, match="public tree"):
        lay_store(tmp_path / "hot", (str(tmp_path / "public"),))


def test_an_asset_outside_of_the_store_is_refused(tmp_path: Path) -> None:
    store = laid(tmp_path)
    picture(tmp_path / "elsewhere.png")

    with pytest.raises(StoreRefused, match="does not lie in"):
        seal(store, tmp_path / "elsewhere.png", {}, HOW)


def test_a_second_log_for_one_payload_is_refused(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    picture(store.root / "copy.png")
    before = tree(tmp_path)

    with pytest.raises(StoreRefused, match="same payload"):
        seal(store, store.root / "copy.png", art_draft(store) | {"log_id": "art-two"}, HOW)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "asset", [{"file_sha256": HEX}, {"payload": {"method": "bytes/1", "digest": f"sha256:{HEX}"}}]
)
def test_a_draft_about_other_bytes_is_refused(tmp_path: Path, asset: dict[str, object]) -> None:
    store = laid(tmp_path)
    picture(store.root / "a.png")

    with pytest.raises(StoreRefused, match="other bytes"):
        seal(store, store.root / "a.png", {"asset": asset}, HOW)


def test_what_cannot_be_is_refused_and_what_is_missing_is_named(tmp_path: Path) -> None:
    store = laid(tmp_path)
    picture(store.root / "a.png")
    with pytest.raises(LogRefused, match="/art/steps"):
        seal(store, store.root / "a.png", art_draft(store) | {"art": {"steps": -1}}, HOW)
    with pytest.raises(LogRefused, match="/work_unit"):
        seal(store, store.root / "a.png", {"work_unit": "unknown"}, HOW)

    sealed = seal(store, store.root / "a.png", {"promise": {"mode": "deterministic"}}, HOW)
    assert {"/work_unit", "/art", "/seed", "/recipe"} <= {each.pointer for each in sealed.missing}
    assert sealed.log.log_id is not None
    assert sealed.log.log_id.startswith("a-")


def test_defaults_of_the_store_fill_what_a_draft_leaves_open(tmp_path: Path) -> None:
    store = laid(tmp_path)
    path = store.root / "assets.toml"
    path.write_text(
        path.read_text("utf-8") + 'work_unit = "TU-1"\n[defaults.producer]\nrole = "illustrator"\n'
    )
    found = find_store(store.root)
    assert found is not None
    picture(store.root / "a.png")
    sealed = seal(found, store.root / "a.png", {"producer": {"name": "Ada"}}, HOW)

    assert (sealed.log.work_unit, sealed.log.producer.role, sealed.log.producer.name) == (  # type: ignore[union-attr]
        "TU-1", "illustrator", "Ada",
    )  # fmt: skip


def test_secrets_do_not_reach_a_sidecar(tmp_path: Path) -> None:
    store = laid(tmp_path)
    draft = art_draft(store)
    draft["recipe"]["env"]["IMAGE_API_KEY"] = "a-very-secret-9"
    draft["recipe"]["argv"] += ["--token", "another-secret-8"]
    draft["art"]["workflow"]["text"] = '{"api_key": "third-secret-7", "seed": 18446744073709551615}'
    draft["art"]["settings"] = {"note": "uses hush-hush-6"}
    picture(store.root / "a.png")
    how = replace(HOW, variables={"MY_TOKEN": "hush-hush-6"})
    sealed = seal(store, store.root / "a.png", draft, how)
    text = sealed.path.read_text("utf-8")

    assert [
        each for each in ("very-secret", "another-secret", "third-secret", "hush") if each in text
    ] == []
    assert "18446744073709551615" in text
    assert len(sealed.blanked) == 4


@pytest.mark.parametrize("name", ["a.png", "a.wav", "a.flac"])
@pytest.mark.parametrize("what", ["id", "log"])
def test_a_master_carries_its_log_and_keeps_its_payload(
    tmp_path: Path, name: str, what: str
) -> None:
    store = laid(tmp_path)
    (picture if name.endswith("png") else sound)(store.root / name)
    before = payload(store.root / name)
    size = (store.root / name).stat().st_size
    draft = art_draft(store) if name.endswith("png") else {}
    for _ in range(2):
        sealed = seal(store, store.root / name, draft, replace(HOW, embed=what))  # type: ignore[arg-type]
    data = (store.root / name).read_bytes()
    note = json.loads(embedded(data) or b"")

    assert payload(store.root / name).digest == before.digest
    assert (
        note["log_id"] if what == "id" else note["asset"]["payload"]["digest"]
    ) in sealed.path.read_text()
    assert (
        set(note) == {"log_id", "payload"} if what == "id" else "promise" in note or "kind" in note
    )
    assert sealed.log.asset is not None
    assert sealed.log.asset.file_sha256 == sha256(data)
    assert size < len(data) < size + 8000


def test_a_master_of_another_container_is_refused_untouched(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sound(store.root / "a.ogg", subtype="VORBIS")
    before = tree(tmp_path)

    with pytest.raises(StoreRefused, match="only PNG, WAV and FLAC"):
        seal(store, store.root / "a.ogg", {}, replace(HOW, embed="id"))
    assert tree(tmp_path) == before


@pytest.mark.parametrize("beginning", [b"\x89PNG\r\n\x1a\n", b"RIFF\xff\xff\0\0WAVE", b"fLaC"])
@pytest.mark.parametrize("rest", [b"", b"\0", b"\xff" * 30, b"abcd\x05\0\0\0xy"])
def test_damaged_masters_are_refused(beginning: bytes, rest: bytes) -> None:
    assert embedded(beginning + rest) is None
    try:
        embed(beginning + rest, b"{}", "a")
    except StoreRefused:
        pass


def test_a_package_names_every_log_and_the_gate_misses_one_that_it_does_not(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    done = package(store, UNIT, {})
    assert done.logs == ("art-one",)
    assert done.report.result is Result.PASS
    document = json.loads(checkpoint_path(store, UNIT).read_text())
    assert document["payload"]["type"] == "none"
    assert document["safety"]["player_safe"] is False
    assert [
        each["gate"] for each in document["payload"]["data"]["details"]["determinism_logs"]
    ] == ["pass"]

    sealed_audio(store)
    reds = [row for row in run_gate(store.root).rows if row.status == "red"]
    assert [(row.asset, row.check) for row in reds] == [("cue.wav", "checkpoint")]
    assert "does not name" in reds[0].evidence

    again = package(store, UNIT, {})
    assert again.logs == ("art-one", "audio-one")
    assert run_gate(store.root).result is Result.PASS


def test_a_log_that_was_revised_since_is_not_the_one_that_the_checkpoint_names(
    tmp_path: Path,
) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    package(store, UNIT, {})
    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    seal(store, store.root / "picture.png", draft, replace(HOW, revise=True))
    reds = [row for row in run_gate(store.root).rows if row.status == "red"]

    assert [(row.check, row.evidence) for row in reds] == [
        ("checkpoint", f"the checkpoint of {UNIT} names another revision")
    ]


def test_a_package_that_travels_holds_what_its_checkpoint_names(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    sealed_audio(store)
    out = tmp_path / "handover"
    package(store, UNIT, {}, to=out)
    document = json.loads((out / f"{UNIT}.checkpoint.json").read_text())
    named = document["payload"]["data"]["details"]["determinism_logs"]

    assert sorted(tree(out)) == [
        f"{UNIT}.checkpoint.json", "art-one.detlog.json", "audio-one.detlog.json", "index.json",
    ]  # fmt: skip
    assert [each["log_digest"] for each in named] == [
        log_digest(read_log(out / each["log"])) for each in named
    ]
    with pytest.raises(OutputExists):
        package(store, UNIT, {}, to=out)
    with pytest.raises(StoreRefused, match="public tree"):
        package(store, UNIT, {}, to=tmp_path / "public" / "logs")
    with pytest.raises(StoreRefused, match="work unit"):
        package(store, "TU-other", {})


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"payload": 3}', b"\xff"])
def test_a_torn_checkpoint_names_nothing(tmp_path: Path, data: bytes) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    package(store, UNIT, {})
    checkpoint_path(store, UNIT).write_bytes(data)

    assert listed(store, UNIT) == {}
    assert [row.check for row in run_gate(store.root).rows if row.status == "red"] == ["checkpoint"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"format": "x"}', b'{"format": "twice.asset-index/1"}']
)
def test_a_torn_index_is_made_anew(tmp_path: Path, data: bytes) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    before = index.read(store)
    part = next((store.root / index.NAME).glob("[0-9a-f][0-9a-f].json"))
    part.write_bytes(data)

    assert index.read(store) == before


def test_a_seal_reads_and_writes_one_part_of_the_index(tmp_path: Path) -> None:
    store = laid(tmp_path)
    first = sealed_art(store, "first.png")
    parts = {path: path.stat().st_mtime_ns for path in (store.root / index.NAME).iterdir()}

    audio_log = sealed_audio(store)

    after = {path: path.stat().st_mtime_ns for path in (store.root / index.NAME).iterdir()}
    touched = {path.name for path in after if parts.get(path) != after[path]}
    entry = index.entry_of(store, audio_log.path, audio_log.log)
    assert entry is not None
    assert touched == {f"{entry.payload.rpartition(':')[2][:2]}.json"}
    assert {each.log_id for each in index.read(store)} == {first.log.log_id, audio_log.log.log_id}
    assert sorted(map(str, index.read(store))) == sorted(map(str, index.made(store)))


def test_an_index_that_was_not_written_to_its_end_is_made_anew(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed = sealed_art(store)
    folder = store.root / index.NAME
    for path in folder.iterdir():
        path.unlink()

    (entry,) = index.read(store)

    assert entry.log_id == sealed.log.log_id
    assert index.about(store, entry.payload) == [entry]


@pytest.mark.parametrize("blocked", ["detlogs.index", "superseded"])
def test_a_store_that_takes_no_more_keeps_the_log_that_it_has(tmp_path: Path, blocked: str) -> None:
    store = laid(tmp_path)
    sealed = sealed_art(store)
    before = sealed.path.read_bytes()
    shutil.rmtree(store.root / blocked, ignore_errors=True)
    (store.root / blocked).write_bytes(b"")
    revise = replace(HOW, revise=True)
    draft = art_draft(store) | {"producer": {"role": "another"}}
    with pytest.raises(OutputUnwritable, match=blocked):
        seal(store, store.root / "picture.png", draft, revise)
    assert sealed.path.read_bytes() == before
    assert sorted(path.name for path in store.root.glob("*.detlog.json")) == [sealed.path.name]


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path / "file", tmp_path / "file" / "hot"):
        with pytest.raises(OutputUnwritable, match="file"):
            lay_store(place, ())
    with pytest.raises(StoreRefused, match="is no hot store"):
        open_store(tmp_path)


@pytest.mark.parametrize("what", ["id", "log"])
def test_a_promise_of_bytes_is_not_broken_by_a_log_inside(tmp_path: Path, what: str) -> None:
    store = laid(tmp_path)
    picture(store.root / "picture.png")
    before = (store.root / "picture.png").read_bytes()
    draft = art_draft(store) | {"promise": {"mode": "deterministic", "grade": "bytes"}}
    with pytest.raises(StoreRefused, match="promised in bytes"):
        seal(store, store.root / "picture.png", draft, replace(HOW, embed=what))
    assert (store.root / "picture.png").read_bytes() == before
    assert list(store.root.glob("*.detlog.json")) == []
