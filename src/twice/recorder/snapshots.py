"""Snapshots: the whole state before a tick, paged and content-addressed in the record.

A captured snapshot holds, for every component and for the streams, the canonical form in parts, and the cursors of
effects, inputs and output. Stored, each part becomes pages of the record; a page that stands there already costs a
reference. Restoring decodes fresh values, so no two restores share anything.

Invariant: every snapshot can be restored on its own, and its state hash is over contents alone.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from operator import index
from typing import Any

import rfc8785

from twice.errors import DecodingRefused, RestoreRefused, RollbackRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, digest_parts
from twice.recorder.effects.ops import MAIN
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record_form import reading

STREAMS = "streams"
Parts = Sequence[bytes | bytearray | memoryview]
_FORMAT = "twice.snapshot/1"
_KEPT_BYTES_MAX = 64 << 20
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_BELOW_MAIN = re.compile(rf"{MAIN}/(\w+):(\d{{1,18}})(?:/|$)")


@dataclass(frozen=True)
class Cursors:
    """Positions in the record at which a restored run goes on.

    Attributes:
        effects: reads served, strict and lenient, and the digest of questions (``EffectLayer.snapshot``).
        inputs: how many inputs were asked for.
        inputs_chain: digest of the inputs so far.
        loop: number of the loop, from 0.
        loop_first: first tick of that loop.
        points: compare-points taken before this snapshot.
        chain: chain digest of the last of them.
        printed: bytes of standard output and error before this snapshot; None in a record that does not say.
    """

    effects: Mapping[str, object]
    inputs: int
    inputs_chain: bytes
    loop: int
    loop_first: int
    points: int
    chain: bytes
    printed: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the entry ``cursors`` of an envelope; ``points`` and ``chain`` stand beside it."""
        effects: Mapping[str, Any] = self.effects
        lenient = effects.get("lenient", {})
        parts: bytes = effects.get("parts") or b""
        return {
            "effects": {
                "reads": effects["reads"],
                "asked": bytes(effects["asked"]).hex(),
                "unfolded": bytes(effects.get("unfolded", b"")).hex(),
                "lenient": {str(number): lenient[number] for number in sorted(lenient)},
                "children": effects.get("children", {}),
                **({"living": effects["living"]} if "living" in effects else {}),
                **({"parts": parts.hex()} if parts else {}),
            },
            "inputs": self.inputs,
            "inputs_chain": self.inputs_chain.hex(),
            "loop": self.loop,
            "loop_first": self.loop_first,
            **({"printed": list(self.printed)} if self.printed else {}),
        }

    @classmethod
    def from_json(cls, envelope: Mapping[str, Any]) -> Cursors:
        """Read the cursors of an envelope back."""
        stated = envelope["cursors"]
        given = stated["effects"]
        effects = {"children": {}, "unfolded": "", "parts": "", **given, "reads": given["reads"]}
        for name in ("asked", "unfolded", "parts"):
            effects[name] = bytes.fromhex(effects[name])
        # Records of earlier versions say nothing of lenient reads, and a restore leaves those alone.
        if "lenient" in effects:
            effects["lenient"] = {int(number): n for number, n in effects["lenient"].items()}
        printed: Any = stated.get("printed")
        return cls(
            effects=effects,
            # Whole numbers alone: what a forged one holds would end the run where it is counted on.
            inputs=index(stated["inputs"]),
            inputs_chain=bytes.fromhex(stated["inputs_chain"]),
            loop=index(stated["loop"]),
            loop_first=index(stated["loop_first"]),
            points=index(envelope["point"]),
            chain=bytes.fromhex(envelope["chain"]),
            printed=None if printed is None else (int(printed[0]), int(printed[1])),
        )


@dataclass(frozen=True)
class Captured:
    """A snapshot in memory, from before the body of a tick.

    Attributes:
        subsystems: name -> canonical parts; ``streams`` among them.
        cursors: where to go on.
        identity: code, config and seed marks for the envelope.
        algorithm: digest of the contents.
        versions: of the states of components whose classes declare one, by name.
    """

    tick: int
    subsystems: Mapping[str, Parts]
    cursors: Cursors
    identity: Mapping[str, object]
    algorithm: Algorithm
    versions: Mapping[str, int] = field(default_factory=dict)

    def size(self) -> int:
        """Return the bytes of all canonical forms."""
        return sum(_size(parts) for parts in self.subsystems.values())


def _size(parts: Parts) -> int:
    return sum(map(len, parts))


class RollbackBuffer:
    """Snapshots in memory, by tick, that a run can be rolled back to.

    Invariant: the latest one is kept; earlier ones while all of them together are small.
    """

    def __init__(self) -> None:
        self._captured: OrderedDict[int, Captured] = OrderedDict()
        self._total = 0

    def __contains__(self, tick: int) -> bool:
        return tick in self._captured

    def keep(self, captured: Captured) -> None:
        """Keep one more, with bytes of its own; the earliest go when there are too many."""
        if captured.tick in self:
            self._drop(captured.tick)
        # A running sum: with a snapshot before every tick there are tens of thousands of them.
        self._total += captured.size()
        # New memory costs eight times the copy, so what is dropped is written over.
        spare: dict[int, bytearray] = {}
        while self._captured and self._total > _KEPT_BYTES_MAX:
            dropped = self._drop(next(iter(self._captured)))
            parts = chain.from_iterable(dropped.subsystems.values())
            spare |= {len(part): part for part in parts if isinstance(part, bytearray)}

        def copy(part: bytes | bytearray | memoryview) -> bytearray:
            target = spare.pop(len(part), None)
            if target is None:
                return bytearray(part)
            memoryview(target)[:] = part
            return target

        copied = {name: [*map(copy, parts)] for name, parts in captured.subsystems.items()}
        self._captured[captured.tick] = replace(captured, subsystems=copied)

    def rewind(self, to: int, now: int) -> Captured:
        """Return the snapshot before a tick, and drop the later ones; E-TICK-002 when that tick is not kept."""
        kept = self._captured.get(to)
        if kept is None:
            raise RollbackRefused(
                f"Tick {to} is not kept; the run is at tick {now}.",
                f"Ticks kept: {', '.join(map(str, self._captured)) or 'none'}.",
                "Keep more: --snapshots tick, or every=N.",
                to=to,
            )
        for tick in [tick for tick in self._captured if tick > to]:
            self._drop(tick)
        return kept

    def _drop(self, tick: int) -> Captured:
        dropped = self._captured.pop(tick)
        self._total -= dropped.size()
        return dropped


def store(writer: RecordWriter, captured: Captured, *, dedupe: bool) -> None:
    """Write a snapshot's pages and envelope into the record."""
    digests: dict[str, str] = {}
    subsystems: dict[str, dict[str, object]] = {}
    for name, parts in sorted(captured.subsystems.items()):
        digests[name] = str(digest_parts(parts, captured.algorithm))
        blob = writer.page_blob(name, parts, dedupe=dedupe)
        subsystems[name] = {"blob": blob, "digest": digests[name], "bytes": _size(parts)}
        if name in captured.versions:
            subsystems[name]["state_version"] = captured.versions[name]
    cursors = captured.cursors
    # Names of members and their order are the format's, which other programs read.
    envelope: Any = {
        "format": _FORMAT,
        "specification": "docs/format/snapshot-envelope.md",
        "tick": captured.tick,
        "point": cursors.points,
        "chain": cursors.chain.hex(),
        "identity": dict(captured.identity),
        "subsystems": subsystems,
        "state_hash": _hash_state(digests, captured.algorithm),
        "cursors": cursors.to_json(),
    }
    writer.snapshot(captured.tick, _dump(envelope))


def _dump(document: Any) -> bytes:
    """Return the RFC 8785 form of texts and whole numbers; of ASCII alone it is what ``json`` writes in less time."""
    text = _JSON.encode(document)
    return rfc8785.dumps(document) if "\\u" in text else text.encode()


def _hash_state(digests: dict[str, str], algorithm: Algorithm) -> str:
    """Digest over the subsystems' names and digests: the contents, not the envelope."""
    return str(digest_parts([_dump(digests)], algorithm))


def read_envelope(reader: RecordReader, number: int) -> dict[str, Any]:
    """Read a stored snapshot's envelope; E-ENCODE-004 when it is not one that this version reads."""
    with reading(f"snapshot {number}", reader.path):
        envelope = json.loads(bytes(reader.envelope(number)))
    if not isinstance(envelope, dict) or envelope.get("format") != _FORMAT:
        raise DecodingRefused(
            f"Snapshot {number} of {reader.path} has no envelope that this version reads.",
            f'Expected the format "{_FORMAT}".',
            "Open the record with the version that wrote it, or run: twice migrate RECORD -o NEW",
        )
    return envelope


def has_started(envelope: Mapping[str, Any], actor: str) -> bool:
    """Return whether an actor had been started at a snapshot, or the one below the main program that it descends from.

    True where the snapshot does not say it; False for the main program, whose reads every snapshot counts.
    """
    if actor == MAIN:
        return False
    children, named = envelope["cursors"]["effects"].get("children"), _BELOW_MAIN.match(actor)
    if children is None or named is None:
        return True
    kind, number = named.groups()
    started: int = children.get(kind, 0)
    return int(number) < started


def has_others(envelope: Mapping[str, Any], *, otherwise: bool) -> bool:
    """Return whether a thread, task or job lived beside the main program at a snapshot.

    Not counted: threads of libraries, and processes.

    Args:
        envelope: of the snapshot.
        otherwise: what to return where an earlier version did not write it down.
    """
    living: int | None = envelope["cursors"]["effects"].get("living")
    return otherwise if living is None else living > 0


def load(reader: RecordReader, number: int) -> Captured:
    """Load a stored snapshot, and check its parts against the digests of its envelope.

    Raises:
        RestoreRefused: E-TRACK-003, when contents and digest disagree. RecordForeign: E-RECORD-002.
    """
    algorithm = Algorithm(reader.algorithm)
    subsystems: dict[str, Parts] = {}
    versions: dict[str, int] = {}
    digests: dict[str, str] = {}
    remedy = "The record is damaged: use an earlier snapshot, or record again."
    with reading(f"snapshot {number}", reader.path):
        envelope = read_envelope(reader, number)
        named = f"The snapshot before tick {envelope['tick']}"
        for name, entry in sorted(envelope["subsystems"].items()):
            content = bytes(reader.blob(entry["blob"]))
            subsystems[name], digests[name] = [content], entry["digest"]
            if str(digest_parts([content], algorithm)) != entry["digest"]:
                raise RestoreRefused(
                    f"{named} holds other contents for {name!r} than its digest says.",
                    f"Expected {entry['digest']}.",
                    remedy,
                )
            if "state_version" in entry:
                versions[name] = int(entry["state_version"])
        found = _hash_state(digests, algorithm)
        if found != envelope["state_hash"]:
            raise RestoreRefused(
                f"{named} has the state hash {found}.",
                f"Expected {envelope['state_hash']}, as its envelope says.",
                remedy,
            )
        return Captured(
            tick=index(envelope["tick"]),
            subsystems=subsystems,
            cursors=Cursors.from_json(envelope),
            identity=dict(envelope["identity"]),
            algorithm=algorithm,
            versions=versions,
        )
