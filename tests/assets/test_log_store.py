"""Claims about the hot store: sealing, revising, embedding, packaging, and that nothing is lost."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hotstore import (
    HOW,
    art_draft,
    laid,
    list_files,
    picture,
    sealed_art,
    sealed_audio,
    sha256,
    sound,
)

from completelogs import HEX
from twice.assets.errors import LogRefused, PayloadRefused, StoreRefused
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.io import canonical, log_digest, read_log, to_document
from twice.assets.media.payload import digest_payload
from twice.assets.store import index
from twice.assets.store.checkpoint import checkpoint_path, read_checkpoints
from twice.assets.store.embed import embed, remove_note
from twice.assets.store.package import package
from twice.assets.store.seal import merge_documents, seal, write_log
from twice.assets.store.store import FORMAT, Store, find_store, lay_store, open_store
from twice.errors import OutputExists, OutputUnwritable

UNIT = "TU-2026-01-31-IL01"
REVISE = replace(HOW, revise=True)
BYTES = {"promise": {"mode": "deterministic", "grade": "bytes"}}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return laid(tmp_path)


def list_entries(store: Store) -> list[index.IndexEntry]:
    with index.lock_index(store) as opened:
        return opened.list_entries()


def list_reds(store: Store) -> list[tuple[str, str]]:
    return [
        (row.check, row.evidence) for row in run_gate(store.root).rows if row.status.value == "red"
    ]


def test_a_sealed_log_stands_beside_its_asset_and_in_the_index(store: Store) -> None:
    sealed = sealed_art(store)
    (entry,) = list_entries(store)

    assert (sealed.path, sealed.missing) == (store.root / "art-one.detlog.json", ())
    assert sealed.path.read_bytes() == canonical(read_log(sealed.path))
    assert (entry.log, entry.asset) == ("art-one.detlog.json", "picture.png")
    assert entry.log_digest == log_digest(sealed.log)
    assert find_store(store.root / "picture.png") == store

    before = list_files(store.root)
    sealed_art(store)
    assert list_files(store.root) == before


def test_a_revision_names_the_one_before_by_its_digest(store: Store) -> None:
    first = sealed_art(store)
    text = first.path.read_bytes()
    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    with pytest.raises(OutputExists):
        seal(store, store.root / "picture.png", draft, HOW)
    assert first.path.read_bytes() == text

    second = seal(store, store.root / "picture.png", draft, REVISE)
    digests = {1: log_digest(first.log), 2: log_digest(second.log)}
    assert (second.log.revision, second.log.supersedes) == (2, digests[1])
    assert index.read_revisions(store) == {"art-one": digests}
    assert run_gate(store.root).result is AssetGateResult.PASS

    seal(store, store.root / "picture.png", art_draft(store), replace(HOW, force=True))
    assert first.path.read_bytes() == text


def test_a_draft_brings_no_verdict_of_its_own(store: Store) -> None:
    verdict = {"when": HOW.created, "machine": "m", "outcome": "reproduced", "grade": "payload"}
    with pytest.raises(StoreRefused, match="verdict"):
        sealed_art(store, verdicts=[verdict])
    sealed = sealed_art(store)
    revised = to_document(sealed.log) | {"verdicts": [verdict], "revision": 2}
    write_log(sealed.path, {**revised, "supersedes": log_digest(sealed.log)})

    draft = to_document(read_log(sealed.path))
    kept = seal(store, store.root / "picture.png", draft, REVISE)
    assert (kept.log.revision, len(kept.log.verdicts or ())) == (3, 1)
    draft["verdicts"] = [verdict, {**verdict, "outcome": "differs"}]
    with pytest.raises(StoreRefused, match="verdict"):
        seal(store, store.root / "picture.png", draft, REVISE)


@pytest.mark.parametrize("inside", ["public", "public/deep/hot", "link"])
def test_a_store_inside_the_public_tree_is_refused(tmp_path: Path, inside: str) -> None:
    (tmp_path / "public" / "real").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "public" / "real")
    with pytest.raises(StoreRefused, match="public tree"):
        lay_store(tmp_path / inside, (str(tmp_path / "public"),))
    assert list_files(tmp_path) == {}


def test_a_store_that_became_public_seals_nothing(store: Store) -> None:
    picture(store.root / "a.png")
    before = list_files(store.root)
    for public in (store.root, store.root.parent):
        opened = find_store(store.root, (public,))
        assert opened is not None
        with pytest.raises(StoreRefused, match="public tree"):
            seal(opened, store.root / "a.png", {}, HOW)
    assert list_files(store.root) == before


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], type[Exception], str]] = {
    "an asset outside": ("../a.png", {}, {}, StoreRefused, "does not lie in"),
    "a second log": ("a.png", {"log_id": "art-two"}, {}, StoreRefused, "same payload"),
    "another hash": ("a.png", {"asset": {"file_sha256": HEX}}, {}, StoreRefused, "other bytes"),
    "another payload": ("a.png", {"asset": {"payload": {
        "method": "bytes/1", "digest": f"sha256:{HEX}"}}}, {}, StoreRefused, "other bytes"),
    "steps below zero": ("a.png", {"art": {"steps": -1}}, {}, LogRefused, "/art/steps"),
    "an unknown unit": ("a.png", {"work_unit": "unknown"}, {}, LogRefused, "/work_unit"),
    "an id in promised bytes": ("a.png", BYTES, {"embed": "id"}, StoreRefused, "promised in bytes"),
    "a log in promised bytes": ("a.png", BYTES, {"embed": "log"}, StoreRefused, "promised in bytes"),
    "a note in Ogg": ("a.ogg", {}, {"embed": "id"}, StoreRefused, "only PNG, WAV and FLAC"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_sealed_is_refused_and_nothing_changes(store: Store, name: str) -> None:
    asset, said, how, error, match = REFUSED[name]
    sealed_art(store)
    if asset.endswith("png"):
        picture(store.root / asset)
        said = art_draft(store) | said
    else:
        sound(store.root / asset, subtype="VORBIS")
    before = list_files(store.root.parent)
    with pytest.raises(error, match=match):
        seal(store, store.root / asset, said, replace(HOW, **how))
    assert list_files(store.root.parent) == before


def test_what_is_missing_is_named_and_defaults_of_the_store_fill_what_a_draft_leaves_open(
    store: Store,
) -> None:
    path = store.root / "assets.toml"
    role = '[defaults.producer]\nrole = "illustrator"\n'
    path.write_text(path.read_text("utf-8") + 'seed = {requested = "1"}\n' + role)
    picture(store.root / "a.png")
    draft = {"promise": {"mode": "deterministic"}, "producer": {"name": "Ada"}}
    sealed = seal(open_store(store.root), store.root / "a.png", draft, HOW)

    assert to_document(sealed.log.producer) == {"role": "illustrator", "name": "Ada"}
    assert str(sealed.log.log_id).startswith("a-")
    missing = {each.pointer for each in sealed.missing}
    assert {"/work_unit", "/art", "/seed/effective", "/recipe"} <= missing
    assert not missing & {"/seed", "/producer"}


@pytest.mark.parametrize(
    ("under", "over", "comes"),
    [
        ({"not_applicable": "no preset"}, {"room": 0.6}, {"room": 0.6}),
        ({"room": 0.6}, {"not_applicable": "no preset"}, {"not_applicable": "no preset"}),
        ({"not_applicable": "a"}, {"not_applicable": "b"}, {"not_applicable": "b"}),
        ({"room": 0.6}, {"wet": 0.3}, {"room": 0.6, "wet": 0.3}),
    ],
)
def test_a_value_takes_the_place_of_a_reason_and_the_other_way_round(
    under: dict[str, Any], over: dict[str, Any], comes: dict[str, Any]
) -> None:
    assert merge_documents({"presets": under}, {"presets": over}) == {"presets": comes}


def test_secrets_do_not_reach_a_sidecar(store: Store) -> None:
    draft = art_draft(store)
    draft["recipe"]["env"]["IMAGE_API_KEY"] = "a-very-secret-9"
    draft["recipe"]["argv"] += ["--token", "another-secret-8"]
    draft["art"]["workflow"]["text"] = '{"api_key": "third-secret-7", "seed": 18446744073709551615}'
    draft["art"]["settings"] = {"note": "uses hush-hush-6"}
    picture(store.root / "a.png")
    how = replace(HOW, variables={"MY_TOKEN": "hush-hush-6"})
    sealed = seal(store, store.root / "a.png", draft, how)
    text = sealed.path.read_text("utf-8")

    secrets = ("very-secret", "another-secret", "third-secret", "hush")
    assert [each for each in secrets if each in text] == []
    assert "18446744073709551615" in text
    assert len(sealed.blanked) == 4


@pytest.mark.parametrize("name", ["a.png", "a.wav", "a.flac"])
@pytest.mark.parametrize("what", ["id", "log"])
def test_a_master_carries_its_log_and_keeps_its_payload(store: Store, name: str, what: str) -> None:
    asset = store.root / name
    (picture if name.endswith("png") else sound)(asset)
    before, plain = digest_payload(asset), asset.read_bytes()
    draft = art_draft(store) if name.endswith("png") else {}
    for _ in range(2):
        sealed = seal(store, asset, draft, replace(HOW, embed=what))  # type: ignore[arg-type]
    data = asset.read_bytes()
    start = data.index(b'{"log_id"' if what == "id" else b'{"art"' if draft else b'{"asset"')
    note, _ = json.JSONDecoder().raw_decode(data[start:].decode("latin-1"))

    assert digest_payload(asset) == before
    assert remove_note(data) == plain
    assert note["log_id"] == sealed.log.log_id
    assert set(note) == {"log_id", "payload"} if what == "id" else "asset" in note
    assert sealed.log.asset is not None
    assert sealed.log.asset.file_sha256 == sha256(data)
    assert len(data) < len(plain) + 8000


@pytest.mark.parametrize(
    "beginning", [b"\x89PNG\r\n\x1a\n", b"RIFF\xff\xff\0\0WAVE", b"fLaC", b"RIFF"]
)
@pytest.mark.parametrize("rest", [b"", b"\0", b"\xff" * 30, b"abcd\x05\0\0\0xy"])
def test_damaged_masters_are_refused(beginning: bytes, rest: bytes) -> None:
    assert remove_note(beginning + rest) == beginning + rest
    with pytest.raises(StoreRefused, match="No log can be put into a"):
        embed(beginning + rest, b"{}", "a")


def test_a_master_stays_as_it_is_until_its_successor_is_proven(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_audio(store)
    picture(store.root / "picture.png")
    draft, before = art_draft(store), list_files(store.root)
    monkeypatch.setattr("twice.assets.store.seal.embed", lambda data, _text, _name: data[:60])
    with pytest.raises((PayloadRefused, StoreRefused)):
        seal(store, store.root / "picture.png", draft, replace(HOW, embed="id"))
    assert list_files(store.root) == before


def test_the_gate_misses_a_log_that_its_checkpoint_does_not_name(store: Store) -> None:
    sealed_art(store)
    done = package(store, UNIT, {})
    assert (done.logs, done.report.result) == (("art-one",), AssetGateResult.PASS)
    document = json.loads(checkpoint_path(store, UNIT).read_text())
    assert (document["payload"]["type"], document["safety"]) == ("none", {"player_safe": False})
    (named,) = document["payload"]["data"]["details"]["determinism_logs"]
    assert named["gate"] == "pass"

    sealed_audio(store)
    ((check, evidence),) = list_reds(store)
    assert (check, "does not name" in evidence) == ("checkpoint", True)
    assert package(store, UNIT, {}).logs == ("art-one", "audio-one")
    assert list_reds(store) == []

    draft = art_draft(store) | {"producer": {"role": "art_director"}}
    seal(store, store.root / "picture.png", draft, REVISE)
    assert list_reds(store) == [("checkpoint", f"the checkpoint of {UNIT} names another revision")]

    for data in (b"", b"{", b"[]", b'{"payload": 3}', b"\xff"):
        checkpoint_path(store, UNIT).write_bytes(data)
        assert read_checkpoints(store) == {UNIT: {}}
    assert [check for check, _ in list_reds(store)] == ["checkpoint", "checkpoint"]


def test_a_package_that_travels_holds_what_its_checkpoint_names(
    store: Store, tmp_path: Path
) -> None:
    sealed_art(store)
    sealed_audio(store)
    out = tmp_path / "handover"
    package(store, UNIT, {}, to=out)
    document = json.loads((out / f"{UNIT}.checkpoint.json").read_text())
    named = document["payload"]["data"]["details"]["determinism_logs"]

    assert sorted(list_files(out)) == [
        f"{UNIT}.checkpoint.json", "art-one.detlog.json", "audio-one.detlog.json", "index.json",
    ]  # fmt: skip
    for each in named:
        assert each["log_digest"] == log_digest(read_log(out / each["log"]))
    with pytest.raises(OutputExists):
        package(store, UNIT, {}, to=out)
    with pytest.raises(StoreRefused, match="public tree"):
        package(store, UNIT, {}, to=tmp_path / "public" / "logs")
    with pytest.raises(StoreRefused, match="work unit"):
        package(store, "TU-other", {})


@pytest.mark.parametrize("taken", ["handover", f"handover/{UNIT}.checkpoint.json/x"])
def test_a_package_that_cannot_be_written_leaves_the_checkpoint_as_it_was(
    store: Store, tmp_path: Path, taken: str
) -> None:
    sealed_art(store)
    package(store, UNIT, {})
    sealed_audio(store)
    (tmp_path / taken).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / taken).write_bytes(b"")
    before = list_files(store.root)
    with pytest.raises(OutputUnwritable, match="handover"):
        package(store, UNIT, {}, to=tmp_path / "handover", force=True)
    assert list_files(store.root) == before


def harm_index(store: Store, data: bytes | None) -> None:
    path = store.root / index.NAME
    path.unlink()
    if data is not None:
        path.write_bytes(data)


def list_unsealed(store: Store) -> list[str]:
    return [row.asset for row in run_gate(store.root).wanting() if row.check == "sealed"]


@pytest.mark.parametrize("data", [None, b""])
def test_an_index_that_is_not_there_is_made_anew_and_does_not_say_what_was_sealed(
    store: Store, data: bytes | None
) -> None:
    first = sealed_art(store)
    harm_index(store, data)
    assert list_unsealed(store) == ["picture.png"]

    second = sealed_audio(store)
    assert {each.log_id for each in list_entries(store)} == {second.log.log_id, first.log.log_id}
    assert list_unsealed(store) == ["picture.png"]
    seal(store, store.root / "picture.png", to_document(first.log), HOW)
    assert list_unsealed(store) == []


@pytest.mark.parametrize(
    "data", [b"{" * 5000, b"SQLite format 3\0" + b"\xff" * 4080, "no tables", "another version"]
)
def test_a_damaged_index_is_refused_and_nothing_is_written_over_it(
    store: Store, data: bytes | str
) -> None:
    sealed_art(store)
    harm_index(store, None if isinstance(data, str) else data)
    if isinstance(data, str):
        with closing(sqlite3.connect(store.root / index.NAME)) as made:
            made.execute(f"PRAGMA user_version = {2 if data == 'no tables' else 7}")
    before = list_files(store.root)
    with pytest.raises(StoreRefused, match="is damaged"):
        seal(store, store.root / "picture.png", art_draft(store) | {"log_id": "art-two"}, HOW)
    assert list_unsealed(store) == ["picture.png"]
    assert list_files(store.root) == before


def test_seals_at_once_lose_no_entry_and_of_those_of_one_payload_one_is_kept(store: Store) -> None:
    draft = art_draft(store)
    colours = {f"art-{at}": min(at, 5) for at in range(8)}

    def run(log_id: str) -> str:
        picture(store.root / f"{log_id}.png", colour=colours[log_id])
        try:
            seal(store, store.root / f"{log_id}.png", draft | {"log_id": log_id}, HOW)
        except StoreRefused:
            return ""
        return log_id

    with ThreadPoolExecutor(8) as pool:
        ended = sorted(pool.map(run, colours))
    entries = list_entries(store)

    assert (len(ended), ended[:2]) == (8, ["", ""])
    assert sorted(each.log_id for each in entries) == ended[2:]
    assert len(list(store.root.glob("*.detlog.json"))) == 6


def test_a_store_that_cannot_be_used_is_one_error_and_keeps_the_log_that_it_has(
    store: Store, tmp_path: Path
) -> None:
    sealed_art(store)
    (store.root / index.NAME).unlink()
    (store.root / index.NAME).mkdir()
    before = list_files(tmp_path)
    with pytest.raises(StoreRefused, match=index.NAME):
        sealed_art(store, producer={"role": "another"})
    assert list_files(tmp_path) == before

    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path / "file", tmp_path / "file" / "hot"):
        with pytest.raises(OutputUnwritable, match="file"):
            lay_store(place, ())
    for text in (None, "[", 'format = "x"', f'format = "{FORMAT}"\npublic = 3'):
        if text is not None:
            (tmp_path / "assets.toml").write_text(text)
        with pytest.raises(StoreRefused):
            open_store(tmp_path)
