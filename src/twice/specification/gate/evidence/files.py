"""Evidence that is read from files or computed here: code, known answers, references, scaffolded regions.

Invariant: no file of the project is executed or imported, and nothing is fetched.

Source: RFC 8785, sections 3.2.2 and 3.2.3 and appendix B; its answers are those of the document, not of a
library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import rfc8785

from twice.errors import TwiceError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence, SourceFacts
from twice.specification.scaffold.lock import DriftStatus, measure_drift

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+|[a-z0-9-]+:[a-z0-9-]+")
_LINE_MIN: Final = 40  # a shorter line may stand in two documents by itself
_COPIED_MIN: Final = 3
_ANSWERS: Final = (
    (
        (
            '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
            '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
        ),
        (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ),
    ),
    (
        '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
        '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}',
    ),
    ("[-0.0,5e-324,1.7976931348623157e308]", "[0,5e-324,1.7976931348623157e+308]"),
    ("[9007199254740992.0,295147905179352830000.0]", "[9007199254740992,295147905179352830000]"),
    ("[1e21,0.000001,9.999999999999997e-7]", "[1e+21,0.000001,9.999999999999997e-7]"),
    ('[[],{},"",0,false]', '[[],{},"",0,false]'),
)


@dataclass(frozen=True, slots=True)
class EncodingAnswers:
    """Known answers of the canonical form, run.

    Args:
        rfc8785: vectors of RFC 8785 that were run.
        wrong: those that came out otherwise.
        vectors: for each of sheet 11's, its digest by each algorithm; nothing where it is no JSON document.
        versions: installed versions of the libraries that make the bytes.
    """

    rfc8785: int
    wrong: tuple[str, ...]
    vectors: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AuditReference:
    """What sheet 04 refers to.

    Args:
        there: whether the audit log's encoding is where it says; None for an address of the network.
        copied: lines of it that stand in sheet 04 as well.
    """

    there: bool | None
    copied: tuple[str, ...] = ()


def gather_code(context: EvidenceContext) -> SourceFacts:
    """Read the sources that the sheets name, through whoever can read them."""
    sources = context.plan.sources
    if not sources:
        raise MissingEvidence("sheet 00 names no sources")
    for each in sources:
        if not (context.project / each).exists():
            raise MissingEvidence(f"there is no {each}, which the sheets name as source")
    context.doing("reading the code")
    return context.reads_code(context.project, sources)


def gather_encoded(context: EvidenceContext) -> EncodingAnswers:
    """Run the answers of RFC 8785, and the vectors of sheet 11."""
    context.doing("running the vectors of the canonical form")
    loaded: list[Any] = [json.loads(given) for given, _ in _ANSWERS]
    written = [rfc8785.dumps(each).decode() for each in loaded]
    return EncodingAnswers(
        rfc8785=len(_ANSWERS),
        wrong=tuple(
            given
            for (given, expected), came in zip(_ANSWERS, written, strict=True)
            if came != expected
        ),
        vectors={value: _list_digests(value) for value in context.plan.vectors},
        versions={name: _find_version(name) for name in context.plan.libraries},
    )


def _list_digests(document: str) -> tuple[str, ...]:
    try:
        encoded = encode(json.loads(document))
    except (ValueError, RecursionError, TwiceError):
        return ()
    return tuple(str(digest_bytes(encoded, algorithm)) for algorithm in Algorithm)


def _find_version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def gather_handoff(context: EvidenceContext) -> AuditReference:
    """Look at what sheet 04 refers to; an address of the network is taken as it stands."""
    reference = context.plan.reference
    if not reference:
        raise MissingEvidence("sheet 04 refers to nothing")
    if _ADDRESS.fullmatch(reference):
        return AuditReference(None)
    path = context.project / reference.partition("#")[0]
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return AuditReference(there=False)
    theirs = {line.strip() for line in text.splitlines() if len(line.strip()) >= _LINE_MIN}
    ours = [line.strip() for line in context.plan.snapshot_text.splitlines()]
    copied = tuple(line for line in ours if line in theirs)
    return AuditReference(there=True, copied=copied if len(copied) >= _COPIED_MIN else ())


def gather_laid(context: EvidenceContext) -> tuple[DriftStatus, ...]:
    """Compare every file of the scaffold's lock with the project, by the sheets as the gate read them."""
    return measure_drift(context.workspace)
