"""A method makes its generator anew from the same seed at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import begins, own_attribute, resumes, speaks_of_seed
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "reseed-per-call"
_TURNS = frozenset(
    [
        "batch",
        "batches",
        "epoch",
        "epochs",
        "frame",
        "frames",
        "image",
        "images",
        "item",
        "items",
        "loader",
        "dataloader",
        "prompt",
        "prompts",
        "row",
        "rows",
        "step",
        "steps",
    ]
)

_SIZES = frozenset({"count", "len", "length", "num", "number", "shape", "size", "sizes"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made, or at a seeding."""
    call, function = site.call, site.scope.method
    if len(call.args) + len(call.keywords) != 1:
        return
    given = call.args[0] if call.args else call.keywords[0].value
    turn = _turn(site, given)
    if turn:
        yield site.found(
            NAME,
            f"{site.module.shown(call)} begins the same stream anew for each {turn}.",
            "Each turn draws the same numbers again, so turns that should be independent agree.",
            confidence=0.85,
        )
        return
    if function is None or not _is_known(site):
        return
    attribute = own_attribute(given)
    if not attribute or not speaks_of_seed(attribute) or begins(function.name):
        return
    if resumes(function.name) or function.name.startswith("__"):
        return
    owner = site.scope.owner
    if owner is None or _changes(site, attribute) or not _is_called(site):
        return
    if site.catalogue.has("generators", site.called) and _goes_out(site):
        return
    yield site.found(
        NAME,
        f"{function.name}() makes its generator anew from self.{attribute} at every call.",
        "Each call draws the same numbers again, so calls that should be independent agree.",
        confidence=0.85,
    )


def _is_known(site: Site) -> bool:
    """Whether it is a function of a library, and no method of some object."""
    return any(site.catalogue.has(each, site.called) for each in ("generators", "seeding"))


def _turn(site: Site, given: ast.expr) -> str:
    """Name the items of a loop that sets the same seed each time; return "" for no such loop."""
    if not (_is_known(site) or last_name(site.call) == "manual_seed"):
        return ""
    function = site.scope.method
    if function is not None and function.name == "__getitem__":
        fixed = isinstance(given, ast.Constant) or speaks_of_seed(own_attribute(given) or "")
        return "item" if fixed else ""
    if not isinstance(given, (ast.Name, ast.Constant)):
        return ""
    if isinstance(given, ast.Name) and not speaks_of_seed(given.id):
        return ""
    for each in site.above():
        if isinstance(each, (ast.For, ast.AsyncFor)):
            words = [
                one.id if isinstance(one, ast.Name) else one.attr
                for part in (each.target, each.iter)
                for one in ast.walk(part)
                if isinstance(one, (ast.Name, ast.Attribute))
            ]
            turns = (word for word in words if about(word, _TURNS) and not about(word, _SIZES))
            found = next(turns, "")
            if found and not _is_set_in(site, given, each):
                return min(_TURNS & parts(found)).removesuffix("s")
            return ""
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return ""
    return ""


def _is_set_in(site: Site, given: ast.expr, loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop gives a name another value each time."""
    if not isinstance(given, ast.Name):
        return False
    end = loop.end_lineno or loop.lineno
    return any(
        loop.lineno <= getattr(each.node, "lineno", 0) <= end
        for each in site.module.names.bindings(given.id, site.scope)
    )


def _changes(site: Site, attribute: str) -> bool:
    """Whether the seed is another one at each call."""
    owner = site.scope.owner
    assert owner is not None, "looked at before"
    bindings = site.module.attributes.of(owner).get(attribute, [])
    return not bindings or any(
        binding.kind == "augment"
        or (scope.method is not None and not begins(scope.method.name))
        for binding, scope, _ in bindings
    )  # fmt: skip


def _is_called(site: Site) -> bool:
    """Whether it is a method that others call, and not a part of the constructor."""
    function = site.scope.method
    assert function is not None, "looked at before"
    decorators = getattr(function.node, "decorator_list", [])
    if decorators:
        return False
    calls = site.module.loads.calls_of(function)
    if not function.name.startswith("_"):
        return True
    return any(scope.method is not None and not begins(scope.method.name) for _, scope in calls)


def _goes_out(site: Site) -> bool:
    """Whether the generator itself is kept or handed out rather than drawn from here."""
    parent = site.module.survey.parents.get(site.node)
    if isinstance(parent, ast.Assign):
        return all(isinstance(each, ast.Attribute) for each in parent.targets)
    return isinstance(parent, ast.Return) or (
        isinstance(parent, (ast.Call, ast.keyword)) and site.value().use is not Use.DROPPED
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.REPLAY,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Make the generator once, in the constructor, or derive a child by a key that differs per call.",
        __doc__ or "",
    ),
    calls=("generators", "seeding"),
    methods=("seeding",),
    look=look,
)
