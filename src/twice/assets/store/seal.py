"""From a draft and a file to a sealed log: measured, filled, rid of secrets, written beside the asset and indexed.

A seal says which bytes a log is about. Whether the log is good enough is for the gate; what cannot be a log at all is
refused here. The text of an earlier revision is not kept: the next one has its digest, and so has the index. Blanked are
keys of services, tokens, passwords in URLs and arguments, by their names or shapes; a prompt or a voice id has no shape.

Invariant: everything new lies on the disk, and is proven, before anything is replaced: then the index, the master and
the sidecar change, each whole or not at all. Only the index needs room for it, so it goes first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from twice.assets.errors import StoreRefused
from twice.assets.log.block import EXCUSE
from twice.assets.log.io import (
    Problem,
    canonical,
    canonical_document,
    escape,
    examine,
    examine_bytes,
    log_digest,
    read_bytes,
    refusal,
    sidecar_name,
    to_document,
    unescape,
)
from twice.assets.log.kinds import Fault
from twice.assets.log.models import FORMAT, SUFFIX, DeterminismLog, Grade
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.media.payload import digest_payload
from twice.assets.store.embed import embed
from twice.assets.store.index import StoreIndex, lock_index, make_entry, payload_key
from twice.assets.store.store import Store, find_store
from twice.errors import OutputExists
from twice.recorder.redaction.fields import is_secret
from twice.recorder.redaction.redaction import Redaction
from twice.writing import write

_MEASURED: Final = "measured from the file"
_TABLES: Final = frozenset({"env", "settings", "args", "presets"})
"""Where names are chosen by programs, so that a name may say that its value is secret."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a seal came to: the sidecar, the log, what it does not say yet, and pointers of blanked secrets."""

    path: Path
    log: DeterminismLog
    missing: tuple[Problem, ...]
    blanked: list[str]

    def to_json(self) -> dict[str, object]:
        """Return it as ``twice asset seal --json`` prints it."""
        return {
            "format": "twice.asset-seal/1",
            "log": str(self.path),
            "log_id": self.log.log_id,
            "revision": self.log.revision,
            "missing": [each.pointer for each in self.missing],
            "blanked": self.blanked,
        }


@dataclass(frozen=True, slots=True)
class Sealing:
    """How to seal.

    Args:
        created: the instant, for a draft that names none.
        nonce: 32 hex digits drawn by chance, for a draft that has none.
        revise: whether to supersede the log of the same id.
        embed: what the master itself carries: the id, or the whole log.
        force: whether to write over a log of the same id that is not the revision before.
        variables: the environment whose secrets are known.
    """

    created: str
    nonce: str
    revise: bool = False
    embed: Literal["id", "log"] | None = None
    force: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


def seal(store: Store, asset: Path, draft: Mapping[str, Any], how: Sealing) -> Sealed:
    """Seal the log of an asset in a store; what is measured, and what ``how`` says, is put into the draft.

    Raises:
        StoreRefused: E-ASSET-STORE-001, the store is public, the asset is not in it or changes meanwhile, another log
            has the payload, or the draft is about other bytes or brings a verdict that no re-rendering wrote.
        LogRefused: E-ASSET-LOG-002, the draft says something that cannot be.
        OutputExists: E-OUTPUT-001, there is another log of that id.
        OutputUnwritable: E-OUTPUT-002, the store or its disk does not take it; nothing was changed.
    """
    store.refuse_public()
    if store.root not in asset.resolve().parents:
        raise StoreRefused(
            f"{asset} does not lie in the hot store {store.root}.",
            "Expected an asset inside the store, so that its log stands beside it.",
            "Move it there, or name its store: --store FOLDER",
        )
    document = _fill(store, asset, draft, how)
    sidecar = asset.parent / sidecar_name(str(document["log_id"]))
    _require_possible(document, asset, how)  # Before the lock, which makes the index's file.
    with lock_index(store) as index:
        if digest_file(asset) != document["asset"]["file_sha256"]:
            raise StoreRefused(
                f"{asset.name} has changed while it was sealed.",
                "Expected a file that nothing else writes meanwhile.",
                "Seal it again; no log was changed.",
            )
        earlier = _read_earlier(sidecar)
        if how.revise and earlier is not None:
            document |= {"revision": (earlier.revision or 1) + 1, "supersedes": log_digest(earlier)}
        _settle_verdicts(document, earlier, index, revise=how.revise)
        document, blanked = blank_secrets(document, how.variables)
        log = examine(document).log
        _refuse_second(index, store, log, sidecar)
        _refuse_overwrite(sidecar, earlier, log, force=how.force)
        with _successor(asset, document, how) as master:
            if master is not None:
                about = measure_file(master).model_copy(update={"file": asset.name})
                document["asset"] = to_document(about)
                _add_witness(document)
            checked = examine(document)
            _replace(store, index, sidecar, checked.log, master, asset)
    return Sealed(sidecar, checked.log, checked.problems, blanked)


def write_log(path: Path, document: Mapping[str, Any]) -> None:
    """Write a log over the one that it was made from: in a hot store as its next revision, elsewhere as any file.

    Raises:
        StoreRefused: E-ASSET-STORE-001, the store lies inside a public tree.
        OutputExists: E-OUTPUT-001, the log in the store is not the one before.
        LogRefused: E-ASSET-LOG-002, a text in it is no Unicode.
        OutputUnwritable: E-OUTPUT-002, the store does not take it.
    """
    store = find_store(path.parent) if path.name.endswith(SUFFIX) else None
    document, _ = blank_secrets(document, {})
    if store is None or "revision" not in document:
        write(path, canonical_document(document))
        return
    store.refuse_public()
    log = examine(document).log
    with lock_index(store) as index:
        _refuse_overwrite(path, _read_earlier(path), log, force=False)
        _replace(store, index, path, log, None, path)


def merge_documents(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Put one part of a document over another, object by object; a reason and a value do not mix."""
    merged = {**base, **over}
    for name in base.keys() & over.keys():
        parts = base[name], over[name]
        if all(isinstance(each, Mapping) and EXCUSE not in each for each in parts):
            merged[name] = merge_documents(*parts)
    return merged


def blank_secrets(
    document: Mapping[str, Any], variables: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Blank the secrets of a log, and of the variables of an environment in it.

    Returns:
        The document, equal if it has no secrets, and JSON pointers of what was blanked.
    """
    redaction = Redaction(variables=variables)
    before = dict(_list_texts(document, ""))
    for pointer, text in before.items():
        *_, table, name = ["", *unescape(pointer)]
        if table in _TABLES and is_secret(name):
            redaction.learn(text.encode("utf-8", "surrogatepass"), f"variable {name}")
    changed, recipe = dict(document), document.get("recipe")
    argv = recipe.get("argv") if isinstance(recipe, Mapping) else None
    if isinstance(argv, list) and all(isinstance(word, str) for word in argv):
        # Of a draft it may say instead what is wanted there.
        changed["recipe"] = {**document["recipe"], "argv": redaction.arguments(argv, "recipe")}
    taken: dict[str, Any] = redaction.value(changed, "log")
    return taken, [at for at, text in _list_texts(taken, "") if before.get(at) != text]


def _list_texts(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """List every text in a document by its pointer."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, part in pairs:
            yield from _list_texts(part, f"{at}/{escape(str(name))}")


def _fill(store: Store, asset: Path, draft: Mapping[str, Any], how: Sealing) -> dict[str, Any]:
    """Put measured and new values into a draft, and the store's defaults below it."""
    said, measured = draft.get("asset"), to_document(measure_file(asset))
    for name in ("file_sha256", "payload"):
        if isinstance(said, Mapping) and name in said and said[name] != measured[name]:
            raise StoreRefused(
                f"The draft is about other bytes than {asset.name}: its asset/{name} differs.",
                f"Expected {measured[name]}.",
                "Name the file that was rendered, or take the asset block out of the draft.",
            )
    own = {"format": FORMAT, "created": how.created, "nonce": how.nonce, "revision": 1}
    filled = merge_documents(merge_documents(own, store.defaults), draft) | {"asset": measured}
    kind = {"image": "art", "audio": "audio"}.get(measured["media_type"].partition("/")[0])
    if kind is not None:
        filled.setdefault("kind", kind)
    slug = re.sub("[^A-Za-z0-9]+", "-", asset.stem).strip("-")[:60] or "asset"
    filled.setdefault("log_id", f"{slug}-{measured['payload']['digest'].partition(':')[2][:8]}")
    _add_witness(filled)
    return filled


def _add_witness(document: dict[str, Any]) -> None:
    """Say that the asset's block was measured from the file, unless the draft says otherwise."""
    about, evidence = document["asset"], document.setdefault("evidence", {})
    said = evidence.get("/asset", {"chunk": _MEASURED}) if isinstance(evidence, Mapping) else None
    if isinstance(said, Mapping) and said.get("chunk") == _MEASURED:
        witness = {"file": about["file"], "sha256": about["file_sha256"], "chunk": _MEASURED}
        document["evidence"] = {**evidence, "/asset": {"level": "imported", **witness}}


def _read_earlier(sidecar: Path) -> DeterminismLog | None:
    if not sidecar.exists():
        return None
    return examine_bytes(read_bytes(sidecar), str(sidecar))[1].log


def _require_possible(document: Mapping[str, Any], asset: Path, how: Sealing) -> None:
    """Refuse what cannot be a log, and to write into a file whose very bytes are promised."""
    checked = examine(document)
    wrong = [each for each in checked.problems if each.fault is not Fault.MISSING]
    if wrong:
        raise refusal(f"The log of {asset.name}", wrong[0], len(wrong))
    promise = checked.log.promise
    if how.embed and promise is not None and promise.grade is Grade.BYTES:
        raise StoreRefused(
            f"{asset.name} is promised in bytes, and a log inside would change them.",
            "Expected a promise of the payload, or a log beside the file alone.",
            "Seal it without --embed, or: --set promise.grade=payload",
        )


def _settle_verdicts(
    document: dict[str, Any], earlier: DeterminismLog | None, index: StoreIndex, *, revise: bool
) -> None:
    """Refuse verdicts that no re-rendering wrote; a revision hides none on the same bytes and the same promise."""
    before: dict[str, Any] = {} if earlier is None else to_document(earlier)
    verdicts, known = document.get("verdicts") or [], before.get("verdicts") or []
    if verdicts:
        revisions = index.list_revisions().get(before.get("log_id", ""), {})
        is_sealed = earlier is not None and log_digest(earlier) in revisions.values()
        if not is_sealed or any(each not in known for each in verdicts):
            raise StoreRefused(
                "The draft brings a verdict of a re-rendering that the sealed log does not have.",
                "Expected verdicts that a re-rendering wrote.",
                "Take verdicts out of the draft, and render again: twice asset rerender LOG --write",
            )
    is_same_file = document["asset"]["file_sha256"] == before.get("asset", {}).get("file_sha256")
    if revise and known and is_same_file and document.get("promise") == before.get("promise"):
        document["verdicts"] = known


def _refuse_second(index: StoreIndex, store: Store, log: DeterminismLog, sidecar: Path) -> None:
    """Refuse a second log for one payload."""
    here = store.named(sidecar)
    for other in index.list_entries(payload_key(log)):
        if other.log != here and (store.root / other.log).exists():
            raise StoreRefused(
                f"{other.log} is about the same payload as {log.asset.file if log.asset else '?'}.",
                "Expected one log for one payload.",
                f"Revise that one: twice asset seal ASSET --log DRAFT --id {other.log_id} --revise",
            )


def _refuse_overwrite(
    sidecar: Path, earlier: DeterminismLog | None, log: DeterminismLog, *, force: bool
) -> None:
    """Refuse to write over a log that says something else and is not the revision before."""
    if earlier is None or force or canonical(earlier) == canonical(log):
        return
    number = (earlier.revision or 1) + 1
    if log.supersedes != log_digest(earlier) or log.revision != number:
        raise OutputExists(
            f"{sidecar} is there already, and says something else.",
            "Expected a log that is new, or the next revision of that one.",
            "Supersede it: twice asset seal ASSET --log DRAFT --revise",
        )


@contextmanager
def _successor(asset: Path, document: Mapping[str, Any], how: Sealing) -> Iterator[Path | None]:
    """Lay the master with its log inside beside it, proven; None where nothing goes into it. It is gone afterwards."""
    if how.embed is None:
        yield None
        return
    note: dict[str, Any] = {"log_id": document["log_id"], "payload": document["asset"]["payload"]}
    if how.embed == "log":  # Its own hash and size are the ones that no file can carry.
        omitted = {"file_sha256", "size_bytes"}
        about = {name: part for name, part in document["asset"].items() if name not in omitted}
        note = {**document, "asset": about}
    master = Path(os.path.realpath(asset))
    aside = master.with_name(f".{os.urandom(8).hex()}.{master.name}")
    try:
        write(aside, embed(master.read_bytes(), canonical_document(note), asset.name))
        aside.chmod(master.stat().st_mode & 0o7777)
        if digest_payload(aside).digest != document["asset"]["payload"]["digest"]:
            raise StoreRefused(
                f"The payload of {asset.name} would not stay as it is with a log inside.",
                "Expected a container that keeps them apart.",
                "Seal it without --embed.",
            )
        yield aside
    finally:
        with suppress(OSError):  # It is gone by now, or the store takes nothing at all.
            aside.unlink()


def _replace(
    store: Store,
    index: StoreIndex,
    sidecar: Path,
    log: DeterminismLog,
    master: Path | None,
    asset: Path,
) -> None:
    """Put everything on the disk, the index as well, then master and sidecar in their places."""
    entry = make_entry(store, sidecar, log)
    if entry is not None:
        index.put(entry)
    aside = sidecar.with_name(f".{os.urandom(8).hex()}.{sidecar.name}")
    try:
        write(aside, canonical(log))
        index.commit()
        if master is not None:
            master.replace(os.path.realpath(asset))
        aside.replace(os.path.realpath(sidecar))
    finally:
        with suppress(OSError):  # It is gone by now, or the store takes nothing at all.
            aside.unlink()
