"""Draws from process-wide streams, and who seeds them: what two rules share.

A file's facts are what it draws, what it seeds and what it imports. A stream counts as seeded for a
file when the file seeds it, or a file that uses it does, or one that such a file imports, or any file of
the same package.

Invariant: tests and tools seed nothing for anybody but themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from twice.checker.findings import Reach, Violation
from twice.checker.policy import Zone, is_test_file
from twice.checker.rule import ProjectFacts
from twice.checker.rules.absence import is_none_branch
from twice.checker.rules.seeding import is_delay, is_named_seed, is_unseeded
from twice.checker.rules.undisturbed import is_undisturbed
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import about, last_name, parts

DRAWING: Final = ("global-draws", "tensor-draws")
SHOWN_IN_FILE: Final = 4
"""So many functions of a file are reported in full; those after them say the same once more."""
_IN_PLACE: Final = frozenset({"shuffle"})
_ACTIONS: Final = frozenset({"action", "actions"})
_ACTING: Final = _ACTIONS | {
    "act",
    "choose",
    "explore",
    "exploration",
    "sample",
    "select",
    "shuffle",
}
_DISTRIBUTIONS: Final = frozenset(
    {
        "bernoulli",
        "categorical",
        "dist",
        "distribution",
        "dists",
        "family",
        "multinomial",
        "normal",
        "pi",
    }
)
_QUIETER: Final = (Reach.LOUD, Reach.UNSEEN, Reach.QUIET)
_TENSORS: Final = frozenset({"cupy", "tensorflow", "torch"})
_NAMES: Final = frozenset({"uuid", "guid", "nonce", "token"})
_RANDOM_ID: Final = frozenset({"random", "id"})
_TRIES: Final = frozenset({"test", "tests", "demo", "example", "selftest"})
_SHOWN: Final = {
    "random": "the random module",
    "numpy": "numpy's legacy functions",
}


def gather(module: Module) -> dict[str, Any]:
    """Give what a file draws and seeds in process-wide streams, and what it imports."""
    draws: dict[tuple[str, str, int, bool], list[Site]] = {}
    seeds: list[str] = []
    waits: list[tuple[str, Site]] = []
    catalogue = module.catalogue
    asked = catalogue.together("restoring-stream", "seeding", "jitter", *DRAWING)
    from_distributions = "torch" in module.imported and module.speaks_of("sample")
    for node, scope, qualified in module.calls:
        if qualified is None or qualified[0] == LOCAL:
            if from_distributions and _is_sampled(node, scope):
                key = ("torch", *_together(module, node, scope), False)
                draws.setdefault(key, []).append(module.site(node, scope))
            continue
        if qualified not in asked:
            continue
        if catalogue.has("restoring-stream", qualified):
            seeds.extend(catalogue.names("restoring-stream")[qualified].split())
        elif catalogue.has("seeding", qualified):
            if not is_unseeded(module.site(node, scope)):
                seeds.extend(catalogue.names("seeding")[qualified].split())
        elif catalogue.has("jitter", qualified):
            site = module.site(node, scope)
            stream, _, option = catalogue.names("jitter")[qualified].partition(" unless ")
            if not option or site.keyword(option) is None:
                waits.append((stream, site))
        elif any(catalogue.has(group, qualified) for group in DRAWING):
            site = module.site(node, scope)
            if _has_generator(site) or is_none_branch(site):
                continue
            if is_delay(site):
                waits.append((stream_of(qualified), site))
            else:
                key = (stream_of(qualified), *_together(module, node, scope), _is_seed(site))
                draws.setdefault(key, []).append(site)
    return {
        "module": module.name,
        "imports": sorted({*module.survey.imported, *module.survey.stars}),
        "seeds": sorted(set(seeds)),
        "delays": [{"stream": each, "found": _delay(each, site).to_json()} for each, site in waits],
        "draws": [
            {
                "stream": stream,
                "picks": _picks(sites),
                "acts": any(_acts(each.call, each.scope) for each in sites),
                "seed": is_seed,
                "imports": sites[0].scope.method is None,
                "found": _found(stream, sites).to_json(),
            }
            for (stream, _, _, is_seed), sites in draws.items()
        ],
    }


def _is_seed(site: Site) -> bool:
    """Whether a drawn number becomes a seed, or is called one."""
    return is_named_seed(site) or any(each.use is Use.SEED for each in site.ends())


def stream_of(qualified: str) -> str:
    """Give the library whose process-wide stream a call draws from."""
    return qualified.partition(".")[0]


def _delay(stream: str, site: Site) -> Violation:
    shown = _SHOWN.get(stream, stream)
    message = f"{site.called}() draws a delay from the process-wide stream of {shown}."
    return site.found("jitter-on-stream", message, "")


def _picks(sites: list[Site]) -> bool:
    """Whether some draw is of plain numbers, or picks or orders things: no noise in a tensor."""
    return any(
        each.catalogue.has("global-draws", each.called)
        or each.catalogue.has("tensor-picks", each.called)
        for each in sites
    )


def _is_sampled(call: ast.Call, scope: Scope) -> bool:
    """Whether an action or the like is sampled from a distribution of a tensor library."""
    func = call.func
    return (
        func.__class__ is ast.Attribute
        and func.attr in {"sample", "rsample"}
        and about(last_name(func.value), _DISTRIBUTIONS)
        and _acts(call, scope)
    )


def _acts(call: ast.Call, scope: Scope) -> bool:
    """Whether a draw is of what is done: an action, a sample, an order, noise on an action."""
    function, owner = scope.method, scope.owner
    if owner is not None and isinstance(owner.node, ast.ClassDef):
        names = [owner.name, *(last_name(each) for each in owner.node.bases)]
        if any(about(name, _DISTRIBUTIONS) for name in names):
            return False  # A distribution: whoever samples it, does it for something.
    return (function is not None and about(function.name, _ACTING)) or any(
        about(last_name(each), _ACTIONS) for each in call.args
    )


def _has_generator(site: Site) -> bool:
    return site.has_star or site.keyword("generator") is not None


def _together(module: Module, node: ast.AST, scope: Scope) -> tuple[str, int]:
    """Return a key for draws to report together: of one function, or one statement outside any."""
    function = scope.method
    if function is not None:
        return module.in_function(function), getattr(function.node, "lineno", 0)
    return "", module.survey.statement(node).lineno


def _found(stream: str, sites: list[Site]) -> Violation:
    """Give one finding for the draws of a function, at the gravest and first of them."""
    quiet = [each for each in sites if _ends_quietly(each)]
    aside = [each for each in sites if each not in quiet and is_undisturbed(each, stream)]
    loud = [each for each in sites if each not in quiet and each not in aside]
    site = (loud or aside or quiet)[0]
    reach = Reach.LOUD if loud else Reach.UNSEEN if aside else Reach.QUIET
    others = len(sites) - 1
    more = f", and {others} more here do" if others else ""
    function = site.scope.method
    is_try = function is not None and not _TRIES.isdisjoint(parts(function.name))
    return site.found(
        "global-stream",
        f"{site.called or site.module.shown(site.call.func)}() draws from the process-wide stream of {_SHOWN.get(stream, stream)}{more}.",
        "",
        reach=Reach.QUIET if is_try else reach,
        confidence=0.9 if loud else 0.5,
    )


def _ends_quietly(site: Site) -> bool:
    if last_name(site.call) in _IN_PLACE:
        return False
    statement = site.module.survey.statement(site.node)
    if isinstance(statement, ast.Assign) and about(last_name(statement.targets[0]), _NAMES):
        return True
    function = site.scope.method
    if function is not None and isinstance(statement, ast.Return):
        words = parts(function.name)
        if words >= _RANDOM_ID or not words.isdisjoint(_NAMES):
            return True  # It makes a name.
    return site.value().use in {Use.LABEL, Use.TELEMETRY, Use.TIMING}


class Project:
    """Who seeds what in a project.

    Args:
        facts: what ``gather`` gave, by path.
        zone: gives the zone of a path.
    """

    def __init__(self, facts: Mapping[str, Any], zone: Callable[[str], Zone]) -> None:
        self._facts = facts
        self._named: dict[str, list[str]] = {}
        self._seeded: dict[str, frozenset[str]] = {}
        self._zones = zones = {path: zone(path) for path in facts}
        self._counts = {path for path in facts if zones[path] is Zone.CORE}
        self._of_package: dict[str, set[str]] = {}
        for path, one in facts.items():
            if zones[path] is not Zone.TESTS and (package := _package(one["module"])):
                self._of_package.setdefault(package, set()).update(one["seeds"])
            for name in _names(path, one["module"]):
                self._named.setdefault(name, []).append(path)
        self._imports = {path: self._imported(one["imports"], path) for path, one in facts.items()}
        self._users: dict[str, list[str]] = {path: [] for path in facts}
        for path, imported in self._imports.items():
            for each in imported:
                self._users[each].append(path)

    def _imported(self, names: list[str], path: str) -> list[str]:
        found: dict[str, None] = {}
        folder = path.rpartition("/")[0]
        for whole in names:
            name = whole
            while name:
                paths = self._named.get(name, [])
                if "." not in name:
                    paths = [each for each in paths if _is_beside(each, folder, name)]
                if paths:
                    found.update(dict.fromkeys(paths))
                    break
                name = name.rpartition(".")[0]
        found.pop(path, None)
        return list(found)

    def imported_tests(self) -> list[str]:
        """Give the files among tests that the program itself imports, so that they are a part of it."""
        found: dict[str, None] = {}
        waiting = sorted(self._counts)
        while waiting:
            for each in self._imports[waiting.pop()]:
                if each not in found and self._zones[each] is Zone.TESTS and not is_test_file(each):
                    found[each] = None
                    waiting.append(each)
        return sorted(found)

    def is_script(self, path: str) -> bool:
        """Whether a file is in no package and imported by none."""
        return not self._users[path] and not _package(self._facts[path]["module"])

    def seeded(self, path: str) -> frozenset[str]:
        """Give the streams that are seeded for what a file draws."""
        known = self._seeded.get(path)
        if known is None:
            known = self._seeded[path] = self._found_seeded(path)
        return known

    def _found_seeded(self, path: str) -> frozenset[str]:
        users = _closure(path, self._users)
        heads = [each for each in users if each == path or each in self._counts]
        package = _package(self._facts[path]["module"])
        found: set[str] = set()
        if package:
            found.update(self._of_package.get(package, ()))
        seen: set[str] = set()
        for head in heads:
            for each in _closure(head, self._imports, seen):
                if each == head or each in self._counts:
                    found.update(self._facts[each]["seeds"])
        return frozenset(found)


def _package(module: str) -> str:
    """Return the top package of a module; "" if it is in no package."""
    return module.partition(".")[0] if "." in module else ""


def _closure(start: str, edges: Mapping[str, list[str]], seen: set[str] | None = None) -> list[str]:
    reached = set() if seen is None else seen
    waiting, found = [start], []
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            found.append(each)
            waiting.extend(edges[each])
    return found


def _names(path: str, module: str) -> Iterator[str]:
    """Yield the dotted names under which a file can be imported."""
    bits = path.removesuffix(".py").removesuffix("/__init__").split("/")
    names = {".".join(bits[start:]) for start in range(len(bits))}
    yield from sorted({*names, module})


def _is_beside(path: str, folder: str, name: str) -> bool:
    own = path.removesuffix("/__init__.py").removesuffix(".py")
    return own in {f"{folder}/{name}".lstrip("/"), name} or path.endswith("/__init__.py")


_LAST: list[tuple[Mapping[str, Any], Project]] = []


def _project(facts: ProjectFacts) -> Project:
    """Give the project that facts are of; the rules that share them ask one after the other."""
    if not (_LAST and _LAST[0][0] is facts):
        _LAST[:] = [(facts, Project(facts, facts.zone))]
    return _LAST[0][1]


@dataclass(frozen=True, slots=True)
class Draw:
    """The draws of one function, as a rule gets them when all files are known.

    Args:
        path: the file.
        found: the finding.
        picks: whether it is of plain numbers, or picks or orders things: no noise in a tensor.
        is_seed: whether what is drawn becomes a seed.
        is_script: whether the file is in no package and imported by none.
        place: how many functions of the file draw from the stream before it, without quiet ones.
    """

    path: str
    found: Violation
    picks: bool
    is_seed: bool
    is_script: bool
    place: int


def conclude(facts: ProjectFacts, *, seeded: bool) -> Iterator[Draw]:
    """Give the draws from streams that are seeded, or that are not.

    Noise that a tensor library draws in a library is taken for seeded by whoever uses that, but for
    noise on what is done.
    """
    for path, one in facts.items():
        if not one["draws"]:
            continue
        project = _project(facts)
        known, script = project.seeded(path), project.is_script(path)
        places: dict[str, int] = {}
        for draw in one["draws"]:
            stream, found = draw["stream"], Violation.from_json(draw["found"])
            is_seeded = stream in known or not (draw["picks"] or draw["acts"] or script)
            if draw["seed"] and stream in _TENSORS and not script:
                is_seeded = True
            elif draw["seed"] and draw["imports"]:
                is_seeded = stream in one["seeds"]  # Nobody else can have seeded it before.
            if is_seeded is seeded:
                place = places.get(stream, 0)
                yield Draw(path, found, draw["picks"], draw["seed"], script, place)
                places[stream] = place + (found.reach is not Reach.QUIET)


def delays(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation, bool]]:
    """Give the delays that are drawn, and whether anything else draws from the stream or seeds it."""
    shared = {
        stream
        for one in facts.values()
        for stream in (*one["seeds"], *(each["stream"] for each in one["draws"]))
    }
    for path, one in facts.items():
        for each in one["delays"]:
            yield path, Violation.from_json(each["found"]), each["stream"] in shared


def renamed(found: Violation, rule: str, why: str, reach: Reach) -> Violation:
    """Give a finding as one of another rule, no louder than it was."""
    return replace(found, rule=rule, why=why, reach=max(found.reach, reach, key=_QUIETER.index))
