"""From paths to facts: every file is read once.

Without ``measure`` a file whose bytes are those that were sealed is not decoded again: its figures are those
that were measured then.

Invariant: whatever a sidecar holds, it becomes facts; only a path that is not there is an error.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from twice.assets.errors import AssetMissing
from twice.assets.gate import lineage
from twice.assets.gate.facts import Facts, Seen, value_of
from twice.assets.log.io import examine_bytes, read_bytes
from twice.assets.log.models import SUFFIX, Asset, DeterminismLog, Payload
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.media.payload import digest_payload
from twice.assets.store import index
from twice.assets.store.checkpoint import FOLDER as CHECKPOINTS
from twice.assets.store.checkpoint import read_checkpoint
from twice.assets.store.store import Store, find_store
from twice.errors import TwiceError, UsageError

ASSET_SUFFIXES: Final = frozenset(
    [
        ".png",
        ".jpg",
        ".jpeg",
        ".webp",
        ".avif",
        ".gif",
        ".tif",
        ".tiff",
        ".bmp",
        ".svg",
        ".wav",
        ".flac",
        ".mp3",
        ".ogg",
        ".oga",
        ".opus",
        ".m4a",
        ".aac",
        ".aif",
        ".aiff",
        ".mp4",
        ".webm",
        ".mkv",
    ]
)
"""Files that are asked for a log when they have none."""

Doing = Callable[[int, int], None]


@dataclass(slots=True)
class _Sidecar:
    path: Path
    facts: Facts


@dataclass(slots=True)
class _Gathering:
    """One walk: what is known so far."""

    root: Path
    store: Store | None
    measure: bool
    hashes: dict[Path, str | None] = field(default_factory=dict)
    checkpoints: dict[str, Mapping[str, str] | None] = field(default_factory=dict)
    indexed: Mapping[str, str] = field(default_factory=dict)
    revisions: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def name(self, path: Path) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def hash(self, path: Path) -> str | None:
        """Return the sha256 of a file, read once; None if there is no file."""
        if path not in self.hashes:
            try:
                self.hashes[path] = digest_file(path) if _is_file(path) else None
            except AssetMissing:
                self.hashes[path] = None
        return self.hashes[path]


def gather(path: Path, *, measure: bool = False, doing: Doing | None = None) -> list[Facts]:
    """Gather the facts of an asset, a log, or everything in a folder.

    Args:
        path: an asset, a sidecar, or a folder.
        measure: whether files are decoded and measured again.
        doing: told how many of how many are done.

    Raises:
        AssetMissing: E-ASSET-FILE-001: the path is not there.
        UsageError: E-USE-001: a folder without assets and logs.
    """
    if not path.exists():
        raise AssetMissing(
            f"{path} is not there.",
            "Expected an asset, a determinism log, or a folder of them.",
            "Name one that is.",
        )
    whole = path.is_dir()
    root = path if whole else path.parent
    store = find_store(path)
    entries, revisions = (store and index.read_index(store)) or ([], {})
    at = _Gathering(
        root,
        store,
        measure,
        indexed={each.log_id: each.log_digest for each in entries},
        revisions=revisions,
    )
    found, files = _walk(root, deep=whole)
    if not whole:
        found, files = _one(path, found)
    if not found and not files:
        raise UsageError(
            f"There is neither an asset nor a determinism log in {path}.",
            "Expected a folder with assets.",
            "Name the hot store: twice asset gate FOLDER",
        )
    cars = []
    for number, each in enumerate(found):
        if doing is not None:
            doing(number, len(found))
        cars.append(_Sidecar(each, _read(at, each)))
    _seen(at, cars, files)
    every = [each.facts for each in cars] + list(_bare(at, cars, files))
    return sorted(_doubled(at, every, whole=whole), key=lambda each: (each.name, each.log_path))


def _walk(root: Path, *, deep: bool) -> tuple[list[Path], set[Path]]:
    """Find sidecars in one order, and the files that look like assets."""
    found: list[Path] = []
    files: set[Path] = set()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(
            each for each in inner
            if deep and not each.startswith(".") and each != CHECKPOINTS
        )  # fmt: skip
        for name in sorted(names):
            if not _is_file(Path(folder, name)):
                continue  # A pipe or a device would never end.
            if name.endswith(SUFFIX):
                found.append(Path(folder, name))
            elif Path(name).suffix.lower() in ASSET_SUFFIXES:
                files.add(Path(folder, name))
    return found, files


def _is_file(path: Path) -> bool:
    """Whether something can be read to its end; a name that no disk takes is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _one(path: Path, found: list[Path]) -> tuple[list[Path], set[Path]]:
    """Keep the sidecar that is meant, and the asset."""
    if path.name.endswith(SUFFIX):
        return [path], set()
    about = []
    for each in found:
        try:
            log = examine_bytes(read_bytes(each), str(each))[1].log
        except TwiceError:
            continue
        if log.asset is not None and log.asset.file == path.name:
            about.append(each)
    return about, {path}


def _read(at: _Gathering, sidecar: Path) -> Facts:
    name = at.name(sidecar)
    try:
        data = read_bytes(sidecar)
        _, examined = examine_bytes(data, name)
    except TwiceError as error:
        return Facts(name.removesuffix(SUFFIX), name, trouble=error.happened)
    log = examined.log
    file = log.asset.file if log.asset is not None else None
    listed_as, indexed_as = _listed(at, log), at.indexed.get(log.log_id or "")
    wanted = {each for each in (listed_as, indexed_as) if each}
    return Facts(
        at.name(sidecar.parent / file) if file else name.removesuffix(SUFFIX),
        name,
        examined=examined,
        log_digest=lineage.digest_of(data, log, wanted) if wanted else "",
        inputs=_inputs(at, sidecar, log),
        listed=listed_as,
        indexed=indexed_as,
        broken=lineage.earlier(at.revisions, log),
        records=dict(lineage.records(at.store, log, at.hash)) if at.store is not None else {},
    )


def _inputs(at: _Gathering, sidecar: Path, log: DeterminismLog) -> dict[str, str | None]:
    recipe = value_of(log.recipe)
    inputs = value_of(recipe.inputs) if recipe is not None else None
    base = at.store.root if at.store is not None else sidecar.parent
    return {
        each.path: at.hash(base / (each.found_at or each.path))
        for each in inputs or ()
        if each.path is not None
    }


def _listed(at: _Gathering, log: DeterminismLog) -> str | None:
    if at.store is None or log.work_unit is None or log.log_id is None:
        return None
    if log.work_unit not in at.checkpoints:
        at.checkpoints[log.work_unit] = read_checkpoint(at.store, log.work_unit)
    digests = at.checkpoints[log.work_unit]
    return None if digests is None else digests.get(log.log_id, "")


def _seen(at: _Gathering, cars: list[_Sidecar], files: set[Path]) -> None:
    """Look at the file of each log: beside it, else under another name."""
    lost = []
    for each in cars:
        asset = each.facts.log.asset
        path = each.path.parent / asset.file if asset is not None and asset.file else None
        if path is not None and _is_file(path):
            files.discard(path)
            each.facts = replace(each.facts, seen=_look(at, path, asset))
        elif asset is not None:
            lost.append(each)
    if lost:
        _find(at, lost, files, at.hash, lambda asset: asset.file_sha256)
        still = [each for each in lost if each.facts.seen is None]
        if still:
            _find(at, still, files, _payload, lambda asset: asset.payload)
    _pair(at, cars, files)


def _find(
    at: _Gathering, lost: list[_Sidecar], files: set[Path], told: Callable[[Path], object],
    said: Callable[[Asset], object],
) -> None:  # fmt: skip
    """Find the files of logs under other names, by what files and logs say."""
    homeless = {told(path): path for path in sorted(files)}
    for each in lost:
        asset = each.facts.log.asset
        assert asset is not None, "only a log that is about something is looked for"
        path = homeless.pop(said(asset), None) if said(asset) is not None else None
        if path is not None:
            files.discard(path)
            each.facts = replace(each.facts, seen=_look(at, path, asset))


def _payload(path: Path) -> object:
    try:
        taken = digest_payload(path)
    except TwiceError:
        return path
    return Payload(method=taken.method, digest=taken.digest)


def _pair(at: _Gathering, cars: list[_Sidecar], files: set[Path]) -> None:
    """Take files without a log for those of damaged logs beside them: one fault, one red row."""
    for each in cars:
        if each.facts.log.asset is None:
            beside = sorted(path for path in files if path.parent == each.path.parent)
            if beside:
                files.discard(beside[0])
                seen = Seen(at.name(beside[0]), at.hash(beside[0]) or "")
                each.facts = replace(each.facts, seen=seen)


def _look(at: _Gathering, path: Path, asset: Asset | None) -> Seen:
    digest = at.hash(path) or ""
    seen = Seen(at.name(path), digest)
    if not at.measure and asset is not None and digest == asset.file_sha256:
        return seen
    try:
        return replace(seen, measured=measure_file(path))
    except TwiceError as error:
        return replace(seen, trouble=error.happened)


def _bare(at: _Gathering, cars: list[_Sidecar], files: set[Path]) -> Iterator[Facts]:
    """Give the assets that have no log; what recipes and mixes read is none of them."""
    read = {digest for each in cars for digest in each.facts.inputs.values()}
    read |= {
        stem.sha256 for each in cars if each.facts.log.audio is not None
        for stem in value_of(each.facts.log.audio.stems) or ()
    }  # fmt: skip
    for path in sorted(files):
        digest = at.hash(path)
        if digest not in read:
            yield Facts(at.name(path), "", seen=Seen(at.name(path), digest or ""))


def _doubled(at: _Gathering, every: list[Facts], *, whole: bool) -> Iterator[Facts]:
    """Say of each log which others have its payload or its id."""
    payloads, ids = defaultdict(list), defaultdict(list)
    for each in every:
        key = index.payload_key(each.log)
        if key is not None:
            payloads[key].append(each.log_path)
        if each.log.log_id is not None:
            ids[each.log.log_id].append(each.log_path)
    if not whole and at.store is not None:
        for entry in index.collect_entries(at.store):
            path = at.store.root / entry.log
            if path.exists():
                payloads[entry.payload].append(at.name(path))
                ids[entry.log_id].append(at.name(path))
    for each in every:
        key, log_id = index.payload_key(each.log), each.log.log_id
        others = _except(payloads[key], each.log_path) if key is not None else ()
        same = _except(ids[log_id], each.log_path) if log_id is not None else ()
        yield replace(each, others=others, same_id=tuple(p for p in same if p not in others))


def _except(paths: list[str], own: str) -> tuple[str, ...]:
    return tuple(sorted({each for each in paths if each != own}))
