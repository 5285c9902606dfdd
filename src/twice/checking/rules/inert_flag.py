"""A switch that should make runs equal has no effect.

A misspelt environment variable, an attribute that nobody reads, an option in the wrong variable, a
variable that is set after the library has read it: nothing fails, nothing warns, and the run is as
free as before. This is worse than no switch at all, because the text says that the matter is settled.

Names that are close to no known switch are left alone: they may be the project's own.

Bad:
    import os

    os.environ["TF_CUDNN DETERMINISTIC"] = "1"

or:
    import os

    os.environ["TF_XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"
    import jax

or:
    import torch

    torch.backends.cudnn.determinstic = True

or:
    import os
    import random

    os.environ["PYTHONHASHSEED"] = "0"
    random.seed(0)

Good:
    import os

    os.environ["TF_DETERMINISTIC_OPS"] = "1"
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true"

    import jax

or:
    import os
    import torch

    os.environ["MY_PROJECT_DETERMINISTIC"] = "1"
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.backends.cudnn.deterministic = True
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from twice.checking.findings import Fix, Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.switches import Setting, attributes, variables
from twice.checking.syntax.module import Module, Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "inert-flag"
_CLOSE = 0.88
_STARTING = ("subprocess", "os.exec", "multiprocessing", "Popen", "spawn", "ray", "joblib")


def look(site: Site) -> Iterator[Found]:
    """Look at what a whole file sets."""
    module = site.module
    for each in variables(module):
        reason = _of_variable(module, each)
        if reason is not None:
            yield _found(module, each, *reason)
    known = module.catalogue.names("torch-switches")
    for each in attributes(module):
        if each.name in known or not each.name.startswith(
            ("torch.backends.cudnn.", "torch.backends.cuda.matmul.")
        ):
            continue
        close = _closest(each.name, known, cutoff=0.9)
        if close is not None:
            yield _found(module, each, f"{each.name} is no switch of torch; {close} is.", close)


def _of_variable(module: Module, each: Setting) -> tuple[str, str] | None:
    """Say why a variable has no effect, and what would have one."""
    known = module.catalogue.names("switches")
    if each.name not in known:
        close = _closest(each.name, known, cutoff=_CLOSE)
        if close is None:
            return None
        return f"No library reads {each.name!r}; {close} is the variable.", close
    if each.name == "TF_XLA_FLAGS" and "--xla_gpu_" in each.text:
        return "XLA reads options that begin with --xla_gpu_ from XLA_FLAGS, not TF_XLA_FLAGS.", (
            "XLA_FLAGS"
        )
    when = module.catalogue.names("deciding-switches").get(each.name)
    if when == "start" and not _restarts(module):
        return (
            f"{each.name} is read when Python starts; setting it in a running process changes "
            "nothing in it."
        ), ""
    reader = known[each.name]
    if when == "import" and reader and _imported_before(module, reader, each):
        return f"{each.name} is set after {reader} was imported, which is when it is read.", ""
    return None


def _closest(name: str, known: object, *, cutoff: float) -> str | None:
    """Give the known name that one was meant to be, when it is plain which."""
    plain = _plain(name)
    best, score = None, cutoff
    for each in known:  # type: ignore[attr-defined]
        other = _plain(each)
        if other == plain:
            return str(each)
        if abs(len(other) - len(plain)) > 2 or len(other) < 8 or _differs_by_word(name, each):
            continue
        matcher = SequenceMatcher(None, plain, other, autojunk=False)
        if matcher.quick_ratio() > score and (ratio := matcher.ratio()) > score:
            best, score = str(each), ratio
    return best


def _plain(name: str) -> str:
    return "".join(each for each in name.upper() if each.isalnum() or each == ".")


def _differs_by_word(name: str, other: str) -> bool:
    """Whether a whole word is another one: MY_SEED and MY_MODE are two names, not a slip."""
    mine, its = name.upper().split("_"), other.upper().split("_")
    if len(mine) != len(its):
        return len(mine) > len(its) and set(its) < set(mine)
    return any(
        SequenceMatcher(None, one, two, autojunk=False).ratio() < 0.7
        for one, two in zip(mine, its, strict=True)
    )


def _restarts(module: Module) -> bool:
    """Whether the file starts processes, which read it from their environment."""
    return module.speaks_of(*_STARTING)


def _imported_before(module: Module, package: str, each: Setting) -> bool:
    """Whether a package is imported at the top of the file, above a setting at the top."""
    if each.scope.parent is not None:
        return False
    for bindings in module.survey.root.bindings.values():
        for one in bindings:
            if (
                one.kind == "import"
                and one.target.partition(".")[0] == package
                and getattr(one.node, "lineno", 0) < each.node.lineno
                and isinstance(module.survey.parents.get(one.node), ast.Module)
            ):
                return True
    return False


def _found(module: Module, each: Setting, message: str, instead: str) -> Found:
    site = module.site(each.node, each.scope)
    if each.name.endswith("_NUM_THREADS"):
        why = "As many threads run as the machine has: the same on one host, another number on the next."
        return site.found(NAME, message, why, reach=Reach.QUIET)
    fix = None
    if instead and isinstance(each.node, ast.Constant):
        fix = Fix(f"Set {instead}", safe=False, edits=(site.replaced(each.node, f'"{instead}"'),))
    return site.found(
        NAME,
        message,
        "The switch looks thrown and is not, so runs differ as they would without it.",
        confidence=0.95,
        fix=fix,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.GPU,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.CRITICAL,
    remedy="Set the variable that is read, before what reads it is imported, and check that it took effect.",
    nodes=(ast.Module,),
    look=look,
)
