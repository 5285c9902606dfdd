"""Evidence that is read from files or computed here: code, known answers, references, generated files, costs.

Invariant: no file of the project is executed or imported, and nothing is fetched.

Source: RFC 8785, sections 3.2.2 and 3.2.3 and appendix B; its answers are those of the document, not of a
library.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import rfc8785

from twice.errors import TwiceError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.specification.cost.result import FORMAT, Spread
from twice.specification.cost.rules import SEALED_REPLAY
from twice.specification.fill import find_version
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence, SourceFacts
from twice.specification.gate.plan import list_sources
from twice.specification.scaffold.lock import DriftStatus, measure_drift

RESULTS: Final = ("inside", "breach", "unknown", "no-budget")
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
    """Answers of RFC 8785 that were run, and the wrong ones; of 11 each vector's digests, () for no JSON, and versions."""

    rfc8785: int
    wrong: tuple[str, ...]
    vectors: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AuditReference:
    """What sheet 04 refers to: whether it is there, None for an address of the network, and lines that 04 copied."""

    there: bool | None
    copied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Costs:
    """What ``twice cost`` measured: for each rule whether it has a figure, a budget and what became of it.

    Of the source files that it was measured on, ``changed`` are not what they were. ``replay`` has the figures of
    replays by unit. What the file does not say is "", () or None.
    """

    rules: Mapping[str, bool]
    total_percent: float | None
    changed: tuple[str, ...]
    program: str = ""
    code: tuple[str, ...] = ()
    result: str = ""
    budget_percent: int | None = None
    replay: Mapping[str, Spread] = field(default_factory=dict)


def gather_code(context: EvidenceContext) -> SourceFacts:
    """Read the sources that the sheets name, through whoever can read them."""
    sources = list_sources(context.workspace)
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
    spec = context.workspace
    wrong = [
        given
        for given, expected in _ANSWERS
        if rfc8785.dumps(json.loads(given)).decode() != expected
    ]
    vectors = {value: _list_digests(value) for value in spec.column("11", "vectors", "value")}
    versions = {
        name: find_version(name) or "not installed" for name in spec.column("11", "pins", "library")
    }
    return EncodingAnswers(len(_ANSWERS), tuple(wrong), vectors, versions)


def _list_digests(document: str) -> tuple[str, ...]:
    try:
        encoded = encode(json.loads(document, parse_constant=_refuse_constant))
    except (ValueError, RecursionError, TwiceError):
        return ()
    return tuple(str(digest_bytes(encoded, algorithm)) for algorithm in Algorithm)


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no value of JSON")


def gather_handoff(context: EvidenceContext) -> AuditReference:
    """Look at what sheet 04 refers to; an address of the network is taken as it stands."""
    reference, snapshots = (
        context.workspace.text("04", "audit_encoding"),
        context.workspace.get("04"),
    )
    if not reference or snapshots is None:
        raise MissingEvidence("sheet 04 refers to nothing")
    if _ADDRESS.fullmatch(reference):
        return AuditReference(None)
    path = context.project / reference.partition("#")[0]
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return AuditReference(there=False)
    theirs = {line.strip() for line in text.splitlines() if len(line.strip()) >= _LINE_MIN}
    ours = [line.strip() for line in snapshots.body.splitlines()]
    copied = tuple(line for line in ours if line in theirs)
    return AuditReference(there=True, copied=copied if len(copied) >= _COPIED_MIN else ())


def gather_laid(context: EvidenceContext) -> tuple[DriftStatus, ...]:
    """Compare every file of the scaffold's lock with the project, by the sheets as the gate read them."""
    return measure_drift(context.workspace)


def gather_costs(context: EvidenceContext) -> Costs:
    """Read the file that sheet 13 names."""
    named = context.workspace.text("13", "measured")
    if not named:
        raise MissingEvidence("sheet 13 names no file of measured costs")
    try:
        document: Any = json.loads((context.project / named).read_bytes())
    except FileNotFoundError:
        raise MissingEvidence(f"{named} is not there: twice cost writes it") from None
    except (OSError, ValueError, RecursionError) as error:
        raise MissingEvidence(f"{named} cannot be read: {type(error).__name__}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise MissingEvidence(f"{named} is no document of the form {FORMAT}")
    code, result, budget = (document.get(key) for key in ("code", "result", "budget"))
    measured_on = sorted(code.items()) if isinstance(code, dict) else []
    percent = budget.get("percent") if isinstance(budget, dict) else None
    rules = {}
    for key in ("unmeasured", "rules"):
        listed = document.get(key)
        for row in listed if isinstance(listed, list) else []:
            if isinstance(row, dict) and "rule" in row:
                rules[str(row["rule"])] = key == "rules"
    if replay := _read_replay(document.get("replay")):
        rules[SEALED_REPLAY] = False  # Its figure is in sheet 06, and no row of 13.
    return Costs(
        rules,
        _read_number(document.get("total_percent")),
        tuple(path for path, digest in measured_on if _digest(context.project / path) != digest),
        str(document.get("program", "")),
        tuple(path for path, _ in measured_on),
        result if result in RESULTS else "",
        percent if isinstance(percent, int) else None,
        replay,
    )


def gather_installed(context: EvidenceContext) -> Mapping[str, str]:
    """Return the installed version of each library that sheet 13 names a version of; "" for none."""
    return {
        name: find_version(name) for name in context.workspace.column("13", "reevaluate", "library")
    }


def _read_replay(said: object) -> dict[str, Spread]:
    """Give the figures of replays by unit; one that is not whole is left out."""
    found = {}
    for unit, told in said.items() if isinstance(said, dict) else ():
        if isinstance(told, dict):
            read = [_read_number(told.get(name)) for name in ("median", "lowest", "highest")]
            numbers = [each for each in read if each is not None]
            if len(numbers) == len(read):
                found[str(unit)] = Spread(*numbers)
    return found


def _read_number(said: object) -> float | None:
    """Give a number that is one: no truth, no NaN, nothing without an end."""
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        return None
    try:
        return float(said) if math.isfinite(said) else None
    except OverflowError:
        return None


def _digest(path: Path) -> str:
    try:
        return str(digest_bytes(path.read_bytes(), Algorithm.SHA256))
    except (OSError, ValueError):  # a stranger's path may hold what no path holds
        return ""
