"""Facts collected from paths: every file is read once.

Without ``measure`` a file whose bytes are those that were sealed is not decoded again: its figures are those that were
measured then.

Invariant: whatever a sidecar holds, it becomes facts; only a path that is not there is an error. Nothing outside of the
store is read, but inputs that a recipe says lay there.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from twice.assets.errors import AssetMissing
from twice.assets.gate.facts import AssetFacts, SeenFile
from twice.assets.gate.run_values import RunValues, read_run
from twice.assets.log.block import value_of
from twice.assets.log.io import canonical, examine_bytes, read_bytes
from twice.assets.log.models import SUFFIX, Asset, DeterminismLog, EvidenceLevel, Payload
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.media.payload import digest_payload
from twice.assets.store.checkpoint import FOLDER as CHECKPOINTS
from twice.assets.store.checkpoint import read_checkpoint
from twice.assets.store.index import collect_entries, payload_key, read_index
from twice.assets.store.store import Store, find_store
from twice.errors import TwiceError, UsageError
from twice.foundation.digests import Algorithm, digest_bytes

ASSET_SUFFIXES: Final = frozenset({
    ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".tif", ".tiff", ".bmp", ".svg", ".wav", ".flac", ".mp3",
    ".ogg", ".oga", ".opus", ".m4a", ".aac", ".aif", ".aiff", ".mp4", ".webm", ".mkv",
})  # fmt: skip
"""Files that are asked for a log when they have none."""
ProgressCallback = Callable[[int, int], None]


def collect_facts(
    path: Path, *, measure: bool = False, progress: ProgressCallback | None = None
) -> list[AssetFacts]:
    """Collect the facts of an asset, a log, or everything in a folder.

    Args:
        path: an asset, a sidecar, or a folder.
        measure: whether files are decoded and measured again.
        progress: told how many of how many are done.

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
    collector = _Collector(path if whole else path.parent, find_store(path), measure=measure)
    sidecars, collector.files = _find_files(collector.root, deep=whole)
    if not whole:
        sidecars, collector.files = _select(path, sidecars)
    if not sidecars and not collector.files:
        raise UsageError(
            f"There is neither an asset nor a determinism log in {path}.",
            "Expected a folder with assets.",
            "Name the hot store: twice asset gate FOLDER",
        )
    every: dict[Path, AssetFacts] = {}
    for number, each in enumerate(sidecars):
        if progress is not None:
            progress(number, len(sidecars))
        every[each] = collector.read_sidecar(each)
    collector.match_files(every)
    found = [*every.values(), *collector.list_unlogged(every.values())]
    return sorted(
        collector.find_doubles(found, whole=whole), key=lambda each: (each.name, each.log_path)
    )


def _find_files(root: Path, *, deep: bool) -> tuple[list[Path], set[Path]]:
    """Find sidecars in one order, and the files that look like assets."""
    sidecars: list[Path] = []
    files: set[Path] = set()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(each for each in inner if deep and each[0] != "." and each != CHECKPOINTS)
        for name in sorted(names):
            path = Path(folder, name)
            if not _is_file(path):
                continue  # A pipe or a device would never end.
            if path.name.endswith(SUFFIX):
                sidecars.append(path)
            elif path.suffix.lower() in ASSET_SUFFIXES:
                files.add(path)
    return sidecars, files


def _is_file(path: Path) -> bool:
    """Whether something can be read to its end; a name that no disk takes is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _select(path: Path, sidecars: list[Path]) -> tuple[list[Path], set[Path]]:
    """Keep the sidecar that is meant, and the asset."""
    if path.name.endswith(SUFFIX):
        return [path], set()
    about = []
    for each in sidecars:
        try:
            asset = examine_bytes(read_bytes(each), str(each))[1].log.asset
        except TwiceError:
            continue
        if asset is not None and asset.file == path.name:
            about.append(each)
    return about, {path}


class _Collector:
    """One walk, with what is read only once."""

    def __init__(self, root: Path, store: Store | None, *, measure: bool) -> None:
        self.root, self.store, self.measure = root, store, measure
        entries, self.revisions = (read_index(store) if store is not None else None) or ([], {})
        self.indexed = {each.log_id: each.log_digest for each in entries}
        self.files: set[Path] = set()
        self.hashes: dict[Path, str | None] = {}
        self.checkpoints: dict[str, Mapping[str, str] | None] = {}
        self.runs: dict[Path, RunValues] = {}

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

    def read_sidecar(self, sidecar: Path) -> AssetFacts:
        """Read a log, and what the store has about it."""
        name = self.name(sidecar)
        try:
            data = read_bytes(sidecar)
            _, examined = examine_bytes(data, name)
        except TwiceError as error:
            return AssetFacts(name.removesuffix(SUFFIX), name, trouble=error.happened)
        log = examined.log
        file = log.asset.file if log.asset is not None else None
        listed, indexed = self._find_listed(log), self.indexed.get(log.log_id or "")
        wanted = {each for each in (listed, indexed) if each}
        inputs = value_of(getattr(value_of(log.recipe), "inputs", None)) or ()
        base = self.store.root if self.store is not None else sidecar.parent
        return AssetFacts(
            self.name(sidecar.parent / file) if file else name.removesuffix(SUFFIX),
            name,
            examined=examined,
            log_digest=_find_digest(data, log, wanted) if wanted else "",
            inputs={
                each.path: self.hash(base / (each.found_at or each.path))
                for each in inputs
                if each.path
            },
            listed=listed,
            indexed=indexed,
            revisions=self.revisions.get(log.log_id or "", {}),
            records=dict(self._read_records(log)),
        )

    def _find_listed(self, log: DeterminismLog) -> str | None:
        if self.store is None or log.work_unit is None or log.log_id is None:
            return None
        if log.work_unit not in self.checkpoints:
            self.checkpoints[log.work_unit] = read_checkpoint(self.store, log.work_unit)
        digests = self.checkpoints[log.work_unit]
        return None if digests is None else digests.get(log.log_id, "")

    def _read_records(self, log: DeterminismLog) -> Iterator[tuple[str, tuple[str, RunValues]]]:
        """Read each run record that evidence names, where it is in the store."""
        for each in (log.evidence or {}).values():
            if self.store is None or each.level is not EvidenceLevel.RECORDED or not each.record:
                continue
            try:
                path = (self.store.root / each.record).resolve()
            except (OSError, ValueError):
                continue
            digest = self.hash(path) if self.store.root in path.parents else None
            if digest is not None:
                if path not in self.runs:
                    self.runs[path] = read_run(path)
                yield each.record, (digest, self.runs[path])

    def match_files(self, every: dict[Path, AssetFacts]) -> None:
        """Look at the file of each log: beside it, else under another name by its bytes or its payload."""
        lost: list[Path] = []
        for sidecar, facts in every.items():
            asset = facts.log.asset
            path = sidecar.parent / asset.file if asset is not None and asset.file else None
            if path is not None and _is_file(path):
                self._take(every, sidecar, path)
            elif asset is not None:
                lost.append(sidecar)
        self._search(every, lost, self.hash, lambda asset: asset.file_sha256)
        lost = [each for each in lost if every[each].seen is None]
        self._search(every, lost, _read_payload, lambda asset: asset.payload)
        for sidecar, facts in every.items():
            # A file without a log is that of a damaged log beside it: one fault, one red row.
            beside = sorted(path for path in self.files if path.parent == sidecar.parent)
            if facts.log.asset is None and beside:
                self._take(every, sidecar, beside[0])

    def _search(
        self,
        every: dict[Path, AssetFacts],
        lost: list[Path],
        read: Callable[[Path], object],
        said: Callable[[Asset], object],
    ) -> None:
        """Find the files of logs under other names, by what files and logs say."""
        if not lost:
            return
        homeless = {read(path): path for path in sorted(self.files)}
        for each in lost:
            asset = every[each].log.asset
            path = homeless.pop(said(asset), None) if asset is not None and said(asset) else None
            if path is not None:
                self._take(every, each, path)

    def _take(self, every: dict[Path, AssetFacts], sidecar: Path, path: Path) -> None:
        """Take a file for that of a log, and look at it."""
        self.files.discard(path)
        facts = every[sidecar]
        asset, digest = facts.log.asset, self.hash(path) or ""
        seen = SeenFile(self.name(path), digest)
        if asset is not None and (self.measure or digest != asset.file_sha256):
            try:
                seen = replace(seen, measured=measure_file(path))
            except TwiceError as error:
                seen = replace(seen, trouble=error.happened)
        is_sealed = asset is not None and digest == asset.file_sha256
        output = getattr(value_of(facts.log.recipe), "output", None) or ""
        is_written = {
            name: run.has_written(output, path)
            for name, (_, run) in facts.records.items()
            if run.written and is_sealed
        }
        every[sidecar] = replace(facts, seen=seen, is_written=is_written)

    def list_unlogged(self, every: Iterable[AssetFacts]) -> Iterator[AssetFacts]:
        """Give the assets that have no log; what recipes and mixes read is none of them."""
        read = {digest for each in every for digest in each.inputs.values()}
        for each in every:
            stems = value_of(each.log.audio.stems) if each.log.audio is not None else None
            read |= {stem.sha256 for stem in stems or ()}
        for path in sorted(self.files):
            digest = self.hash(path)
            if digest not in read:
                name = self.name(path)
                yield AssetFacts(name, "", seen=SeenFile(name, digest or ""))

    def find_doubles(self, every: list[AssetFacts], *, whole: bool) -> Iterator[AssetFacts]:
        """Say of each log which others have its payload or its id."""
        by_payload, by_id = defaultdict(set), defaultdict(set)
        for each in every:
            by_payload[payload_key(each.log)].add(each.log_path)
            by_id[each.log.log_id].add(each.log_path)
        if not whole and self.store is not None:
            for entry in collect_entries(self.store):
                name = self.name(self.store.root / entry.log)
                by_payload[entry.payload].add(name)
                by_id[entry.log_id].add(name)
        by_payload.pop(None, None)
        by_id.pop(None, None)
        for each in every:
            others = by_payload.get(payload_key(each.log), set()) - {each.log_path}
            same = by_id.get(each.log.log_id, set()) - others - {each.log_path}
            yield replace(each, others=tuple(sorted(others)), same_id=tuple(sorted(same)))


def _find_digest(data: bytes, log: DeterminismLog, wanted: set[str]) -> str:
    """Give the digest of a log's canonical text; where the bytes have a wanted one, they are it."""
    plain = str(digest_bytes(data.rstrip(b"\n") + b"\n", Algorithm.SHA256))
    try:
        return plain if plain in wanted else str(digest_bytes(canonical(log), Algorithm.SHA256))
    except TwiceError:
        return ""


def _read_payload(path: Path) -> object:
    try:
        taken = digest_payload(path)
    except TwiceError:
        return path
    return Payload(method=taken.method, digest=taken.digest)
