"""Every place in a file where randomness is drawn, or a generator made or seeded, with its owner.

What one file cannot tell, whether anybody seeds a process-wide stream and where another object's
generator was made, is settled over all files in ``settling``.

Invariant: one entry for each call, in source order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.checker.auditing.origins import (
    Origin,
    Origins,
    Owner,
    has_star,
    is_constructor,
    seed_argument,
    stream_name,
)
from twice.checker.rules.roles import own_attribute
from twice.checker.syntax.module import Module
from twice.checker.syntax.survey import Binding, Scope
from twice.checker.syntax.uses.words import about, last_name

_GENERATOR_WORDS: Final = frozenset(
    ["rng", "random", "generator", "prng", "rand", "randomstate", "rngs", "rnd"]
)
_GENERATOR_KINDS: Final = frozenset({"numpy-generator", "stdlib-generator", "torch-generator"})
SPACES: Final = "spaces"
"""The generators of spaces of actions and observations, taken together."""

_SPACE_WORDS: Final = frozenset({"space", "spaces"})
_STREAM_OF: Final = {"numpy": "numpy.random"}
"""Where a library's process-wide stream is not called as the library is."""


class What(StrEnum):
    """What a place does."""

    DRAWS = "draws"
    MAKES = "makes"
    SEEDS = "seeds"


@dataclass(frozen=True, slots=True)
class Draw:
    """A place that draws, makes or seeds.

    Args:
        path: the file.
        line: from 1.
        function: dotted path of the function; "" at the top of the file.
        what: draws, makes or seeds.
        call: the call, as it is written, shortened.
        stream: the stream: its name in the run, the expression that holds it, or the library.
        origin: whose it is.
        where: ``path:line`` where the generator was made or the stream seeded; "" not seen.
        zone: what part of the project the file is.
    """

    path: str
    line: int
    function: str
    what: What
    call: str
    stream: str
    origin: Origin
    where: str = ""
    zone: str = "core"

    @property
    def is_orphan(self) -> bool:
        """Whether nobody owns what is drawn, or its owner seeds it with what is not the run's."""
        return self.origin.owner is Owner.NOBODY or self.origin.unreached


def seeds(module: Module, zone: str = "core") -> Iterator[Draw]:
    """Give every place of a file, before the other files were looked at."""
    reader = _Reader(module, zone)
    for node, scope in module.survey.nodes.get(ast.Call, ()):
        assert isinstance(node, ast.Call), "asked for"
        found = reader.read(node, scope)
        if found is not None:
            yield found


class _Reader:
    def __init__(self, module: Module, zone: str) -> None:
        self._module = module
        self._origins = Origins(module)
        self._zone = zone

    def read(self, call: ast.Call, scope: Scope) -> Draw | None:
        module, catalogue = self._module, self._module.catalogue
        name = module.names.qualified(call.func, scope)
        known = name is not None and not name.startswith((".", "builtins."))
        if known:
            if catalogue.has("seeding", name):
                return self._seeding(call, scope, name or "")
            if catalogue.has("key-draws", name) or catalogue.has("key-derivations", name):
                return self._keyed(call, scope)
            if is_constructor(module, name):
                return self._made(call, scope)
            if catalogue.has("global-draws", name):
                return self._process(call, scope, _library(name or ""))
            note = catalogue.names("process-draws").get(name or "")
            if note and not _gives(call, "generator"):
                return self._process(call, scope, note)
            note = catalogue.names("library-draws").get(name or "")
            if note:
                return self._library(call, scope, note)
            if name == "torch.utils.data.DataLoader":
                return self._loader(call, scope)
        if isinstance(call.func, ast.Attribute):
            return self._method(call, call.func, scope)
        return None

    def _draw(self, call: ast.Call, scope: Scope, what: What, stream: str, origin: Origin) -> Draw:
        where = f"{self._module.path}:{origin.line}" if origin.line else ""
        return Draw(
            path=self._module.path,
            line=call.lineno,
            function=self._module.in_function(scope),
            what=what,
            call=self._origins.shown(call),
            stream=stream,
            origin=origin,
            where=where,
            zone=self._zone,
        )

    def _made(self, call: ast.Call, scope: Scope) -> Draw | None:
        parent = self._module.survey.parents.get(call)
        if isinstance(parent, ast.Call) and is_constructor(
            self._module, self._module.names.qualified(parent.func, scope)
        ):
            return None  # Generator(PCG64(seed)) is one place.
        origin = self._origins.of(call, scope)
        return self._draw(call, scope, What.MAKES, _target(self._module, call), origin)

    def _seeding(self, call: ast.Call, scope: Scope, name: str) -> Draw:
        seed = seed_argument(call)
        is_none = isinstance(seed, ast.Constant) and seed.value is None
        if is_none or (seed is None and not has_star(call)):
            origin = Origin(Owner.NOBODY, call.lineno, note="seeded from the system's entropy")
        else:
            text = "*" if seed is None else self._origins.shown(seed)
            optional = seed is not None and self._origins.may_be_none(seed, scope)
            note = f"unseeded when {text} is not given" if optional else ""
            origin = Origin(Owner.PROCESS, call.lineno, text, note=note)
        seeded = self._module.catalogue.names("seeding")[name].split() or [_library(name)]
        stream = ", ".join(_STREAM_OF.get(each, each) for each in seeded)
        return self._draw(call, scope, What.SEEDS, stream, origin)

    def _keyed(self, call: ast.Call, scope: Scope) -> Draw:
        key = call.args[0] if call.args else None
        for keyword in call.keywords:
            if keyword.arg == "key":
                key = keyword.value
        if key is None:
            return self._draw(call, scope, What.DRAWS, "?", Origin(Owner.PASSED))
        stream = self._origins.shown(key)
        return self._draw(call, scope, What.DRAWS, stream, self._origins.of(key, scope))

    def _process(self, call: ast.Call, scope: Scope, library: str) -> Draw:
        return self._draw(call, scope, What.DRAWS, library, Origin(Owner.PROCESS))

    def _library(self, call: ast.Call, scope: Scope, note: str) -> Draw | None:
        keyword, _, library = note.partition(" ")
        given = next((each.value for each in call.keywords if each.arg == keyword), None)
        if given is None and has_star(call):
            return None
        if given is None or (isinstance(given, ast.Constant) and given.value is None):
            return self._process(call, scope, library)
        text = self._origins.shown(given)
        origin = Origin(Owner.GENERATOR, call.lineno, text)
        return self._draw(call, scope, What.DRAWS, f"{keyword}={text}", origin)

    def _loader(self, call: ast.Call, scope: Scope) -> Draw | None:
        shuffles = next((each.value for each in call.keywords if each.arg == "shuffle"), None)
        if not isinstance(shuffles, ast.Constant) or not shuffles.value or has_star(call):
            return None
        given = next((each.value for each in call.keywords if each.arg == "generator"), None)
        if given is None:
            return self._process(call, scope, "torch")
        origin = self._origins.of(given, scope)
        return self._draw(call, scope, What.DRAWS, self._origins.shown(given), origin)

    def _method(self, call: ast.Call, func: ast.Attribute, scope: Scope) -> Draw | None:
        catalogue = self._module.catalogue
        word, receiver = func.attr, func.value
        if stream_name(call):
            name = stream_name(call)
            origin = Origin(Owner.NAMED, call.lineno, name)
            return self._draw(call, scope, What.MAKES, name, origin)
        note = catalogue.methods.get("library-draws", {}).get(word)
        if note:
            return self._library(call, scope, note)
        if word == "sample" and about(last_name(receiver), _SPACE_WORDS):
            return self._draw(call, scope, What.DRAWS, SPACES, Origin(Owner.PROCESS))
        if word == "seed" and about(last_name(receiver), _SPACE_WORDS):
            seed = seed_argument(call)
            origin = Origin(Owner.PROCESS, call.lineno, self._origins.shown(seed) if seed else "")
            return self._draw(call, scope, What.SEEDS, SPACES, origin)
        draws = catalogue.has_method("drawing", word)
        if not draws and not catalogue.has_method("reseeding", word):
            return None
        if not self._is_generator(receiver, scope):
            return None
        stream = self._origins.shown(receiver)
        if not draws:
            seed = seed_argument(call)
            origin = Origin(Owner.GENERATOR, call.lineno, self._origins.shown(seed) if seed else "")
            if seed is None and not has_star(call):
                origin = Origin(Owner.NOBODY, call.lineno, note="seeded from the system's entropy")
            return self._draw(call, scope, What.SEEDS, stream, origin)
        return self._draw(call, scope, What.DRAWS, stream, self._origins.of(receiver, scope))

    def _is_generator(self, receiver: ast.AST, scope: Scope, depth: int = 4) -> bool:
        kind = self._module.kinds.of(receiver, scope)
        if kind is not None:
            return kind.name in _GENERATOR_KINDS
        if isinstance(receiver, ast.Call):
            name = self._module.names.qualified(receiver.func, scope)
            return bool(stream_name(receiver)) or is_constructor(self._module, name)
        if not isinstance(receiver, (ast.Name, ast.Attribute, ast.Subscript)):
            return False
        qualified = self._module.names.qualified(receiver, scope)
        if qualified is not None and not qualified.startswith("."):
            return False  # A module of a library that is in no catalogue.
        if about(last_name(receiver), _GENERATOR_WORDS):
            return True
        # Another name for what is called a generator: self._r = rng, r = agent._rng
        held: list[tuple[Binding, Scope]] = []
        if isinstance(receiver, ast.Name):
            holder = self._module.names.holder(receiver.id, scope)
            if holder is not None:
                held = [(each, holder) for each in holder.bindings[receiver.id]]
        elif isinstance(receiver, ast.Attribute) and scope.owner and own_attribute(receiver):
            every = self._module.attributes.of(scope.owner).get(receiver.attr, ())
            held = [(each, where) for each, where, _ in every]
        return (
            depth > 0
            and len(held) == 1
            and held[0][0].kind == "assign"
            and isinstance(held[0][0].node, (ast.Name, ast.Attribute))
            and self._is_generator(held[0][0].node, held[0][1], depth - 1)
        )


def _gives(call: ast.Call, keyword: str) -> bool:
    return any(each.arg == keyword for each in call.keywords) or has_star(call)


def _library(name: str) -> str:
    """Return the process-wide stream of a qualified name."""
    library = name.partition(".")[0]
    return _STREAM_OF.get(library, library)


def _target(module: Module, call: ast.Call) -> str:
    """Return the generator's name: the target of the assignment that contains the call."""
    statement = module.survey.statement(call)
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)) and target.elts:
            target = target.elts[0]  # self.np_random, seed = seeding.np_random(seed)
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    return "(passed on)" if target is None else " ".join(module.source(target).split())[:60]
