"""Which one generator several objects keep, over all files.

Invariant: of a class that is in no file only the name of the argument is known; alone it is never enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checker.analysis.project_names import ProjectNames
from twice.checker.syntax.names import LOCAL

_DEPTH: Final = 6


def find_shared(facts: Mapping[str, Any]) -> Iterator[tuple[str, list[Any], str]]:
    """Give every generator that two objects keep: the file, the place of the second object, and a sentence.

    Args:
        facts: what ``seed_facts.gather`` gave, by path.
    """
    keepers = _Keepers(facts)
    accessors = {each for one in facts.values() for each in one["accessors"]}
    shared = {each for one in facts.values() for each in one["shared"]}
    for path, one in facts.items():
        for method, owner, at in one["taken"]:
            if method in accessors:
                yield path, at, f"{owner} hands out its generator, and this object keeps it too."
        for group in one["handed"]:
            if group["stream"] in shared:
                continue
            kept = [(each, keepers.count_kept(path, each)) for each in group["to"]]
            sure = [(each, count) for each, count in kept if count > 0]
            named = [each for each, count in kept if count]
            if not sure and len(named) < 2:
                continue
            apart, name = _apart(named), group["name"]
            several = [each for each, count in sure if each["many"] or count > 1]
            lasting = [each for each, _ in sure if each["lasting"]]
            if several:
                yield path, several[0]["at"], f"Several objects keep {name}, one generator."
            elif len(apart) > 1:
                message = f"{name} is kept by a second object; line {apart[0]['at'][0]} gave it to the first."
                yield path, apart[1]["at"], message
            elif group["owned"] and lasting:
                message = f"{name} is kept by another object too, which draws from it."
                yield path, lasting[0]["at"], message


class _Keepers:
    """Counts in a project who keeps a generator that is handed over.

    Args:
        facts: what ``seed_facts.gather`` gave, by path.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts
        self._names = ProjectNames(facts)

    def count_kept(self, path: str, given: Mapping[str, Any]) -> int:
        """Give how many objects keep what a call hands over; -1 for one that only the argument's name speaks of."""
        if not given["to"]:
            return 1
        return self._count(
            path,
            given["to"],
            given["slot"],
            is_super=given.get("super", False),
            says=given["says"],
            depth=_DEPTH,
        )

    def _count(
        self, path: str, name: str, slot: str, *, is_super: bool, says: bool, depth: int
    ) -> int:
        found = self._names.find(path, name) if depth else None
        if found is None:
            last = name.rpartition(".")[2]
            return -1 if says and last[:1].isupper() and not name.startswith(LOCAL) else 0
        keeper = self._keeper(*found, is_super=is_super)
        if keeper is None:
            return 0
        where, one = keeper
        if slot.isdigit():
            at = int(slot)
            if at >= len(one["places"]):
                return 0
            slot = one["places"][at]
        passed = one["passed"].get(slot, ())
        counts: dict[int, int] = {}
        for to, into, of_base, line in passed:
            count = self._count(where, to, into, is_super=of_base, says=False, depth=depth - 1)
            counts[line] = counts.get(line, 0) + max(count, 0)
        inner = counts.pop(0, 0) + max(counts.values(), default=0)  # One return of several.
        return max(inner, 1) if slot in one["kept"] else inner

    def _keeper(self, path: str, name: str, *, is_super: bool) -> tuple[str, dict[str, Any]] | None:
        """Find the function, method or constructor that a name refers to."""
        own = self._facts[path]["keepers"].get(name)
        if own is not None and not is_super:
            return path, own
        owner, _, method = name.rpartition(".")
        for kind, word in ((name, "__init__"), (owner, method)):
            for at, (where, base) in enumerate(self._names.lineage(path, kind)):
                one = self._facts[where]
                found = one["keepers"].get(f"{base}.{word}")
                if found is not None and not (is_super and at == 0):
                    return where, found
                if (
                    one["classes"].get(base, {}).get("init")
                    and word == "__init__"
                    and not (is_super and at == 0)
                ):
                    return None
        return None


def _apart(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of some objects that are there at once: not in two branches, nor one in the place of another."""
    found: list[dict[str, Any]] = []
    for each in given:
        if not any(_excludes(each, other) for other in found):
            found.append(each)
    return found


def _excludes(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if (one["own"] and other["own"]) or (
        one["to"] and one["target"] and one["target"] == other["target"]
    ):
        return True
    if one["returned"] and one["returned"] == other["returned"] and one["at"][0] != other["at"][0]:
        return True
    branches = {(line, column): branch for line, column, branch in one["branches"]}
    return any(
        branches.get((line, column), branch) is not branch
        for line, column, branch in other["branches"]
    )
