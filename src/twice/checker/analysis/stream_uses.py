"""What each call of a file does with random numbers: it draws, makes a generator or seeds one, and whose that is.

Invariant: one use for each call at most.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any, Final

from twice.checker.analysis.generators import StreamOrigin, StreamOwner, StreamUse, UseKind
from twice.checker.analysis.project_names import bindings_of
from twice.checker.analysis.seed_expressions import default_of
from twice.checker.analysis.seeds import seed_in
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name

SPACES: Final = "spaces"
"""The generators of spaces of actions and observations, taken together."""
_DEPTH: Final = 6
_FIXED_WITHOUT_SEED: Final = frozenset({"torch.Generator"})
"""Generators that begin at a fixed position when nobody seeds them."""
_WORDS: Final = frozenset(
    ["rng", "random", "generator", "prng", "rand", "randomstate", "rngs", "rnd"]
)
_KINDS: Final = ("numpy-generator", "stdlib-generator", "torch-generator")
_SPACE_WORDS: Final = frozenset({"space", "spaces"})
_STREAM_METHODS: Final = frozenset({"rng", "python"})
_SPACE_METHODS: Final = frozenset({"sample", "seed"})
_PROCESS_DRAWS: Final = ("global-draws", "tensor-draws", "layer-draws")
GROUPS: Final = (
    "seeding", "key-draws", "key-derivations", "generators", "library-draws", "draws-by-default",
    "loaders", *_KINDS, *_PROCESS_DRAWS,
)  # fmt: skip
_STREAM_OF: Final = {"numpy": "numpy.random"}
"""Where a library's process-wide stream is not called as the library is."""


class StreamReader:
    """Reads what the calls of one file do with streams of random numbers."""

    def __init__(self, module: Module) -> None:
        self._module = module
        catalogue = module.catalogue
        self._names = catalogue.together(*GROUPS)
        self._constructors = catalogue.together("generators", *_KINDS) - catalogue.together(
            "key-derivations"
        )
        self._methods = {*_STREAM_METHODS, *_SPACE_METHODS}.union(
            *(catalogue.methods[each] for each in ("drawing", "seeding", "library-draws"))
        )

    def audit_call(self, node: ast.Call, scope: Scope, name: str | None) -> list[Any] | None:
        """Give the row of ``RandomUse`` of a call; None when it has nothing to do with randomness."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name not in self._names and method not in self._methods:
            return None
        site = self._module.site(node, scope)
        found = None if name is None else self.read_function(site, name)
        if found is None and isinstance(node.func, ast.Attribute):
            found = self._read_method(site, node.func)
        if found is None:
            return None
        place = (node.lineno, self._module.in_function(scope), found.kind, self._module.shown(node))
        return [*place, found.stream, astuple(found.origin)[:-1]]

    def process_draw(self, site: Site, name: str | None) -> str:
        """Give the process-wide stream that a call draws from; "" when it draws from none."""
        if name is None:
            is_method = isinstance(site.call.func, ast.Attribute)
            note = self._module.catalogue.methods["library-draws"].get(last_name(site.call))
            use = self._library_draw(site, note) if note and is_method else None
        else:
            use = self.read_function(site, name)
        is_drawn = use is not None and use.kind is UseKind.DRAWS
        if use is None or not is_drawn or use.origin.owner is not StreamOwner.PROCESS:
            return ""
        return use.stream

    def read_function(self, site: Site, name: str) -> StreamUse | None:
        """Read the call of a function of a library."""
        if name not in self._names:
            return None
        catalogue, call = site.catalogue, site.call
        if (seeded := catalogue.names("seeding").get(name)) is not None:
            streams = [_STREAM_OF.get(each, each) for each in seeded.split()]
            where = ", ".join(streams or [_library(name)])
            return StreamUse(UseKind.SEEDS, where, self._seeding(site, StreamOwner.PROCESS))
        if name in catalogue.together("key-draws", "key-derivations"):
            key = site.argument(0, "key")
            return self._draw_of(key, site.scope) if key is not None else _drawn("?")
        if name in self._constructors:
            parent = self._module.survey.parents.get(call)
            if isinstance(parent, ast.Call) and site.qualified(parent.func) in self._constructors:
                return None  # Generator(PCG64(seed)) is one place.
            return StreamUse(UseKind.MAKES, self._target(call), self._origin(call, site.scope))
        if name in catalogue.together(*_PROCESS_DRAWS):
            owned = site.keyword("generator") is not None or site.has_star
            if catalogue.has("global-draws", name) or not owned:
                return _drawn(_library(name), StreamOwner.PROCESS)
        if note := catalogue.names("library-draws").get(name):
            return self._library_draw(site, note)
        if note := catalogue.names("draws-by-default").get(name):
            keywords, _, condition = note.partition(" when ")
            if not condition or _is_true(site.keyword(condition)):
                return self._library_draw(site, f"{keywords} numpy.random")
        if catalogue.has("loaders", name) and not site.has_star:
            given = site.keyword("generator")
            if name.endswith("DataLoader") and not _is_true(site.argument(2, "shuffle")):
                return None
            if given is not None:
                return self._draw_of(given, site.scope)
            return _drawn("torch", StreamOwner.PROCESS)
        return None

    def _read_method(self, site: Site, func: ast.Attribute) -> StreamUse | None:
        catalogue, call = site.catalogue, site.call
        word, receiver = func.attr, func.value
        if name := _stream_name(call):
            return StreamUse(
                UseKind.MAKES, name, StreamOrigin(StreamOwner.NAMED, call.lineno, name)
            )
        if note := catalogue.methods.get("library-draws", {}).get(word):
            return self._library_draw(site, note)
        if word in _SPACE_METHODS and about(last_name(receiver), _SPACE_WORDS):
            if word == "sample":
                return _drawn(SPACES, StreamOwner.PROCESS)
            return StreamUse(UseKind.SEEDS, SPACES, self._seeding(site, StreamOwner.PROCESS))
        draws = catalogue.has_method("drawing", word)
        if not draws and not catalogue.has_method("seeding", word):
            return None
        if not self._is_generator(receiver, site.scope):
            return None
        if draws:
            return self._draw_of(receiver, site.scope)
        origin = self._seeding(site, StreamOwner.GENERATOR)
        return StreamUse(UseKind.SEEDS, self._module.shown(receiver), origin)

    def _draw_of(self, node: ast.expr, scope: Scope) -> StreamUse:
        return StreamUse(UseKind.DRAWS, self._module.shown(node), self._origin(node, scope))

    def _seeding(self, site: Site, owner: StreamOwner) -> StreamOrigin:
        """Give the origin of a stream at a call that seeds it."""
        seed = seed_in(site)
        if is_none(seed) or (seed is None and not site.has_star):
            return _nobody(site.call, "seeded from the system's entropy")
        text = "*" if seed is None else self._module.shown(seed)
        note = self._optional(seed, site.scope)
        return StreamOrigin(owner, site.call.lineno, text, note=note)

    def _library_draw(self, site: Site, note: str) -> StreamUse | None:
        """Give the draw of a library's function, which an argument owns, or else the library's stream.

        The note names the arguments, the stream at its end unless that is given.
        """
        *keywords, stream = note.split()
        named = [(each, given) for each in keywords if (given := site.keyword(each)) is not None]
        if not named and site.has_star:
            return None
        for keyword, given in named:
            if not is_none(given):
                text = self._module.shown(given)
                origin = StreamOrigin(StreamOwner.GENERATOR, site.call.lineno, text)
                return StreamUse(UseKind.DRAWS, f"{keyword}={text}", origin)
        return _drawn(stream, StreamOwner.PROCESS)

    def _target(self, call: ast.Call) -> str:
        """Return the generator's name: the target of the assignment that contains the call."""
        statement = self._module.survey.statement(call)
        target: ast.expr | None = None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)) and target.elts:
                target = target.elts[0]  # self.np_random, seed = seeding.np_random(seed)
        elif isinstance(statement, ast.AnnAssign):
            target = statement.target
        return "(passed on)" if target is None else self._module.shown(target)

    def _is_generator(self, receiver: ast.AST, scope: Scope, depth: int = 4) -> bool:
        kind = self._module.kinds.of(receiver, scope)
        if kind is not None:
            return kind.name in _KINDS
        if isinstance(receiver, ast.Call):
            name = self._module.names.qualified(receiver.func, scope)
            return bool(_stream_name(receiver)) or name in self._constructors
        if not isinstance(receiver, (ast.Name, ast.Attribute, ast.Subscript)):
            return False
        qualified = self._module.names.qualified(receiver, scope)
        if qualified is not None and qualified[0] != ".":
            return False  # A module of a library that is in no catalogue.
        if about(last_name(receiver), _WORDS):
            return True
        # Another name for what is called a generator: self._r = rng, r = agent._rng
        held = bindings_of(self._module, receiver, scope)
        if depth == 0 or len(held) != 1 or held[0][0].kind != "assign":
            return False
        node, where = held[0][0].node, held[0][1]
        return isinstance(node, (ast.Name, ast.Attribute)) and self._is_generator(
            node, where, depth - 1
        )

    def _origin(self, node: ast.AST, scope: Scope) -> StreamOrigin:
        """Give the origin of a generator: of several ways to get it, a seeded one speaks and an unseeded one is noted."""
        found = list(self._trace(node, scope, _DEPTH))
        if not found:
            attribute = node.attr if isinstance(node, ast.Attribute) else ""
            return StreamOrigin(StreamOwner.PASSED, attribute=attribute)
        seeded = [each for each in found if each.owner is not StreamOwner.NOBODY]
        if not seeded:
            return found[0]
        best = next((each for each in seeded if each.owner is not StreamOwner.PARAMETER), seeded[0])
        orphan = next((each for each in found if each.owner is StreamOwner.NOBODY), None)
        if orphan is None:
            return best
        note = f"unseeded on one way (line {orphan.line})"
        return StreamOrigin(best.owner, best.line, best.seed, best.attribute, note)

    def _trace(self, node: ast.AST, scope: Scope, depth: int) -> Iterator[StreamOrigin]:
        inner: list[ast.expr] = []
        if depth <= 0:
            return
        if isinstance(node, ast.Call):
            yield from self._trace_call(node, scope, depth)
        elif isinstance(node, ast.BoolOp):
            inner = node.values
        elif isinstance(node, ast.IfExp):
            inner = [node.body, node.orelse]
        elif isinstance(node, ast.Subscript):
            inner = [node.value]
        for each in inner:
            yield from self._trace(each, scope, depth - 1)
        for binding, where in bindings_of(self._module, node, scope):
            bound = binding.node
            if binding.kind == "argument" and isinstance(bound, ast.arg):
                yield StreamOrigin(StreamOwner.PARAMETER, bound.lineno, attribute=bound.arg)
            elif binding.kind in {"assign", "unpack"}:
                yield from self._trace(bound, where, depth - 1)
            elif binding.kind == "annotated" and isinstance(bound, ast.AnnAssign) and bound.value:
                yield from self._trace(bound.value, where, depth - 1)
            elif binding.kind == "element" and isinstance(bound, (ast.For, ast.comprehension)):
                yield from self._trace(bound.iter, where, depth - 1)

    def _trace_call(self, call: ast.Call, scope: Scope, depth: int) -> Iterator[StreamOrigin]:
        name = self._module.names.qualified(call.func, scope)
        first = call.args[0] if call.args else None
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if stream := _stream_name(call):
            yield StreamOrigin(StreamOwner.NAMED, call.lineno, stream)
        elif self._module.catalogue.has("key-derivations", name) and first is not None:
            yield from self._trace(first, scope, depth - 1)
        elif name in self._constructors:
            if isinstance(first, ast.Call):  # Generator(PCG64(seed)): the inner one is seeded.
                inner = self._module.names.qualified(first.func, scope)
                if inner in self._constructors:
                    call, name = first, inner
            yield self._find_origin(self._module.site(call, scope), name or "")
        elif method == "manual_seed" and first is not None:
            yield StreamOrigin(StreamOwner.GENERATOR, call.lineno, self._module.shown(first))
        elif method in {"manual_seed", "spawn"} and isinstance(call.func, ast.Attribute):
            yield from self._trace(call.func.value, scope, depth - 1)

    def _find_origin(self, site: Site, name: str) -> StreamOrigin:
        """Give the origin that a call of a constructor is."""
        call, seed = site.call, seed_in(site)
        if name == "random.SystemRandom":
            return _nobody(call, "draws from the system's entropy")
        if seed is not None and not is_none(seed):
            note = self._optional(seed, site.scope)
            shown = self._module.shown(seed)
            return StreamOrigin(StreamOwner.GENERATOR, call.lineno, shown, note=note)
        if name in _FIXED_WITHOUT_SEED:
            note = "begins at the library's default seed until it is seeded"
            return StreamOrigin(StreamOwner.GENERATOR, call.lineno, note=note)
        if site.has_star:
            return StreamOrigin(StreamOwner.GENERATOR, call.lineno, "*")
        return _nobody(call, "made without a seed")

    def _optional(self, seed: ast.AST | None, scope: Scope) -> str:
        """Return a note when a seed is a parameter whose default is None and nothing replaces it."""
        if not isinstance(seed, ast.Name):
            return ""
        bindings = self._module.names.bindings(seed.id, scope)
        arguments = self._module.survey.parents.get(bindings[0].node) if bindings else None
        if len(bindings) != 1 or not isinstance(arguments, ast.arguments):
            return ""
        is_optional = is_none(default_of(arguments, seed.id))
        return f"unseeded when {seed.id} is not given" if is_optional else ""


def _drawn(stream: str, owner: StreamOwner = StreamOwner.PASSED) -> StreamUse:
    return StreamUse(UseKind.DRAWS, stream, StreamOrigin(owner))


def _nobody(call: ast.Call, note: str) -> StreamOrigin:
    return StreamOrigin(StreamOwner.NOBODY, call.lineno, note=note)


def _is_true(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _library(name: str) -> str:
    """Return the process-wide stream of a qualified name."""
    library = name.partition(".")[0]
    return _STREAM_OF.get(library, library)


def _stream_name(call: ast.Call) -> str:
    """Return the name of the stream of a run that a call asks for; "" when it is no such call."""
    func = call.func
    if not (isinstance(func, ast.Attribute) and func.attr in _STREAM_METHODS and call.args):
        return ""
    first = call.args[0]
    if isinstance(first, ast.JoinedStr):
        return "".join(
            str(getattr(each, "value", "")) if isinstance(each, ast.Constant) else "{}"
            for each in first.values
        )
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
