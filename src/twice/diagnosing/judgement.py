"""What a diagnosis found, and the verdict that is made of it.

Invariant: a verdict says nothing that no record and no execution showed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from twice.diagnosing.attribution import Observations, attribute
from twice.diagnosing.comparing import (
    InputDifference,
    Parting,
    components_of,
    environments_apart,
    list_extra_reads,
    substituted_inputs,
)
from twice.diagnosing.concluding import (
    list_library_reads_apart,
    name_lines,
    reads_that_differ,
)
from twice.diagnosing.divergence import (
    Confirmation,
    Divergence,
    ExtraRead,
    Result,
    next_commands,
)
from twice.diagnosing.executions import Side
from twice.diagnosing.experiments import Factor, factors_between
from twice.diagnosing.line_remedies import find_remedy
from twice.diagnosing.locating.located import Located
from twice.foundation.difference import FieldDifference


@dataclass
class Found:
    """What the executions gave."""

    fields: list[FieldDifference] = field(default_factory=list)
    located: Located | None = None
    factors: list[Factor] = field(default_factory=list)
    blind_spots: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    restores: Mapping[str, Any] = field(default_factory=dict)
    non_reproducing: str | None = None
    unsteady: Mapping[str, Any] = field(default_factory=dict)
    experiments: list[Confirmation] = field(default_factory=list)


def conclude(
    a: Side, b: Side, where: Parting, inputs: Sequence[InputDifference], found: Found
) -> Divergence:
    """The verdict on runs that part, with everything that the executions gave."""
    seen = Observations(
        located=found.located,
        columns=where.columns,
        fields=found.fields,
        factors=found.factors,
        resumed=a.start is not None or b.start is not None,
        blind_spots=found.blind_spots,
        substituted=substituted_inputs(a.record, b.record),
        unsteady=tuple(found.unsteady),
        experiments=found.experiments,
        clock_policy=a.record.setup.clock != b.record.setup.clock,
        reads_differ=reads_that_differ(a.record, b.record, where.at),
        library_reads=list_library_reads_apart(a.record, b.record, where.at),
    )
    named = name_lines(
        found.located,
        found.fields,
        library_read=bool(seen.library_reads),
        substituted=seen.substituted,
    )
    result, operation = named.result, named.operation
    if found.non_reproducing is not None:  # the line is where it shows, as sure as it says
        result, operation = "non-reproducing", operation or next(iter(named.candidates), None)
    attribution = attribute(seen)
    remedy = find_remedy(found.located, attribution[0].channel) if attribution else ""
    return replace(
        verdict_of(a, b, result, where, inputs, caveats=found.caveats),
        fields=found.fields,
        operation=operation,
        candidates=() if operation is not None else named.candidates,
        attribution=attribution,
        remedies=[remedy] if remedy else [],
        blind_spots=found.blind_spots,
        evidence=found.evidence,
        experiments=found.experiments,
        surroundings=[(factor.name, factor.a, factor.b) for factor in found.factors],
    )


def conclude_extra_read(
    a: Side, b: Side, where: Parting, inputs: Sequence[InputDifference], found: Found
) -> Divergence:
    """The verdict on runs that read differently, and agree in everything that is judged."""
    first = found.located.followed[0] if found.located is not None else None
    names = list_extra_reads(a.record, b.record, where) or ["a read with other arguments"]
    reads = [ExtraRead(name) for name in names]
    if first is not None:
        reads[0] = ExtraRead(names[0], first.file, first.line, first.code or "")
    return replace(
        verdict_of(a, b, "extra-read", where, inputs, caveats=found.caveats), reads=reads
    )


def verdict_of(
    a: Side,
    b: Side,
    result: Result,
    where: Parting | None = None,
    inputs: Sequence[InputDifference] = (),
    *,
    caveats: Sequence[str] = (),
) -> Divergence:
    """The verdict from what the records say by themselves."""
    factors = factors_between(a, b)
    torn = [
        f"{record.path} is torn: its intact prefix was compared"
        for record in (a.record, b.record)
        if not record.complete
    ]
    return Divergence(
        a=str(a.record.path),
        b=str(b.record.path),
        result=result,
        predicate=a.record.setup.predicate,
        subsystems=sorted({*components_of(a.record, b.record), "output", "streams"}),
        input_differences=inputs,
        compare_point=None if where is None else where.at,
        last_agreement=None if where is None else where.last_agreement,
        components=() if where is None else where.columns,
        reconverges=where is not None and where.reconverges,
        surroundings=[(factor.name, factor.a, factor.b) for factor in factors],
        environment=environments_apart(a.record, b.record),
        caveats=[*torn, *caveats],
        next=next_commands(result, a.record.path, b.record.path),
    )
