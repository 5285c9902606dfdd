"""The draws of one file, its reads of the world and where it touches a channel: facts for the audits.

They are gathered in the pass of the rules and cached beside their facts. Where a generator was made is traced in the
file; one that cannot be traced is ``PASSED``, nothing is guessed.

Invariant: plain JSON values without a path, in source order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, Final

from twice.checker.analysis.stream_uses import StreamReader
from twice.checker.catalogue import Catalogue
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import last_name, parts
from twice.foundation.channels import Channel

WANTED: Final[frozenset[type[ast.AST]]] = frozenset(
    {ast.Subscript, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom}
)
READS: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "environment-read": "environment",
    "file-reading": "files",
    "listing": "listing",
    "network": "network",
    "network-clients": "network",
    "child": "processes",
    "child-status": "processes",
    "asking-people": "input",
    "process-identity": "process",
    "machine": "host",
    "host-load": "host",
    "host-description": "host",
}
"""The groups of the catalogue that read the world, and what they read; a name is of the first that has it."""
_BESIDE: Final = frozenset({"builtins.hash", "builtins.id"})
"""Of the process too, but nothing that an effects layer could record."""
_LAYER: Final = {
    "clock": "clock",
    "entropy": "entropy",
    "env": "environment",
    "fs": "files",
    "net": "network",
    "process": "processes",
    "stdin": "input",
}
_DECLARING: Final = frozenset({"twice.effect", "twice.recorder.run.effect"})
_COMPARING: Final = frozenset(
    ["deterministic", "determinism", "reproducible", "reproducibility", "reproduce",
     "seed", "seeded", "seeding", "repeatable"]
)  # fmt: skip
_GPU_WORDS: Final = frozenset({"cuda", "cudnn", "use_deterministic_algorithms"})
_ONLY_ASKS: Final = ("is_available", "device_count", "is_initialized", "is_built")
PRESENT: Final = {
    "thread": Channel.CONCURRENCY,
    "executor": Channel.CONCURRENCY,
    "pool": Channel.CONCURRENCY,
    "starting-beside": Channel.CONCURRENCY,
    "tolerant": Channel.FLOATING_POINT,
    "transcendental": Channel.FLOATING_POINT,
    "linear-algebra": Channel.FLOATING_POINT,
}
"""The groups of which a call shows that the program certainly does something; an import shows nothing."""


def gather(module: Module) -> dict[str, Any]:
    """Give the facts of a file."""
    catalogue = module.catalogue
    imports = list(_imports(module))
    facts: dict[str, list[Any]] = {
        "imports": imports,
        "draws": [],
        "reads": [],
        "evidence": [*_packages(catalogue, imports), *_definitions(module)],
        "present": [],
        "dynamic": [],
        "native": [
            (1, f"import {each}")
            for each in sorted(module.imported & catalogue.names("native-packages").keys())
        ],
    }
    random, present = StreamReader(module), catalogue.together(*PRESENT)
    has_layer = module.speaks_of("effects")
    read = catalogue.together(*READS)
    methods = {*catalogue.methods["file-reading"], *catalogue.methods["listing"]}
    for node, scope, name in module.calls:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if row := random.audit_call(node, scope, name):
            facts["draws"].append(row)
        if name is None or name[0] == ".":
            if method in methods or (has_layer and method):
                facts["reads"] += _read_method(module.site(node, scope), node.func)
            continue
        if name in read:
            facts["reads"] += _read_function(module.site(node, scope), name)
        if name in present:
            channel = next(PRESENT[each] for each in PRESENT if catalogue.has(each, name))
            facts["present"].append((node.lineno, name, channel))
        # A name that is written out is an import.
        if catalogue.has("dynamic-code", name) and not (
            node.args and isinstance(node.args[0], ast.Constant)
        ):
            facts["dynamic"].append((node.lineno, module.shown(node)))
    for each, scope in module.survey.nodes.get(ast.Subscript, ()):
        if (
            isinstance(each, ast.Subscript)
            and isinstance(each.ctx, ast.Load)
            and module.names.qualified(each.value, scope) == "os.environ"
        ):
            facts["reads"].append(_row(module.site(each, scope), "environment"))
    calls = list(_calls(module))
    facts["evidence"] += calls
    facts["present"] += [
        each for each in calls if each[2] is Channel.GPU and not each[1].endswith(_ONLY_ASKS)
    ]
    return {name: rows for name, rows in facts.items() if rows}


def _read_function(site: Site, name: str) -> Iterator[list[Any]]:
    """Give the row of ``WorldRead`` of a function that reads the world."""
    kind = next(READS[each] for each in READS if site.catalogue.has(each, name))
    if name not in _BESIDE and not (kind == "files" and _writes(site, 1)):
        yield _row(site, kind)


def _read_method(site: Site, func: ast.expr) -> Iterator[list[Any]]:
    """Give the row of ``WorldRead`` of a method of the effects layer or of a path."""
    assert isinstance(func, ast.Attribute), "a method"
    if layer := _layer(func):
        yield _row(site, layer, is_recorded=True)
        return
    method, receiver = func.attr, site.kind(func.value)
    is_path = receiver is not None and receiver.name == "path"
    if site.catalogue.has_method("file-reading", method):
        # A method that anything may have, as ``open``, is of a file when its receiver is a path.
        if (is_path or method != "open") and not _writes(site, 0):
            yield _row(site, "files")
    elif site.catalogue.has_method("listing", method) and (
        is_path or method in {"iterdir", "rglob"}
    ):
        yield _row(site, "listing")


def _layer(func: ast.Attribute) -> str:
    """Return the kind of a request to ``….effects``: the word after it, or "" if there is none."""
    word, node = func.attr, func.value
    while isinstance(node, ast.Attribute) and node.attr != "effects":
        word, node = node.attr, node.value
    held = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return _LAYER.get(word, "declared") if held == "effects" else ""


def _writes(site: Site, position: int) -> bool:
    """Whether a file is opened to be written: by the mode, that may stand at a position."""
    mode = site.argument(position, "mode")
    return (
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and last_name(site.call) == "open"
        and not frozenset("wax").isdisjoint(mode.value)
    )


def _row(site: Site, kind: str, *, is_recorded: bool = False) -> list[Any]:
    module, node = site.module, site.node
    outcome = site.value()
    if kind == "listing":
        outcome = max(outcome, site.order(), key=lambda each: each.use)
    line = getattr(node, "lineno", 1)
    return [
        line,
        module.in_function(site.scope),
        kind,
        module.shown(node),
        is_recorded or _is_declared(module, site.scope),
        outcome.use.name.lower(),
        _ends(module, outcome, line),
        outcome.use.reach,
    ]


def _ends(module: Module, outcome: Outcome, line: int) -> str:
    if outcome.use is Use.UNSEEN:
        return "it is handed to code that was not followed"
    end = module.place(outcome.node).line
    words = outcome.words(end)
    return words.removesuffix(f" in line {end}") if end == line else words


def _is_declared(module: Module, scope: Scope) -> bool:
    """Whether the function, or one around it, is declared an effect."""
    while (outer := scope.parent) is not None:
        for decorator in getattr(scope.node, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if module.names.qualified(called, outer) in _DECLARING:
                return True
        scope = outer
    return False


_Evidence = tuple[int, str, Channel]
"""A line, a few words and a channel."""


def _imports(module: Module) -> Iterator[tuple[int, str]]:
    """Give what is imported by its full name, with its line; relative imports are left out."""
    for kind in (ast.Import, ast.ImportFrom):
        for node, _ in module.survey.nodes.get(kind, ()):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, each.name) for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from ((node.lineno, f"{node.module}.{each.name}") for each in node.names)


def _packages(catalogue: Catalogue, imports: Iterable[tuple[int, str]]) -> Iterator[_Evidence]:
    groups = {
        "concurrent-packages": Channel.CONCURRENCY, "numeric-packages": Channel.FLOATING_POINT
    }  # fmt: skip
    for line, package in dict.fromkeys((line, name.partition(".")[0]) for line, name in imports):
        for group, channel in groups.items():
            if catalogue.has(group, package):
                yield line, f"import {package}", channel


def _definitions(module: Module) -> Iterator[_Evidence]:
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef):
        for node, _ in module.survey.nodes.get(kind, ()):
            name, line = getattr(node, "name", ""), getattr(node, "lineno", 1)
            if module.catalogue.has_method("saving", name):
                yield line, f"def {name}", Channel.SNAPSHOT
            elif module.catalogue.has_method("restoring", name):
                yield line, f"def {name}", Channel.REPLAY
            elif name.startswith("test") and not _COMPARING.isdisjoint(parts(name)):
                yield line, f"def {name}", Channel.DIVERGENCE


def _calls(module: Module) -> Iterator[_Evidence]:
    catalogue = module.catalogue
    groups = {
        Channel.SNAPSHOT: catalogue.together("torch-save", "pickling"),
        Channel.REPLAY: catalogue.together("unpickling"),
        Channel.ENCODING: catalogue.together("hashing", "json-text", "serialising", "salted"),
        Channel.CONCURRENCY: catalogue.together("listing") | {"builtins.set"},
    }
    methods = {
        Channel.SNAPSHOT: catalogue.methods["saving"],
        Channel.REPLAY: catalogue.methods["restoring"],
    }
    uses_gpu = not module.imported.isdisjoint(catalogue.names("gpu-packages"))
    for node, _, name in module.calls:
        shown = str(name or getattr(node.func, "attr", ""))
        for channel, names in groups.items() if name is not None else methods.items():
            if shown in names:
                # Bytes in memory are no snapshot yet.
                in_memory = channel is Channel.SNAPSHOT and shown.endswith(".dumps")
                text = shown.removeprefix("builtins.")
                yield node.lineno, text, Channel.ENCODING if in_memory else channel
                break
        if uses_gpu and (
            not _GPU_WORDS.isdisjoint(shown.split("."))
            or any(
                isinstance(each, ast.Constant) and str(each.value).startswith("cuda")
                for each in node.args
            )
        ):
            yield node.lineno, shown, Channel.GPU
