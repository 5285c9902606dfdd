"""What this environment says that sheets have to say: versions, threads, known answers of our own forms.

Invariant: no library is imported for its version, but numpy, whose BLAS is pinned as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from twice.foundation.digests import digest_value
from twice.foundation.seeds import Seed
from twice.recording.environment import measure_versions
from twice.specifying.draws import first_draws
from twice.specifying.filling.proposal import Proposal, rows
from twice.specifying.frontmatter import Row, Value
from twice.specifying.workspace import Workspace

_SOURCE: Final = "read from this environment"
_NUMERIC: Final = ("jax", "numpy", "scipy", "torch")
_ENCODING: Final = ("blake3", "numpy", "twice")
_KNOWN: Final = ('{"a":[1,1.0,-0.0],"b":null}', '["\\u00e9",true,"e\\u0301"]', "[]")


def from_environment(workspace: Workspace) -> Iterator[Proposal]:
    """Give what can be read from the interpreter and its libraries."""
    if workspace.get("08") is not None:
        here = measure_versions()
        names = sorted({*_NUMERIC, *here.arithmetic} & here.versions.keys())
        yield Proposal("08", "pins", _pins({each: here.versions[each] for each in names}), _SOURCE)
    encoding = {each: _version(each) for each in _ENCODING}
    yield Proposal("11", "pins", _pins(encoding), _SOURCE)
    yield Proposal("11", "vectors", known_answers(), "computed by twice")
    numpy = _version("numpy")
    streams = workspace.get("03")
    kinds = {str(row.get("kind")) for row in streams.rows("slots")} if streams else set()
    if kinds == {"numpy"} and numpy:
        yield Proposal("03", "library", f"numpy {numpy}, generators as twice makes them", _SOURCE)
    yield from _draws(workspace)


def known_answers() -> Value:
    """Give digests of a few JSON documents in the canonical form."""
    return rows({"value": each, "digest": str(digest_value(json.loads(each)))} for each in _KNOWN)


def _pins(found: Mapping[str, str]) -> Value:
    return rows({"library": name, "version": each} for name, each in found.items() if each)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _draws(workspace: Workspace) -> Iterator[Proposal]:
    """Give the first draws of the streams, from the master seed of 00."""
    scope, streams = workspace.get("00"), workspace.get("03")
    master = scope.get("seed") if scope else None
    if streams is None or not isinstance(master, int):
        return
    read = []
    for row in streams.rows("slots"):
        name, kind = str(row.get("stream", "")), str(row.get("kind", ""))
        draws = first_draws(kind, Seed(master), name) if name else []
        if draws:
            read.append((name, draws))
    value: list[Row] = [
        {"master": master, "stream": name, "draws": list(draws)} for name, draws in read
    ]
    if value:
        yield Proposal("03", "vectors", value, "computed by twice from 00.seed and 03.slots")
