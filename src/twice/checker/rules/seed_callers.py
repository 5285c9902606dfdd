"""Whether the run's seed reaches what a project seeds: a number in the program, the clock, a default.

A parameter is followed to its callers in all files, a field to the calls that make its object. Where one of
them leaves the seed out, the default is relied on there. What no caller is seen of may be given by anybody.

Invariant: a seed is an orphan only where every way was followed to its end, or one call relies on a default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rules.project_names import ProjectNames
from twice.checker.rules.seed_ways import Way, found_at
from twice.checker.syntax.names import LOCAL
from twice.foundation.printable import pluralize

_DEPTH: Final = 24
UNREACHED: Final = "which the run's seed never reaches"


@dataclass(frozen=True, slots=True)
class Relied:
    """A call that relies on a default.

    Args:
        path: its file.
        found: the place, without words.
        name: what it leaves out; "" where a look-up falls back.
        text: the default.
    """

    path: str
    found: Violation
    name: str
    text: str

    @property
    def where(self) -> str:
        """``path:line`` of the call."""
        return f"{self.path}:{self.found.place.line}"


@dataclass(frozen=True, slots=True)
class Unreached:
    """A call that seeds with what the run's seed never reaches.

    Args:
        path: its file.
        line: from 1.
        shown: the call as it is written.
        text: what it seeds with.
        relied: the calls that rely on a default; none where the number is written into the program.
    """

    path: str
    line: int
    shown: str
    text: str
    relied: tuple[Relied, ...]

    @property
    def note(self) -> str:
        """Why nobody's seed reaches it, as the end of a sentence."""
        if not self.relied:
            return f"seeded with {self.text}, {UNREACHED}"
        first, more = self.relied[0], len(self.relied) - 1
        others = f" and {pluralize(more, 'more call')}" if more else ""
        rely = "rely" if more else "relies"
        return f"seeded with {self.text}, {UNREACHED}: {first.where}{others} {rely} on that default"


@dataclass(frozen=True, slots=True)
class _End:
    """Where one or several ways end: with the run's seed when there is neither text."""

    text: str = ""
    relied: tuple[Relied, ...] = ()


_OPEN: Final = _End()


class SeedCallers:
    """Follows seeds through a project.

    Args:
        facts: what ``seed_sources.gather`` gave, by path.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts
        self._names = ProjectNames(facts)
        self._assigned = {name for one in facts.values() for name in one["assigned"]}
        self._calls: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
        self._running: set[tuple[str, ...]] = set()
        self._known: dict[tuple[str, ...], _End] = {}
        for path, one in facts.items():
            for each in one["calls"]:
                for callee in self._callees(path, each):
                    self._calls.setdefault(callee, []).append((path, each))

    def unreached(self) -> Iterator[Unreached]:
        """Give every call that seeds with what the run's seed never reaches."""
        for path, one in self._facts.items():
            for each in one["made"]:
                place = Relied(path, found_at(each["at"]), "", "")
                end = self._ends(path, each["ways"], place, 0)
                if end.text:
                    yield Unreached(path, each["at"][0], each["at"][-1], end.text, end.relied)

    def _callees(self, path: str, call: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the function, or the class with fields, that a call calls."""
        found = self._names.find(path, call["to"])
        if found is None:
            return
        where, name = found
        if name in self._facts[where]["takes"] and "super" not in call:
            yield found
            return
        owner, _, method = name.rpartition(".")
        classes = [(name, "__init__")] if "super" not in call else []
        classes += [(owner, method)] if owner else []
        for kind, word in classes:
            for at, each in enumerate(self._names.lineage(where, kind)):
                if at == 0 and "super" in call:
                    continue
                one = self._facts[each[0]]
                if f"{each[1]}.{word}" in one["takes"]:
                    yield each[0], f"{each[1]}.{word}"
                    return
                if word == "__init__" and one["classes"].get(each[1], {}).get("fields"):
                    yield each
                    return

    # Ways, to their ends.

    def _ends(self, path: str, ways: list[Way], place: Relied, depth: int) -> _End:
        """Where alternatives end: one default that is relied on is enough, else all have to be fixed."""
        ends = [self._end(path, each, place, depth) for each in ways if each[0] != "none"]
        relied = [each for each in ends if each.relied]
        if relied:
            return _End(relied[0].text, tuple(_once(one for each in relied for one in each.relied)))
        return ends[0] if ends and all(each.text for each in ends) else _OPEN

    def _end(self, path: str, way: Way, place: Relied, depth: int) -> _End:
        key = (path, *map(str, way[:4]), place.where if way[-1] else "")
        if key in self._known:
            return self._known[key]
        if key in self._running or depth > _DEPTH:
            return _OPEN
        self._running.add(key)
        end = self._known[key] = self._followed(path, way, place, depth)
        self._running.discard(key)
        return end

    def _followed(self, path: str, way: Way, place: Relied, depth: int) -> _End:
        if way[0] in {"fixed", "world"}:
            return _End(way[1])
        if way[0] == "lookup":
            return _End(way[1], (Relied(path, found_at(way[2]), "", way[1]),))
        if way[0] == "name":
            return self._named(path, way[1], place, depth)
        if way[0] == "given":
            return self._given(path, way, place, depth)
        return self._field(path, way, place, depth) if way[0] == "field" else _OPEN

    def _named(self, path: str, name: str, place: Relied, depth: int) -> _End:
        """Follow a name of a module, or an attribute of a class."""
        found = self._names.find(path, name)
        if found is None or name.rpartition(".")[2] in self._assigned:
            return _OPEN
        where, rest = found
        ways = self._facts[where]["names"].get(rest)
        if ways is not None:
            return self._ends(where, ways, place, depth + 1)
        owner, _, attribute = rest.rpartition(".")
        return (
            self._field(where, ["field", LOCAL + owner, attribute, ""], place, depth)
            if owner
            else _OPEN
        )

    def _given(self, path: str, way: Way, place: Relied, depth: int) -> _End:
        """Follow a parameter to the arguments of its callers."""
        _, function, name, fallback = way
        signature = self._facts[path]["takes"][function]
        if signature["command"]:
            return _OPEN
        places = signature["places"]
        slots = [name, str(places.index(name))] if name in places else [name]
        ways = signature["defaults"].get(name)
        default = fallback if ways is None else self._ends(path, ways, place, depth + 1).text
        return self._called((path, function), name, slots, default, fallback, place, depth)

    def _called(
        self,
        callee: tuple[str, str],
        name: str,
        slots: list[str],
        default: str,
        fallback: str,
        place: Relied,
        depth: int,
    ) -> _End:
        """Combine all calls of a function or class, for one parameter."""
        ends = []
        for path, call in self._calls.get(callee, ()):
            at = int(slots[-1]) if slots[-1].isdigit() else call["count"]
            if "star" in call:
                ends.append(_OPEN)
            elif at >= call["count"] and name not in call.get("named", ()):
                if default:
                    found = found_at(call["at"])
                    ends.append(_End(default, (Relied(path, found, name, default),)))
            else:
                handed = call.get("slots", {})
                ways = next((handed[each] for each in slots if each in handed), None)
                if ways == [["none"]]:
                    if fallback:
                        found = found_at(call["at"])
                        ends.append(_End(fallback, (Relied(path, found, name, fallback),)))
                else:
                    ends.append(_OPEN if ways is None else self._ends(path, ways, place, depth + 1))
        relied = [one for each in ends for one in each.relied]
        if relied:
            return _End(next(each.text for each in ends if each.relied), tuple(_once(relied)))
        if not ends and fallback:
            return _End(fallback, (Relied(place.path, place.found, name, fallback),))
        return ends[0] if ends and all(each.text for each in ends) else _OPEN

    def _field(self, path: str, way: Way, place: Relied, depth: int) -> _End:
        """Follow an attribute of an instance: a field of its class, or an assigned value."""
        _, kind, attribute, fallback = way
        missing = (
            _End(fallback, (Relied(place.path, place.found, attribute, fallback),))
            if fallback
            else _OPEN
        )
        if attribute in self._assigned:
            return missing
        found = self._names.find(path, kind) if kind else self._only(attribute)
        for where, name in self._names.lineage(*found) if found is not None else ():
            one = self._facts[where]
            fields = one["classes"].get(name, {}).get("fields", {})
            if attribute in fields:
                ways = fields[attribute] or []
                default = self._ends(where, ways, place, depth + 1).text or fallback
                slots = [attribute, str(list(fields).index(attribute))]
                return self._called(
                    (where, name), attribute, slots, default, fallback, place, depth
                )
            ways = one["names"].get(f"{name}.{attribute}")
            if ways is not None:
                end = self._ends(where, ways, place, depth + 1)
                return end if end.text else missing
        return missing

    def _only(self, attribute: str) -> tuple[str, str] | None:
        """Return the class that has an attribute, if it is the only one in the project."""
        found = self._holders.get(attribute, {})
        return next(iter(found)) if len(found) == 1 else None

    @cached_property
    def _holders(self) -> dict[str, dict[tuple[str, str], None]]:
        """The classes that have an attribute, by its name."""
        found: dict[str, dict[tuple[str, str], None]] = {}
        for path, one in self._facts.items():
            fields = [
                (name, each) for name, said in one["classes"].items() for each in said["fields"]
            ]
            kept = [each.rpartition(".")[::2] for each in one["names"] if "." in each]
            for name, attribute in (*fields, *kept):
                found.setdefault(attribute, {})[path, name] = None
        return found


def _once(found: Any) -> Iterator[Relied]:
    seen = set()
    for each in found:
        if (each.path, each.found.place) not in seen:
            seen.add((each.path, each.found.place))
            yield each
