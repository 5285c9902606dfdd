"""The rules about encodings that equal values do not share, where they are hashed or are keys.

Each rule knows one producer (a pickle, a text, unsorted JSON, a rounded float, an array's bytes); where
its value ends is asked in the same two ways of all: ``_find_digest`` and ``_find_key``.

Invariant: in a file that imports nothing that hashes, no value is followed to a digest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.findings import Edit, Fix, Reach, SourceSpan, Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.syntax.kind import Kind
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_HASHING: Final = {"hashlib", "blake3", "xxhash", "zlib", "mmh3", "hmac", "binascii"}
_MADE_KEYS: Final = frozenset(
    ["key", "fingerprint", "signature", "hash", "digest", "checksum", "identity"]
)
_KEYS: Final = _MADE_KEYS | {"keys", "cache", "cached", "memo"}
_ROUNDED: Final = re.compile(r"\.\d+[efgEFG]?\Z")
_PLAIN: Final = {"int", "float", "bool", "str", "bytes", "path", "range"}
_CONTAINERS: Final = {"dict", "list", "set", "object", "tuple"}
_REPR: Final = 114  # The conversion of ``{x!r}``.
# What a thing of this name is, as text, is mostly itself a number, a name or a text.
_SIMPLE: Final = frozenset(
    ["seed", "id", "uid", "uuid", "index", "idx", "num", "number", "count", "size", "len", "length", "step", "version", "name", "path", "file", "filename", "dir", "key", "hash", "digest", "url", "year", "date", "day", "time", "timestamp", "shape", "dtype", "type", "rank", "epoch", "text", "string", "str", "prefix", "suffix", "word", "token", "label", "title", "line", "salt", "i", "j", "k", "n", "instruction", "prompt", "message", "code", "content"]
)  # fmt: skip


def _hashes(module: Module) -> bool:
    return not _HASHING.isdisjoint(module.imported)


def _find_digest(site: Site) -> Outcome | None:
    """Return where a value is hashed; None when it is not seen to be."""
    ends = site.ends() if _hashes(site.module) else []
    return next((each for each in ends if each.use is Use.DIGEST), None)


def _find_key_here(site: Site) -> Outcome | None:
    """Return where a value becomes a key on the spot: by its name, by what is looked up."""
    parent = site.module.survey.parents.get(site.node)
    named: list[ast.expr] = []
    if isinstance(parent, ast.Subscript):
        named = [parent.value]
    elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        named = [parent.func.value] if parent.func.attr in {"get", "setdefault", "pop"} else []
    elif isinstance(parent, ast.Assign):
        named = [each for each in parent.targets if isinstance(each, (ast.Name, ast.Attribute))]
    if parent is None or not any(about(last_name(each), _KEYS) for each in named):
        return None
    return Outcome(Use.KEY, parent, (site.node,))


def _find_key(site: Site) -> Outcome | None:
    """Return where a value becomes a key, on the spot or later, or is returned as one."""
    here = _find_key_here(site)
    if here is not None:
        return here
    function, ends = site.scope.method, site.ends()
    gives_keys = function is not None and about(function.name, _MADE_KEYS)
    keys = [each for each in ends if each.use is Use.KEY]
    keys += [each for each in ends if gives_keys and each.use >= Use.UNSEEN]
    return Outcome(Use.KEY, keys[0].node, keys[0].way) if keys else None


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Hash a canonical encoding of the fields: sorted JSON, or each array's dtype, shape and bytes.",
    calls=("pickling",),
)
def pickle_digest(site: Site) -> Iterator[Violation]:
    """A digest is taken of a pickle, or it is a key."""
    called = site.called or ""
    if not called.endswith(".dumps"):
        return
    hashed, key = _find_digest(site), _find_encoded_key(site, "obj")
    if hashed is not None and any(each.use is Use.STORED for each in site.ends()):
        hashed = None  # A checksum of what is written, and read back as it was.
    outcome = hashed or key
    if outcome is not None:
        why = "Equal values can have different pickles: shared objects, sets, versions"
        what = "is hashed" if hashed else "of a key stands for it"
        yield site.violation(f"{called}() {what}.", why, outcome=outcome)


def _find_encoded_key(site: Site, name: str) -> Outcome | None:
    """Return the place itself when what is encoded is called a key."""
    subject = site.argument(0, name)
    is_key = subject is not None and "key" in parts(last_name(subject))
    return Outcome(Use.KEY, site.node, (site.node,)) if is_key else None


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Hash the bits: struct.pack('<d', x) or x.hex().",
    nodes=(ast.FormattedValue,),
    applies=_hashes,
)
def float_text_digest(site: Site) -> Iterator[Violation]:
    """A digest is taken of floats that were rounded into text."""
    spec = getattr(site.node, "format_spec", None)
    written = spec.values[0] if isinstance(spec, ast.JoinedStr) and len(spec.values) == 1 else None
    if not isinstance(written, ast.Constant) or not _ROUNDED.search(str(written.value)):
        return
    outcome = _find_digest(site)
    if outcome is not None:
        yield site.violation(
            f"A float is rounded to {written.value!r} and hashed.",
            "A last bit that crosses the edge changes the digest, and a real difference does not",
            outcome=outcome,
        )


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Hash dtype.str, shape and tobytes(order='C'), in this order.",
    calls=("array-bytes",),
    methods=("array-bytes",),
)
def array_file_digest(site: Site) -> Iterator[Violation]:
    """An array is hashed as a file, or as bytes that do not say what they are."""
    if not site.catalogue.has("array-bytes", site.called):
        function = site.scope.method
        nodes = () if function is None else ast.walk(function.node)
        if any(getattr(each, "attr", "") in {"dtype", "shape"} for each in nodes):
            return  # It says what the bytes are.
        if _find_digest(site) is not None:
            yield site.violation(
                "An array's bytes are hashed without its dtype and shape.",
                "Arrays of other types and shapes have the same digest.",
                reach=Reach.UNSEEN,
            )
        return
    file, module = site.argument(0, "file"), site.module
    if isinstance(file, ast.Name) and _hashes(module) and module.follows:
        loads = module.loads.of(file.id, site.scope)
        ends = [each for load, scope in loads for each in module.values.follow(load, scope)]
        if any(each.use is Use.DIGEST for each in ends):
            yield site.violation(
                f"What {site.called}() writes is hashed.",
                "The file has a header of its version and the memory order in it.",
            )


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Sort the keys: json.dumps(value, sort_keys=True, separators=(',', ':')).",
    calls=("json-text",),
)
def unsorted_json_digest(site: Site) -> Iterator[Violation]:
    """JSON that is hashed, or is a key, has its keys in the order in which they were put in."""
    given, subject = site.keyword("sort_keys"), site.argument(0, "obj")
    is_sorted = given is not None and not (isinstance(given, ast.Constant) and not given.value)
    is_sorted |= "OPT_SORT_KEYS" in site.module.source(site.node)
    kind = site.kind(subject)
    has_no_keys = (
        kind is not None
        and kind.name not in {"dict", "object"}
        and kind.element in {"str", "int", "float", "bool"}
    )
    if subject is None or site.has_star or is_sorted or has_no_keys:
        return
    hashed = _find_digest(site)
    outcome = hashed or _find_key_here(site) or _find_encoded_key(site, "obj")
    if outcome is not None:
        yield site.violation(
            f"{site.called}() keeps the order of the keys, and its text {'is hashed' if hashed else 'is a key'}.",
            "Equal dictionaries that were filled in another order get another one",
            outcome=outcome,
            fix=None if given is not None or site.called != "json.dumps" else _make_fix(site),
        )


def _make_fix(site: Site) -> Fix:
    arguments = [*site.call.args, *(each.value for each in site.call.keywords)]
    places = [site.module.place(each) for each in arguments]
    line, column = max((each.end_line, each.end_column) for each in places)
    edit = Edit(SourceSpan(line, column, line, column), ", sort_keys=True")
    return Fix("Sort the keys", safe=False, edits=(edit,))


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Hash an encoding of the values: canonical JSON, or the bytes of each field in a fixed order.",
    calls=("text",),
    nodes=(ast.FormattedValue,),
    applies=_hashes,
)
def text_digest(site: Site) -> Iterator[Violation]:
    """A digest is taken of an object's text."""
    node, module = site.node, site.module
    if isinstance(node, ast.FormattedValue):
        subject, is_part = node.value, False
        if node.conversion != _REPR and getattr(subject, "id", "") != "self":
            return
    elif len(site.call.args) == 1:
        subject = site.call.args[0]
        # Of several texts put together, one that is not known is mostly a number.
        around = (ast.Attribute, ast.Call, ast.Assign, ast.Return)
        is_whole = isinstance(module.survey.parents.get(node), around)
        is_part = not isinstance(subject, (ast.Name, ast.Attribute)) or not is_whole
    else:
        return
    kind = site.kind(subject)
    if kind is None and is_part:
        return
    if kind is not None and (kind.name in _PLAIN or kind.element in _PLAIN):
        return
    if isinstance(subject, ast.Constant) or about(last_name(subject), _SIMPLE):
        return
    outcome = None if _shows_itself(module, kind) else _find_digest(site)
    if outcome is not None:
        if _may_be_plain(site, subject, kind):
            outcome = replace(outcome, use=Use.UNSEEN)
        shown = module.shown(subject)
        yield site.violation(
            f"The text of {shown if len(shown) <= 40 else 'an object'} is hashed.",
            "Addresses, the order of sets and shortened arrays get into it or drop out of it",
            outcome=outcome,
            confidence=0.85,
        )


def _shows_itself(module: Module, kind: Kind | None) -> bool:
    """Whether it is an object of a class of the file that says itself what its text is."""
    return (
        kind is not None
        and kind.name == "object"
        and any(
            scope.is_class
            and LOCAL + Names.path(scope) == kind.origin
            and not {"__str__", "__repr__"}.isdisjoint(scope.bindings)
            for scope in module.survey.scopes
        )
    )


def _may_be_plain(site: Site, subject: ast.expr, kind: Kind | None) -> bool:
    """Whether it may be a list of numbers, or an object of a class that says itself what its text is."""
    if isinstance(subject, ast.Call):
        return last_name(subject) in {"list", "tuple"}
    if kind is not None or not isinstance(subject, ast.Name):
        return False
    bindings = site.module.names.bindings(subject.id, site.scope)
    return len(bindings) == 1 and getattr(bindings[0].node, "annotation", None) is not None


def _formats_name(node: ast.FormattedValue, _: Scope) -> bool:
    return isinstance(node.value, ast.Name)


@rule(
    Channel.ENCODING,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Make the key of a canonical encoding: json.dumps(values, sort_keys=True), hashed.",
    calls=("text",),
    nodes=(ast.FormattedValue,),
    suits=_formats_name,
)
def text_key(site: Site) -> Iterator[Violation]:
    """The text of nested values is a key."""
    node, whole = site.node, site
    if isinstance(node, ast.FormattedValue):
        if not _is_star(node.value, site.scope):
            return
        whole = site.at(site.module.survey.parents[node])
        message = f"A text with {site.module.shown(node.value)} in it is used as a key."
    elif len(site.call.args) == 1 and _is_nested(site, site.call.args[0]):
        message = f"{site.module.shown(site.call.func)}() of nested values is used as a key."
    else:
        return
    outcome = _find_key(whole)
    if outcome is not None:
        why = "Equal values can have different texts and different values the same"
        yield whole.violation(message, why, outcome=outcome, confidence=0.85)


def _is_nested(site: Site, node: ast.expr) -> bool:
    """Whether it is built of containers or objects, or of the ``*args`` and ``**kwargs`` of a function."""
    inner: list[ast.expr] = []
    if isinstance(node, (ast.Tuple, ast.List)):
        inner = node.elts
    elif isinstance(node, ast.Dict):
        inner = node.values
    kinds = [site.kind(each) for each in inner]
    return any(_is_star(each, site.scope) for each in (node, *inner)) or any(
        kind is not None
        and kind.name in _CONTAINERS
        # What a dictionary's kind says of its elements is what its keys are.
        and (kind.name == "dict" or kind.element not in {"int", "float", "bool", "str", "bytes"})
        for kind in kinds
    )


def _is_star(node: ast.AST, scope: Scope) -> bool:
    """Whether it names the ``*args`` or the ``**kwargs`` of the function around it."""
    arguments = getattr(scope.node, "args", None)
    if not isinstance(node, ast.Name) or not isinstance(arguments, ast.arguments):
        return False
    return node.id in [each.arg for each in (arguments.vararg, arguments.kwarg) if each]


@rule(
    Channel.ENCODING,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Give each function a name and a version by hand, and hash those.",
    calls=("source-text",),
)
def source_digest(site: Site) -> Iterator[Violation]:
    """A digest takes a function's source text for what it does."""
    outcome = _find_digest(site)
    if outcome is not None:
        yield site.violation(
            f"{site.called}() is hashed.",
            "Functions that see other values have one text, and a comment changes it",
            outcome=outcome,
        )
