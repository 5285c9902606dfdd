"""A switch that should make runs equal has no effect."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from twice.checker.findings import Fix, Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import Setting, attributes, variables
from twice.checker.syntax.module import Module, Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "inert-flag"
_CLOSE = 0.88
_STARTING = ("subprocess", "os.exec", "multiprocessing", "Popen", "spawn", "ray", "joblib")


def look(site: Site) -> Iterator[Violation]:
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


def _found(module: Module, each: Setting, message: str, instead: str) -> Violation:
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
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.CRITICAL,
        "Set the variable that is read, before what reads it is imported, and check that it took effect.",
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
)
