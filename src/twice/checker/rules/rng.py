"""The rules about single generators: who shares one, who draws from it, and which start without a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.analysis.generators import Generator, Lifetime
from twice.checker.analysis.owners import HOLDERS, find_shared
from twice.checker.analysis.seed_expressions import is_generator, is_global_draw, seed_of
from twice.checker.analysis.seed_facts import gather as gather_seeds
from twice.checker.analysis.seeds import found_at
from twice.checker.findings import Violation
from twice.checker.rule import Breaks, ProjectFacts, mentions
from twice.checker.rules.engine import rule
from twice.checker.rules.threads import Started, calls_in, is_within, parameter_values, started
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Site
from twice.checker.syntax.nodes import own_attribute
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import GENERATOR, SEED_KEYWORDS, about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_SHARES: Final = "What one of them draws depends on how much the others have drawn before."
_MOVES: Final = "One draw more of the one moves all numbers of the other."
_MODULES: Final = frozenset(
    ["np", "numpy", "xp", "jnp", "jax", "cp", "cupy", "torch", "tf", "mod", "module", "lib"]
)
_WHOLES: Final = frozenset({"model", "sim", "simulation", "world"})
"""What owns the run's one generator for its parts, by its name."""
_KEEPING: Final = frozenset(
    ["snapshot", "save", "restore", "load", "state", "checkpoint", "copy", "deepcopy", "clone", "getstate",
     "setstate", "resume", "rollback", "peek", "preview", "compare", "equal", "eq", "context", "isolate",
     "reproduce", "test"]
)  # fmt: skip
_SHOWING: Final = frozenset(
    ["__repr__", "__str__", "_repr_html_", "render", "_render", "log_state"]
)
_DEBUGGING: Final = frozenset({"debug", "debugging", "verbose", "verbosity"})
_STREAM_MODULES: Final = frozenset({"numpy.random", "random", "numpy.random.mtrand"})
_GETTERS: Final = {
    "setstate": "getstate",
    "set_state": "get_state",
    "set_rng_state": "get_rng_state",
}


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Make it in the constructor from a seed that is passed in, or take a generator as an argument.",
    calls=("generators", "torch-generator"),
)
def shared_generator(site: Site) -> Iterator[Violation]:
    """One generator serves every instance of a class, or every caller of a module."""
    if not _is_made(site):
        return
    made, module, scope = Generator.from_site(site), site.module, site.scope
    if made.lifetime is Lifetime.CLASS:
        whose = f"all instances of {scope.name}"
    elif made.lifetime is Lifetime.MODULE:
        whose = "all callers of the functions of this module"
    else:
        return
    shown, loads = module.shown(made.target or site.node), []
    if isinstance(made.target, ast.Name) and not scope.is_class:
        loads = module.loads.of(made.target.id, module.names.holder(made.target.id, scope) or scope)
        if not any(where.is_function for _, where in loads):
            return
    yield site.violation(f"{shown} is one generator for {whose}.", _SHARES)
    for load, where in loads:
        kept = module.survey.parents.get(load)
        if isinstance(kept, ast.Assign) and own_attribute(kept.targets[0]):
            message = f"Every instance keeps {shown}, the one generator of this module."
            yield site.at(load, where).violation(message, _SHARES)


def _is_made(site: Site) -> bool:
    kind = site.kind(site.call)
    return site.called != "jax.random.split" and kind is not None and kind.is_generator


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Take the generator without a default, or None and a seed to make one from.",
    calls=("generators",),
)
def generator_default_argument(site: Site) -> Iterator[Violation]:
    """A generator is made in the default of an argument."""
    arguments = site.module.survey.parents.get(site.node)
    if not isinstance(arguments, ast.arguments) or not _is_made(site):
        return
    if is_none(seed := seed_of(site)) or seed is None:
        return
    name = getattr(site.module.survey.parents.get(arguments), "name", "a lambda")
    yield site.violation(
        f"{site.module.shown(site.node)} is made once and shared by all calls of {name}.",
        "What a call draws depends on how many calls came before it in the process.",
    )


def _find_kept_twice(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report every generator that two objects keep, at the second of them, or where a loop makes them."""
    for path, at, message in find_shared(facts.outside_tests()):
        found = replace(found_at(at), message=message, why=_MOVES, confidence=0.8)
        yield path, replace(found, rule="generator-of-two-owners")


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Give each owner a generator of its own: rng.spawn(2), a sub-seed by name, or run.rng(name).",
    methods=("drawing",),
    gather=gather_seeds,
    conclude=_find_kept_twice,
)
def generator_of_two_owners(site: Site) -> Iterator[Violation]:
    """One generator is kept by two objects, or drawn from through the object that owns it."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    drawn: ast.AST = func.value
    if isinstance(drawn, ast.Name):
        bindings = site.module.names.bindings(drawn.id, site.scope)
        if len(bindings) != 1 or bindings[0].kind != "assign":
            return
        drawn = bindings[0].node
    if isinstance(drawn, ast.Attribute) and _is_anothers(site, drawn):
        shown, owner = site.module.shown(func), site.module.shown(drawn.value)
        message = f"{shown}() draws from the generator of {owner}."
        yield site.violation(message, _MOVES, confidence=0.8)


def _is_anothers(site: Site, drawn: ast.Attribute) -> bool:
    owner = drawn.value
    if not isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    method = site.scope.method
    arguments = getattr(method.node, "args", None) if method is not None and method.owner else None
    own = {"self", "cls"}
    if isinstance(arguments, ast.arguments):
        own |= {each.arg for each in [*arguments.posonlyargs, *arguments.args][:1]}
    words = parts(last_name(owner))
    return (
        not (isinstance(owner, ast.Name) and owner.id in own)
        and words.isdisjoint(HOLDERS | _MODULES | _WHOLES)
        and is_generator(site, drawn)
        and site.qualified(drawn) is None
    )


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Spawn a generator for each task from the run's seed: SeedSequence.spawn, or run.rng(name, number).",
    calls=("thread",),
    methods=("handing-to-threads",),
)
def generator_across_threads(site: Site) -> Iterator[Violation]:
    """One generator of random numbers is drawn from by several threads."""
    start = started(site)
    drawn = _find_shared_by_threads(site, start) if start is not None and start.several else ""
    if start is not None and drawn:
        yield site.violation(
            f"{site.module.shown(start.work) or 'The function'} is run by several threads and draws from "
            f"{drawn}, which they share.",
            "Which thread draws next is a race, so each gets other numbers in another run.",
            confidence=0.85,
        )


def _find_shared_by_threads(site: Site, start: Started) -> str:
    """Return the words for the generator that threads share; "" for none."""
    module, work = site.module, start.work
    if isinstance(work, ast.Attribute):
        kind = site.kind(work.value)
        if kind is not None and kind.is_generator:
            return module.shown(work.value)
    function = module.loads.callee(work, site.scope)
    called = [(work, site.scope)]
    if function is not None:
        called += [(call.func, scope) for call, scope in calls_in(module, function)]
    for func, scope in called:
        name = module.names.qualified(func, scope)
        if module.catalogue.has("global-draws", name):
            return f"the process-wide stream of {(name or '').rpartition('.')[0]}"
        if (
            function is not None
            and isinstance(func, ast.Attribute)
            and _is_from_outside(site, func.value, scope, function, start)
        ):
            return module.shown(func.value)
    return ""


def _is_from_outside(
    site: Site, base: ast.expr, scope: Scope, function: Scope, start: Started
) -> bool:
    """Whether what is drawn from in a function is a generator that comes from outside of it."""
    module = site.module
    if isinstance(base, ast.Name):
        holder = module.names.holder(base.id, scope)
        if holder is None:
            return False
        if is_within(holder, function):
            given = parameter_values(start, function).get(base.id)
            kind = site.kind(given) if isinstance(given, ast.Name) and holder is function else None
            return kind is not None and kind.is_generator
    elif not own_attribute(base) or function.owner is None:
        return False
    kind = module.kinds.of(base, scope)
    return kind is not None and kind.is_generator


def _is_state(node: ast.Assign, scope: Scope) -> bool:
    """Whether what is assigned is called a state, or is a copy."""
    del scope
    value = node.value
    return isinstance(value, ast.Attribute) and value.attr == "state"


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Give each its own stream: Generator.spawn, SeedSequence.spawn, run.rng(name).",
    calls=("copying", "state-setting"),
    methods=("state-setting",),
    nodes=(ast.Assign,),
    suits=_is_state,
    applies=mentions("state", "copy"),
)
def cloned_generator_state(site: Site) -> Iterator[Violation]:
    """Two generators are given the same state, so that they draw the same numbers."""
    function = site.scope.method
    if function is not None and not _KEEPING.isdisjoint(parts(function.name)):
        return
    pair = _copied_states(site)
    if pair is None:
        return
    first, second = ("" if each is None else site.module.shown(each) for each in pair)
    if first == second:
        return
    what = (
        f"{first} gets the state of {second}" if first else f"{second} is copied for another user"
    )
    why = "From here on both draw the same sequence, and each moves on by itself."
    yield site.violation(f"{what}, so two streams give the same numbers.", why)


def _copied_states(site: Site) -> tuple[ast.expr | None, ast.expr] | None:
    """Return which generator gets the state of which: by assignment, by a setter, or as a copy."""
    node, parent = site.node, site.module.survey.parents.get(site.node)
    if isinstance(node, ast.Assign):
        ends = [_holder_of_state(each) for each in (node.targets[0], node.value)]
        return (ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None
    func, given = site.call.func, [*site.call.args][:1]
    if not given:
        return None
    if isinstance(func, ast.Attribute) and func.attr in _GETTERS:
        inner = given[0].func if isinstance(given[0], ast.Call) else None
        is_pair = isinstance(inner, ast.Attribute) and inner.attr == _GETTERS[func.attr]
        return (func.value, inner.value) if is_pair and isinstance(inner, ast.Attribute) else None
    if not site.catalogue.has("copying", site.called) or not is_generator(site, given[0]):
        return None
    if isinstance(parent, ast.keyword) and parent.arg is not None:
        is_one = parent.arg in SEED_KEYWORDS or about(parent.arg, GENERATOR)
        return (None, given[0]) if is_one else None
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(target, ast.Attribute) and isinstance(given[0], ast.Attribute):
        # ``other.rng = deepcopy(self.rng)``: another object's, not a copy kept beside it.
        is_other = ast.dump(target.value) != ast.dump(given[0].value)
        return (target, given[0]) if is_other and about(target.attr, GENERATOR) else None
    return None


def _holder_of_state(node: ast.expr) -> ast.expr | None:
    """``a`` in ``a.bit_generator.state``."""
    if isinstance(node, ast.Attribute) and node.attr == "state":
        inner = node.value
        return (
            inner.value
            if isinstance(inner, ast.Attribute) and inner.attr == "bit_generator"
            else None
        )
    return None


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Draw in every case and show the result, or show with a generator of its own.",
    calls=("global-draws", "tensor-draws"),
    methods=("draws",),
    once_per_function=True,
)
def draw_in_debug(site: Site) -> Iterator[Violation]:
    """A number is drawn only while debugging, logging or rendering."""
    func, function, switch = site.call.func, site.scope.method, _find_switch(site)
    when = "" if switch is None else f"if {site.module.shown(switch)}"
    if not when and function is not None and function.owner and function.name in _SHOWING:
        when = f"when {function.name} is called"
    if not when:
        return
    if is_global_draw(site, site.call) or (
        isinstance(func, ast.Attribute) and is_generator(site, func.value)
    ):
        yield site.violation(
            f"{site.module.shown(func)}() draws only {when}.",
            "With the output switched on, every number that is drawn later is another one.",
        )


def _find_switch(site: Site) -> ast.expr | None:
    """Return the condition around a site that asks whether something is shown."""
    below = site.node
    for each in site.above():
        if isinstance(each, (ast.If, ast.IfExp)):
            body = each.body if isinstance(each.body, list) else [each.body]
            if below in body and _asks(each.test):
                return each.test
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        below = each
    return None


def _asks(test: ast.expr) -> bool:
    if isinstance(test, ast.Call):
        return last_name(test.func) == "isEnabledFor"
    if isinstance(test, ast.Compare):
        test = test.left
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks(each) for each in test.values)
    return isinstance(test, (ast.Name, ast.Attribute)) and about(last_name(test), _DEBUGGING)


def _may_give_module(node: ast.AST, scope: Scope) -> bool:
    """Whether a name, or a choice of names, is given; or a function has defaults."""
    del scope
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return bool(node.args.defaults or node.args.kw_defaults)
    return isinstance(
        getattr(node, "value", None), (ast.Name, ast.Attribute, ast.BoolOp, ast.IfExp)
    )


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Require a generator, or make one from a seed: np.random.default_rng(seed).",
    nodes=(ast.Assign, ast.keyword, ast.FunctionDef, ast.AsyncFunctionDef),
    suits=_may_give_module,
    applies=mentions("random"),
)
def module_as_generator(site: Site) -> Iterator[Violation]:
    """The module of the process-wide stream is passed off as a generator."""
    node = site.node
    given: list[ast.expr | None] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = [*node.args.defaults, *node.args.kw_defaults]
    elif isinstance(node, (ast.Assign, ast.keyword)):
        name = last_name(node.targets[0]) if isinstance(node, ast.Assign) else node.arg or ""
        value = node.value
        if about(name, GENERATOR):
            given = [value]
            if isinstance(value, ast.BoolOp):
                given = [*value.values]
            elif isinstance(value, ast.IfExp):
                given = [value.body, value.orelse]
    for each in given:
        if isinstance(each, (ast.Name, ast.Attribute)) and site.qualified(each) in _STREAM_MODULES:
            yield site.violation(
                f"{site.module.shown(each)} is the process-wide stream, and is given as a generator.",
                "Whoever else draws from that stream, in any library, shifts every number that comes after.",
                node=each,
            )
            return
