"""Stand-ins for values whose type is not loaded: the name and the parts, and no code.

An opaque value encodes to the same bytes as the value that it replaces, so a record can be read,
compared and copied on a machine that has never seen the program.

Invariant: two opaque values are equal exactly when their canonical bytes are.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum


class OpaqueKind(StrEnum):
    """The kind of value that an opaque value replaces, and the meaning of its fields.

    ``ENUM``: one field, the member's name (of a flag, its single-bit names joined by ``|``).
    ``DATACLASS``: the fields in ascending order of their names. ``NAMED_TUPLE``: the fields in order.
    ``REGISTERED``: one field, the result of ``to_value``. ``PATH``: one field, the text of a
    concrete path of the other platform, which cannot be made here.
    """

    ENUM = "enum"
    DATACLASS = "dataclass"
    NAMED_TUPLE = "named tuple"
    REGISTERED = "registered"
    PATH = "path"


@dataclass(frozen=True, slots=True, eq=False)
class OpaqueValue:
    """A value whose type is not loaded.

    Args:
        kind: the kind of the replaced value.
        name: ``module:qualified.name`` of the type, the name that it was registered under, or
            ``PosixPath`` or ``WindowsPath``.
        fields: names and values of its parts, as its kind says.
    """

    kind: OpaqueKind
    name: str
    fields: tuple[tuple[str, object], ...]

    @property
    def value(self) -> object:
        """The only field of an enum member, a registered value or a path."""
        return self.fields[0][1]

    @property
    def has_fields(self) -> bool:
        """Return whether it replaces a dataclass or a named tuple, whose fields have names."""
        return self.kind in {OpaqueKind.DATACLASS, OpaqueKind.NAMED_TUPLE}

    # Through canonical form, because 1 and 1.0 inside must not be the same.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpaqueValue):
            return NotImplemented
        return self is other or _encode(self) == _encode(other)

    def __hash__(self) -> int:
        return hash(_encode(self))

    def __repr__(self) -> str:
        match self.kind:
            case OpaqueKind.ENUM:
                return f"<{self.name}.{self.value}>"
            case OpaqueKind.REGISTERED | OpaqueKind.PATH:
                return f"<{self.name} {self.value!r}>"
        fields = ", ".join(f"{name}={value!r}" for name, value in self.fields)
        is_tuple = self.kind is OpaqueKind.NAMED_TUPLE
        return f"<{self.name}({fields})>" if is_tuple else f"<{self.name} {fields}>"


def _encode(value: object) -> bytes:
    from twice.foundation.encoding.encoder import encode

    return encode(value)


class RecordedZone(tzinfo):
    """A time zone known by key and by the offset that was in force when the value was written.

    Decoding without a resolver yields it instead of a ``ZoneInfo``: no zone file is read. It represents
    one offset, so arithmetic across a clock change needs the real zone.

    Args:
        key: the name in the zone database, such as ``Europe/Berlin``.
        offset: the offset from UTC, or None for a time of day, whose offset depends on the date.
    """

    def __init__(self, key: str, offset: timedelta | None) -> None:
        self.key = key
        self.offset = offset

    def utcoffset(self, _when: datetime | None, /) -> timedelta | None:
        """Return the recorded offset, whatever the date."""
        return self.offset

    def dst(self, _when: datetime | None, /) -> timedelta | None:
        """Return None: it is not recorded."""
        return None

    def tzname(self, _when: datetime | None, /) -> str:
        """Return the key of the zone."""
        return self.key

    def __repr__(self) -> str:
        return f"RecordedZone({self.key!r}, {self.offset!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordedZone):
            return NotImplemented
        return (self.key, self.offset) == (other.key, other.offset)

    def __hash__(self) -> int:
        return hash((self.key, self.offset))
