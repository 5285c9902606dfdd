"""The rules about environments: which are reset without a seed, and whose spaces are sampled without one.

Only a name that every binding gives an environment from a known maker, or a wrapper around the same
name, counts; whatever else there is, is somebody else's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Binding, Scope
from twice.checker.syntax.uses.words import SEED_KEYWORDS, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


def holder_of_made(site: Site, name: ast.expr, *, plainly: bool = False) -> Scope | None:
    """Give the scope in which a name is an environment that was made there.

    Args:
        site: where the name is read.
        name: the name.
        plainly: whether a maker that is given the results of calls, which may have done more,
            does not count.
    """
    if not isinstance(name, ast.Name):
        return None
    names = site.module.names
    holder = names.holder(name.id, site.scope)
    if holder is None or holder.is_class:
        return None
    made = 0
    for each in holder.bindings[name.id]:
        is_made = _is_made(site, each, holder)
        if is_made and plainly and _is_given_calls(each.node):
            return None
        if not is_made and not _is_wrapped(each, name.id):
            return None
        made += is_made
    return holder if made else None


def _is_made(site: Site, binding: Binding, holder: Scope) -> bool:
    call = binding.node
    if binding.kind not in {"assign", "with"} or not isinstance(call, ast.Call):
        return False
    if any(each.arg is None or each.arg in SEED_KEYWORDS for each in call.keywords):
        return False
    return _makes(site, call, holder)


def _makes(site: Site, call: ast.Call, holder: Scope) -> bool:
    """Whether a call makes an environment, or wraps one that is made in it."""
    if call.args and isinstance(call.args[0], ast.Call) and _makes(site, call.args[0], holder):
        return not any(each.arg in SEED_KEYWORDS for each in call.keywords)
    called = site.module.names.qualified(call.func, holder)
    if called is None or site.catalogue.has("environment-makers", called):
        return called is not None
    package, _, rest = called.partition(".")
    return site.catalogue.has("environment-packages", package) and site.catalogue.has_method(
        "environment-factories", rest.rpartition(".")[2]
    )


def _is_given_calls(call: ast.AST) -> bool:
    return any(
        isinstance(inner, (ast.Call, ast.Lambda, ast.Starred))
        for each in ast.iter_child_nodes(call)
        for inner in ast.walk(each)
    )


def _is_wrapped(binding: Binding, name: str) -> bool:
    """``env = Wrapper(env)``."""
    call = binding.node
    return (
        binding.kind == "assign"
        and isinstance(call, ast.Call)
        and bool(call.args)
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id == name
        and not any(each.arg is None or each.arg in SEED_KEYWORDS for each in call.keywords)
    )


def calls_on(site: Site, name: str, holder: Scope) -> Iterator[tuple[str, ast.Call]]:
    """Give what is called on a name, dotted, wherever the name is read: ``action_space.seed``."""
    parents = site.module.survey.parents
    for load, _ in site.module.loads.of(name, holder):
        trail: list[str] = []
        node: ast.AST = load
        parent = parents.get(node)
        while isinstance(parent, ast.Attribute) and parent.value is node:
            trail.append(parent.attr)
            node, parent = parent, parents.get(parent)
        if trail and isinstance(parent, ast.Call) and parent.func is node:
            yield ".".join(trail), parent


_ENVIRONMENTS: Final = frozenset({"env", "envs", "environment", "environments"})
_SPACES: Final = {"action_space", "observation_space", "single_action_space"}
_NOT_SEEDED: Final = (
    "A space starts from the system's entropy; seeding the environment does not seed it."
)
_SHOWS: Final = frozenset(
    ["animation", "drawing", "gif", "human", "interactive", "keyboard", "manual", "plot", "render", "teleop"]
)  # fmt: skip
_BY_HAND: Final = frozenset({"keyboard_control", "manual", "manual_control"})


def reach_of(site: Site) -> Reach:
    """Give how loud a missing seed is here: in doubt where somebody plays or looks, by a name or a setting."""
    stem = site.module.path.rpartition("/")[2].removesuffix(".py")
    function = site.scope.method
    is_shown = about(stem, _SHOWS) or any(
        _is_by_hand(each, shown=function is not None)
        for node, scope, _ in site.module.calls
        if node.keywords and scope.method is function
        for each in node.keywords
    )
    return Reach.UNSEEN if is_shown else Reach.LOUD


def _is_by_hand(keyword: ast.keyword, *, shown: bool) -> bool:
    """Whether a keyword asks for a player at the keyboard, or, in a function, for a window."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg in _BY_HAND and value is True) or (
        shown and keyword.arg == "render_mode" and value == "human"
    )


def gather(module: Module) -> dict[str, Any] | None:
    """Give the spaces and environments that objects of a file keep and use, and whether the file seeds any."""
    if module.speaks_of("space.seed(", "spaces.seed("):
        return {"seeds": True, "samples": [], "resets": [], "starts": False}
    starts = module.speaks_of("reset(seed", "env.seed(", "environment.seed(")
    resets = list(_list_resets(module)) if module.speaks_of(".reset()") else []
    if not (module.speaks_of("space.sample(") or resets or starts):
        return None
    found: dict[Scope, Violation] = {}
    for node, scope, _ in module.calls:
        func, function = node.func, scope.method
        if (
            isinstance(func, ast.Attribute)
            and func.attr == "sample"
            and function is not None
            and last_name(func.value).endswith("_space")
            and _is_kept(func.value)
        ):
            message = (
                f"{module.shown(func)}() draws from a space that nothing in the project seeds."
            )
            site = module.site(node, scope)
            found.setdefault(function, site.violation(message, _NOT_SEEDED, confidence=0.8))
    samples = [each.to_json() for each in found.values()]
    return {"seeds": False, "samples": samples, "resets": resets, "starts": starts}


def _list_resets(module: Module) -> Iterator[list[Any]]:
    """Yield the resets without a seed of an environment that an object keeps: ``observation, info = self.env.reset()``."""
    for node, scope in module.survey.nodes.get(ast.Assign, ()):
        target, call = getattr(node, "targets", [None])[0], getattr(node, "value", None)
        if (
            isinstance(target, ast.Tuple)
            and [last_name(each) for each in target.elts[1:]]
            in (["info"], ["infos"], ["_"], ["_info"])
            and isinstance(call, ast.Call)
            and not call.args
            and not call.keywords
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "reset"
            and _is_kept(call.func.value)
            and about(last_name(call.func.value), _ENVIRONMENTS)
        ):
            message = f"{module.shown(call.func.value)} is reset without a seed, and nothing in the project gives it one."
            why = "Its first reset starts it from the system's entropy."
            yield module.site(call, scope).violation(message, why, confidence=0.8).to_json()


def _is_kept(node: ast.expr) -> bool:
    """Whether it is an attribute of ``self``, or of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


def _report_policies(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report what policies sample where no file seeds a space."""
    if not any(one["seeds"] for one in facts.values()):
        for path, one in facts.items():
            for each in one["samples"]:
                yield path, replace(Violation.from_json(each), rule="unseeded-space-sample")


def _report_resets(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report what objects reset where no file gives an environment a seed."""
    if not any(one["starts"] for one in facts.values()):
        for path, one in facts.items():
            for each in one["resets"]:
                yield path, replace(Violation.from_json(each), rule="unseeded-reset")


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Give the first reset the run's seed: env.reset(seed=seed).",
    methods=("resetting",),
    gather=gather,
    conclude=_report_resets,
)
def unseeded_reset(site: Site) -> Iterator[Violation]:
    """An environment is made and reset, and never gets a seed."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if site.call.args or site.call.keywords:
        return
    holder = holder_of_made(site, func.value)
    if holder is None:
        return
    assert isinstance(func.value, ast.Name), "it has a holder"
    first = True
    for called, call in calls_on(site, func.value.id, holder):
        if called in {"seed", "unwrapped.seed", "set_state"}:
            return
        if called.rpartition(".")[2] == "reset":
            if any(each.arg != "options" for each in call.keywords) or call.args:
                return
            if first and call is not site.call:
                return
            first = False
    yield site.violation(
        f"{func.value.id} is reset without a seed, and never gets one.",
        "Its first reset starts it from the system's entropy.",
        reach=reach_of(site),
        confidence=0.8,
    )


@rule(
    Channel.SEEDS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Seed the space once after the environment is made: env.action_space.seed(seed).",
    methods=("draws",),
    gather=gather,
    conclude=_report_policies,
)
def unseeded_space_sample(site: Site) -> Iterator[Violation]:
    """Actions are sampled from a space that never got a seed."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    space = func.value.func if isinstance(func.value, ast.Call) else func.value
    if func.attr != "sample" or not isinstance(space, ast.Attribute) or space.attr not in _SPACES:
        return
    holder = holder_of_made(site, space.value, plainly=True)
    if holder is None:
        return
    assert isinstance(space.value, ast.Name), "it has a holder"
    first = True
    for called, call in calls_on(site, space.value.id, holder):
        parent = site.module.survey.parents.get(call)
        if called.endswith("space.seed") or last_name(parent or call) == "seed":
            return  # ``env.action_space(agent).seed(3)`` is one, too.
        if called in {space.attr, f"{space.attr}.sample"}:
            if first and call not in {site.call, func.value}:
                return
            first = False
    yield site.violation(
        f"{space.value.id}.{space.attr}.sample() draws from a space that never got a seed.",
        _NOT_SEEDED,
        reach=reach_of(site),
        confidence=0.8,
    )
