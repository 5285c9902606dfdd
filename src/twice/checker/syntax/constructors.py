"""Which calls and annotations give a value of which kind: tables of the language and of numpy.

What libraries add stands in the catalogue; here are the names of its groups.

Invariant: names alone; what they mean is read in ``kinds``.
"""

from __future__ import annotations

from typing import Final

PLAIN: Final = {
    "set": "set", "frozenset": "set", "Set": "set", "FrozenSet": "set", "AbstractSet": "set",
    "MutableSet": "set", "list": "list", "List": "list", "tuple": "tuple", "Tuple": "tuple",
    "dict": "dict", "Dict": "dict", "defaultdict": "dict", "OrderedDict": "dict", "Counter": "dict",
    "str": "str", "bytes": "bytes", "int": "int", "float": "float", "bool": "bool",
}  # fmt: skip
BUILT: Final = {
    "builtins.list": "list", "builtins.sorted": "list", "builtins.tuple": "tuple",
    "builtins.dict": "dict", "collections.defaultdict": "dict", "collections.OrderedDict": "dict",
    "collections.Counter": "dict", "builtins.str": "str", "builtins.repr": "str",
    "builtins.bytes": "bytes", "builtins.int": "int", "builtins.len": "int",
    "builtins.float": "float", "builtins.bool": "bool", "builtins.range": "range",
}  # fmt: skip
# Kinds that have values under keys.
TABLES: Final = {"dict", "Mapping", "MutableMapping"}
# Arrays of whole numbers.
WHOLE: Final = {
    "numpy.arange", "numpy.argsort", "numpy.argwhere", "numpy.flatnonzero", "numpy.nonzero",
    "numpy.where",
}  # fmt: skip
# Groups of the catalogue whose calls give an object of the kind.
CONSTRUCTORS: Final = {
    "numpy-generator": "numpy-generator",
    "stdlib-generator": "stdlib-generator",
    "torch-generator": "torch-generator",
    "path": "path",
    "executor": "executor",
    "pool": "pool",
    "hasher": "hasher",
    "environment": "environment",
    "lock": "lock",
    "queue": "queue",
    "process-context": "process-context",
}
# Methods that give the same kind again.
SAME: Final = {
    "path": {
        "absolute", "expanduser", "joinpath", "resolve", "with_name", "with_stem", "with_suffix",
    },
    "set": {"union", "intersection", "difference", "symmetric_difference", "copy"},
}  # fmt: skip
