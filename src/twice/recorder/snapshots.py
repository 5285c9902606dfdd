"""Snapshots: the whole state before a tick, paged and content-addressed in the record.

A captured snapshot holds, for every component and for the streams, the canonical form in parts, and
the cursors of effects, inputs and output. Stored, each part becomes pages of the record; a page
that stands there already costs a reference. Restoring decodes fresh values, so no two restores
share anything.

Construct, then restore: components first, then streams (a ``restore`` may draw), then cursors.

Invariant: every snapshot can be restored on its own, and its state hash is over contents alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import rfc8785

from twice.errors import DecodingRefused, RestoreRefused, TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.encoding import decode, encode_parts, loaded_types
from twice.recorder.migrations import Migration, make_refusal, migrate
from twice.recorder.ordering import PREFIX, orders_of, reordered
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record_form import reading

if TYPE_CHECKING:
    from twice.recorder.components import Component

ENVELOPE_VERSION = 1
STREAMS = "streams"
Parts = list[bytes | memoryview]


@dataclass(frozen=True)
class Cursors:
    """Positions in the record at which a restored run goes on.

    Attributes:
        effects: reads served, strict and lenient, and the digest of questions
            (``EffectLayer.snapshot``).
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


@dataclass(frozen=True)
class Captured:
    """A snapshot in memory.

    Attributes:
        tick: the tick before whose body it stands.
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

    def digests(self) -> dict[str, str]:
        """Return the labelled digest of each subsystem's canonical form."""
        return {
            name: str(digest_parts(self.subsystems[name], self.algorithm))
            for name in sorted(self.subsystems)
        }

    def size(self) -> int:
        """Return the bytes of all canonical forms."""
        return sum(len(part) for parts in self.subsystems.values() for part in parts)

    def frozen(self) -> Captured:
        """Copy the snapshot, so that it is independent of the program's arrays."""
        copied: dict[str, Parts] = {
            name: [bytes(part) for part in parts] for name, parts in self.subsystems.items()
        }
        return replace(self, subsystems=copied)


def capture_components(
    components: Mapping[str, Component],
) -> tuple[dict[str, Parts], dict[str, int]]:
    """Return states as canonical parts, the order of their dicts where it differs, and declared versions."""
    captured: dict[str, Parts] = {}
    for name, component in components.items():
        state = component.read()
        captured[name] = encode_parts(state)
        orders = orders_of(state)
        if orders is not None:
            captured[PREFIX + name] = encode_parts(orders)
    versions = {name: component.state_version for name, component in components.items()}
    return captured, {name: version for name, version in versions.items() if version}


def store(writer: RecordWriter, captured: Captured, *, dedupe: bool) -> None:
    """Write a snapshot's pages and envelope into the record."""
    digests = captured.digests()
    subsystems = {
        name: {
            "blob": writer.page_blob(name, captured.subsystems[name], dedupe=dedupe),
            "digest": digests[name],
            "bytes": sum(len(part) for part in captured.subsystems[name]),
            **({"state_version": captured.versions[name]} if name in captured.versions else {}),
        }
        for name in sorted(captured.subsystems)
    }
    cursors = captured.cursors
    envelope: Any = {
        "format": "twice.snapshot/1",
        "specification": "docs/format/snapshot-envelope.md",
        "tick": captured.tick,
        "point": cursors.points,
        "chain": cursors.chain.hex(),
        "identity": dict(captured.identity),
        "subsystems": subsystems,
        "state_hash": state_hash(digests, captured.algorithm),
        "cursors": {
            "effects": {
                "reads": cursors.effects["reads"],
                "asked": bytes(cursors.effects["asked"]).hex(),  # type: ignore[call-overload]
                "unfolded": bytes(cursors.effects.get("unfolded", b"")).hex(),  # type: ignore[call-overload]
                "lenient": _by_number(cursors.effects.get("lenient", {})),
                "children": cursors.effects.get("children", {}),
                **_parts(cursors.effects.get("parts")),
            },
            "inputs": cursors.inputs,
            "inputs_chain": cursors.inputs_chain.hex(),
            "loop": cursors.loop,
            "loop_first": cursors.loop_first,
            **({"printed": list(cursors.printed)} if cursors.printed else {}),
        },
    }
    writer.snapshot(captured.tick, rfc8785.dumps(envelope))


def _read_sizes(stated: Any) -> tuple[int, int] | None:
    if stated is None:
        return None
    output, errors = map(int, stated)
    return output, errors


def _parts(parts: object) -> dict[str, str]:
    return {"parts": parts.hex()} if isinstance(parts, bytes) and parts else {}


def _by_number(counts: object) -> dict[str, int]:
    """Return lenient reads by operation number, as text for JSON."""
    assert isinstance(counts, dict), "lenient cursors are counts by number"
    return {str(number): counts[number] for number in sorted(counts)}


def _lenient_cursors(effects: Mapping[str, Any]) -> dict[str, dict[int, int]]:
    """Read the lenient cursors back; records of earlier versions have none and leave them alone."""
    if "lenient" not in effects:
        return {}
    return {"lenient": {int(number): count for number, count in effects["lenient"].items()}}


def state_hash(digests: Mapping[str, str], algorithm: Algorithm) -> str:
    """Digest over the subsystems' names and digests: the contents, not the envelope."""
    return str(digest_parts([rfc8785.dumps(dict(digests))], algorithm))


def read_envelope(reader: RecordReader, number: int) -> dict[str, Any]:
    """Read a stored snapshot's envelope.

    Raises:
        DecodingRefused: E-ENCODE-004, when it is not one that this version reads.
    """
    with reading(f"snapshot {number}", reader.path):
        envelope = json.loads(bytes(reader.envelope(number)))
    if not isinstance(envelope, dict) or envelope.get("format") != "twice.snapshot/1":
        raise DecodingRefused(
            f"Snapshot {number} of {reader.path} has no envelope that this version reads.",
            'Expected the format "twice.snapshot/1".',
            "Open the record with the version that wrote it, or run: twice migrate RECORD -o NEW",
        )
    return envelope


def load(reader: RecordReader, number: int) -> Captured:
    """Load a stored snapshot, and check its parts against the digests of its envelope.

    Raises:
        RestoreRefused: E-TRACK-003, when contents and digest disagree. RecordForeign: E-RECORD-002.
    """
    with reading(f"snapshot {number}", reader.path):
        return _load(reader, number)


def _load(reader: RecordReader, number: int) -> Captured:
    envelope = read_envelope(reader, number)
    subsystems: dict[str, Parts] = {}
    for name in sorted(envelope["subsystems"]):
        entry = envelope["subsystems"][name]
        content = bytes(reader.blob(entry["blob"]))
        if str(digest_parts([content], Algorithm(reader.algorithm))) != entry["digest"]:
            raise RestoreRefused(
                f"The snapshot before tick {envelope['tick']} holds other contents for {name!r} "
                "than its digest says.",
                f"Expected {entry['digest']}.",
                "The record is damaged: use an earlier snapshot, or record again.",
            )
        subsystems[name] = [content]
    digests = {name: entry["digest"] for name, entry in sorted(envelope["subsystems"].items())}
    found = state_hash(digests, Algorithm(reader.algorithm))
    if found != envelope["state_hash"]:
        raise RestoreRefused(
            f"The snapshot before tick {envelope['tick']} has the state hash {found}.",
            f"Expected {envelope['state_hash']}, as its envelope says.",
            "The record is damaged: use an earlier snapshot, or record again.",
        )
    cursors = envelope["cursors"]
    return Captured(
        tick=envelope["tick"],
        subsystems=subsystems,
        cursors=Cursors(
            effects={
                "reads": cursors["effects"]["reads"],
                "asked": bytes.fromhex(cursors["effects"]["asked"]),
                "unfolded": bytes.fromhex(cursors["effects"].get("unfolded", "")),
                **_lenient_cursors(cursors["effects"]),
                "children": dict(cursors["effects"].get("children", {})),
                "parts": bytes.fromhex(cursors["effects"].get("parts", "")),
            },
            inputs=cursors["inputs"],
            inputs_chain=bytes.fromhex(cursors["inputs_chain"]),
            loop=cursors["loop"],
            loop_first=cursors["loop_first"],
            points=envelope["point"],
            chain=bytes.fromhex(envelope["chain"]),
            printed=_read_sizes(cursors.get("printed")),
        ),
        identity=dict(envelope["identity"]),
        algorithm=Algorithm(reader.algorithm),
        versions={
            name: int(entry["state_version"])
            for name, entry in envelope["subsystems"].items()
            if "state_version" in entry
        },
    )


def decoded(parts: Parts, orders: Parts | None = None) -> Any:
    """Decode a subsystem's state into fresh values of types that the program has loaded."""
    value = decode(b"".join(parts), resolve=loaded_types)
    if orders is None:
        return value
    kept: Any = decode(b"".join(orders))
    return reordered(value, kept)


def put_back(components: Mapping[str, Component], captured: Captured) -> list[Migration]:
    """Restore every component that a snapshot holds; return those whose state had to be migrated.

    Raises:
        RestoreRefused: E-TRACK-003, when one has no ``restore`` or came back different.
        MigrationRefused: E-TRACK-004, when one has another version and cannot be migrated.
    """
    migrated = []
    for name, component in components.items():
        if name not in captured.subsystems:
            continue
        if component.put is None:
            raise RestoreRefused(
                f"The component {name!r} has no restore().",
                "Expected restore(state), which puts back what state() returned.",
                "Add restore(); until then seeking and branching execute from the start.",
                name=name,
            )
        parts, orders = captured.subsystems[name], captured.subsystems.get(PREFIX + name)
        old, new = captured.versions.get(name, 0), component.state_version
        if old == new:
            component.put(decoded(parts, orders))
            if places := _find_changed(component, parts):
                raise RestoreRefused(
                    f"The component {name!r} came back different after restore(): {places}.",
                    "Expected state() right after restore(state) to return that very state.",
                    "Let restore() put back everything that state() returns.",
                    name=name,
                )
        else:
            migrated.append(Migration(name, old, new, captured.tick))
            _put_back_migrated(component, parts, orders, migrated[-1])
    return migrated


def _put_back_migrated(
    component: Component, parts: Parts, orders: Parts | None, migration: Migration
) -> None:
    """Restore a component from a state of another version."""
    assert component.put is not None, "whether it can be put back was asked before"
    try:
        state = decoded(parts, orders)
    except DecodingRefused:  # a class in it has other fields by now: a stand-in has the old ones
        state = decode(b"".join(parts))
    state = migrate(component.target, state, migration)
    try:
        parts = [b"".join(encode_parts(state))]
    except TwiceError as error:
        why = f"migrate() returned no plain state: {error.happened.rstrip('.')}"
        remedy = "Let migrate() return what state() returns."
        raise make_refusal(migration, why, remedy) from error
    remedy = f"Let migrate() return the very state that state() returns in version {migration.new}."
    try:
        component.put(state)
        places = _find_changed(component, parts)
    except Exception as error:
        why = f"the migrated state cannot be put back: {type(error).__name__}: {error}"
        raise make_refusal(migration, why, remedy) from error
    if places:
        raise make_refusal(migration, f"the migrated state came back different: {places}", remedy)


def _find_changed(component: Component, parts: Parts) -> str:
    """Return the first places at which a component does not read as these parts; empty if it does."""
    again = b"".join(encode_parts(component.read()))
    if again == b"".join(parts):
        return ""
    from twice.foundation.comparison import differences

    found = differences(decoded(parts), decode(again, resolve=loaded_types))
    return ", ".join(difference.path for difference in found[:3]) or "its canonical form"
