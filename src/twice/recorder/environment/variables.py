"""Which environment variables matter to a run, and which may be governed.

Data and questions about a name. Not for: setting variables (``surroundings``) and reading them (``fingerprint``).

Invariant: a variable through which code can be loaded is never governed, so a record from a
stranger cannot bring code in by one.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from typing import Final

from twice.foundation.environment import NUMERIC_VARIABLES
from twice.recorder.redaction.fields import is_secret

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
