"""The rules about streams that are begun anew: for everybody, at each call, in a branch, or where a state is put back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.analysis.roles import RESUMES, begins, is_seeder, resumes, speaks_of_seed
from twice.checker.analysis.seed_expressions import default_of, is_entry, none_test
from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Site
from twice.checker.syntax.nodes import own_attribute
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import SEED, about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_GETS: Final = frozenset({"get", "current", "fetch"})
_SETS: Final = frozenset({"set", "setup", "init", "reset"})
_BRANCHES: Final = frozenset(
    ["fork", "branch", "clone", "copy", "__copy__", "__deepcopy__", "deepcopy"]
)
_SETTERS: Final = frozenset(
    ["setstate", "set_state", "set_rng_state", "set_rng_state_all", "state", "__setstate__"]
)
_DERIVED: Final = frozenset({"jax.random.split", "jax.random.fold_in"})
_RANDOMNESS: Final = frozenset({"randomness"})
_TURNS: Final = frozenset(
    ["batch", "batches", "dataloader", "epoch", "epochs", "frame", "frames", "image", "images", "item",
     "items", "loader", "prompt", "prompts", "row", "rows", "step", "steps"]
)  # fmt: skip
_SIZES: Final = frozenset({"count", "len", "length", "num", "number", "shape", "size", "sizes"})
_AGAIN: Final = "Each {} draws the same numbers again, so those that should be independent agree."


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Make a generator of its own from the seed, and draw from that.",
    calls=("seeding",),
    nodes=(ast.Call,),
    applies=mentions("seed"),
    suits=lambda node, _: is_seeder(last_name(node)) and bool(node.args or node.keywords),
)
def global_reseed(site: Site) -> Iterator[Violation]:
    """A library's function seeds the stream that the whole process shares."""
    function, called = site.scope.method, site.called
    if called is None or function is None or (is_entry(site) and not _is_in_ticks(site)):
        return
    is_named = "seed" in function.name.lower() or about(function.name, _RANDOMNESS)
    is_known = site.catalogue.has("seeding", called)
    if not is_known and (is_named or function.owner is None):
        return  # A program's own function begins a run.
    # Who calls a function for seeding asks for it; one of the class's own is called by others of its methods.
    is_asked = is_named and (function.owner is None or function.name[0] != "_")
    reach = Reach.UNSEEN if is_asked else Reach.LOUD
    yield site.violation(
        f"{function.name} seeds the process-wide stream by {site.called}().",
        "Everybody else in the process draws from that stream, and starts again with it.",
        reach=reach,
    )


def _is_in_ticks(site: Site) -> bool:
    """Whether a site is in the loop of a run's ticks: ``for tick in run.ticks(10)``."""
    return any(
        isinstance(each, ast.For) and last_name(each.iter) == "ticks" for each in site.above()
    )


@rule(
    Channel.RNG,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Raise an error where no seed was set, or make a generator of its own.",
    nodes=(ast.FunctionDef,),
    applies=mentions("seed"),
)
def accessor_reseeds(site: Site) -> Iterator[Violation]:
    """Asking for something seeds the streams of the whole process."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    decorators = {last_name(each) for each in node.decorator_list}
    gets = about(node.name, _GETS) and not about(node.name, _SETS)
    if not gets and decorators.isdisjoint({"property", "cached_property"}):
        return
    for each in node.body:
        tested = none_test(each.test) if isinstance(each, ast.If) else None
        if tested is None or not tested[1]:
            continue
        for one in ast.walk(each):
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Name):
                continue  # A method seeds one generator.
            if (one.args or one.keywords) and is_seeder(one.func.id):
                yield site.violation(
                    f"{node.name}() seeds the whole process by {one.func.id}() when nothing was set.",
                    "Every stream starts anew in the middle of a run, and who asks first decides when.",
                    node=one,
                    confidence=0.85,
                )
                return


def _is_known(site: Site, call: ast.Call | None = None) -> bool:
    """Whether a call, or the site's own, makes a library's generator or seeds it."""
    called = site.called if call is None else site.qualified(call.func)
    return site.catalogue.has("generators", called) or site.catalogue.has("seeding", called)


@rule(
    Channel.REPLAY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Copy the generator's state into the branch, or derive a child by the branch's own key.",
    calls=("generators", "seeding"),
)
def branch_from_reseed(site: Site) -> Iterator[Violation]:
    """A branch of a run starts its generator from the master seed."""
    function, call = site.scope.method, site.call
    given = [*call.args, *(each.value for each in call.keywords)]
    if function is None or not about(function.name, _BRANCHES) or len(given) != 1:
        return
    attribute = own_attribute(given[0])
    if attribute and speaks_of_seed(attribute):
        yield site.violation(
            f"{function.name}() starts the branch's generator from self.{attribute}.",
            "Every branch draws from the start of the same stream, not from where the run is.",
            confidence=0.85,
        )


@rule(
    Channel.REPLAY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Keep the generator's state with the snapshot and set it: random.setstate, bit_generator.state.",
    nodes=(ast.FunctionDef,),
    named=RESUMES,
)
def reseed_on_restore(site: Site) -> Iterator[Violation]:
    """Putting a state back seeds a generator instead of setting its state."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not resumes(node.name):
        return
    inner = next((each for each in site.scope.inner if each.node is node), None)
    if inner is None or _sets_state(node):
        return
    for call, scope, called in site.module.calls if site.module.speaks_of_seeds else ():
        if scope.method is not inner or called in _DERIVED or not (call.args or call.keywords):
            continue
        here = site.at(call, scope)
        if is_seeder(last_name(call)) or (_is_known(here) and not _is_kept_seed(here)):
            yield here.violation(
                f"{node.name}() seeds a generator where it puts a state back.",
                "The restored run draws from the start of the stream again, the one that was kept went on.",
                confidence=0.85,
            )


def _sets_state(node: ast.AST) -> bool:
    """Whether a generator's state is set as well."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            is_base = isinstance(each.func, ast.Attribute) and isinstance(each.func.value, ast.Call)
            if last_name(each) in _SETTERS and not is_base:
                return True
        elif (
            isinstance(each, ast.Attribute)
            and each.attr == "state"
            and isinstance(each.ctx, ast.Store)
            and last_name(each.value) != "self"
        ):
            return True
    return False


def _is_kept_seed(site: Site) -> bool:
    """Whether the seed was kept with the state: ``state["position"]``."""
    call, function = site.call, site.scope.method
    given = call.args[0] if call.args else call.keywords[0].value
    bound = {} if function is None else function.bindings
    return isinstance(given, ast.Subscript) and any(
        isinstance(each, ast.Name)
        and each.id != "self"
        and any(one.kind == "argument" for one in bound.get(each.id, ())[:1])
        for each in ast.walk(given)
    )


@rule(
    Channel.REPLAY,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Draw a seed once where none is given, store the drawn one, and reset with it.",
    nodes=(ast.If, ast.IfExp),
    applies=mentions("seed", "rng", "random"),
)
def reseed_none(site: Site) -> Iterator[Violation]:
    """Starting again falls back to a stored seed that may be None."""
    function, owner = site.scope.method, site.scope.owner
    if function is None or owner is None or function.name == "__init__":
        return
    name, stored = _read_fallback(site.node)
    if not name or not (about(name, frozenset({"seed", "rng", "random"})) or about(stored, SEED)):
        return
    if _may_be_none(site, owner, stored) and _seeds_with(site, function, name):
        yield site.violation(
            f"{function.name}() without {name} seeds with self.{stored}, which may be None.",
            "Seeding with None starts from the system's entropy, so the same call gives another run.",
            confidence=0.85,
        )


def _read_fallback(node: ast.AST) -> tuple[str, str]:
    """Return argument and attribute of ``if seed is None: seed = self.seed``, or its short form."""
    value: ast.AST
    if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Assign):
        value, target = node.body[0].value, node.body[0].targets[0]
    elif isinstance(node, ast.IfExp):
        value, target = node.body, None
    else:
        return "", ""
    tested = none_test(node.test)
    name = last_name(tested[0]) if tested and tested[1] and isinstance(tested[0], ast.Name) else ""
    if target is not None and (not isinstance(target, ast.Name) or target.id != name):
        return "", ""
    stored = own_attribute(value)
    return (name, stored) if name and stored else ("", "")


def _may_be_none(site: Site, owner: Scope, stored: str) -> bool:
    """Whether the constructor puts an argument there that is None when it is left out."""
    for binding, scope, _ in site.module.attributes.of(owner).get(stored, ()):
        node = binding.node.value if isinstance(binding.node, ast.AnnAssign) else binding.node
        function = scope.node
        if (
            isinstance(node, ast.Name)
            and isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
            and function.name == "__init__"
            and is_none(default_of(function.args, node.id))
            and not any(_gives_value(each, node.id) for each in function.body)
        ):
            return True
    return False


def _gives_value(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name a value in every case: plainly, or where it is None."""
    if isinstance(statement, ast.If):
        tested = none_test(statement.test)
        return tested is not None and tested[1] and last_name(tested[0]) == name
    return isinstance(statement, ast.Assign) and any(
        isinstance(each, ast.Name) and each.id == name for each in statement.targets
    )


def _seeds_with(site: Site, function: Scope, name: str) -> bool:
    """Whether a function gives an argument to a generator or to a seeding."""
    return any(
        scope.method is function
        and any(
            isinstance(each, ast.Name) and each.id == name
            for each in (*call.args, *(one.value for one in call.keywords))
        )
        and (_is_known(site.at(call, scope)) or last_name(call) == "seed")
        for call, scope, _ in site.module.calls
    )


@rule(
    Channel.REPLAY,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Make the generator once, in the constructor, or derive a child by a key that differs per call.",
    calls=("generators", "seeding"),
    methods=("seeding",),
)
def reseed_per_call(site: Site) -> Iterator[Violation]:
    """A method makes its generator anew from the same seed at every call."""
    call, function, owner = site.call, site.scope.method, site.scope.owner
    if len(call.args) + len(call.keywords) != 1:
        return
    given = call.args[0] if call.args else call.keywords[0].value
    if turn := _find_turn(site, given):
        yield site.violation(
            f"{site.module.shown(call)} begins the same stream anew for each {turn}.",
            _AGAIN.format("turn"),
            confidence=0.85,
        )
        return
    attribute = own_attribute(given)
    if function is None or owner is None or not attribute or not speaks_of_seed(attribute):
        return
    name = function.name
    if begins(name) or resumes(name) or name.startswith("__") or not _is_known(site):
        return
    bindings = site.module.attributes.of(owner).get(attribute, [])
    is_fixed = bindings and not any(
        binding.kind == "augment" or (scope.method is not None and not begins(scope.method.name))
        for binding, scope, _ in bindings
    )
    if is_fixed and _is_called_again(site, function) and not _goes_out(site):
        yield site.violation(
            f"{name}() makes its generator anew from self.{attribute} at every call.",
            _AGAIN.format("call"),
            confidence=0.85,
        )


def _find_turn(site: Site, given: ast.expr) -> str:
    """Return the word for the items of a loop that sets the same seed each time; "" for no such loop."""
    if not (_is_known(site) or last_name(site.call) == "manual_seed"):
        return ""
    function = site.scope.method
    if function is not None and function.name == "__getitem__":
        is_fixed = isinstance(given, ast.Constant) or speaks_of_seed(own_attribute(given))
        return "item" if is_fixed else ""
    if not isinstance(given, ast.Constant) and not (
        isinstance(given, ast.Name) and speaks_of_seed(given.id)
    ):
        return ""
    for each in site.above():
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return ""
        if isinstance(each, (ast.For, ast.AsyncFor)):
            spoken = [last_name(one) for part in (each.target, each.iter) for one in ast.walk(part)]
            turns = (word for word in spoken if about(word, _TURNS) and not about(word, _SIZES))
            found = next(turns, "")
            is_set = isinstance(given, ast.Name) and any(
                each.lineno <= getattr(one.node, "lineno", 0) <= (each.end_lineno or each.lineno)
                for one in site.module.names.bindings(given.id, site.scope)
            )
            return min(_TURNS & parts(found)).removesuffix("s") if found and not is_set else ""
    return ""


def _is_called_again(site: Site, function: Scope) -> bool:
    """Whether it is a method that others call, and not a part of the constructor."""
    if getattr(function.node, "decorator_list", []):
        return False
    return not function.name.startswith("_") or any(
        scope.method is not None and not begins(scope.method.name)
        for _, scope in site.module.loads.calls_of(function)
    )


def _goes_out(site: Site) -> bool:
    """Whether the generator itself is kept or handed out rather than drawn from here."""
    if not site.catalogue.has("generators", site.called):
        return False
    parent = site.module.survey.parents.get(site.node)
    if isinstance(parent, ast.Assign):
        return all(isinstance(each, ast.Attribute) for each in parent.targets)
    return isinstance(parent, ast.Return) or (
        isinstance(parent, (ast.Call, ast.keyword)) and site.value().use is not Use.DROPPED
    )
