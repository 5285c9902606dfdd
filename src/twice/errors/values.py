"""Values without a canonical form, digests and classes that do not make sense.

Invariant: every leaf has an id of its own.
"""

from __future__ import annotations

from twice.errors.base import TwiceError, UsageError


class EncodingRefused(TwiceError, TypeError):
    """A value has no canonical form; its path is named."""

    id = "E-ENCODE-001"


class EncodingCycle(EncodingRefused):
    """A value contains itself."""

    id = "E-ENCODE-002"


class EncodingTextRefused(EncodingRefused):
    """A string holds lone surrogates and has no UTF-8 form."""

    id = "E-ENCODE-003"


class DecodingRefused(TwiceError, ValueError):
    """Bytes are not a canonical form."""

    id = "E-ENCODE-004"


class TypeNameTaken(TwiceError):
    """Two types were registered under one name, or one type twice."""

    id = "E-ENCODE-005"


class DigestRefused(TwiceError, ValueError):
    """A digest's label, algorithm or length is not known, or too weak for what it must hold."""

    id = "E-DIGEST-001"


class ClassRefused(UsageError, ValueError):
    """A determinism class, scope or tolerance does not make sense."""

    id = "E-CLASS-001"


class SampleMissing(UsageError):
    """The statistical class has no number to compare: no summary is declared, or none is given."""

    id = "E-CLASS-002"


class SampleUndecided(TwiceError):
    """Two samples are too small or too noisy to tell whether they agree."""

    id = "E-CLASS-003"
