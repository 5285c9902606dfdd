"""A divergence as rows of names and values, for a notebook: where the runs part, both values, the channel.

Invariant: each row says what the text of the divergence says too, and needs no place of 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.diagnosis.divergence import Divergence
from twice.diagnosis.text_layout import label_field, name_place, name_point, spell_paths
from twice.foundation.html_summary import format_html
from twice.recorder.components import name_columns


def summarize_divergence(found: Divergence) -> str:
    """Return a divergence as HTML."""
    verdict, _, headline = found.headline().partition(": ")
    command = found.next[0].command if found.next else ""
    return format_html(verdict, found.exit_code, headline, list_facts(found), command)


def list_facts(found: Divergence) -> Iterator[tuple[str, ...]]:
    """Yield names, each with a value or the values of both runs."""
    yield "run", found.a, found.b
    yield from ((each.what, each.a, each.b) for each in found.input_differences)
    for line in found.candidates if found.operation is None else [found.operation]:
        place = f"{name_place(line.file, line.line)} in {line.function}"
        yield "line", f"{place} ({line.confidence:.0%} sure)\n{line.code}"
        if line.name:
            yield line.name, line.a, line.b
    if found.inside is not None:
        yield "inside", "\n".join(found.inside.to_lines())
    yield from (("read", f"{each.what} {name_place(each.file, each.line)}") for each in found.reads)
    if found.compare_point is not None:
        yield "first differing compare-point", name_point(found.compare_point)
    if found.last_agreement is not None:
        yield "last agreement", name_point(found.last_agreement)
    if found.components:
        is_simulated = found.schedule is not None
        yield "components", name_columns(found.components, is_simulated=is_simulated)
    yield from ((label_field(each), each.a, each.b) for each in found.fields)
    yield from (
        (f"{each.what} ({each.where})" if each.where else each.what, each.a, each.b)
        for each in found.outcome
    )
    for entry in found.attribution:
        yield "channel", f"{entry.channel.value} (confidence {entry.confidence:.0%})"
        yield from (("", spell_paths(each)) for each in entry.evidence)
    yield from ((what, a or "unset", b or "unset") for what, a, b in found.surroundings)
    yield from (("not in state()", each) for each in found.blind_spots)
    yield from (
        ("tried", f"{each.cause}: {each.outcome} ({each.sentence})") for each in found.experiments
    )
    yield from (("observed", each) for each in found.evidence)
    yield from (("do", spell_paths(each)) for each in found.remedies)
    yield from (("caveat", each) for each in found.caveats)
