"""Certificates: what verification found of one tool, kept as a file, and read by sessions.

A certificate is bound to the tool's fingerprint, the backend's profile, the user's own files that were
loaded with the tool, Python and libraries, and carries a digest of itself. The digest finds what was edited by mistake; it is no signature, and whoever may write into
the folder may write any certificate there.

Invariant: a certificate that cannot be read, was edited, or is of another tool, backend, profile, code or
version of a library gives no level, and that is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from twice.errors import UsageError
from twice.foundation.printable import pluralize
from twice.tools.contract import read_level
from twice.tools.determinism import Level
from twice.tools.plain import NotPlain, canonical, fingerprint, plain
from twice.tools.verification.result import (
    FORMAT,
    ToolVerification,
    Verdict,
    Verification,
)
from twice.writing import write

_BYTES_MAX: Final = 1 << 24
_FILES_MAX: Final = 10_000
_HEX: Final = 12
_UNPLAIN: Final = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True)
class There:
    """What certificates are held against: a registry as it is loaded now.

    Attributes:
        tools: fingerprint by name.
        backend: kind of backend.
        profile: its versions.
        sources: digests of the user's own files that were loaded with it.
        versions: of Python and of libraries.
    """

    tools: Mapping[str, str]
    backend: str
    profile: Mapping[str, str]
    sources: Mapping[str, str]
    versions: Mapping[str, str]

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> Self:
        """As the laboratory describes a registry."""
        return cls(
            {each["name"]: each["fingerprint"] for each in told["tools"]},
            told["backend"],
            told["profile"],
            told["sources"],
            versions_of(told["environment"]),
        )


@dataclass(frozen=True)
class Certificate:
    """One certificate that was read whole.

    Attributes:
        path: where it stands.
        name: of the tool.
        fingerprint: of the tool.
        level: how far it was tried.
        backend: kind of backend.
        profile: its versions.
        sources: digests of the user's own files that were loaded with it.
        versions: of Python and of libraries.
        host: digest of the machine that it was made on.
        verdict: what was found.
        outcomes: by case, what came of it: fingerprints of result and state.
    """

    path: Path
    name: str
    fingerprint: str
    level: Level
    backend: str
    profile: Mapping[str, str]
    sources: Mapping[str, str]
    versions: Mapping[str, str]
    host: str
    verdict: str
    outcomes: Mapping[str, tuple[str, str]]

    def counts_as_nothing(self, there: There) -> str:
        """Why it does not count here; empty when it does."""
        if self.name not in there.tools:
            return f"this registry has no tool {self.name}"
        if there.tools[self.name] != self.fingerprint:
            return f"{self.name} has another fingerprint here: it was changed since"
        if (self.backend, dict(self.profile)) != (there.backend, dict(there.profile)):
            return f"it was made on {_named(self.backend, self.profile)}, and this is {_named(there.backend, there.profile)}"
        changed = _first_changed(self.sources, there.sources)
        if changed:
            return f"{changed} was changed since"
        other = _first_changed(self.versions, there.versions)
        if other:
            was, now = (each.get(other, "missing") for each in (self.versions, there.versions))
            return f"{other} was {was} then, and is {now} here"
        return ""


def host_of(environment: Mapping[str, Any]) -> str:
    """Digest a machine by system and processor; machines of one make and system look alike."""
    return fingerprint(plain([environment.get("os"), environment.get("cpu")]))


def versions_of(environment: Mapping[str, Any]) -> dict[str, str]:
    """Versions of Python and of the libraries that an environment names."""
    python = environment.get("python") or {}
    libraries = environment.get("libraries") or {}
    return {"python": str(python.get("version")), **{k: str(v) for k, v in libraries.items()}}


def _first_changed(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return the first key under which two maps differ; empty if none does."""
    return next((key for key in sorted({*one, *other}) if one.get(key) != other.get(key)), "")


def write_certificates(folder: Path, verification: Verification) -> list[Path]:
    """Write one certificate for each tool that promises something, each whole or not at all.

    Raises:
        OutputUnwritable: E-OUTPUT-002. UsageError: E-USE-001, for what is no folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _no_folder(folder, str(error)) from error
    host = host_of(verification.environment).partition(":")[2][:_HEX]
    written = []
    for tool in verification.tools:
        if tool.verdict is Verdict.PROMISES_NOTHING:
            continue
        path = folder / _file_name(tool, host)
        write(path, _document(verification, tool))
        written.append(path)
    return written


def _document(verification: Verification, tool: ToolVerification) -> bytes:
    document = plain(verification.to_json([tool]))
    document["digest"] = fingerprint(document)
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def _file_name(tool: ToolVerification, host: str) -> str:
    digest = tool.fingerprint.partition(":")[2][:_HEX]
    return f"{_UNPLAIN.sub('_', tool.name)}.{digest}.{host}.json"


def read_certificates(folder: Path) -> tuple[list[Certificate], list[str]]:
    """Read the certificates of a folder, in the order of their names, and what is wrong with others.

    Raises:
        UsageError: E-USE-001, for what is no folder.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise _no_folder(folder, str(error)) from error
    found: list[Certificate] = []
    said = []
    for path in paths[:_FILES_MAX]:
        try:
            found.append(_read(path))
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            said.append(f"{path.name} counts as nothing: {_why(error)}")
    if len(paths) > _FILES_MAX:
        said.append(
            f"{pluralize(len(paths) - _FILES_MAX, 'certificate was', 'certificates were')} not read"
        )
    return found, said


def levels(certificates: Iterable[Certificate], there: There) -> tuple[dict[str, Level], list[str]]:
    """How far the tools of a session were tried, by their fingerprints, and what counts as nothing.

    Args:
        certificates: that were read.
        there: the registry of the session.
    """
    order = list(Level)
    found: dict[str, Level] = {}
    said = []
    for each in certificates:
        why = each.counts_as_nothing(there)
        if why:
            said.append(f"{each.path.name} counts as nothing: {why}")
            continue
        level = found.get(each.fingerprint, Level.DECLARED)
        found[each.fingerprint] = max(level, each.level, key=order.index)
    exposed = {e.fingerprint: e for e in certificates if e.verdict == Verdict.EXPOSED}
    for key, certificate in exposed.items():
        if found.pop(key, None) is not None:
            said.append(
                f"{certificate.name} was exposed ({certificate.path.name}): it has no level"
            )
    return found, said


def _read(path: Path) -> Certificate:
    with path.open("rb") as file:
        data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        raise ValueError(f"it is larger than {_BYTES_MAX} bytes")
    document = plain(json.loads(data))
    if document["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    digest = document.pop("digest")
    if fingerprint(document) != digest:
        raise ValueError("it was edited: its digest is not that of its content")
    (tool,) = document["tools"]
    return Certificate(
        path,
        tool["name"],
        tool["fingerprint"],
        read_level(tool["level"]),
        document["backend"],
        document["profile"],
        dict(document["sources"]),
        versions_of(document["environment"]),
        host_of(document["environment"]),
        tool["verdict"],
        {
            each["digest"]: (each["result"], each["state"])
            for each in tool["cases"]
            if each["result"]
        },
    )


def _why(error: Exception) -> str:
    if isinstance(error, KeyError | TypeError | AttributeError):
        return "it is no certificate"
    return f"it cannot be read: {error}" if isinstance(error, OSError | NotPlain) else str(error)


def _named(backend: str, profile: Mapping[str, str]) -> str:
    text = canonical(dict(profile)).decode()
    return f"{backend or 'no backend'} {text}"


def _no_folder(folder: Path, why: str) -> UsageError:
    return UsageError(
        f"{folder} is no folder of certificates: {why}.",
        "Expected a folder that twice tools verify --certificates has written.",
        "Name another one.",
    )
