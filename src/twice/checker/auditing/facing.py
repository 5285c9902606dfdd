"""What a file has to do with each of the ten channels, whether or not anything is wrong there.

Invariant: evidence is a place in the file; a channel without one is not touched by it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.checker.auditing.effects import Ask
from twice.checker.auditing.seeds import Draw, What
from twice.checker.syntax.module import Module
from twice.checker.syntax.uses.words import parts
from twice.foundation.channels import Channel

_CAPTURING: Final = frozenset(
    ["state", "get_state", "getstate", "state_dict", "__getstate__", "snapshot", "save",
     "save_state", "save_checkpoint", "checkpoint", "to_checkpoint"]
)  # fmt: skip
_RESTORING: Final = frozenset(
    ["restore", "set_state", "setstate", "load_state_dict", "__setstate__", "load_state",
     "load_checkpoint", "from_checkpoint", "resume", "rollback", "replay"]
)  # fmt: skip
_COMPARING: Final = frozenset(
    ["deterministic", "determinism", "reproducible", "reproducibility", "reproduce",
     "seed", "seeded", "seeding", "repeatable"]
)  # fmt: skip
_GPU_WORDS: Final = ("cuda", "cudnn", "use_deterministic_algorithms")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place where a file touches a channel.

    Args:
        channel: one of the ten, as text.
        path: the file.
        line: from 1.
        what: what is there, in a few words.
    """

    channel: str
    path: str
    line: int
    what: str


def facing(
    module: Module, zone: str, draws: tuple[Draw, ...], asks: tuple[Ask, ...]
) -> Iterator[Evidence]:
    """Give the evidence of a file, channel by channel."""
    for each in draws:
        channel = Channel.RNG if each.what is What.DRAWS else Channel.SEEDS
        yield Evidence(channel.value, each.path, each.line, each.call)
    for ask in asks:
        yield Evidence(Channel.EFFECTS.value, ask.path, ask.line, ask.call)
    yield from _imports(module)
    for channel, line, what in (*_definitions(module, zone), *_calls(module)):
        yield Evidence(channel.value, module.path, line, what)


def _imports(module: Module) -> Iterator[Evidence]:
    groups = (
        ("concurrent-packages", Channel.CONCURRENCY),
        ("numeric-packages", Channel.FLOATING_POINT),
    )
    for kind in (ast.Import, ast.ImportFrom):
        for node, _ in module.survey.nodes.get(kind, ()):
            names = (
                [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else [getattr(node, "module", None) or ""]
            )
            for name in names:
                top = name.partition(".")[0]
                for group, channel in groups:
                    if module.catalogue.has(group, top) and not getattr(node, "level", 0):
                        line = getattr(node, "lineno", 1)
                        yield Evidence(channel.value, module.path, line, f"import {name}")


def _definitions(module: Module, zone: str) -> Iterator[tuple[Channel, int, str]]:
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef):
        for node, _ in module.survey.nodes.get(kind, ()):
            name, line = getattr(node, "name", ""), getattr(node, "lineno", 1)
            if name in _CAPTURING:
                yield Channel.SNAPSHOT, line, f"def {name}"
            elif name in _RESTORING:
                yield Channel.REPLAY, line, f"def {name}"
            elif (
                zone == "tests"
                and name.startswith("test")
                and not _COMPARING.isdisjoint(parts(name))
            ):
                yield Channel.DIVERGENCE, line, f"def {name}"


def _calls(module: Module) -> Iterator[tuple[Channel, int, str]]:
    catalogue = module.catalogue
    uses_gpu = any(catalogue.has("gpu-packages", each) for each in sorted(module.imported))
    for node, scope in module.survey.nodes.get(ast.Call, ()):
        assert isinstance(node, ast.Call), "asked for"
        name = module.names.qualified(node.func, scope)
        shown = name or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if catalogue.has("saving", name):
            yield Channel.SNAPSHOT, node.lineno, shown
        elif catalogue.has("restoring", name):
            yield Channel.REPLAY, node.lineno, shown
        elif (
            catalogue.has("hashing", name)
            or catalogue.has("serialising", name)
            or name == "builtins.hash"
        ):
            yield Channel.ENCODING, node.lineno, shown.removeprefix("builtins.")
        elif name == "builtins.set":
            yield Channel.CONCURRENCY, node.lineno, "set"
        elif catalogue.has("listing", name):
            yield Channel.CONCURRENCY, node.lineno, shown
        elif name is None and isinstance(node.func, ast.Attribute):
            if catalogue.has_method("saving", node.func.attr):
                yield Channel.SNAPSHOT, node.lineno, shown
            elif catalogue.has_method("restoring", node.func.attr):
                yield Channel.REPLAY, node.lineno, shown
        if uses_gpu and _is_gpu(name, node):
            yield Channel.GPU, node.lineno, shown


def _is_gpu(name: str | None, call: ast.Call) -> bool:
    if name is not None and any(each in name.split(".") for each in _GPU_WORDS):
        return True
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and each.value.startswith("cuda")
        for each in call.args
    )
