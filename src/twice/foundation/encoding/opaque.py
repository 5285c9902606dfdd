"""What decoding yields when a type is not resolved: the name and the parts, and no code.

An opaque value encodes to the same bytes as the value it stands for, so a record can be read,
compared and copied on a machine that has never seen the program.

Invariant: two opaque values are equal exactly when their canonical bytes are.
"""

from __future__ import annotations

from dataclasses import dataclass


class _SameBytes:
    """Equality and hash through canonical form: ``1`` and ``1.0`` inside must not be the same."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or _canonical(self) == _canonical(other)

    def __hash__(self) -> int:
        return hash(_canonical(self))


def _canonical(value: object) -> bytes:
    from twice.foundation.encoding.writing import encode

    return encode(value)


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A member of an enum that is not loaded.

    Args:
        type_name: ``module:qualified.name`` of the enum.
        member: its name; for a flag the single-bit names joined by ``|``.
    """

    type_name: str
    member: str

    def __repr__(self) -> str:
        return f"<{self.type_name}.{self.member}>"


@dataclass(frozen=True, slots=True, eq=False)
class InstanceValue(_SameBytes):
    """A dataclass instance whose class is not loaded.

    Args:
        type_name: ``module:qualified.name`` of the class.
        names: its field names in ascending order.
        values: one value per name.
    """

    type_name: str
    names: tuple[str, ...]
    values: tuple[object, ...]

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={v!r}" for n, v in zip(self.names, self.values, strict=True))
        return f"<{self.type_name} {fields}>"


@dataclass(frozen=True, slots=True, eq=False)
class NamedTupleValue(_SameBytes):
    """A named tuple whose class is not loaded.

    Args:
        type_name: ``module:qualified.name`` of the class.
        names: its field names in the order of the tuple.
        values: one value per name.
    """

    type_name: str
    names: tuple[str, ...]
    values: tuple[object, ...]

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={v!r}" for n, v in zip(self.names, self.values, strict=True))
        return f"<{self.type_name}({fields})>"


@dataclass(frozen=True, slots=True, eq=False)
class RegisteredValue(_SameBytes):
    """A value of a registered type, in the plain form that its registration gave it.

    Args:
        name: the name it was registered under.
        value: what ``to_value`` returned.
    """

    name: str
    value: object

    def __repr__(self) -> str:
        return f"<{self.name} {self.value!r}>"


@dataclass(frozen=True, slots=True)
class PathValue:
    """A concrete path of the other platform, which cannot be made here.

    Args:
        kind: ``PosixPath`` or ``WindowsPath``.
        text: the path.
    """

    kind: str
    text: str

    def __repr__(self) -> str:
        return f"<{self.kind} {self.text!r}>"
