"""The rules about clocks and entropy: a time or an identity that is made of them reaches what a run computes.

One file shows that a time or an identity becomes an attribute; what is done with attributes so called, all files show.

Invariant: an attribute that is read by way of a constant text (``getattr``) is read.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from twice.checker.analysis.roles import advances
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts
from twice.checker.rules.effects import DATA, WorldRow, make_rule
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.nodes import has_own_text
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import (
    BESIDE,
    IDENTITIES,
    LABEL,
    NAMING,
    OWN_NAMES,
    SPANS,
    TELEMETRY,
    about,
    last_name,
    parts,
)

_STEADY: Final = ("monotonic", "perf_counter", "process_time", "thread_time", "default_timer")
_WINDOWS: Final = frozenset({"Tkinter", "tkinter", "wx", "PyQt5", "PyQt6", "PySide2", "PySide6"})
FACTORIES: Final = ("default_factory", "factory", "default")
"""The keywords that take a field's default."""
_MOMENTS: Final = frozenset(
    ["time", "start", "started", "began", "begin", "stamp", "timestamp", "date", "created", "clock", "last", "previous", "prev"]
)  # fmt: skip
_CHAIN_MAX: Final = 3  # Functions that give what another one gives.
_GIVING: Final = _MOMENTS | IDENTITIES | {"id", "millis", "now", "today"}
_SECRETS: Final = frozenset(
    ["token", "tokens", "secret", "secrets", "password", "salt", "nonce", "cnonce", "auth", "csrf", "crypto", "key", "credential", "credentials", "mask", "masking"]
)  # fmt: skip
_PLACES: Final = frozenset(
    ["session", "boundary", "request", "req", "trace", "span", "correlation", "connection", "socket", "upload", "tmp", "temp", "temporary", "shm", "lock", "worker", "rendezvous", "port", "address"]
)  # fmt: skip
_RUNS: Final = frozenset(
    ["job", "task", "run", "runs", "rdzv", "launch", "execution", "experiment", "filename"]
)


def _watched_attribute(outcome: Outcome) -> str:
    """Return the attribute of ``self`` that a time or an id ends in, when other files are asked for it; else ""."""
    node = outcome.node
    if outcome.use is not Use.STATE or not isinstance(node, ast.Attribute):
        return ""
    return node.attr if last_name(node.value) == "self" and _is_watched(node.attr) else ""


def _is_watched(name: str) -> bool:
    """Say whether an attribute so called is looked for in all files; ``time`` or ``id`` alone is read of anything."""
    return len(parts(name)) > 1 and about(name, _MOMENTS | IDENTITIES)


def find_frozen(site: Site) -> ast.AST | None:
    """Return the arguments, or the field of a class, that a clock is the default of; None elsewhere."""
    for above in site.above():
        if isinstance(above, ast.arguments):
            return above
        if isinstance(above, ast.stmt):
            is_field = isinstance(above, ast.AnnAssign) and site.scope.is_class
            if not isinstance(above, ast.AnnAssign) or not is_field:
                return None
            return None if about(last_name(above.target), LABEL - {"timestamp", "stamp"}) else above
    return None


def find_factory(site: Site, group: str) -> tuple[ast.AST, str] | None:
    """Return what makes the default of a field, and the name of the group in it, by itself or in a lambda."""
    given = next((each for each in map(site.keyword, FACTORIES) if each is not None), None)
    inner = ast.walk(given.body) if isinstance(given, ast.Lambda) else ()
    for each in [given, *(one.func for one in inner if isinstance(one, ast.Call))]:
        name = None if each is None else site.qualified(each)
        if given is not None and name is not None and site.catalogue.has(group, name):
            return given, name
    return None


def _is_in_factory(site: Site) -> bool:
    """Say whether a call makes the default of a field."""
    parent = site.module.survey.parents.get(site.scope.node)
    is_lambda = isinstance(site.scope.node, ast.Lambda)
    return is_lambda and isinstance(parent, ast.keyword) and parent.arg in FACTORIES


def _find_entropy(site: Site) -> list[Outcome]:
    """Return the ends of entropy; an identity that is private is mostly for telling objects apart."""
    if site.called == "random.SystemRandom" or _is_in_factory(site):
        return [Outcome(Use.DROPPED, site.node)]
    ends, function = site.ends(), site.scope.method
    name = "" if function is None else function.name
    if (about(name, _RUNS) and about(name, IDENTITIES)) or any(
        each.use is Use.SEED for each in ends
    ):
        return [Outcome(Use.DROPPED, site.node)]  # time-seed says the latter.
    return [
        replace(each, use=min(each.use, Use.UNSEEN), open=())
        if _is_for_telling_apart(each)
        else each
        for each in ends
    ]


def _is_for_telling_apart(outcome: Outcome) -> bool:
    attributes = [
        each.attr for each in (*outcome.way, outcome.node) if isinstance(each, ast.Attribute)
    ]
    return outcome.use not in {Use.STORED, Use.DIGEST} and any(
        name.startswith("_") or (about(name, NAMING) and name not in OWN_NAMES)
        for name in attributes
    )


_ENTROPY: Final = WorldRow(
    "{called}() takes entropy of the system.",
    "No seed sets it, so two runs have two values",
    sinks=DATA,
    beside=BESIDE | _SECRETS | _PLACES,
    passed=_SECRETS | _PLACES | _RUNS,
    ends=_find_entropy,
)


def _find_time(site: Site) -> list[Outcome]:
    """Return the ends of a clock's time, those that only name, measure or show something quieter."""
    called = site.called or ""
    if (
        find_frozen(site) is not None
        or _is_in_factory(site)
        or (site.call.args and not _is_now(called, len(site.call.args)))
    ):
        return [Outcome(Use.DROPPED, site.node)]
    is_doubted = _is_handed_in(site) or not site.module.imported.isdisjoint(_WINDOWS)
    is_steady = any(each in called for each in _STEADY)
    found = []
    for each in site.ends():
        use, is_span = each.use, any(map(_is_difference, each.way))
        if use is Use.SEED:
            return [Outcome(Use.DROPPED, site.node)]  # time-seed says it.
        if is_span and _is_kept_as_span(site, each):
            use = min(use, Use.TELEMETRY)
        elif is_doubted or _is_label(site, each):
            use = min(use, Use.UNSEEN)
        elif is_steady and not is_span and use in {Use.STATE, Use.RETURNED, Use.KEY}:
            use = Use.TIMING  # A mark to measure from: it tells nothing by itself.
        found.append(each if use is each.use else replace(each, use=use, open=()))
    return found


def _is_now(called: str, arguments: int) -> bool:
    """Whether a clock gives the present in spite of its arguments: a zone, a format."""
    if called == "time.strftime":
        return arguments == 1
    return called not in {"time.gmtime", "time.localtime", "time.ctime", "time.asctime"}


def _is_difference(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _is_label(site: Site, outcome: Outcome) -> bool:
    """Whether a time is a part of a text, a date for a name, or tells when work on something began or ended."""
    use, module = outcome.use, site.module
    is_text = any(
        has_own_text(each) or about(getattr(each, "attr", ""), NAMING)
        for each in (*outcome.way, outcome.node)
    )
    if use in {Use.RETURNED, Use.STATE} and is_text:
        return True
    if use is Use.RETURNED and not isinstance(
        getattr(outcome.node, "value", None), (ast.Tuple, ast.Dict, ast.List)
    ):
        nodes = (*outcome.way, outcome.node)
        return any("strftime" in module.statement_text(each) for each in nodes)
    return False


def _is_kept_as_span(site: Site, outcome: Outcome) -> bool:
    """Whether a duration is kept where the name says that it is one, shown, or given beside a result."""
    function = site.scope.method
    if any(isinstance(each, ast.JoinedStr) for each in site.above()):
        return True
    if outcome.use is Use.RETURNED and (function is None or not advances(function.name)):
        returned = getattr(outcome.node, "value", None)
        if isinstance(returned, (ast.BinOp, ast.Tuple)) or any(
            isinstance(each, ast.Tuple) for each in outcome.way
        ):
            return True
    return any(_says_span(each) for each in (*outcome.way[1:], outcome.node))


def _says_span(node: ast.AST) -> bool:
    """Whether a station of a way is an attribute, a key or a name that says that it holds a duration."""
    if isinstance(node, ast.Name):
        return about(node.id, TELEMETRY)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return about(last_name(node.func.value), SPANS)
    return isinstance(node, ast.Attribute) and about(node.attr, SPANS)


def _is_handed_in(site: Site) -> bool:
    """Whether the clock that is called is a parameter's default, so that a caller may give another."""
    func, scope, module = site.call.func, site.scope, site.module
    if isinstance(func, ast.Attribute) and scope.owner is not None:
        bindings = module.attributes.of(scope.owner).get(func.attr, [])
        if len(bindings) == 1 and isinstance(bindings[0][0].node, ast.Name):
            func, scope = bindings[0][0].node, bindings[0][1]
    return isinstance(func, ast.Name) and any(
        each.kind == "argument" for each in module.names.bindings(func.id, scope)
    )


_CLOCK: Final = WorldRow(
    "{called}() reads a clock.", "Two runs read two times.", beside=BESIDE, ends=_find_time
)
_ROWS: Final = {"clock": _CLOCK, "entropy": _ENTROPY}


def _look(site: Site) -> Iterator[Violation]:
    """Find what does not end in an attribute that all files are asked for."""
    found = _ROWS[site.rule].find(site)
    if found is not None and not _watched_attribute(found[1]):
        yield found[0]


def _look_at_entropy(site: Site) -> Iterator[Violation]:
    """Find a draw, or a field with entropy as its default: every object without a given value differs."""
    if not site.catalogue.has("field", site.called):
        yield from _look(site)
        return
    made, owner = find_factory(site, "entropy"), site.scope
    statement = site.module.survey.statement(site.node)
    if made is None or not owner.is_class or not isinstance(statement, ast.AnnAssign):
        return
    name, aside = last_name(statement.target), _SECRETS | _PLACES
    if not (about(name, aside | _RUNS) or about(owner.name, aside)):
        yield site.violation(
            f"{made[1]}() is the default of {owner.name}.{name}.",
            "No seed sets it, so every object of two runs that nobody gave one to has two values.",
            confidence=0.85,
        )


def gather(module: Module) -> dict[str, Any] | None:
    """Give the times and ids that end in an attribute, and the gravest use of each attribute so called.

    Besides, the functions that give a time or an id, and the calls of such as may be defined in other files.
    """
    kept: list[Any] = []
    gives: dict[str, str] = {}
    used: dict[str, int] = {}
    if not module.follows:
        return None
    for node, scope, called in module.calls:
        group = next((each for each in _ROWS if module.catalogue.has(each, called)), "")
        source = group or _name_giver(module, called)
        rows = [group] if group else [*_ROWS] if source else []
        for row in rows:
            found = _ROWS[row].find(Site(module, node, scope, row))
            if not found:
                continue
            if scope.is_function and scope.owner is None and found[1].use is Use.RETURNED:
                gives.setdefault(f"{module.name}.{module.in_function(scope)}", source)
            elif attribute := _watched_attribute(found[1]):
                kept.append([attribute, source, found[0].to_json()])
            elif not group and found[0].reach is Reach.LOUD:
                kept.append(["", source, found[0].to_json()])
        if called == "builtins.getattr" and len(node.args) > 1:
            name = getattr(node.args[1], "value", None)
            if isinstance(name, str) and _is_watched(name):
                used[name] = max(used.get(name, 0), module.site(node, scope).value().use)
    for each, above in module.survey.parents.items():
        if (
            isinstance(each, ast.Attribute)
            and isinstance(each.ctx, ast.Load)
            and _is_watched(each.attr)
            and not (isinstance(above, ast.Call) and above.func is each)
        ):
            ends = module.values.follow(each, module.loads.scope(each), is_time=True)
            use = max((one.use for one in ends), default=Use.UNSEEN)
            used[each.attr] = max(used.get(each.attr, 0), use)
    facts = {"kept": kept, "gives": gives, "used": dict(sorted(used.items()))}
    return facts if any(facts.values()) else None


def _name_giver(module: Module, called: str | None) -> str:
    """Return the full name of a function of the project that may give a time or an id, by its name; else ""."""
    name = module.name + called if called and called[0] == LOCAL else called or ""
    package, _, last = name.rpartition(".")
    outer = package.partition(".")[0]
    return name if outer and outer not in sys.stdlib_module_names and about(last, _GIVING) else ""


def _conclude(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report what ends in attributes, quieter where no file does anything with one, and what functions give."""
    uses: dict[str, int] = {}
    gives: dict[str, str] = {}
    for one in facts.values():
        gives.update(one["gives"])
        for name, use in one["used"].items():
            uses[name] = max(uses.get(name, 0), use)
    for path, one in facts.items():
        for attribute, source, row in one["kept"]:
            found = Violation.from_json(row)
            given = source
            for _ in range(_CHAIN_MAX):
                given = gives.get(given, given)
            if given == found.rule:
                is_used = not attribute or uses.get(attribute, 0) > Use.TELEMETRY
                yield path, found if is_used else replace(found, reach=Reach.UNSEEN)


clock = make_rule(
    "clock",
    "A clock's time reaches what the run computes.",
    "Take the time from the run (run.effects.clock, a tick counter), or record the read.",
    _CLOCK,
    "clock",
    look=_look,
    breaks=Breaks.BIT_EXACT,
    gather=gather,
    conclude=_conclude,
)
entropy = make_rule(
    "entropy",
    "Entropy of the system reaches what the run computes.",
    "Derive it from the run: a counter in the state, a generator with a seed, a digest of seed and place.",
    _ENTROPY,
    "entropy",
    "field",
    look=_look_at_entropy,
)
