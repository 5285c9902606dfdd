"""The surroundings of a child process as a value: decided variables and where it stands.

Explicit values whose names look secret are written as a short digest only; the digest tells whether
the same value came back. A guessable secret can be guessed from it, so a record made with one is as
private as the secret itself.

Invariant: the JSON form holds no value whose name looks secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal, get_args

from twice.errors import ConfigError, SurroundingsRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import digest_bytes
from twice.foundation.printable import pluralize
from twice.recorder.redaction.secret_names import is_secret
from twice.recorder.variables import is_governed, loads_code, may_come_from_elsewhere

FORMAT: Final = "twice.surroundings/1"

Source = Literal["set", "pinned", "kept", "explicit"]
"""Who decided a variable: the user's environment, twice, the libraries that would read it, or ``--env``."""

WorkingDirectory = Literal["caller", "program", "empty"]
"""Where the child stands: with its caller, beside the program, in a fresh empty folder."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One decided variable.

    Args:
        value: its text; None when the record holds only a digest of it.
        source: who decided it.
        digest: for a secret, ``blake3:`` and 16 hex digits for name and value; else empty.
        unconfirmed: it came out of a record and can load code, so a caller must ask for it too.
    """

    value: str | None = field(repr=False)
    source: Source
    digest: str = ""
    unconfirmed: bool = field(default=False, repr=False, compare=False)

    @property
    def shown(self) -> str:
        """Its value for people to read, with a secret's digest instead."""
        return f"redacted:{self.digest}" if self.digest else self.value or ""

    def written(self, name: str) -> dict[str, str]:
        """Return the JSON form: a secret has its digest in place of its value."""
        held = {"redacted": self.digest} if self.digest else {"value": self.value or ""}
        return {"name": name, **held, "source": self.source}

    def same_as(self, other: Variable) -> bool:
        """Return whether a child would see the same value, whoever decided it."""
        if self.digest or other.digest:
            return self.digest == other.digest
        return self.value == other.value


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The decided variables by name, in sorted order, and the working directory.

    Read as a value: ``to_json`` and ``from_json`` are inverse but for secret values.
    """

    variables: Mapping[str, Variable] = field(default_factory=dict)
    cwd: WorkingDirectory = "caller"

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", dict(sorted(self.variables.items())))

    @classmethod
    def found(cls, environ: Mapping[str, str]) -> Surroundings:
        """Return the governed variables as they are, for code that runs in place (a notebook)."""
        return cls(
            {
                name: Variable(value.encode(errors="backslashreplace").decode(), "set")
                for name, value in environ.items()
                if is_governed(name) and value
            }
        )

    def from_elsewhere(self, here: Mapping[str, str]) -> Surroundings:
        """Copy the surroundings of another account's record: what it may not set stays as it is here.

        Args:
            here: the caller's own environment.
        """
        own = Surroundings.found({name: here.get(name, "") for name in self.variables}).variables
        given = {
            name: one
            for name, one in self.variables.items()
            if one.value is not None and may_come_from_elsewhere(name, one.value)
        }
        return Surroundings({**own, **given}, self.cwd)

    def with_variables(self, variables: Mapping[str, str]) -> Surroundings:
        """Copy the surroundings with some variables set, as ``--env`` sets them."""
        given = {name: Variable(value, "explicit") for name, value in variables.items()}
        return Surroundings({**self.variables, **given}, self.cwd)

    def to_json(self) -> dict[str, Any]:
        """Return plain data with ``"format": "twice.surroundings/1"``, without secrets."""
        return {
            "format": FORMAT,
            "cwd": self.cwd,
            "variables": [one.written(name) for name, one in self.variables.items()],
        }

    @classmethod
    def from_json(cls, document: object) -> Surroundings:
        """Read the plain form back.

        Raises:
            ConfigError: E-CONFIG-001, naming the place that is not understood.
        """
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            found = document.get("format") if isinstance(document, Mapping) else document
            raise _not_understood("format", found, FORMAT)
        if document.get("cwd") not in get_args(WorkingDirectory):
            raise _not_understood("cwd", document.get("cwd"), "caller, program or empty")
        rows = document.get("variables")
        if not isinstance(rows, list):
            raise _not_understood("variables", rows, "a list")
        read = dict(_read_variable(index, row) for index, row in enumerate(rows))
        if len(read) != len(rows):
            raise _not_understood("variables", pluralize(len(rows), "row"), "each name once")
        return cls(read, document["cwd"])


def explicit_variable(name: str, value: str) -> Variable:
    """Make a variable as ``--env`` sets it, with a digest if its name looks secret."""
    return Variable(value, "explicit", secret_digest(name, value) if is_secret(name) else "")


def require_passable(name: str, value: str) -> None:
    """Refuse a variable that no process can have, or no record can contain.

    Raises:
        SurroundingsRefused: E-ENV-001.
    """
    surrogate = any("\ud800" <= letter <= "\udfff" for letter in name + value)
    if not name or "=" in name or "\0" in name + value or surrogate:
        raise SurroundingsRefused(
            f"No process can be given, or no record can hold, the variable {name!r}.",
            "A name is not empty and has no '='; name and value are UTF-8 without NUL.",
            "Write it as --env NAME=VALUE.",
            variable=name,
        )


def secret_digest(name: str, value: str) -> str:
    """Return a labelled, shortened digest, to check that a secret that is given again is the same."""
    digest = digest_bytes(f"{name}={value}".encode())
    return f"{digest.algorithm}:{digest.hex[:16]}"


def _read_variable(index: int, row: object) -> tuple[str, Variable]:
    place = f"variables[{index}]"
    if not isinstance(row, Mapping):
        raise _not_understood(place, row, "an object")
    name, value, digest = row.get("name"), row.get("value"), row.get("redacted", "")
    source: Source | None = row.get("source")
    if not isinstance(name, str) or source is None or source not in get_args(Source):
        raise _not_understood(place, dict(row), "a name, and a source: set, pinned or explicit")
    held = (isinstance(value, str), isinstance(digest, str) and digest != "")
    if held not in ((True, False), (False, True)):
        raise _not_understood(f"{place} ({name})", dict(row), "a text value, or a digest")
    require_passable(name, value if isinstance(value, str) else "")
    text = value if isinstance(value, str) else None
    return name, Variable(text, source, digest, unconfirmed=loads_code(name))


def _not_understood(place: str, found: object, expected: str) -> ConfigError:
    return ConfigError(
        f"The surroundings in the record have {found!r} at {place}.",
        f"Expected there: {expected}.",
        "Record the run again, or open it with the version that wrote it.",
        place=place,
    )
