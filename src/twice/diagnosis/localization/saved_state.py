"""The statement that saved a state, and left a field out.

A run that is put back and goes on otherwise lost something on the way. The line that puts it back is not what
anybody mends: that is the one which wrote down what there was to keep, in the class that has the field.

For: a statement that puts back what was saved, once it was found to make the difference.

Not for: finding out which field that is (``description``).

Invariant: the function that is named ran in the window; source is parsed, never executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from itertools import count, takewhile

from twice.diagnosis.localization.moments import Flow
from twice.diagnosis.localization.result import Located, Place
from twice.diagnosis.localization.source_facts import facts_at, line_facts, parse_file

_SAVING = frozenset((
    "state", "save", "dump", "dumps", "state_dict", "snapshot", "to_dict", "to_json", "as_dict",
    "getstate", "__getstate__", "get_state", "checkpoint", "serialize", "serialise", "freeze",
    "pack", "export", "backup", "persist", "capture", "model_dump", "model_dump_json",
))  # fmt: skip
"""How functions are called that write down what there is to keep."""
_NAME = re.compile(r"[^\W\d]\w*")


def find_saving(located: Located, flow: Flow) -> Place | None:
    """Find the statement that left the difference out of a saved state, or None.

    Functions that ran inside the restoring line come first, then the last ones before it.

    Args:
        located: a line that restores saved state, with the path of a field that differs after it.
        flow: the side that ran it.
    """
    lane = flow.lanes.get(located.thread)
    if lane is None:
        return None
    start = min(located.event, len(lane.places) - 1)
    # By its name and class a method is known to save; a call alone only by its name.
    methods = _list_methods(located, flow)
    # What the calls of that statement ran comes first.
    depth = flow.depth(located.thread, start)
    inside = takewhile(
        lambda index: flow.has(located.thread, index) and flow.depth(located.thread, index) > depth,
        count(start + 1),
    )
    found = [methods[place] for index in inside if (place := lane.places[index]) in methods]
    if found:
        return min(found, key=_rank)[1]
    calls = _list_calls(flow)
    for index in range(start, -1, -1):
        if lane.places[index] in methods:
            span = _walk_back(flow, located.thread, index, methods)
            return min((methods[lane.places[each]] for each in span), key=_rank)[1]
        if lane.places[index] in calls and index < start:
            at = flow.position(located.thread, index)
            return _place(at.file, at.function, at.line)
    return None


def _walk_back(flow: Flow, lane: str, index: int, methods: Collection[int]) -> Iterator[int]:
    """Events of the saving functions that were left last, the outermost call whole."""
    places, outermost = flow.lanes[lane].places, flow.depth(lane, index)
    for each in range(index, -1, -1):
        depth = flow.depth(lane, each)
        if places[each] in methods:
            outermost = min(outermost, depth)
            yield each
        elif depth <= outermost:
            break


def _list_methods(located: Located, flow: Flow) -> dict[int, tuple[int, Place]]:
    """Positions in functions that save objects with the field, or with what holds it, the field first."""
    ran: dict[tuple[str, str], list[int]] = {}
    for number, place in enumerate(flow.trace.positions):
        ran.setdefault((place.file, place.function), []).append(number)
    found: dict[int, tuple[int, Place]] = {}
    for rank, field in enumerate(reversed(_NAME.findall(located.name))):
        for file in dict.fromkeys(file for file, _ in ran):
            for owner, method in _list_saving(file, field):
                name = f"{owner.name}.{method.name}"
                for (of, function), numbers in ran.items():
                    if of == file and f".{function}".endswith(f".{name}"):
                        at = _place(file, function, _find_telling(method).lineno)
                        found.update({each: (rank, at) for each in numbers if each not in found})
    return found


def _list_calls(flow: Flow) -> set[int]:
    """Positions of lines that call something which saves."""
    return {
        number
        for number, place in enumerate(flow.trace.positions)
        if place.event == "line"
        and any(call.rpartition(".")[2] in _SAVING for call in facts_at(place).calls)
    }


def _list_saving(file: str, field: str) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    """Classes of a file whose objects have the field, each with its functions that save."""
    module = parse_file(file)
    for owner in ast.walk(module) if module is not None else ():
        if isinstance(owner, ast.ClassDef) and any(_binds(each, field) for each in ast.walk(owner)):
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and node.name in _SAVING:
                    yield owner, node


def _binds(node: ast.AST, field: str) -> bool:
    """Whether a statement of a class gives its objects the field."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id == field
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr == field
        and isinstance(node.value, ast.Name)
    )


def _find_telling(method: ast.FunctionDef) -> ast.stmt:
    """Find the statement of a function that reads most of its object."""

    def count_fields(statement: ast.stmt) -> int:
        read = (node for node in ast.walk(statement) if isinstance(node, ast.Attribute))
        return len({node.attr for node in read if isinstance(node.value, ast.Name)})

    statements = [node for node in ast.walk(method) if isinstance(node, ast.stmt)]
    simple = [node for node in statements if not hasattr(node, "body")]
    return max(simple or statements[1:], key=count_fields)


def _place(file: str, function: str, line: int) -> Place:
    return Place(file, line, function, line_facts(file, line).code)


def _rank(found: tuple[int, Place]) -> int:
    return found[0]
