r"""The file of a checkpoint: ``twice.checkpoint/1``, a header and the canonical form of each part.

::

    twice.checkpoint/1\n | u64 size of the header | header | 32 bytes blake3 of all before | part | part | ...

The header is the canonical form of a dict: the position, the versions, and of each part name, kind, device, size and
digest. Sizes are little-endian. A part alone can be read without the others.

Not covered: secrecy, and files that somebody forged with right digests. Their states are checked against the objects
that they are put into, and nothing in them is looked up, imported or called.

Invariant: what is read has the digests that were written, or ``CheckpointDamaged`` is raised.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from twice.errors import CheckpointDamaged, CheckpointVersion, DecodingRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import digest_bytes, digest_parts
from twice.foundation.encoding import decode, encode, encode_parts

FORMAT: Final = "twice.checkpoint/1"
_MAGIC: Final = FORMAT.encode() + b"\n"
_SIZE_BYTES: Final = 8
_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class PartEntry:
    """A part in the header of a checkpoint.

    Args:
        name: the name of the part.
        kind: the class of the object.
        device: where its tensors lay; empty without tensors.
        size: bytes of its canonical form.
        digest: labelled digest of these bytes.
    """

    name: str
    kind: str
    device: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class CheckpointHeader:
    """What a checkpoint says of itself.

    Args:
        position: how far the training was.
        versions: ``python`` and the libraries of the parts, with their versions.
        entries: the parts, in the order of the file.
    """

    position: int
    versions: Mapping[str, str]
    entries: tuple[PartEntry, ...]


@dataclass(frozen=True, slots=True)
class PartState:
    """A part on its way into a file: as ``PartEntry``, with its state."""

    name: str
    kind: str
    device: str
    state: object


def encode_checkpoint(
    position: int, versions: Mapping[str, str], parts: list[PartState]
) -> list[bytes | memoryview]:
    """Return the bytes of a checkpoint in pieces: large arrays are not copied.

    Raises:
        EncodingRefused: E-ENCODE-001: a state is not a plain tree.
    """
    bodies: list[bytes | memoryview] = []
    entries = []
    for part in parts:
        body = list(encode_parts(part.state))
        bodies += body
        entries.append(
            {
                "name": part.name,
                "kind": part.kind,
                "device": part.device,
                "size": sum(memoryview(piece).nbytes for piece in body),
                "digest": str(digest_parts(body)),
            }
        )
    header = encode({"position": position, "versions": dict(versions), "parts": entries})
    head = _MAGIC + len(header).to_bytes(_SIZE_BYTES, "little") + header
    return [head, digest_bytes(head).raw, *bodies]


def read_header(path: Path) -> CheckpointHeader:
    """Return the header of a checkpoint.

    Raises:
        CheckpointDamaged: E-CHECKPOINT-001: no checkpoint, or one that was cut or changed.
        CheckpointVersion: E-CHECKPOINT-002: a format that this version does not read.
    """
    with _open(path) as file:
        return _read_header(path, file)[0]


def read_part(path: Path, name: str) -> object:
    """Return the state of one part of a checkpoint, as a plain tree.

    Raises:
        KeyError: the checkpoint has no part of the name.
        CheckpointDamaged, CheckpointVersion: as in ``read_header``.
    """
    return read_states(path, [name])[1][name]


def read_states(
    path: Path, names: list[str] | None = None
) -> tuple[CheckpointHeader, dict[str, object]]:
    """Return the header and the states of parts; of all parts without names. Errors as in ``read_part``."""
    with _open(path) as file:
        header, at = _read_header(path, file)
        places = {}
        for entry in header.entries:
            places[entry.name] = (at, entry)
            at += entry.size
        states = {}
        for name in places if names is None else names:
            place, entry = places[name]
            file.seek(place)
            data = file.read(entry.size)
            if len(data) != entry.size or str(digest_bytes(data)) != entry.digest:
                raise _damage_error(path, f"its part {name} was cut or changed")
            try:
                states[name] = decode(data)
            except DecodingRefused as error:
                raise _damage_error(path, f"its part {name} is not in canonical form") from error
    return header, states


def _open(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise _damage_error(path, f"it cannot be opened: {error.strerror or error}") from error


def _read_header(path: Path, file: Any) -> tuple[CheckpointHeader, int]:
    """Return the header and the place of the first part."""
    magic = file.read(len(_MAGIC))
    if magic != _MAGIC:
        other = re.match(rb"twice\.checkpoint/(\d{1,6})", magic)
        if other is None or other[1] == b"1":  # the latter was cut behind its number
            raise _damage_error(path, f"it does not begin with {FORMAT}")
        raise CheckpointVersion(
            f"{path} has the format twice.checkpoint/{other[1].decode()}.",
            f"Expected {FORMAT}, which is what this version of twice reads.",
            "Install the version of twice that wrote it, or begin anew with another path.",
            path=str(path),
        )
    raw_size = file.read(_SIZE_BYTES)
    size = int.from_bytes(raw_size, "little")
    # Read what is there: a changed size must not ask for more memory than the file has.
    rest = file.read(min(size + _DIGEST_BYTES, path.stat().st_size))
    header, digest = rest[:size], rest[size:]
    if len(header) != size or digest != digest_bytes(magic + raw_size + header).raw:
        raise _damage_error(path, "its header was cut or changed")
    try:
        plain: Any = decode(header)
        parsed = CheckpointHeader(
            position=_of(int, plain["position"]),
            versions={_of(str, key): _of(str, text) for key, text in plain["versions"].items()},
            entries=tuple(
                PartEntry(
                    name=_of(str, part["name"]),
                    kind=_of(str, part["kind"]),
                    device=_of(str, part["device"]),
                    size=_of(int, part["size"]),
                    digest=_of(str, part["digest"]),
                )
                for part in plain["parts"]
            ),
        )
    except (DecodingRefused, KeyError, TypeError, AttributeError) as error:
        raise _damage_error(path, "its header is not one that twice writes") from error
    if min((entry.size for entry in parsed.entries), default=0) < 0:
        raise _damage_error(path, "its header has a negative size")
    return parsed, len(magic) + len(raw_size) + size + _DIGEST_BYTES


def _of(kind: type[Any], value: object) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of the type {kind.__name__}")
    return value


def _damage_error(path: Path, why: str) -> CheckpointDamaged:
    return CheckpointDamaged(
        f"{path} is not a whole checkpoint: {why}.",
        "Expected a file that Checkpoint.save wrote, unchanged.",
        "Name another checkpoint, or move this file away to begin anew.",
        path=str(path),
    )
