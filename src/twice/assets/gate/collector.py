"""Facts collected from paths: every file is read once.

Without ``measure`` a file whose bytes are those that were sealed is not decoded again: its figures are those that were
measured then.

Invariant: whatever a sidecar holds, it becomes facts; only a path that is not there is an error. Nothing outside of the
store is read, but inputs that a recipe says lay there.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from twice.assets.errors import AssetMissing
from twice.assets.gate.facts import AssetFacts, SeenFile
from twice.assets.gate.run_values import RunValues, read_run
from twice.assets.importers.detect import import_file
from twice.assets.importers.result import Imported
from twice.assets.log.io import examine_bytes, log_digest, read_bytes
from twice.assets.log.models import SUFFIX, DeterminismLog, EvidenceLevel, Payload
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.media.payload import digest_payload, list_methods
from twice.assets.media.sniff import Format, sniff_file
from twice.assets.store.checkpoint import FOLDER as CHECKPOINTS
from twice.assets.store.checkpoint import read_checkpoints
from twice.assets.store.embed import read_note
from twice.assets.store.index import collect_entries, payload_key, read_revisions
from twice.assets.store.store import Store, find_store
from twice.errors import TwiceError, UsageError
from twice.foundation.digests import Algorithm, digest_bytes

ASSET_SUFFIXES: Final = frozenset({
    ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".tif", ".tiff", ".bmp", ".svg", ".wav", ".flac", ".mp3",
    ".ogg", ".oga", ".opus", ".m4a", ".aac", ".aif", ".aiff", ".mp4", ".webm", ".mkv",
})  # fmt: skip
"""Files that are asked for a log when they have none."""
_NOTED_MAX: Final = 64 << 20
"""Bytes of a file in which the id of its log is looked for."""
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
        StoreRefused: E-ASSET-STORE-001: a store lies inside a public tree, or its file cannot be read.
    """
    if not path.exists():
        raise AssetMissing(
            f"{path} is not there.",
            "Expected an asset, a determinism log, or a folder of them.",
            "Name one that is.",
        )
    whole = path.is_dir()
    root = path if whole else path.parent
    sidecars, files = _find_files(root, deep=whole)
    if path.name.endswith(SUFFIX) and not whole:
        sidecars, files = [path], set()
    elif not whole:
        sidecars, files = [each for each in sidecars if _is_about(each, path)], {path}
    if not sidecars and not files:
        raise UsageError(
            f"There is neither an asset nor a determinism log in {path}.",
            "Expected a folder with assets.",
            "Name the hot store: twice asset gate FOLDER",
        )
    outer, find = find_store(path), cache(find_store)
    stores: dict[Path | None, Store | None] = {None if outer is None else outer.root: outer}
    members: dict[Path | None, list[Path]] = defaultdict(list)
    for each in sidecars:  # A project's folder may hold stores.
        store = outer or find(each.parent)
        place = None if store is None else store.root
        stores[place] = store
        members[place].append(each)
    every: dict[Path, AssetFacts] = {}
    found: list[AssetFacts] = []
    for place, store in stores.items():
        if store is not None:
            store.refuse_public()
        collector = _Collector(root, store, files, measure=measure)
        mine: dict[Path, AssetFacts] = {}
        for each in members[place]:
            if progress is not None:
                progress(len(every) + len(mine), len(sidecars))
            mine[each] = collector.read_sidecar(each)
        collector.match_files(mine)
        every |= mine
        found += collector.list_lost(mine.values()) if whole else ()
    found += [*every.values(), *collector.list_unlogged(every.values())]
    return sorted(
        collector.find_doubles(found, whole=whole), key=lambda each: (each.name, each.log_path)
    )


def _find_files(root: Path, *, deep: bool) -> tuple[list[Path], set[Path]]:
    """Find sidecars in one order, and the files that look like assets."""
    sidecars: list[Path] = []
    files: set[Path] = set()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(each for each in inner if deep and each[0] != "." and each != CHECKPOINTS)
        for path in (Path(folder, name) for name in sorted(names)):
            if path.name.endswith(SUFFIX) and _is_file(path):
                sidecars.append(path)
            elif path.suffix.lower() in ASSET_SUFFIXES and _is_file(path):
                files.add(path)
    return sidecars, files


def _is_file(path: Path) -> bool:
    """Whether something can be read to its end: no pipe, and no name that no disk takes."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_about(sidecar: Path, path: Path) -> bool:
    try:
        log = examine_bytes(read_bytes(sidecar), str(sidecar))[1].log
    except TwiceError:
        return False
    return bool(log.get("/asset/file") == path.name)


class _Collector:
    """One walk, with what is read only once."""

    def __init__(self, root: Path, store: Store | None, files: set[Path], *, measure: bool) -> None:
        self.root, self.store, self.files, self.measure = root, store, files, measure
        self.revisions = read_revisions(store) if store is not None else {}
        # Of two clocks in two time zones, one may be set to local time.
        self.latest = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.hashes: dict[Path, str | None] = {}
        self.checkpoints = read_checkpoints(store) if store is not None else {}
        self.imports: dict[Path, Imported] = {}
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
        bare = name.removesuffix(SUFFIX)
        try:
            data = read_bytes(sidecar)
            _, examined = examine_bytes(data, name)
        except TwiceError as error:
            return AssetFacts(bare, name, root=str(self.root), trouble=error.happened)
        log = examined.log
        file, log_id = log.get("/asset/file"), log.log_id or ""
        own = self.checkpoints.get(log.work_unit or "")
        listed = None if own is None or not log_id else own.get(log_id, ("", ""))[0]
        units = [unit for unit, named in self.checkpoints.items() if log_id in named]
        revisions = None if self.store is None else self.revisions.get(log_id, {})
        wanted = {listed, *(revisions or {}).values()} - {None, ""}
        return AssetFacts(
            self.name(sidecar.parent / file) if file else bare,
            name,
            root=str(self.root),
            latest=self.latest,
            examined=examined,
            log_digest=_find_digest(data, log, wanted) if wanted else "",
            inputs={at: self.hash(path) for at, path in self._list_inputs(sidecar, log)},
            listed=listed,
            elsewhere=[each for each in units if each != log.work_unit],
            imports=dict(self._read_imports(sidecar, log)),
            revisions=revisions,
            records=dict(self._read_records(log)),
        )

    def _read_imports(self, sidecar: Path, log: DeterminismLog) -> Iterator[tuple[str, Imported]]:
        """Read what the files say that imported evidence names, where they lie beside the log, and the asset."""
        evidence = [(at, e) for at, e in (log.evidence or {}).items() if at != "/asset"]
        named = {e.file for _, e in evidence if e.file and e.level is EvidenceLevel.IMPORTED}
        for name in sorted({*named, log.get("/asset/file") or ""} - {""} if named else ()):
            path = sidecar.parent / name
            if _is_file(path) and path.resolve().parent == sidecar.parent.resolve():
                with suppress(TwiceError):
                    if path not in self.imports:
                        self.imports[path] = import_file(path)
                    yield name, self.imports[path]

    def list_lost(self, every: Iterable[AssetFacts]) -> Iterator[AssetFacts]:
        """Give the logs that a checkpoint names, and that are not there."""
        known = {each.log.log_id for each in every}
        root = self.root.resolve()
        for unit, named in self.checkpoints.items():
            for log_id, (_, log) in named.items():
                path = self.store.root / log if self.store is not None else Path(log)
                if log_id not in known and root in path.parents and not _is_file(path):
                    name = os.path.relpath(path, root).replace(os.sep, "/")
                    why = f"the checkpoint of {unit} names it, and it is not there"
                    yield AssetFacts(
                        name.removesuffix(SUFFIX), name, root=str(self.root), trouble=why
                    )

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
        ways: tuple[tuple[str, Callable[[Path], object]], ...] = (
            ("/asset/file_sha256", self.hash),
            ("/asset/payload", _read_payload),
        )
        for pointer, read in ways:
            homeless = {read(path): path for path in sorted(self.files)} if lost else {}
            for sidecar in list(lost):
                found = homeless.pop(every[sidecar].log.get(pointer), None)
                if found is not None:
                    self._take(every, sidecar, found)
                    lost.remove(sidecar)
        for sidecar, facts in every.items():
            # A file without a log is that of a damaged log beside it: one fault, one red row.
            beside = sorted(path for path in self.files if path.parent == sidecar.parent)
            if facts.log.asset is None and beside:
                self._take(every, sidecar, beside[0])

    def _take(self, every: dict[Path, AssetFacts], sidecar: Path, path: Path) -> None:
        """Take a file for that of a log, and look at it."""
        self.files.discard(path)
        facts, digest = every[sidecar], self.hash(path) or ""
        is_sealed = digest == facts.log.get("/asset/file_sha256")
        seen = replace(_look_at(path), path=self.name(path), file_sha256=digest)
        if facts.log.asset is not None and (self.measure or not is_sealed):
            try:
                seen = replace(seen, measured=measure_file(path))
            except TwiceError as error:
                seen = replace(seen, trouble=error.happened)
        others = {
            name: list(self._list_others(sidecar, facts, run, path))
            for name, (_, run) in facts.records.items()
            if is_sealed
        }
        inputs = self._list_inputs(sidecar, facts.log) if self.measure else ()
        payload = facts.log.get("/asset/payload")
        copies = [
            name
            for name, file in inputs
            if _is_file(file)
            and self.hash(file) not in {None, digest}
            and _read_payload(file) == payload
        ]
        every[sidecar] = replace(facts, seen=seen, other_files=others, copies=copies)

    def _list_others(
        self, sidecar: Path, facts: AssetFacts, run: RunValues, path: Path
    ) -> Iterator[str]:
        """Say which files of the store are not those that a run read and wrote."""
        output = facts.log.get("/recipe/output") or ""
        if run.written and not run.has_written(output, path):
            yield "the run wrote other bytes than the asset's"
        for name, file in self._list_inputs(sidecar, facts.log):
            is_same = self.hash(file) is not None and facts.inputs[name] == self.hash(file)
            wanted = run.read.get(name, "")
            algorithm = Algorithm(wanted.partition(":")[0]) if wanted and is_same else None
            if algorithm and str(digest_bytes(file.read_bytes(), algorithm)) != wanted:
                yield f"the run read other bytes in {name}"

    def _list_inputs(self, sidecar: Path, log: DeterminismLog) -> Iterator[tuple[str, Path]]:
        """Say where each input of a recipe lies."""
        base = self.store.root if self.store is not None else sidecar.parent
        for each in log.get("/recipe/inputs") or ():
            if each.path:
                yield each.path, base / (each.found_at or each.path)

    def list_unlogged(self, every: Iterable[AssetFacts]) -> Iterator[AssetFacts]:
        """Give the assets that have no log; what recipes and mixes read is none of them."""
        read = {digest for each in every for digest in each.inputs.values()}
        read |= {stem.sha256 for each in every for stem in each.log.get("/audio/stems") or ()}
        for path in sorted(self.files):
            digest = self.hash(path)
            if digest not in read:
                name = self.name(path)
                yield AssetFacts(name, "", root=str(self.root), seen=SeenFile(name, digest or ""))

    def find_doubles(self, every: list[AssetFacts], *, whole: bool) -> Iterator[AssetFacts]:
        """Say of each log which others have its payload or its id."""
        logs = [(payload_key(each.log), each.log.log_id, each.log_path) for each in every]
        if not whole and self.store is not None:
            logs += [
                (each.payload, each.log_id, self.name(self.store.root / each.log))
                for each in collect_entries(self.store)
            ]
        by_payload, by_id = defaultdict(set), defaultdict(set)
        for payload, log_id, path in logs:
            by_payload[payload].add(path)
            by_id[log_id].add(path)
        by_payload.pop(None, None)
        by_id.pop(None, None)
        for each in every:
            others = by_payload.get(payload_key(each.log), set()) - {each.log_path}
            same = by_id.get(each.log.log_id, set()) - others - {each.log_path}
            said = [f"{path} (same payload)" for path in sorted(others)]
            said += [f"{path} (same id)" for path in sorted(same)]
            yield replace(each, same=tuple(said), revisions=None if same else each.revisions)


def _find_digest(data: bytes, log: DeterminismLog, wanted: set[str | None]) -> str:
    """Give the digest of a log's canonical text; where the bytes have a wanted one, they are it."""
    plain = str(digest_bytes(data.rstrip(b"\n") + b"\n", Algorithm.SHA256))
    try:
        return plain if plain in wanted else log_digest(log)
    except TwiceError:
        return ""


def _look_at(path: Path) -> SeenFile:
    """Look at the beginning of a file and, if it is no long one, for the id of a log in it."""
    size, log_id = path.stat().st_size, ""
    with path.open("rb") as file:
        kind = sniff_file(file)
        if kind in {Format.PNG, Format.WAV, Format.FLAC} and size <= _NOTED_MAX:
            file.seek(0)
            with suppress(ValueError, AttributeError):
                log_id = str(json.loads(read_note(file.read())).get("log_id", ""))
    return SeenFile("", "", size, str(kind), list_methods(kind), log_id)


def _read_payload(path: Path) -> object:
    try:
        taken = digest_payload(path)
    except TwiceError:
        return path
    return Payload(method=taken.method, digest=taken.digest)
