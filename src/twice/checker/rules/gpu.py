"""The rules about GPUs: switches that are not thrown, thrown in part or without effect, and additions that race."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final

from twice.checker.findings import Fix, Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts
from twice.checker.rules.engine import project_rule, rule
from twice.checker.rules.settings import (
    WORKSPACE,
    Setting,
    collect_facts,
    find_unsettled,
    is_false,
    is_true,
    read_settings,
)
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_BENCHMARK: Final = "torch.backends.cudnn.benchmark"
_DETERMINISTIC: Final = "torch.backends.cudnn.deterministic"
_ALGORITHMS: Final = "torch.use_deterministic_algorithms"
_CAREFUL: Final = frozenset({"deterministic", "determinism", "reproducible", "seed", "strict"})
_LISTS: Final = {"XLA_FLAGS", "TF_XLA_FLAGS", "LD_PRELOAD", "NVCC_APPEND_FLAGS"}
_STARTERS: Final = {"subprocess", "multiprocessing", "ray", "joblib"}
_CLOSE: Final = 0.92  # Below it, a project's own names are taken for slips.


@rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Set torch.backends.cudnn.benchmark = False.",
    nodes=(ast.Module,),
)
def cudnn_benchmark(site: Site) -> Iterator[Violation]:
    """cuDNN chooses its kernels by a race."""
    for each in read_settings(site.module, "attribute"):
        if each.name != _BENCHMARK or each.value is None or is_false(each.value):
            continue
        if any(about(last_name(node), _CAREFUL) for node in ast.walk(each.value)):
            continue  # ``not deterministic``, ``seed is None``.
        here, fix = site.at(each.node, each.scope), None
        if is_true(each.value):
            fix = Fix("Set False", safe=False, edits=(here.replaced(each.value, "False"),))
        yield here.violation(
            "cudnn.benchmark lets a race choose the kernels.",
            "Which kernel is fastest depends on the moment, and each rounds in its own way.",
            confidence=0.9 if fix else 0.6,
            fix=fix,
        )


@rule(
    Channel.GPU,
    Breaks.CROSS_HOST,
    Severity.MEDIUM,
    'Set allow_tf32 = False, or torch.set_float32_matmul_precision("highest").',
    nodes=(ast.Module,),
)
def tf32(site: Site) -> Iterator[Violation]:
    """Products are computed with fewer digits on some GPUs."""
    loose = site.catalogue.names("tf32")
    for each in read_settings(site.module, "attribute", "call"):
        shown = each.name
        if each.how == "attribute":
            if not each.name.endswith(".allow_tf32") or is_false(each.value):
                continue
        else:
            level = each.value.value if isinstance(each.value, ast.Constant) else None
            if str(level) not in loose.get(each.name, "").split():
                continue
            shown = site.module.shown(each.node)
        yield site.at(each.node, each.scope).violation(
            f"{shown} allows products with fewer digits.",
            "A GPU without TF32 computes the same product with more digits.",
        )


@rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Leave warn_only out, and replace the operations that then fail.",
    nodes=(ast.Module,),
)
def warn_only(site: Site) -> Iterator[Violation]:
    """Deterministic algorithms are asked for, and a warning is enough where there is none."""
    for each in read_settings(site.module, "call"):
        loose, instead = each.keyword("warn_only"), "False"
        if each.name.endswith("debug_mode"):
            loose, instead = each.value, '"error"'
            if not isinstance(loose, ast.Constant) or loose.value not in {"warn", 1}:
                continue
        elif not is_true(loose) or is_false(each.value):
            continue
        assert loose is not None, "it has a value"
        here = site.at(each.node, each.scope)
        yield here.violation(
            "An operation without a deterministic kernel only warns.",
            "It runs as it would have without the switch.",
            fix=Fix("Fail instead", safe=False, edits=(here.replaced(loose, instead),)),
        )


@rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    'Add to it: os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --option".',
    nodes=(ast.Module,),
)
def overwritten_flags(site: Site) -> Iterator[Violation]:
    """A variable that holds several options is overwritten whole."""
    module = site.module
    every = read_settings(module, "variable")
    for each in every:
        if each.name not in _LISTS or not each.is_forced or each.value is None:
            continue
        # The old value may be part of what is called or looked up, and of a name that stands alone.
        unknown: list[type[ast.AST]] = [ast.Call, ast.Subscript]
        unknown += [] if isinstance(each.value, ast.JoinedStr) else [ast.Name]
        if any(isinstance(node, tuple(unknown)) for node in ast.walk(each.value)):
            continue
        asked = {node for node in ast.walk(each.scope.node) if isinstance(node, ast.Constant)}
        if any(node.value == each.name for node in asked - {one.node for one in every}):
            continue  # The function asks first whether there is a value.
        here, fix = site.at(each.node, each.scope), None
        is_assigned = isinstance(module.survey.parents.get(each.value), ast.Assign)
        is_plain = is_assigned and isinstance(each.value, ast.Constant)
        if is_plain and module.names.named("os", each.scope) == "os":
            old = f'os.environ.get("{each.name}", "") + " " + '
            fix = Fix("Add to it", safe=False, edits=here.wrapped(each.value, old, ""))
        yield here.violation(
            f"{each.name} is overwritten: what it held before is dropped.",
            "Options that the environment asked for, deterministic kernels among them, are lost silently.",
            fix=fix,
        )


@rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.CRITICAL,
    "Set the variable that is read, before what reads it is imported, and check that it took effect.",
    nodes=(ast.Module,),
)
def inert_flag(site: Site) -> Iterator[Violation]:
    """A switch that should make runs equal has no effect."""
    known = site.catalogue.names("torch-switches")
    for each in read_settings(site.module, "variable", "attribute"):
        message, instead = "", ""
        if each.how == "variable":
            message, instead = _explain_inert(site.module, each)
        elif each.name not in known and (instead := _find_meant_name(each.name, known)):
            message = f"{each.name} is no switch of torch; {instead} is."
        if not message:
            continue
        here, fix = site.at(each.node, each.scope), None
        if each.name.endswith("_NUM_THREADS"):
            why = "As many threads run as the machine has: the same on one host, another number on the next."
            yield here.violation(message, why, reach=Reach.QUIET)
            continue
        if instead and isinstance(each.node, ast.Constant):
            edits = (here.replaced(each.node, f'"{instead}"'),)
            fix = Fix(f"Set {instead}", safe=False, edits=edits)
        why = "The switch looks thrown and is not, so runs differ as they would without it."
        yield here.violation(message, why, confidence=0.95, fix=fix)


def _explain_inert(module: Module, each: Setting) -> tuple[str, str]:
    """Give why a variable has no effect, and the name that would have one; two empty texts when it may have."""
    known = module.catalogue.names("switches")
    if each.name not in known:
        close = _find_meant_name(each.name, known)
        return (f"No library reads {each.name!r}; {close} is the variable." if close else "", close)
    if each.name == "TF_XLA_FLAGS" and "--xla_gpu_" in each.text:
        why = "XLA reads options that begin with --xla_gpu_ from XLA_FLAGS, not TF_XLA_FLAGS."
        return why, "XLA_FLAGS"
    when = module.catalogue.names("deciding-switches").get(each.name)
    if when == "start" and not _starts_processes(module):
        return (
            f"{each.name} is read when Python starts; setting it in a running process changes "
            "nothing in it."
        ), ""
    reader = known[each.name]
    if when == "import" and reader and _is_imported_above(module, reader, each):
        return f"{each.name} is set after {reader} was imported, which is when it is read.", ""
    return "", ""


def _find_meant_name(name: str, known: Iterable[str]) -> str:
    """Give the known name that a name is a slip of; "" for a name of the project's own."""
    others = {_normalize(each): each for each in known}
    mine = _normalize(name)
    if mine in others:
        return others[mine]
    # A known name behind a prefix, MY_XLA_FLAGS, is a project's own; of short names many are near.
    long = [each for each in others if len(each) >= 8 and not mine.endswith(each)]
    close = get_close_matches(mine, long, n=1, cutoff=_CLOSE)
    return others[close[0]] if close else ""


def _normalize(name: str) -> str:
    return "".join(each for each in name.upper() if each.isalnum() or each == ".")


def _starts_processes(module: Module) -> bool:
    """Whether the file starts processes, which read the variable from their environment."""
    names = {*module.survey.imported, *(name for _, _, name in module.calls if name)}
    return any(
        not _STARTERS.isdisjoint(each.split("."))
        or each.startswith(("os.exec", "os.spawn", "os.posix_spawn", "os.system"))
        for each in names
    )


def _is_imported_above(module: Module, package: str, each: Setting) -> bool:
    """Whether a package is imported at the top of the file, above a setting at the top."""
    return each.scope.parent is None and any(
        one.kind == "import"
        and one.target.partition(".")[0] == package
        and getattr(one.node, "lineno", 0) < each.node.lineno
        and isinstance(module.survey.parents.get(one.node), ast.Module)
        for bindings in module.survey.root.bindings.values()
        for one in bindings
    )


def _find_lone_cudnn_flags(site: Site) -> Iterator[tuple[str, Violation]]:
    every = read_settings(site.module, "attribute")
    missing = ["torch.use_deterministic_algorithms(True)", WORKSPACE]
    if not any(each.name == _BENCHMARK and is_false(each.value) for each in every):
        missing.append("cudnn.benchmark = False")
    for each in every:
        if each.name == _DETERMINISTIC and not is_false(each.value):
            yield (
                "torch asked",
                site.at(each.node, each.scope).violation(
                    f"Only cudnn.deterministic is set; {', '.join(missing[:-1])} and {missing[-1]} are not.",
                    "On a GPU, kernels that add up in any order stay allowed.",
                ),
            )


def _find_calls_without_workspace(site: Site) -> Iterator[tuple[str, Violation]]:
    for each in read_settings(site.module, "call"):
        if each.name == _ALGORITHMS and not is_false(each.value):
            yield (
                WORKSPACE,
                site.at(each.node, each.scope).violation(
                    f"use_deterministic_algorithms() is called and nothing sets {WORKSPACE}.",
                    "On a GPU a product of matrices then fails, or keeps a workspace that changes.",
                    confidence=0.8,
                ),
            )


_PLACES: Final = {
    "cublas-workspace": _find_calls_without_workspace,
    "partial-flags": _find_lone_cudnn_flags,
}


def gather(module: Module) -> dict[str, Any] | None:
    """Give what a file sets, and its places of the rules about switches, with what they lack."""
    return collect_facts(module, _PLACES)


@project_rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    'Set os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8" before torch is used.',
    gather=gather,
)
def cublas_workspace(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Deterministic algorithms are asked for, and cuBLAS is not told."""
    return find_unsettled(facts, "cublas-workspace")


@project_rule(
    Channel.GPU,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Call torch.use_deterministic_algorithms(True) and set CUBLAS_WORKSPACE_CONFIG=:4096:8 as well.",
    gather=gather,
)
def partial_flags(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Of the switches for a deterministic GPU only some are thrown."""
    return find_unsettled(facts, "partial-flags")
