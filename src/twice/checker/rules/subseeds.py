"""The rules about seeds that are made of others: counted up, drawn from a generator, or made of an identity; and a seed of 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.analysis.seed_expressions import (
    is_generator,
    is_global_draw,
    is_named_seed,
    is_seed_name,
)
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import SEED, SEED_KEYWORDS, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_NUMBERS: Final = {"int", "float", "bool"}
_SEQUENCES: Final = {"list", "tuple", "str", "bytes"}
_TURNS: Final = frozenset({"epoch", "step", "iteration", "episode", "generation", "tick", "turn"})
_PLACES: Final = frozenset({"rank", "worker"})
_CARRYING: Final = frozenset({"int", "str", "list", "tuple", "range", "arange"})
_BOUNDED: Final = frozenset({"randint", "randrange", "integers", "uniform", "random_integers"})
_LIBRARIES: Final = frozenset({"builtins", "math", "numpy", "torch", "jax", "tensorflow"})
_COUNTING: Final = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.BitXor)
_INNER: Final = (
    ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.IfExp, ast.Call, ast.BinOp,
)  # fmt: skip


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Derive it by name or spawn it: run.rng(name), SeedSequence.spawn, Generator.spawn, fold_in.",
    methods=("draws-integer",),
)
def child_seed_from_draw(site: Site) -> Iterator[Violation]:
    """A generator is seeded with an integer that was drawn from another one."""
    func = site.call.func
    if not isinstance(func, ast.Attribute):
        return
    parent: ast.expr | None = func.value
    if func.attr == "random_":
        parent = site.keyword("generator")
    elif is_global_draw(site, site.call):
        return  # drawn-seed says it.
    else:
        if isinstance(parent, ast.Attribute) and parent.attr.endswith("bit_generator"):
            parent = parent.value
        if parent is None or not is_generator(site, parent):
            return
    outcome = site.value()
    is_seed = outcome.use is Use.SEED
    if is_seed or (is_named_seed(site) and outcome.use >= Use.UNSEEN):
        words = "torch's process-wide stream" if parent is None else site.module.shown(parent)
        yield site.violation(
            f"A seed is an integer that {func.attr}() draws from {words}.",
            "The child's numbers depend on how many draws its parent had made before.",
            outcome=outcome if is_seed else None,
        )


@rule(
    Channel.RNG,
    Breaks.BIT_EXACT,
    Severity.HIGH,
    "Derive it by a stable name: run.rng(name), or a hash of hashlib over the name's bytes.",
    calls=("process-identity",),
)
def identity_subseed(site: Site) -> Iterator[Violation]:
    """A seed is made of an address or of a salted hash."""
    called, given = site.called, next(iter(site.call.args), None)
    if called not in {"builtins.id", "builtins.hash"} or given is None:
        return
    if called == "builtins.hash" and _is_number(site, given):
        return
    outcome = site.value()
    if outcome.use is not Use.SEED:
        return
    what = "an address in memory" if called == "builtins.id" else "salted in each process"
    found = site.violation(
        f"{site.module.shown(site.node)} becomes a seed, and it is {what}.",
        "The same part of the program gets another stream in the next process.",
        outcome=outcome,
    )
    is_known = called == "builtins.id" or site.kind(given) is not None
    yield found if is_known else replace(found, reach=Reach.UNSEEN, confidence=0.6)


def _is_number(site: Site, node: ast.expr) -> bool:
    if is_seed_name(node):
        return True
    if isinstance(node, ast.Tuple):
        return all(_is_number(site, each) for each in node.elts)
    kind = site.kind(node)
    is_tuple = kind is not None and kind.name == "tuple" and kind.element in _NUMBERS
    return kind is not None and (kind.name in _NUMBERS or is_tuple)


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Spawn them from one root: SeedSequence(seed).spawn(n), SeedSequence([seed, i]), jax.random.fold_in(key, i).",
    calls=("ranges", "generators", "seeding"),
    methods=("seeding",),
    nodes=(ast.BinOp, ast.AugAssign),
    applies=mentions("seed", "master"),
    suits=lambda node, _: isinstance(node.op, _COUNTING),
)
def positional_subseed(site: Site) -> Iterator[Violation]:
    """Seeds for several generators are made by counting up from one."""
    node, shown = site.node, site.module.shown(site.node)
    shared = "Runs with neighbouring seeds share streams, and another number or order of parts moves them."
    if isinstance(node, ast.BinOp):
        parent = site.module.survey.parents.get(node)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, _COUNTING):
            return  # The whole of it is looked at.
        if _is_of_places(site, node):
            yield _report_bare(site, f"{shown} makes a seed of a place alone.")
            return
        if not _holds_seed(node) and not _counts_from_master(site, node):
            return
        counting = _list_others(node)
    elif isinstance(node, ast.AugAssign):
        if not is_seed_name(node.target) or last_name(node.target).endswith("seeds"):
            return  # Several are put behind one another.
        counting = [node.value]
        if isinstance(node.value, ast.Constant) and not _is_stepped(site):
            return
    elif (bound := _find_range(site)) is not None:
        if not bound:
            yield _report_bare(site, f"{shown} numbers the seeds from the same one in every run.")
            return
        counting = bound
    else:
        if _is_turn(site):
            yield _report_bare(site, f"{shown} seeds with a number of turns alone.")
        return
    moving = [each for each in counting if not isinstance(each, ast.Constant)]
    # A sequence is put behind another one, and a draw is no count.
    if any(_is_sequence(site, each) or is_global_draw(site, each) for each in moving):
        return
    if counting and (isinstance(node, ast.AugAssign) or _seeds(site, node)):
        is_sure = bool(moving) or _is_stepped(site)
        yield site.violation(
            f"{shown} makes a seed by counting from another.",
            shared,
            reach=Reach.LOUD if is_sure else Reach.UNSEEN,
        )


def _report_bare(site: Site, message: str) -> Violation:
    why = "Every run has the same numbers in the same place, whatever its seed: runs share their streams."
    return site.violation(message, why, confidence=0.85)


def _holds_seed(node: ast.BinOp) -> bool:
    """Whether a seed is counted from: one that is counted modulo gives an index, and is none."""
    return any(
        is_seed_name(each) or (isinstance(each, ast.BinOp) and _holds_seed(each))
        for each in _sides(node)
    )


def _sides(node: ast.BinOp) -> list[ast.expr]:
    return [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]


def _list_others(node: ast.BinOp) -> list[ast.expr]:
    """List the operands that a seed is combined with, except other seeds and any modulus."""
    found: list[ast.expr] = []
    for each in _sides(node):
        if isinstance(each, ast.BinOp):
            found.extend(_list_others(each))
        elif not is_seed_name(each) and not _is_master(each):
            found.append(each)
    return found


def _is_master(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == "master"


def _counts_from_master(site: Site, node: ast.BinOp) -> bool:
    """Whether a sum that holds a master is itself the seed of a generator: its name alone says too little."""
    call = site.module.survey.parents.get(node)
    return (
        isinstance(call, ast.Call)
        and _makes_stream(site, call)
        and any(map(_is_master, _sides(node)))
    )


def _makes_stream(site: Site, call: ast.Call) -> bool:
    called = site.qualified(call.func)
    return any(site.catalogue.has(group, called) for group in ("generators", "seeding"))


def _is_sequence(site: Site, node: ast.expr) -> bool:
    kind = site.kind(node)
    return isinstance(node, (ast.List, ast.Tuple, ast.JoinedStr)) or (
        kind is not None and kind.name in _SEQUENCES
    )


def _is_turn(site: Site) -> bool:
    """``generator.manual_seed(epoch)``: the number of a turn, without the run's seed."""
    call = site.call
    if len(call.args) != 1 or not isinstance(call.args[0], (ast.Name, ast.Attribute)):
        return False
    if not about(last_name(call.args[0]), _TURNS) or is_seed_name(call.args[0]):
        return False
    called = site.qualified(call.func)
    if called is None or called[0] == ".":
        return isinstance(call.func, ast.Attribute) and call.func.attr in {"manual_seed", "seed"}
    return _makes_stream(site, call)


def _is_of_places(site: Site, node: ast.BinOp) -> bool:
    """``return rank * 1000 + worker`` in what gives a seed: the number of a process, without the run's seed."""
    if _holds_seed(node) or not is_named_seed(site):
        return False
    others = [each for each in _list_others(node) if not isinstance(each, ast.Constant)]
    return bool(others) and all(about(last_name(each), _PLACES) for each in others)


def _find_range(site: Site) -> list[ast.expr] | None:
    """Return the end of ``range(seed, seed + n)``, nothing for seeds that are numbered from 0; None for other calls."""
    call, name = site.node, last_name(site.node)
    if not isinstance(call, ast.Call) or name not in {"range", "arange"} or not call.args:
        return None
    if len(call.args) >= 2:
        return [call.args[1]] if is_seed_name(call.args[0]) else None
    statement = site.module.survey.parents.get(call)
    is_one = isinstance(statement, ast.Assign) and is_seed_name(statement.targets[0])
    is_count = isinstance(call.args[0], ast.Constant) or about(last_name(call.args[0]), SEED)
    return [] if is_one and not is_count else None


def _is_stepped(site: Site) -> bool:
    """Whether a seed is counted up each time: in a loop, or as an attribute."""
    node = site.node
    target = getattr(node, "target", None)
    if target is None:
        statement = site.module.survey.statement(node)
        if not isinstance(statement, ast.Assign):
            return False
        target = statement.targets[0]
        if ast.dump(target).replace("Store()", "Load()") not in ast.dump(node):
            return False
    if isinstance(target, ast.Attribute):
        return True
    for each in site.above():
        if isinstance(each, (ast.For, ast.While)):
            return True
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
    return False


def _seeds(site: Site, node: ast.AST) -> bool:
    """Whether a value is seen to seed something, or is given to what is called a seed."""
    parents = site.module.survey.parents
    parent = parents.get(node)
    while isinstance(parent, _INNER):
        if isinstance(parent, ast.Call) and last_name(parent.func) not in _CARRYING:
            break
        parent = parents.get(parent)
    if isinstance(parent, ast.Call) and last_name(parent.func) in _BOUNDED:
        return False  # A seed is drawn between two others.
    if isinstance(parent, ast.keyword) and parent.arg is not None:
        return parent.arg in SEED_KEYWORDS or about(parent.arg, SEED)
    use = site.value(node).use
    if isinstance(parent, ast.Assign) and any(is_seed_name(each) for each in parent.targets):
        return use not in {Use.LABEL, Use.TELEMETRY, Use.DROPPED} and not _looks_up(site, parent)
    return use is Use.SEED or (use is Use.UNSEEN and _is_handed_on(site, node))


def _looks_up(site: Site, statement: ast.Assign) -> bool:
    """Whether what is called a seed is only ever the key of something that is looked up."""
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not site.module.follows:
        return False
    parents = site.module.survey.parents
    loads = [parents.get(load) for load, _ in site.module.loads.of(target.id, site.scope)]
    return bool(loads) and all(isinstance(each, ast.Subscript) for each in loads)


def _is_handed_on(site: Site, node: ast.AST) -> bool:
    """Whether ``seed + i`` is an argument of a function of the project that is not followed."""
    call = site.module.survey.parents.get(node)
    if not isinstance(call, ast.Call) or not isinstance(node, ast.BinOp):
        return False
    called = site.qualified(call.func)
    return (called is None or called.partition(".")[0] not in _LIBRARIES) and all(
        isinstance(each, (ast.Name, ast.Attribute, ast.Constant)) for each in _list_others(node)
    )


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Ask whether it is None: if seed is not None.",
    nodes=(ast.BoolOp, ast.If),
    applies=mentions("seed"),
    suits=lambda node, _: is_seed_name(node.test if isinstance(node, ast.If) else node.values[0]),
)
def zero_seed(site: Site) -> Iterator[Violation]:
    """A seed of 0 counts as a missing one."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        given, last = node.values[0], node.values[-1]
        is_same = isinstance(last, ast.Constant) and last.value == 0 and last.value is not False
        is_used = is_named_seed(site) or site.value().use is Use.SEED
        if isinstance(node.op, ast.And) or is_same or not is_used:
            return
        what = f"becomes {site.module.shown(last)}"
    else:
        assert isinstance(node, ast.If), "the other kind"
        given, what = node.test, "seeds nothing"
        if not any(_is_seeding(each, given) for each in node.body):
            return
    yield site.violation(
        f"{site.module.shown(given)} may be 0, which then {what}.",
        "Who asks for the seed 0 gets another stream than the one that is on record.",
        confidence=0.8,
    )


def _is_seeding(statement: ast.stmt, given: ast.expr) -> bool:
    """Whether a call that is called after a seed gets an expression."""
    call, text = getattr(statement, "value", None), ast.dump(given)
    return (
        isinstance(call, ast.Call)
        and (about(last_name(call), SEED) or last_name(call) == "default_rng")
        and any(ast.dump(each) == text for each in call.args)
    )
