"""Claims about the hot store: sealing, revising, embedding, packaging, and that nothing is lost."""

from __future__ import annotations

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hotstore import HOW, art_draft, laid, picture, sealed_art, sealed_audio, sha256, sound

from completelogs import HEX
from twice.assets.errors import LogRefused, PayloadRefused, StoreRefused
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.io import canonical, log_digest, read_log, to_document
from twice.assets.media.payload import digest_payload
from twice.assets.store import index
from twice.assets.store.checkpoint import checkpoint_path, read_checkpoint
from twice.assets.store.embed import embed, extract_note
from twice.assets.store.package import package
from twice.assets.store.seal import seal, write_log
from twice.assets.store.store import find_store, lay_store, open_store
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
    ((entry,), _) = index.read_index(store) or ((), {})

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


def test_a_revision_names_the_one_before_by_its_digest(tmp_path: Path) -> None:
    store = laid(tmp_path)
    first = sealed_art(store)
    text = first.path.read_bytes()
    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    with pytest.raises(OutputExists):
        seal(store, store.root / "picture.png", draft, HOW)
    assert first.path.read_bytes() == text

    second = seal(store, store.root / "picture.png", draft, replace(HOW, revise=True))

    assert (second.log.revision, second.log.supersedes) == (2, log_digest(first.log))
    found = index.read_index(store)
    assert found is not None
    assert found[1] == {"art-one": {1: log_digest(first.log), 2: log_digest(second.log)}}
    assert run_gate(store.root).result is AssetGateResult.PASS

    seal(store, store.root / "picture.png", art_draft(store), replace(HOW, force=True))
    assert first.path.read_bytes() == text


def test_a_draft_brings_no_verdict_of_its_own(tmp_path: Path) -> None:
    store = laid(tmp_path)
    verdict = {"when": HOW.created, "machine": "m", "outcome": "reproduced", "grade": "payload"}
    with pytest.raises(StoreRefused, match="verdict"):
        sealed_art(store, verdicts=[verdict])
    sealed = sealed_art(store)
    document = to_document(sealed.log)
    revised = {**document, "verdicts": [verdict], "revision": 2}
    write_log(sealed.path, {**revised, "supersedes": log_digest(sealed.log)})

    draft = to_document(read_log(sealed.path))
    kept = seal(store, store.root / "picture.png", draft, replace(HOW, revise=True))
    assert (kept.log.revision, len(kept.log.verdicts or ())) == (3, 1)
    draft["verdicts"] = [verdict, {**verdict, "outcome": "differs"}]
    with pytest.raises(StoreRefused, match="verdict"):
        seal(store, store.root / "picture.png", draft, replace(HOW, revise=True))


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
    before = digest_payload(store.root / name)
    size = (store.root / name).stat().st_size
    draft = art_draft(store) if name.endswith("png") else {}
    for _ in range(2):
        sealed = seal(store, store.root / name, draft, replace(HOW, embed=what))  # type: ignore[arg-type]
    data = (store.root / name).read_bytes()
    note = json.loads(extract_note(data) or b"")

    assert digest_payload(store.root / name).digest == before.digest
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
    assert tree(tmp_path) == before | {f"hot/{index.NAME}": b""}


@pytest.mark.parametrize("beginning", [b"\x89PNG\r\n\x1a\n", b"RIFF\xff\xff\0\0WAVE", b"fLaC"])
@pytest.mark.parametrize("rest", [b"", b"\0", b"\xff" * 30, b"abcd\x05\0\0\0xy"])
def test_damaged_masters_are_refused(beginning: bytes, rest: bytes) -> None:
    assert extract_note(beginning + rest) is None
    try:
        embed(beginning + rest, b"{}", "a")
    except StoreRefused:
        pass


def test_a_package_names_every_log_and_the_gate_misses_one_that_it_does_not(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    done = package(store, UNIT, {})
    assert done.logs == ("art-one",)
    assert done.report.result is AssetGateResult.PASS
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
    assert run_gate(store.root).result is AssetGateResult.PASS


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

    assert read_checkpoint(store, UNIT) == {}
    assert [row.check for row in run_gate(store.root).rows if row.status == "red"] == ["checkpoint"]


@pytest.mark.parametrize("data", [None, b"", b"{", b"SQLite format 3\0" + b"\xff" * 4080])
def test_an_index_that_is_damaged_or_not_there_is_made_anew(
    tmp_path: Path, data: bytes | None
) -> None:
    store = laid(tmp_path)
    first = sealed_art(store)
    path = store.root / index.NAME
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    assert index.read_index(store) is None

    second = sealed_audio(store)
    found = index.read_index(store)

    assert found is not None
    assert {each.log_id for each in found[0]} == {second.log.log_id, first.log.log_id}
    assert found[0] == sorted(index.collect_entries(store), key=lambda each: each.payload)


def test_seals_at_once_lose_no_entry(tmp_path: Path) -> None:
    store = laid(tmp_path)
    drafts = {f"p{at}.png": art_draft(store) | {"log_id": f"art-{at}"} for at in range(8)}
    for at, name in enumerate(drafts):
        picture(store.root / name, colour=at)

    def run(name: str) -> str:
        return str(seal(store, store.root / name, drafts[name], HOW).log.log_id)

    with ThreadPoolExecutor(8) as pool:
        sealed = set(pool.map(run, drafts))
    found = index.read_index(store)

    assert found is not None
    assert {each.log_id for each in found[0]} == sealed
    assert len(sealed) == 8


def test_of_two_seals_of_one_payload_at_once_one_is_refused(tmp_path: Path) -> None:
    store = laid(tmp_path)
    draft = art_draft(store)

    def run(name: str) -> str:
        try:
            return str(
                seal(store, store.root / name, draft | {"log_id": name[:-4]}, HOW).log.log_id
            )
        except StoreRefused:
            return "refused"

    names = ["first.png", "second.png", "third.png"]
    for name in names:
        picture(store.root / name)
    with ThreadPoolExecutor(3) as pool:
        ended = sorted(pool.map(run, names))

    assert ended.count("refused") == 2
    assert len(list(store.root.glob("*.detlog.json"))) == 1


def test_a_store_that_takes_no_more_keeps_the_log_that_it_has(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed = sealed_art(store)
    (store.root / index.NAME).unlink()
    (store.root / index.NAME).mkdir()
    before = tree(tmp_path)
    draft = art_draft(store) | {"producer": {"role": "another"}}
    with pytest.raises(OutputUnwritable, match=index.NAME):
        seal(store, store.root / "picture.png", draft, replace(HOW, revise=True))
    assert tree(tmp_path) == before
    assert sealed.path.exists()


@pytest.mark.parametrize("at", [0, 1])
def test_a_disk_that_is_full_while_sealing_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    before = tree(tmp_path)
    left = [at]

    def sync(_descriptor: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(OutputUnwritable, match="No space"):
        seal(
            store,
            store.root / "picture.png",
            art_draft(store),
            replace(HOW, revise=True, embed="id"),
        )
    assert tree(tmp_path) == before


def test_a_master_stays_as_it_is_until_its_successor_is_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = laid(tmp_path)
    picture(store.root / "picture.png")
    draft = art_draft(store)
    before = tree(tmp_path)
    monkeypatch.setattr("twice.assets.store.seal.embed", lambda data, _text, _name: data[:60])
    with pytest.raises((PayloadRefused, StoreRefused)):
        seal(store, store.root / "picture.png", draft, replace(HOW, embed="id"))

    after = tree(tmp_path)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {f"hot/{index.NAME}"}


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
