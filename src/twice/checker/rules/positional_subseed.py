"""Seeds for several generators are made by counting up from one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.seeding import is_global_draw, is_seed_name
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.values import SEED_KEYWORDS
from twice.checker.syntax.uses.words import SEED, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "positional-subseed"
_TURNS: Final = frozenset({"epoch", "step", "iteration", "episode", "generation", "tick", "turn"})
_EVALUATES: Final = frozenset({"eval", "evaluate", "evaluation", "validate", "validation"})
_CARRYING: Final = frozenset({"int", "str", "list", "tuple", "range"})
_BOUNDED: Final = frozenset({"randint", "randrange", "integers", "uniform", "random_integers"})
_ACTS: Final = frozenset({"act", "reset", "rollout", "sample", "shuffle", "simulate", "step"})
_LIBRARIES: Final = frozenset({"builtins", "math", "numpy", "torch", "jax", "tensorflow"})
_COUNTING: Final = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.BitXor)


def look(site: Site) -> Iterator[Violation]:
    """Look at an operator, or a range of seeds."""
    node = site.node
    is_master = isinstance(node, ast.BinOp) and _counts_from_master(site, node)
    if not site.module.speaks_of_seeds and not is_master:
        return
    start: ast.AST = node
    if isinstance(node, ast.Call) and _is_bare(site, node):
        yield site.found(
            NAME,
            f"{site.module.shown(node)} seeds with a number of turns alone.",
            "Every run has the same numbers in the same turn, whatever its seed: runs share their streams.",
            confidence=0.85,
        )
        return
    if isinstance(node, ast.BinOp):
        if not is_master and not _holds_seed(node):
            return
        parent = site.module.survey.parents.get(node)
        if isinstance(parent, ast.BinOp) and parent.op.__class__ in _COUNTING:
            return  # The whole of it is looked at.
        others = [each for each in _others(node) if not _is_master(each)]
    elif isinstance(node, ast.AugAssign):
        if not is_seed_name(node.target):
            return
        others = [node.value]
    else:
        others = _range(site)
    counting = [each for each in others if not isinstance(each, ast.Constant)]
    if not others or (isinstance(node, ast.AugAssign) and not counting and not _is_stepped(site)):
        return
    if any(_is_sequence(site, each) for each in counting):
        return  # Put behind one another, not added.
    if any(is_global_draw(site, each) for each in counting if isinstance(each, ast.Call)):
        return  # Drawn, not counted.
    arrives = isinstance(node, ast.AugAssign) or _seeds(site, start)
    if not arrives or _draws_nothing(site):
        return
    yield site.found(
        NAME,
        f"{site.module.shown(node)} makes a seed by counting from another.",
        "Runs with neighbouring seeds share streams, and another number or order of parts moves them.",
        reach=Reach.LOUD if counting or _is_stepped(site) else Reach.UNSEEN,
    )


def _holds_seed(node: ast.BinOp) -> bool:
    """Whether a seed is counted from: one that is counted modulo gives an index, and is none."""
    sides = [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]
    return any(
        is_seed_name(each) or (isinstance(each, ast.BinOp) and _holds_seed(each)) for each in sides
    )


def _counts_from_master(site: Site, node: ast.BinOp) -> bool:
    """Whether a sum that holds a master is itself the seed of a generator: its name alone says too little."""
    call = site.module.survey.parents.get(node)
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    called = site.qualified(call.func)
    is_seeding = any(site.catalogue.has(group, called) for group in ("generators", "seeding"))
    return is_seeding and (_is_master(node.left) or _is_master(node.right))


def _is_master(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == "master"


def _others(node: ast.BinOp) -> list[ast.expr]:
    """List the operands that a seed is combined with, except other seeds and any modulus."""
    found: list[ast.expr] = []
    sides = [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]
    for each in sides:
        if isinstance(each, ast.BinOp):
            found.extend(_others(each))
        elif not is_seed_name(each):
            found.append(each)
    return found


def _is_sequence(site: Site, node: ast.expr) -> bool:
    kind = site.kind(node)
    return isinstance(node, (ast.List, ast.Tuple, ast.JoinedStr)) or (
        kind is not None and kind.name in {"list", "tuple", "str", "bytes"}
    )


def _is_bare(site: Site, node: ast.Call) -> bool:
    """``generator.manual_seed(epoch)``: the number of a turn, without the run's seed."""
    if len(node.args) != 1 or not isinstance(node.args[0], (ast.Name, ast.Attribute)):
        return False
    if not about(last_name(node.args[0]), _TURNS) or is_seed_name(node.args[0]):
        return False
    called = site.qualified(node.func)
    if called is None or called[0] == ".":
        return isinstance(node.func, ast.Attribute) and node.func.attr in {"manual_seed", "seed"}
    return site.catalogue.has("generators", called) or site.catalogue.has("seeding", called)


def _is_stepped(site: Site) -> bool:
    """Whether a seed is counted up each time: in a loop, or as an attribute."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Attribute):
            return True
    else:
        statement = site.module.survey.statement(node)
        if not isinstance(statement, ast.Assign):
            return False
        own = ast.dump(statement.targets[0]).replace("Store()", "Load()")
        if own not in ast.dump(node):
            return False
        if isinstance(statement.targets[0], ast.Attribute):
            return True
    for each in site.above():
        if isinstance(each, (ast.For, ast.While)):
            return True
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
    return False


def _range(site: Site) -> list[ast.expr]:
    """Return the end of ``range(seed, seed + n)`` in a list, empty for other calls."""
    call = site.node
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "range"
        and len(call.args) >= 2
        and is_seed_name(call.args[0])
    ):
        return [call.args[1]]
    return []


def _seeds(site: Site, node: ast.AST) -> bool:
    """Whether a value is seen to seed something, or is given to what is called a seed."""
    parents = site.module.survey.parents
    parent = parents.get(node)
    while isinstance(
        parent,
        (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.IfExp, ast.Call, ast.BinOp),
    ):
        if isinstance(parent, ast.Call) and last_name(parent.func) not in _CARRYING:
            break
        parent = parents.get(parent)
    if isinstance(parent, ast.Call) and last_name(parent.func) in _BOUNDED:
        return False  # A seed is drawn between two others.
    if isinstance(parent, ast.keyword) and parent.arg is not None:
        return parent.arg in SEED_KEYWORDS or about(parent.arg, SEED)
    if isinstance(parent, ast.Assign) and any(is_seed_name(each) for each in parent.targets):
        if _looks_up(site, parent):
            return False
        return site.value(node).use not in {Use.LABEL, Use.TELEMETRY, Use.DROPPED}
    use = site.value(node).use
    return use is Use.SEED or (use is Use.UNSEEN and _is_handed_on(site, node))


def _looks_up(site: Site, statement: ast.Assign) -> bool:
    """Whether what is called a seed is only ever the key of something that is looked up."""
    parents = site.module.survey.parents
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not site.module.follows:
        return False
    loads = [parents.get(load) for load, _ in site.module.loads.of(target.id, site.scope)]
    return bool(loads) and all(isinstance(each, ast.Subscript) for each in loads)


def _draws_nothing(site: Site) -> bool:
    """Whether it is an evaluation, in which nothing is seen to be drawn or shuffled."""
    function = site.scope.method
    if function is None or not about(function.name, _EVALUATES):
        return False
    module = site.module
    for node, scope, called in module.calls:
        if scope.method is function and (
            module.catalogue.has("global-draws", called)
            or module.catalogue.has("tensor-draws", called)
            or last_name(node.func) in _ACTS
            or any(each.arg in SEED_KEYWORDS for each in node.keywords)
        ):
            return False
    return True


def _is_handed_on(site: Site, node: ast.AST) -> bool:
    """Whether ``seed + i`` is an argument of a function of the project that is not followed."""
    call = site.module.survey.parents.get(node)
    if not isinstance(call, ast.Call) or not isinstance(node, ast.BinOp):
        return False
    called = site.qualified(call.func)
    known = called is not None and called.partition(".")[0] in _LIBRARIES
    return not known and all(
        isinstance(each, (ast.Name, ast.Attribute, ast.Constant)) for each in _others(node)
    )


def _suits(node: ast.BinOp | ast.AugAssign, scope: Scope) -> bool:
    """Whether an operator counts."""
    del scope
    return node.op.__class__ in _COUNTING


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Spawn them from one root: SeedSequence(seed).spawn(n), SeedSequence([seed, i]), jax.random.fold_in(key, i).",
        __doc__ or "",
    ),
    calls=("ranges", "generators", "seeding"),
    methods=("seeding",),
    nodes=(ast.BinOp, ast.AugAssign),
    look=look,
    suits=_suits,
    applies=mentions("seed", "master"),
)
