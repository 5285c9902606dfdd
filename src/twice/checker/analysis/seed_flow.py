"""Where the seeds of a project come from, over all files.

A parameter is followed to its callers, a field to the calls that make its object. Where a call leaves the seed out,
the default is relied on there. What no caller is seen of may be given by anybody.

Invariant: a seed is an orphan only where every origin was followed to its end, or one call relies on a default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from twice.checker.analysis.seeds import WORDS, Origin
from twice.checker.rule import ProjectFacts
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.uses.words import about
from twice.foundation.printable import pluralize

_DEPTH: Final = 24
UNREACHED: Final = "which the run's seed never reaches"


@dataclass(frozen=True, slots=True)
class Relied:
    """A call that relies on a default.

    Args:
        path: its file.
        at: its place, as ``place_of`` gives it.
        name: what it leaves out; "" where a look-up falls back.
        text: the default.
    """

    path: str
    at: list[Any]
    name: str
    text: str

    @property
    def where(self) -> str:
        """``path:line`` of the call."""
        return f"{self.path}:{self.at[0]}"


@dataclass(frozen=True, slots=True)
class Unreached:
    """A call that seeds with what the run's seed never reaches.

    Args:
        path: its file.
        at: its place.
        text: what it seeds with.
        relied: the calls that rely on a default; none where the number is written into the program.
    """

    path: str
    at: list[Any]
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
    """Where one or several origins end: with the run's seed when there is neither text."""

    text: str = ""
    relied: tuple[Relied, ...] = ()


_OPEN: Final = _End()


class SeedFlow:
    """Follows seeds through a project."""

    def __init__(self, facts: ProjectFacts) -> None:
        self._facts = facts
        self._names = facts.names
        self._assigned = {name for one in facts.values() for name in one["assigned"]}
        self._calls: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
        self._running: set[tuple[str, ...]] = set()
        self._known: dict[tuple[str, ...], _End] = {}
        for path, one in facts.items():
            for each in one["calls"]:
                if (callee := self._callee(path, each)) is not None:
                    self._calls.setdefault(callee, []).append((path, each))

    def list_unreached(self) -> Iterator[Unreached]:
        """Yield every call that seeds with what the run's seed never reaches."""
        for path, one in self._facts.items():
            for each in one["made"]:
                end = self._ends(path, each["ways"], Relied(path, each["at"], "", ""), 0)
                if end.text:
                    yield Unreached(path, each["at"], end.text, end.relied)

    def list_defaults(self) -> Iterator[tuple[str, str, str, list[Any]]]:
        """Yield the numbers in signatures that seed something: file, function, parameter and place."""
        for path, one in self._facts.items():
            given = {
                (each[1], each[2])
                for made in one["made"]
                for each in made["ways"]
                if each[0] == "given"
            }
            for function, name in sorted(given):
                signature = one["takes"][function]
                if name in signature["seeds"] and not signature["command"]:
                    yield path, function, name, signature["seeds"][name]

    def list_choices(self) -> Iterator[tuple[str, list[Any], str]]:
        """Yield the calls that choose a seed where none was given, with the function that draws it."""
        for path, one in self._facts.items():
            for each in one["choices"]:
                found = self._names.find(path, each["to"])
                if found is not None and found[1] in self._of(found[0], "chosen"):
                    yield path, each["at"], found[1]

    def list_none(self) -> Iterator[tuple[str, dict[str, Any], bool]]:
        """Yield what seeds with a parameter that may be None: its file, it, and whether that is the default."""
        for path, one in self._facts.items():
            for each in one["made"]:
                if "none" in each:
                    defaults = one["takes"][each["none"][0]]["defaults"]
                    yield path, each, defaults.get(each["none"][1], "") is None

    def list_calls(
        self, path: str, function: str, name: str
    ) -> Iterator[tuple[str, dict[str, Any], bool]]:
        """Yield the calls of a function, each with whether it hands a parameter over."""
        slots = self._slots(path, function, name)
        for where, call in self._calls.get((path, function), ()):
            at = int(slots[-1]) if slots[-1].isdigit() else call["count"]
            named = call.get("named", ())  # A generator may be given in place of a seed.
            is_given = (
                "star" in call or at < call["count"] or any(about(each, WORDS) for each in named)
            )
            handed = next(
                (ways for each in slots if (ways := call.get("slots", {}).get(each))), None
            )
            yield where, call, is_given and handed != [["none"]]

    def find_none(self, path: str, function: str, name: str, depth: int = 4) -> Relied | None:
        """Find the call, near or far, that hands a parameter a default None on."""
        slots = self._slots(path, function, name)
        for where, call in self._calls.get((path, function), ()):
            nones = call.get("nones", {})
            its = next((nones[each] for each in slots if each in nones), None)
            if its is None:
                continue
            default = self._facts[where]["takes"][its[0]]["defaults"].get(its[1], "")
            if default is None:
                return Relied(where, call["at"], its[1], its[0])
            if (
                default == ""
                and depth
                and (far := self.find_none(where, its[0], its[1], depth - 1))
            ):
                return far
        return None

    def _slots(self, path: str, function: str, name: str) -> list[str]:
        places = self._facts[path]["takes"][function]["places"]
        return [name, str(places.index(name))] if name in places else [name]

    def _callee(self, path: str, call: dict[str, Any]) -> tuple[str, str] | None:
        """Return the function, or the class with fields, that a call calls."""
        found = self._names.callee(path, call["to"], of_base="super" in call)
        lineage = self._names.lineage(*found) if found is not None else ()
        return next((each for each in lineage if each[1] in self._of(each[0], "fields")), found)

    def _of(self, path: str, key: str) -> Any:
        """Return what a file says of its names; nothing where it speaks of no seeds."""
        return self._facts[path][key] if path in self._facts else {}

    # Origins, to their ends.

    def _ends(self, path: str, ways: list[Origin], place: Relied, depth: int) -> _End:
        """Return where alternatives end: one default that is relied on is enough, else all have to be fixed."""
        return _combine(self._end(path, each, place, depth) for each in ways if each[0] != "none")

    def _end(self, path: str, way: Origin, place: Relied, depth: int) -> _End:
        key = (path, *map(str, way[:4]), place.where if way[-1] else "")
        if key in self._known:
            return self._known[key]
        if key in self._running or depth > _DEPTH:
            return _OPEN
        self._running.add(key)
        end = self._known[key] = self._follow(path, way, place, depth)
        self._running.discard(key)
        return end

    def _follow(self, path: str, way: Origin, place: Relied, depth: int) -> _End:
        match way:
            case ["fixed" | "world", text]:
                return _End(text)
            case ["lookup", text, at]:
                return _End(text, (Relied(path, at, "", text),))
            case ["name", name]:
                return self._follow_name(path, name, place, depth)
            case ["given", function, name, fallback]:
                signature = self._facts[path]["takes"][function]
                if signature["command"]:
                    return _OPEN
                ways = signature["defaults"].get(name)
                default = (
                    fallback if ways is None else self._ends(path, ways, place, depth + 1).text
                )
                slots = self._slots(path, function, name)
                return self._follow_calls((path, function), slots, default, fallback, place, depth)
            case ["field", kind, attribute, fallback]:
                return self._follow_field(path, kind, attribute, fallback, place, depth)
        return _OPEN

    def _follow_name(self, path: str, name: str, place: Relied, depth: int) -> _End:
        """Follow a name of a module, or an attribute of a class."""
        found = self._names.find(path, name)
        if found is None or name.rpartition(".")[2] in self._assigned:
            return _OPEN
        where, rest = found
        ways = self._of(where, "names").get(rest)
        if ways is not None:
            return self._ends(where, ways, place, depth + 1)
        owner, _, attribute = rest.rpartition(".")
        return (
            self._follow_field(where, LOCAL + owner, attribute, "", place, depth)
            if owner
            else _OPEN
        )

    def _follow_calls(
        self,
        callee: tuple[str, str],
        slots: list[str],
        default: str,
        fallback: str,
        place: Relied,
        depth: int,
    ) -> _End:
        """Combine all calls of a function or class, for one parameter."""
        ends, name = [], slots[0]
        for path, call in self._calls.get(callee, ()):
            at = int(slots[-1]) if slots[-1].isdigit() else call["count"]
            is_left_out = at >= call["count"] and name not in call.get("named", ())
            handed = call.get("slots", {})
            ways = next((handed[each] for each in slots if each in handed), None)
            if "star" in call:
                ends.append(_OPEN)
            elif is_left_out or ways == [["none"]]:
                text = default if is_left_out else fallback
                if text:
                    relied = Relied(path, call["at"], name, text)
                    ends.append(_End(text, (relied,)))
            else:
                ends.append(_OPEN if ways is None else self._ends(path, ways, place, depth + 1))
        if not ends and fallback:
            return _End(fallback, (Relied(place.path, place.at, name, fallback),))
        return _combine(ends)

    def _follow_field(
        self, path: str, kind: str, attribute: str, fallback: str, place: Relied, depth: int
    ) -> _End:
        """Follow an attribute of an instance: a field of its class, or an assigned value."""
        missing = _OPEN
        if fallback:
            missing = _End(fallback, (Relied(place.path, place.at, attribute, fallback),))
        if attribute in self._assigned:
            return missing
        holders = self._holders.get(attribute, {})
        only = next(iter(holders)) if len(holders) == 1 else None
        found = self._names.find(path, kind) if kind else only
        for where, name in self._names.lineage(*found) if found is not None else ():
            fields = self._of(where, "fields").get(name, {})
            if attribute in fields:
                default = self._ends(where, fields[attribute] or [], place, depth + 1).text
                slots = [attribute, str(list(fields).index(attribute))]
                return self._follow_calls(
                    (where, name), slots, default or fallback, fallback, place, depth
                )
            ways = self._of(where, "names").get(f"{name}.{attribute}")
            if ways is not None:
                end = self._ends(where, ways, place, depth + 1)
                return end if end.text else missing
        return missing

    @cached_property
    def _holders(self) -> dict[str, dict[tuple[str, str], None]]:
        """The classes that have an attribute, by its name."""
        found: dict[str, dict[tuple[str, str], None]] = {}
        for path, one in self._facts.items():
            fields = [(name, each) for name, its in one["fields"].items() for each in its]
            kept = [each.rpartition(".")[::2] for each in one["names"] if "." in each]
            for name, attribute in (*fields, *kept):
                found.setdefault(attribute, {})[path, name] = None
        return found


def _combine(every: Iterable[_End]) -> _End:
    ends = list(every)
    relied = [each for each in ends if each.relied]
    if relied:
        once = {
            each.where + str(each.at[1]): each for end in relied for each in reversed(end.relied)
        }
        return _End(
            relied[0].text, tuple(sorted(once.values(), key=lambda each: (each.path, each.at[:2])))
        )
    return ends[0] if ends and all(each.text for each in ends) else _OPEN


_LAST: list[tuple[ProjectFacts, SeedFlow]] = []


def flow_of(facts: ProjectFacts) -> SeedFlow:
    """Give the flow of a project without its tests; the rules that share facts ask one after the other."""
    if not (_LAST and _LAST[0][0] is facts):
        _LAST[:] = [(facts, SeedFlow(facts.outside_tests()))]
    return _LAST[0][1]
