"""From a draft and a file to a sealed log: measured, filled, written beside the asset and indexed.

A seal says which bytes a log is about. Whether the log is good enough is for the gate; what cannot be a
log at all is refused here.

Invariant: the sidecar is written before the index, each whole or not at all, and nothing is lost: a
revision that is superseded moves to ``superseded/``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeGuard

from twice.assets.errors import StoreRefused
from twice.assets.log.block import EXCUSE
from twice.assets.log.io import (
    Problem,
    canonical,
    canonical_document,
    examine,
    examine_bytes,
    log_digest,
    read_bytes,
    refusal,
    sidecar_name,
    to_document,
)
from twice.assets.log.kinds import Fault
from twice.assets.log.models import FORMAT, DeterminismLog, Grade
from twice.assets.measuring.file import measure_file
from twice.assets.payload import payload
from twice.assets.store import index
from twice.assets.store.embedding import embed
from twice.assets.store.project import Store
from twice.assets.store.secrets import redacted
from twice.errors import OutputExists
from twice.writing import make_folder, write

SUPERSEDED: Final = "superseded"


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a seal came to: the sidecar, the log, what it does not say yet, and secrets blanked."""

    path: Path
    log: DeterminismLog
    missing: tuple[Problem, ...]
    blanked: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Give it as ``twice asset seal --json`` prints it."""
        return {
            "format": "twice.asset-seal/1",
            "log": str(self.path),
            "log_id": self.log.log_id,
            "revision": self.log.revision,
            "missing": [each.pointer for each in self.missing],
            "blanked": list(self.blanked),
        }


@dataclass(frozen=True, slots=True)
class Sealing:
    """How to seal.

    Args:
        created: the instant, for a draft that names none.
        nonce: 32 hex digits drawn by chance, for a draft that has none.
        revise: whether to supersede the log of the same id.
        embed: what the master carries: nothing, the id, or the whole log.
        force: whether to write over a log of the same id, which is kept in ``superseded/`` all the same.
        variables: the environment whose secrets are known.
    """

    created: str
    nonce: str
    revise: bool = False
    embed: Literal["nothing", "id", "log"] = "nothing"
    force: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


def seal(store: Store, asset: Path, draft: Mapping[str, Any], how: Sealing) -> Sealed:
    """Seal the log of an asset.

    Args:
        store: the hot store; the asset lies in it.
        asset: the file.
        draft: what is known, as a part of a document; what is measured from the file is put in.
        how: what to fill in and what is allowed.

    Raises:
        StoreRefused: E-ASSET-STORE-001: the store is public, the asset is not in it, another log has
            the payload, or the draft is about other bytes.
        LogRefused: E-ASSET-LOG-002: the draft says something that cannot be.
        OutputExists: E-OUTPUT-001: there is another log of that id.
    """
    store.refuse_public()
    _refuse_outside(store, asset)
    measured = to_document(measure_file(asset))
    document = _filled(store, asset, draft, measured, how)
    sidecar = asset.parent / sidecar_name(str(document["log_id"]))
    earlier = examine_bytes(read_bytes(sidecar), str(sidecar))[1].log if sidecar.exists() else None
    if how.revise and earlier is not None:
        document |= {"revision": (earlier.revision or 1) + 1, "supersedes": log_digest(earlier)}
    checked = examine(document)
    wrong = [each for each in checked.problems if each.fault is not Fault.MISSING]
    if wrong:
        raise refusal(f"The log of {asset.name}", wrong[0], len(wrong))
    _refuse_broken_promise(checked.log, asset, how)
    document, blanked = redacted(document, how.variables)
    checked = examine(document)
    _refuse_second(store, checked.log, sidecar)
    index.prepare(store)
    if earlier is not None and canonical(earlier) != canonical(checked.log):
        _supersede(store, sidecar, earlier, checked.log, how)
    if how.embed != "nothing":
        document["asset"] = _embedded(asset, document, how)
        _witness(document, asset.name)
        checked = examine(document)
    write(sidecar, canonical(checked.log))
    entry = index.entry_of(store, sidecar, checked.log)
    assert entry is not None, "a sealed log says what it is about"
    index.put(store, entry, before=index.payload_key(earlier) if earlier is not None else None)
    return Sealed(sidecar, checked.log, checked.problems, tuple(blanked))


def joined(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Put one part of a document over another, object by object; a reason and a value do not mix."""
    merged = dict(base)
    for name, value in over.items():
        inner = merged.get(name)
        if _mixes(inner) and _mixes(value):
            merged[name] = joined(inner, value)
        else:
            merged[name] = value
    return merged


def _mixes(part: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a part is an object of values, not the reason why there is none."""
    return isinstance(part, Mapping) and EXCUSE not in part


def _filled(
    store: Store, asset: Path, draft: Mapping[str, Any], measured: dict[str, Any], how: Sealing
) -> dict[str, Any]:
    said = draft.get("asset")
    for name in ("file_sha256", "payload"):
        if isinstance(said, Mapping) and name in said and said[name] != measured[name]:
            raise StoreRefused(
                f"The draft is about other bytes than {asset.name}: its asset/{name} differs.",
                f"Expected {measured[name]}.",
                "Name the file that was rendered, or take the asset block out of the draft.",
            )
    own: dict[str, Any] = {
        "format": FORMAT,
        "created": how.created,
        "nonce": how.nonce,
        "revision": 1,
    }
    filled: dict[str, Any] = joined(joined(own, store.defaults), draft) | {"asset": measured}
    kind = {"image": "art", "audio": "audio"}.get(measured["media_type"].partition("/")[0])
    if kind is not None:
        filled.setdefault("kind", kind)
    slug = re.sub("[^A-Za-z0-9]+", "-", asset.stem).strip("-")[:60] or "asset"
    filled.setdefault("log_id", f"{slug}-{measured['payload']['digest'].partition(':')[2][:8]}")
    _witness(filled, asset.name)
    return filled


def _witness(document: dict[str, Any], name: str) -> None:
    """Say that the asset's block was measured from the file, unless the draft says otherwise."""
    evidence = document.setdefault("evidence", {})
    chunk = "measured from the file"
    said = evidence.get("/asset", {"chunk": chunk}) if isinstance(evidence, Mapping) else None
    if isinstance(said, Mapping) and said.get("chunk") == chunk:
        digest = document["asset"]["file_sha256"]
        witnessed = {"level": "imported", "file": name, "sha256": digest, "chunk": chunk}
        document["evidence"] = {**evidence, "/asset": witnessed}


def _refuse_outside(store: Store, asset: Path) -> None:
    if store.root not in asset.resolve().parents:
        raise StoreRefused(
            f"{asset} does not lie in the hot store {store.root}.",
            "Expected an asset inside the store, so that its log stands beside it.",
            "Move it there, or name its store: --store FOLDER",
        )


def _refuse_broken_promise(log: DeterminismLog, asset: Path, how: Sealing) -> None:
    """Refuse to write into a file whose very bytes are promised: no rendering could come to them."""
    promised = log.promise.grade if log.promise is not None else None
    if how.embed != "nothing" and promised is Grade.BYTES:
        raise StoreRefused(
            f"{asset.name} is promised in bytes, and a log inside would change them.",
            "Expected a promise of the payload, or a log beside the file alone.",
            "Seal it without --embed, or: --set promise.grade=payload",
        )


def _refuse_second(store: Store, log: DeterminismLog, sidecar: Path) -> None:
    """Refuse a second log for one payload."""
    key, here = index.payload_key(log), store.named(sidecar)
    others = [
        each
        for each in (index.about(store, key) if key is not None else ())
        if each.log != here and (store.root / each.log).exists()
    ]
    if others:
        raise StoreRefused(
            f"{others[0].log} is about the same payload as {log.asset.file if log.asset else '?'}.",
            "Expected one log for one payload.",
            f"Revise that one: twice asset seal ASSET --log DRAFT --id {others[0].log_id} --revise",
        )


def _supersede(
    store: Store, sidecar: Path, earlier: DeterminismLog, log: DeterminismLog, how: Sealing
) -> None:
    """Move the text of an earlier revision out of the way."""
    follows = log.supersedes == log_digest(earlier) and log.revision == (earlier.revision or 1) + 1
    if not follows and not how.force:
        raise OutputExists(
            f"{sidecar} is there already, and says something else.",
            "Expected a log that is new, or the next revision of that one.",
            "Supersede it: add --revise",
        )
    kept = make_folder(store.root / SUPERSEDED)
    write(
        kept / f"{earlier.log_id}.r{earlier.revision or 1}.{log_digest(earlier)[7:15]}.json",
        sidecar.read_bytes(),
    )


def _embedded(asset: Path, document: dict[str, Any], how: Sealing) -> dict[str, Any]:
    """Put log id and payload, or the log without its file's own hash, into the master."""
    before = payload(asset)
    note: dict[str, Any] = {"log_id": document["log_id"], "payload": document["asset"]["payload"]}
    if how.embed == "log":
        about = {
            name: part for name, part in document["asset"].items()
            if name not in {"file_sha256", "size_bytes"}
        }  # fmt: skip
        note = document | {"asset": about}
    old = asset.read_bytes()
    new = embed(old, canonical_document(note), asset.name)
    write(asset, new)
    if payload(asset).digest != before.digest:
        write(asset, old)
        raise StoreRefused(
            f"The payload of {asset.name} would not stay as it is with a log inside.",
            "Expected a container that keeps them apart.",
            "Seal it without --embed.",
        )
    described: dict[str, Any] = to_document(measure_file(asset))
    return described
