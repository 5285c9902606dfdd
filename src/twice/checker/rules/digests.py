"""What rules about hashed bytes share: whether a value is hashed, or becomes a key by which things are found again.

Invariant: a file that imports nothing that hashes is not followed.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.syntax.kind import Kind
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, last_name

_HASHING: Final = frozenset(["hashlib", "blake3", "xxhash", "zlib", "mmh3", "hmac", "binascii"])
KEYS: Final = frozenset(
    [
        "key",
        "keys",
        "cache",
        "cached",
        "memo",
        "fingerprint",
        "signature",
        "hash",
        "digest",
        "checksum",
        "identity",
    ]
)
_MAKES_KEYS: Final = KEYS - {"cache", "cached", "keys", "memo"}
_CONTAINERS: Final = {"dict", "list", "set", "object", "tuple"}
_PLAIN: Final = {"int", "float", "bool", "str", "bytes"}


def hashes(module: Module) -> bool:
    """Whether a file imports something that hashes."""
    return not _HASHING.isdisjoint(module.imported)


def digested(site: Site, node: ast.AST | None = None) -> Outcome | None:
    """Give where a value is hashed; None when it is not seen to be."""
    if not hashes(site.module):
        return None
    for each in site.ends(node):
        if each.use is Use.DIGEST:
            return each
    return None


def digested_name(site: Site, name: ast.Name) -> Outcome | None:
    """Give where what a name holds is hashed, by any of its reads."""
    if not hashes(site.module) or not site.module.follows:
        return None
    for load, scope in site.module.loads.of(name.id, site.scope):
        for each in site.module.values.follow(load, scope):
            if each.use is Use.DIGEST:
                return each
    return None


def keyed_here(site: Site) -> Outcome | None:
    """Give where a value becomes a key on the spot: by its name, by what is looked up."""
    survey = site.module.survey
    parent = survey.parents.get(site.node)
    if isinstance(parent, ast.Subscript) and about(last_name(parent.value), KEYS):
        return Outcome(Use.KEY, parent, (site.node,))
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in {"get", "setdefault", "pop"}
        and about(last_name(parent.func.value), KEYS)
    ):
        return Outcome(Use.KEY, parent, (site.node,))
    if isinstance(parent, ast.Assign) and any(
        isinstance(each, (ast.Name, ast.Attribute)) and about(last_name(each), KEYS)
        for each in parent.targets
    ):
        return Outcome(Use.KEY, parent, (site.node,))
    return None


def keyed(site: Site) -> Outcome | None:
    """Give where a value becomes a key, on the spot or later, or is returned as one."""
    here = keyed_here(site)
    if here is not None:
        return here
    ends = site.ends()
    for each in ends:
        if each.use is Use.KEY:
            return each
    function = site.scope.method
    if function is not None and about(function.name, _MAKES_KEYS):
        for each in ends:
            if each.use >= Use.UNSEEN:
                return Outcome(Use.KEY, each.node, each.way)
    return None


def is_nested(kind: Kind | None) -> bool:
    """Whether it is a container or an object, of more than plain numbers and text."""
    if kind is None or kind.name not in _CONTAINERS:
        return False
    return kind.name == "dict" or kind.element not in _PLAIN  # A dictionary's element is its key.


def shows_itself(site: Site, kind: Kind | None) -> bool:
    """Whether it is an object of a class of the file that says itself what its text is."""
    if kind is None or kind.name != "object":
        return False
    for scope in site.module.survey.scopes:
        if scope.is_class and LOCAL + Names.path(scope) == kind.origin:
            return not {"__str__", "__repr__"}.isdisjoint(scope.bindings)
    return False


def is_star(node: ast.AST, scope: Scope) -> bool:
    """Whether it names the ``*args`` or the ``**kwargs`` of the function around it."""
    function = scope.node
    if not isinstance(node, ast.Name) or not isinstance(
        function, (ast.FunctionDef, ast.AsyncFunctionDef)
    ):
        return False
    stars = (function.args.vararg, function.args.kwarg)
    return any(each is not None and each.arg == node.id for each in stars)
