"""A training checkpoint has no generator's state in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import resumes
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "checkpoint-without-rng"
_OPTIMIZER: Final = frozenset(["optimizer", "optimizers", "optim", "opt", "optimiser", "trainer"])
_ASIDE: Final = re.compile(r"cache|tmp|temp", re.IGNORECASE)
_SAVES: Final = frozenset({"save", "snapshot", "checkpoint", "ckpt", "state", "dump"})
_SETTINGS: Final = frozenset({"config", "settings", "options", "arguments", "args"})
_ENTRIES_MIN: Final = 3
_CHECKPOINT: Final = frozenset({"checkpoint", "checkpoints", "ckpt"})
_KEEPS_RNG: Final = {
    "get_rng_state", "getstate", "bit_generator", "set_rng_state", "rng_state",
    "rng_states", "generator_state", "get_rng_states", "random_states", "random_state",
}  # fmt: skip


def look(site: Site) -> Iterator[Violation]:
    """Look at what is saved."""
    if isinstance(site.node, ast.FunctionDef):
        yield from _with_seed(site, site.node)
        return
    saved = _display(site, site.argument(0, "obj"))
    if saved is None:
        return
    values = [each for each in saved.values if _is_state_dict(each)]
    target = site.argument(1, "f")
    if target is not None and _ASIDE.search(site.module.source(target)):
        return
    if not values or _says_rng(saved) or _keeps_rng(site):
        return
    if len(values) > 1 and any(about(_subject(each), _OPTIMIZER) for each in values):
        if not _resumes(site):
            return
    elif not _is_called_checkpoint(site):
        return
    yield site.found(
        NAME,
        "The checkpoint keeps what was learned, and no generator's state.",
        "A resumed run goes on with other random numbers than one that was not interrupted.",
        confidence=0.85,
    )


def _with_seed(site: Site, node: ast.FunctionDef) -> Iterator[Violation]:
    """Find a snapshot with the seed but no generator's state, from which another function resumes."""
    if (
        not about(node.name, _SAVES)
        or not site.module.speaks_of("seed")
        or about(node.name, _SETTINGS)
    ):
        return
    put = {
        target.slice.value: each
        for each in ast.walk(node)
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
    }
    if "seed" not in put or len(put) < _ENTRIES_MIN or _keeps_rng(site):
        return
    if not any(
        resumes(scope.name) and _reads(scope.node, "seed")
        for scope in site.module.survey.scopes
        if scope.is_function
    ):
        return
    yield site.found(
        NAME,
        f"{node.name}() keeps the seed and no generator's state.",
        "From the seed a resumed run draws again what was drawn already, where the kept one had gone on.",
        node=put["seed"],
        confidence=0.85,
    )


def _reads(node: ast.AST, key: str) -> bool:
    return any(
        isinstance(each, ast.Subscript)
        and isinstance(each.ctx, ast.Load)
        and isinstance(each.slice, ast.Constant)
        and each.slice.value == key
        for each in ast.walk(node)
    )


def _is_called_checkpoint(site: Site) -> bool:
    """Whether a function saves a checkpoint, as it says, in a file that resumes from one."""
    function = site.scope.method
    innermost = site.scope if site.scope.is_function else function
    names = [each.name for each in (function, innermost) if each is not None]
    return any(about(each, _CHECKPOINT) for each in names) and any(
        site.catalogue.has("unpickling", qualified) for _, _, qualified in site.module.calls
    ) and site.module.speaks_of("resume")  # fmt: skip


def _display(site: Site, node: ast.expr | None) -> ast.Dict | None:
    """Return the dictionary to save, if it is literal at the call or before it."""
    if isinstance(node, ast.Name):
        found = [each.node for each in site.module.names.bindings(node.id, site.scope)]
        displays = [each for each in found if isinstance(each, ast.Dict)]
        return displays[0] if len(displays) == 1 else None
    return node if isinstance(node, ast.Dict) else None


def _is_state_dict(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node) == "state_dict"


def _subject(node: ast.expr) -> str:
    func = node.func if isinstance(node, ast.Call) else node
    return last_name(func.value) if isinstance(func, ast.Attribute) else ""


def _says_rng(saved: ast.Dict) -> bool:
    return any(
        key is None or (isinstance(key, ast.Constant) and about(str(key.value), frozenset({"rng", "random", "generator", "seed"})))
        for key in saved.keys
    )  # fmt: skip


def _resumes(site: Site) -> bool:
    """Whether an optimizer's state is loaded again in the file."""
    return any(
        isinstance(node, ast.Call)
        and last_name(node) == "load_state_dict"
        and about(_subject(node), _OPTIMIZER)
        for node, _ in site.module.survey.nodes.get(ast.Call, ())
    )


def _keeps_rng(site: Site) -> bool:
    """Whether the file keeps generators' states anywhere."""
    return site.module.speaks_of(*sorted(_KEEPS_RNG))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Keep torch.get_rng_state(), random.getstate() and every generator's state, and set them on resuming.",
        __doc__ or "",
    ),
    calls=("torch-save",),
    nodes=(ast.FunctionDef,),
    look=look,
    named=_SAVES,
)
