"""How the states differ at the parting: fields of components, and positions of streams.

Invariant: only components and streams whose judged columns differ are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.diagnosis.executions import Executed
from twice.foundation.comparison import ABSENT, FieldDifference, differences, short
from twice.foundation.encoding import decode, encode
from twice.foundation.printable import pluralize
from twice.recorder.streams import draws

_WORDS_MAX = 1 << 40


def compare_states(one: Executed, two: Executed, columns: Sequence[str]) -> list[FieldDifference]:
    """Typed differences of the components' states at the parting, smallest first."""
    found = _compare_streams(one, two) if not columns or "streams" in columns else []
    for name in sorted({*one.states} | {*two.states}):
        if columns and name not in columns:
            continue
        state_a, state_b = one.states.get(name), two.states.get(name)
        if state_a is None or state_b is None:
            a, b = (ABSENT if each is None else short(decode(each)) for each in (state_a, state_b))
            found.append(FieldDifference(name, "missing", a, b))
        elif state_a != state_b:
            found += differences(decode(state_a), decode(state_b), component=name)
    return sorted(found, key=FieldDifference.rank)


def _compare_streams(one: Executed, two: Executed) -> list[FieldDifference]:
    """Streams whose positions differ, with the number of words that one is ahead of the other."""
    found = []
    for name in sorted({*one.streams} & {*two.streams}):
        state_a, state_b = one.streams[name], two.streams[name]
        if encode(state_a) == encode(state_b):
            continue
        # Which of the two is ahead nobody knows before both ways were tried.
        ahead = draws({name: state_a}, {name: state_b})[name]
        behind = draws({name: state_b}, {name: state_a})[name] if ahead is None else None
        a, b = "its position", "another position"
        if ahead is not None and ahead < _WORDS_MAX:
            b = f"{pluralize(ahead, 'word')} further"
        elif behind is not None and behind < _WORDS_MAX:
            a = f"{pluralize(behind, 'word')} further"
        found.append(FieldDifference(f"streams[{name!r}]", "value", a, b))
    return found
