"""The surroundings of a child process: the variables that are decided for it.

A session never runs a program in whatever environment its caller happens to have. A variable that the user has set
is respected. One that decides results and was not set is pinned: hash seed 0, ``C.UTF-8``, UTC. The number of threads
of numerical libraries is kept: the number that they would have started is written down, and holds in every replay. A
variable given by ``--env`` is explicit and wins.

Explicit values whose names look secret are written as a short digest only; the digest tells whether
the same value came back. A guessable secret can be guessed from it, so a record made with one is as
private as the secret itself.

Invariant: two children given equal surroundings see equal governed variables, whoever starts them; the JSON form holds
no value whose name looks secret, and a variable through which code can be loaded is never taken from a record alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from fnmatch import translate
from functools import cache
from typing import Any, Final, Literal, get_args

from twice.errors import ConfigError, SurroundingsRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import digest_bytes
from twice.foundation.environment import NUMERIC_VARIABLES
from twice.foundation.printable import pluralize
from twice.recorder.environment.libraries import usual_counts
from twice.recorder.redaction.fields import is_secret

FORMAT: Final = "twice.surroundings/1"
THREAD_CAPS: Final = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip

# Interpreter switches only: PYTHON_VERSION and its like come from container images.
_INTERPRETER: Final = (
    "PYTHON[A-Z]*", "PYTHON_CPU_COUNT", "PYTHON_GIL", "PYTHON_JIT", "PYTHON_THREAD_INHERIT_CONTEXT",
    "PYTHON_CONTEXT_AWARE_WARNINGS",
)  # fmt: skip

RELEVANT: Final = (*NUMERIC_VARIABLES, *_INTERPRETER, "TZ", "LANG", "LANGUAGE", "LC_*")

# What loads code or names a place, by exact name or pattern: each differs between machines, or
# would let whoever wrote a record choose what runs.
_LOADS_CODE: Final = (
    "LD_*", "DYLD_*", "PATH", "PATHEXT", "BASH_ENV", "ENV", "SHELL", "IFS", "GCONV_PATH", "LOCPATH",
    "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX",
    "PYTHONWARNINGS", "PYTHONBREAKPOINT", "PYTHONINSPECT", "PYTHONEXECUTABLE", "PYTHONPLATLIBDIR",
    "PYTHON_PRESITE", "PYTHONCASEOK", "PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONPLATFORM",
    "OMP_TOOL*", "CUDA_INJECTION*", "JAX_PLATFORMS", "JAX_PLUGINS", "PJRT_*", "EDITOR", "VISUAL",
    "PAGER", "BROWSER", "GIT_*", "SSH_*", "NODE_OPTIONS", "NODE_PATH", "PERL5*", "RUBY*", "*_PLUGIN",
    "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "*_PLUGINS", "*_LIBRARY", "*_LIBRARIES", "*_PRELOAD",
    "*_DIR", "*_PATH", "*_FILE", "*_HOME", "*_CACHE", "COMSPEC", "SYSTEMROOT",
)  # fmt: skip

# Which device or network card this machine hands out; says nothing about another machine.
_ALLOTTED: Final = (
    "CUDA_VISIBLE_DEVICES", "CUDA_VERSION", "NVIDIA_*", "NCCL_VERSION", "NCCL_SOCKET_*", "NCCL_IB_*",
    "NCCL_DEBUG*", "OMP_DISPLAY_*", "TF_CPP_*",
)  # fmt: skip

# What threadpoolctl sets when it is imported, by twice too: no number depends on it.
_SET_BY_IMPORT: Final = "KMP_DUPLICATE_LIB_OK"

# What a session's process does to itself; see ``process_start``.
_HANDED: Final = ("TWICE_CHILD_*",)

# What a record from elsewhere may set: no place, nothing that is loaded, nothing that a library writes to.
_FROM_ELSEWHERE: Final = (
    "ATEN_CPU_CAPABILITY", "CUBLAS_WORKSPACE_CONFIG", "LANG", "LANGUAGE", "LC_*", "MKL_CBWR",
    "MKL_DYNAMIC", "MKL_ENABLE_INSTRUCTIONS", "MKL_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES",
    "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_DYNAMIC", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT",
    "BLIS_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED", "PYTHONUTF8", "TZ", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip

Source = Literal["set", "pinned", "kept", "explicit"]
"""Who decided a variable: the user's environment, twice, the libraries that would read it, or ``--env``."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One decided variable."""

    value: str | None = field(repr=False)  # None when the record holds only a digest of it
    source: Source
    digest: str = ""  # for a secret, ``blake3:`` and 16 hex digits for name and value
    # It came out of a record and can load code, so a caller must ask for it too.
    unconfirmed: bool = field(default=False, repr=False, compare=False)

    def to_json(self, name: str) -> dict[str, str]:
        """Return the JSON form: a secret has its digest in place of its value."""
        held = {"redacted": self.digest} if self.digest else {"value": self.value or ""}
        return {"name": name, **held, "source": self.source}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The decided variables by name, in sorted order; ``to_json`` and ``from_json`` are inverse but for secrets."""

    variables: Mapping[str, Variable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", dict(sorted(self.variables.items())))

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Surroundings:
        """Return the governed variables as they are, for code that runs in place (a notebook)."""
        return cls(
            {
                name: Variable(value.encode(errors="backslashreplace").decode(), "set")
                for name, value in environ.items()
                if is_governed(name) and value
            }
        )

    def from_elsewhere(self, here: Mapping[str, str]) -> Surroundings:
        """Copy the surroundings of another account's record: what it may not set stays as it is ``here``."""
        own = Surroundings.from_environ({name: here.get(name, "") for name in self.variables})
        given = {
            name: one
            for name, one in self.variables.items()
            if one.value is not None and may_come_from_elsewhere(name, one.value)
        }
        return Surroundings({**own.variables, **given})

    def with_variables(self, variables: Mapping[str, str]) -> Surroundings:
        """Copy the surroundings with some variables set, as ``--env`` sets them."""
        given = {name: Variable(value, "explicit") for name, value in variables.items()}
        return Surroundings({**self.variables, **given})

    def to_json(self) -> dict[str, Any]:
        """Return plain data with ``"format": "twice.surroundings/1"``, without secrets."""
        return {
            "format": FORMAT,
            "cwd": "caller",  # where a child stands; there has never been another
            "variables": [one.to_json(name) for name, one in self.variables.items()],
        }

    @classmethod
    def from_json(cls, document: object) -> Surroundings:
        """Read the plain form back; E-CONFIG-001 names the place that is not understood."""
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            found = document.get("format") if isinstance(document, Mapping) else document
            raise _not_understood("format", found, FORMAT)
        if document.get("cwd") != "caller":
            raise _not_understood("cwd", document.get("cwd"), "caller")
        rows = document.get("variables")
        if not isinstance(rows, list):
            raise _not_understood("variables", rows, "a list")
        read = dict(_read_variable(index, row) for index, row in enumerate(rows))
        if len(read) != len(rows):
            raise _not_understood("variables", pluralize(len(rows), "row"), "each name once")
        return cls(read)


def for_recording(
    environ: Mapping[str, str], *, explicit: Mapping[str, str] | None = None
) -> Surroundings:
    """Decide the surroundings of a recording.

    Args:
        environ: the caller's environment.
        explicit: variables given by ``--env NAME=VALUE``; they win over ``environ``.

    An empty variable counts as not set. When any variable of the locale is set, none is pinned,
    because ``LC_ALL`` would override the user's ``LANG``. A library's thread count that is not set
    follows the user's ``OMP_NUM_THREADS``, as the library itself would.

    Raises:
        SurroundingsRefused: E-ENV-001, a hash seed that is ``random`` or not a number in range, or
            a name or value that no process can be given.
    """
    decided = {
        name: Variable(value, "set")
        for name, value in environ.items()
        if is_governed(name) and value
    }
    for name, value in (explicit or {}).items():
        digest = _digest_secret(name, value) if is_secret(name) else ""
        decided[name] = Variable(value, "explicit", digest)
    for name, variable in decided.items():
        _require_passable(name, variable.value or "")
    seed = decided["PYTHONHASHSEED"].value or "" if "PYTHONHASHSEED" in decided else "0"
    if not re.fullmatch(r"[0-9]{1,10}", seed) or int(seed) >= 2**32:
        raise SurroundingsRefused(
            f"PYTHONHASHSEED is {seed!r}, so the order of sets would be another in each process.",
            "A run needs a number from 0 to 4294967295, or none, and then 0 is pinned.",
            "Unset it: env -u PYTHONHASHSEED twice …, or give a number: PYTHONHASHSEED=0 twice …",
            variable="PYTHONHASHSEED",
            value=seed,
        )
    return Surroundings({**_decide_open_variables(decided), **decided})


def _decide_open_variables(decided: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables that the user has left open, and others that are decided already."""
    pinned = {"PYTHONHASHSEED": "0", "TZ": "UTC", "OMP_DYNAMIC": "FALSE", "MKL_DYNAMIC": "FALSE"}
    if not any(name in ("LANG", "LANGUAGE") or name.startswith("LC_") for name in decided):
        pinned |= dict.fromkeys(("LANG", "LC_ALL"), "C.UTF-8")
    openmp = decided.get("OMP_NUM_THREADS")
    kept = usual_counts()
    if openmp is not None and openmp.value:
        pinned |= dict.fromkeys(kept, openmp.value)
        kept = {}
    return {
        **{name: Variable(value, "pinned") for name, value in pinned.items()},
        **{name: Variable(count, "kept") for name, count in kept.items()},
    }


def environ_for_child(
    base: Mapping[str, str],
    surroundings: Surroundings,
    *,
    stand_ins: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Build the whole environment of a child: the caller's, with every governed variable as decided.

    Args:
        base: the caller's environment; its governed variables that were not decided are left out. For
            surroundings that were read from a record it supplies the secrets, and confirms variables
            that can load code.
        surroundings: what was decided.
        stand_ins: what stands for secrets of a run that is only replayed, where they are not there.

    Raises:
        SurroundingsRefused: E-ENV-001, when a secret was not given again or is another one and nothing
            stands in for it, or when a variable that can load code comes from a record alone.
    """
    stars = dict(stand_ins or {})
    child = {name: value for name, value in base.items() if not is_governed(name)}
    child |= {
        name: value
        for name, value in stars.items()
        if name not in base and not (is_governed(name) or loads_code(name))
    }
    for name, variable in surroundings.variables.items():
        if variable.value is None:
            child[name] = _take_secret(name, variable, base.get(name), stars.get(name))
        elif variable.unconfirmed and base.get(name) != variable.value:
            raise SurroundingsRefused(
                f"The record asks for {name}={variable.value!r}, and that variable can load code.",
                "A record may not choose what is loaded; whoever runs it has to ask for the same value.",
                f"If you trust it, set it yourself: {name}={variable.value} twice …",
                variable=name,
                value=variable.value,
            )
        else:
            child[name] = variable.value
    return child


def _take_secret(name: str, variable: Variable, found: str | None, stand_in: str | None) -> str:
    if found is not None and _digest_secret(name, found) == variable.digest:
        return found
    if stand_in:
        return stand_in
    happened = "was not given" if found is None else "has another value than when it was recorded"
    raise SurroundingsRefused(
        f"The secret {name} {happened}.",
        "The record holds only a digest of it, and the program ran with it.",
        f"Give it again: {name}=… twice …",
        variable=name,
    )


def _require_passable(name: str, value: str) -> None:
    """Refuse a variable that no process can have, or no record can contain."""
    surrogate = any("\ud800" <= letter <= "\udfff" for letter in name + value)
    if not name or "=" in name or "\0" in name + value or surrogate:
        raise SurroundingsRefused(
            f"No process can be given, or no record can hold, the variable {name!r}.",
            "A name is not empty and has no '='; name and value are UTF-8 without NUL.",
            "Write it as --env NAME=VALUE.",
            variable=name,
        )


def _digest_secret(name: str, value: str) -> str:
    """Return a labelled, shortened digest, to check that a secret that is given again is the same."""
    digest = digest_bytes(f"{name}={value}".encode())
    return f"{digest.algorithm}:{digest.hex[:16]}"


def _read_variable(index: int, row: Any) -> tuple[str, Variable]:
    match row:
        case {"name": str(name), "source": source} if source in get_args(Source):
            value, digest = row.get("value"), row.get("redacted", "")
            if isinstance(value, str) and not digest:
                _require_passable(name, value)
                return name, Variable(value, source, unconfirmed=loads_code(name))
            if not isinstance(value, str) and isinstance(digest, str) and digest:
                _require_passable(name, "")
                return name, Variable(None, source, digest, unconfirmed=loads_code(name))
    sources = ", ".join(get_args(Source))
    expected = f"a name, a source of {sources}, and a text value or a digest"
    raise _not_understood(f"variables[{index}]", row, expected)


def _not_understood(place: str, found: object, expected: str) -> ConfigError:
    return ConfigError(
        f"The surroundings in the record have {found!r} at {place}.",
        f"Expected there: {expected}.",
        "Record the run again, or open it with the version that wrote it.",
        place=place,
    )


def is_relevant(name: str) -> bool:
    """Return whether a fingerprint reports this variable."""
    is_known = _matches(name, RELEVANT) and name != _SET_BY_IMPORT
    return is_known and (name == "LD_PRELOAD" or not loads_code(name))


def is_governed(name: str) -> bool:
    """Return whether a child's value comes from the surroundings, not from the caller."""
    foreign = loads_code(name) or is_secret(name) or _matches(name, (*_ALLOTTED, _SET_BY_IMPORT))
    return _matches(name, (*RELEVANT, *_HANDED)) and not foreign


def may_come_from_elsewhere(name: str, value: str) -> bool:
    """Return whether a record from another account may set this variable of the process that executes it."""
    return _matches(name, _FROM_ELSEWHERE) and "/" not in value.removeprefix(":")[:1]


def loads_code(name: str) -> bool:
    """Return whether the variable names a place, or something that a program loads or starts."""
    return _matches(name.upper(), _LOADS_CODE)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return _expression(patterns).match(name) is not None


@cache
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Join all patterns into one: every variable of every process is matched against dozens of them."""
    return re.compile("|".join(map(translate, patterns)))
