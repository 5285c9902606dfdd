"""From a name as it is written to the path that it stands for.

For: the names that a statement reads, the paths behind them, and what hangs on those.

Not for: what differs there (``observer``).

Invariant: data alone; nothing is executed and no attribute of a live object is read.
"""

from __future__ import annotations

from twice.diagnosis.localization.moments import Operation
from twice.diagnosis.localization.source_facts import LineFacts
from twice.diagnosis.tracing.paths import plain, under
from twice.diagnosis.tracing.trace import Sample

ITERATED = ".0"
"""The local under which a comprehension holds what it walks."""
_COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")


def resolve(name: str, prefix: str, sample: Sample) -> tuple[str | None, bool]:
    """Resolve a dotted name in a frame to a path, as far as paths go.

    Returns:
        The owning path or None, and whether the whole name led to it.
    """
    first, *rest = [name] if name == ITERATED else name.split(".")
    owner: str | None = None
    local = prefix + first
    if local in sample.digests:
        owner = sample.aliases.get(local, local)
    else:
        ending = ":" + first
        owner = next((path for path in sorted(sample.digests) if path.endswith(ending)), None)
        owner = sample.aliases.get(owner, owner) if owner is not None else None
    if owner is None:
        return None, False
    for attribute in rest:
        member = f"{owner}.{attribute}"
        if member not in sample.digests:
            return owner, False
        owner = sample.aliases.get(member, member)
    return owner, True


def find_references(owner: str, sample: Sample, differing: frozenset[str]) -> list[str]:
    """Paths that differ among those whose objects hang on a path."""
    reached: dict[str, None] = {path: None for path in sample.references if under(path, owner)}
    # A member of a new object may still be a local of the function that made it.
    reached |= {other: None for path, other in sample.aliases.items() if under(path, owner)}
    for path in list(reached):
        reached.update(dict.fromkeys(sample.references.get(path, ())))
    # One level further: what a container holds, and what these hold.
    for path in list(reached):
        reached.update(dict.fromkeys(sample.references.get(path, ())))
    return [path for path in sorted(differing) if any(under(path, each) for each in reached)]


def list_names_read(facts: LineFacts, operation: Operation, path: str) -> tuple[str, ...]:
    """Names that a statement reads; one that closes what it opened reads the name that it gave that."""
    if operation.place.function.endswith(_COMPREHENSIONS):
        return (ITERATED, *facts.reads)
    if facts.kind not in {"With", "AsyncWith"} or plain(path) in facts.assigns:
        return facts.reads
    return (*facts.reads, *facts.assigns)
