"""Values without parts: each becomes its bytes in one call.

The types of the standard library that a program may not have imported (``decimal``, ``uuid``, …)
are found through ``sys.modules``: when the module is not loaded, no value can be of its types.

Invariant: ``LEAVES`` and ``library_leaf`` hold exact types; a subclass is never looked up here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from struct import Struct
from types import NoneType
from typing import Any

from twice.foundation.encoding import forms
from twice.foundation.encoding.refusals import Refusal

Leaf = Callable[[Any], bytes]

_pack_complex = Struct("<cdd").pack
_pack_date = Struct("<cHBB").pack
_pack_timedelta = Struct("<ciii").pack
_NAN = float("nan")


def _none(_value: None) -> bytes:
    return forms.NONE


def _bool(value: bool) -> bytes:  # one signature for all leaves
    return forms.TRUE if value else forms.FALSE


def _complex(value: complex) -> bytes:
    real, imag = value.real, value.imag
    return _pack_complex(
        forms.COMPLEX,
        real if real == real else _NAN,  # noqa: PLR0124  # NaN test
        imag if imag == imag else _NAN,  # noqa: PLR0124  # NaN test
    )


def _range(value: range) -> bytes:
    bounds = (value.start, value.stop, value.step)
    return forms.RANGE + b"".join(map(forms.int_form, bounds))


LEAVES: dict[type, Leaf] = {
    NoneType: _none,
    bool: _bool,
    int: forms.int_form,
    float: forms.float_form,
    complex: _complex,
    str: forms.text_form,
    range: _range,
}


def decimal_text(value: Any) -> str:
    """``[-]digitsE±exponent``, or ``[-]Infinity``, ``[-]NaN…``, ``[-]sNaN…``: every bit of it."""
    sign, digits, exponent = value.as_tuple()
    body = "".join(map(str, digits))
    minus = "-" if sign else ""
    if exponent == "F":
        return f"{minus}Infinity"
    if exponent in {"n", "N"}:
        kind = "NaN" if exponent == "n" else "sNaN"
        return f"{minus}{kind}{body}"
    return f"{minus}{body}E{exponent}"


def _decimal(value: Any) -> bytes:
    return forms.DECIMAL + forms.name_form(decimal_text(value))


def _fraction(value: Any) -> bytes:
    widest = max(value.numerator.bit_length(), value.denominator.bit_length())
    if widest >= forms.FRACTION_BYTES_MAX * 8:
        raise Refusal(
            f"a Fraction of {widest} bits",
            f"Expected at most {forms.FRACTION_BYTES_MAX} bytes above and below the line.",
            "Keep the numerator and the denominator as two integers.",
        )
    return forms.FRACTION + forms.int_form(value.numerator) + forms.int_form(value.denominator)


def _uuid(value: Any) -> bytes:
    raw: bytes = value.bytes
    return forms.UUID + raw


PATH_KINDS = {
    "PurePosixPath": b"p",
    "PosixPath": b"P",
    "PureWindowsPath": b"w",
    "WindowsPath": b"W",
}


def _path(value: Any) -> bytes:
    return forms.PATH + PATH_KINDS[type(value).__name__] + path_text_form(str(value))


def path_text_form(text: str) -> bytes:
    """Length and bytes of a path; undecodable bytes of a file name come back as they were.

    UTF-8 with surrogateescape is what ``os.fsencode`` does on a UTF-8 system. Its own codec belongs
    to the process, and the bytes must not depend on that.
    """
    raw = text.encode("utf-8", "surrogateescape")
    return forms.pack_u32(len(raw)) + raw


def _date(value: Any) -> bytes:
    return _pack_date(forms.DATE, value.year, value.month, value.day)


def _timedelta(value: Any) -> bytes:
    return _pack_timedelta(forms.TIMEDELTA, value.days, value.seconds, value.microseconds)


def _time(value: Any) -> bytes:
    from twice.foundation.encoding import instants

    return instants.time_form(value)


def _datetime(value: Any) -> bytes:
    from twice.foundation.encoding import instants

    return instants.datetime_form(value)


_LIBRARY: tuple[tuple[str, str, Leaf], ...] = (
    ("decimal", "Decimal", _decimal),
    ("fractions", "Fraction", _fraction),
    ("uuid", "UUID", _uuid),
    *(("pathlib", name, _path) for name in PATH_KINDS),
    ("datetime", "date", _date),
    ("datetime", "time", _time),
    ("datetime", "datetime", _datetime),
    ("datetime", "timedelta", _timedelta),
)


LIBRARY = {name: leaf for _, name, leaf in _LIBRARY}


def library_leaf(cls: type) -> Leaf | None:
    """The encoder of a standard-library type, if ``cls`` is exactly one of those known."""
    for module, name, leaf in _LIBRARY:
        if cls.__name__ == name and getattr(sys.modules.get(module), name, None) is cls:
            return leaf
    return None
