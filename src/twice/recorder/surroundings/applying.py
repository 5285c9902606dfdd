"""What a child process is given: the caller's environment with the decided variables in place.

Nothing here starts a process, and nothing is taken from a record that could choose what code runs.

Invariant: two children given equal surroundings see equal governed variables, whoever starts them.
"""

from __future__ import annotations

from collections.abc import Mapping

from twice.errors import SurroundingsRefused
from twice.recorder.surroundings.value import Surroundings, Variable, secret_digest
from twice.recorder.variables import is_governed, loads_code


def environ_for_child(
    base: Mapping[str, str],
    surroundings: Surroundings,
    *,
    given: Mapping[str, str] | None = None,
    stand_ins: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Build the whole environment of a child: the caller's, with every governed variable as decided.

    Args:
        base: the caller's environment; its governed variables that were not decided are left out.
        surroundings: what was decided.
        given: what ``--env`` gives this time, for surroundings that were read from a record: it
            supplies the secrets, and confirms variables that can load code.
        stand_ins: what stands for secrets of a run that is only replayed, where they are not there.

    Raises:
        SurroundingsRefused: E-ENV-001, when a secret was not given again or is another one and nothing
            stands in for it, or when a variable that can load code comes from a record alone.
    """
    again = dict(given or {})
    child = {name: value for name, value in base.items() if not is_governed(name)}
    stars = dict(stand_ins or {})
    child |= {
        name: value
        for name, value in stars.items()
        if name not in base and not (is_governed(name) or loads_code(name))
    }
    for name, variable in surroundings.variables.items():
        if variable.value is None:
            found = again.get(name, base.get(name))
            there = found is not None and secret_digest(name, found) == variable.digest
            stands_in = None if there else stars.get(name)
            child[name] = stands_in or _given_again(name, variable, found)
        elif variable.unconfirmed:
            child[name] = _confirmed(name, variable.value, again.get(name, base.get(name)))
        else:
            child[name] = variable.value
    return child


def _given_again(name: str, variable: Variable, value: str | None) -> str:
    if value is not None and secret_digest(name, value) == variable.digest:
        return value
    happened = "was not given" if value is None else "has another value than when it was recorded"
    raise SurroundingsRefused(
        f"The secret {name} {happened}.",
        "The record holds only a digest of it, and the program ran with it.",
        f"Give it again: --env {name}=…",
        variable=name,
    )


def _confirmed(name: str, recorded: str, value: str | None) -> str:
    """Pass a code-loading variable through only if the caller asks for the same value."""
    if value == recorded:
        return recorded
    raise SurroundingsRefused(
        f"The record asks for {name}={recorded!r}, and that variable can load code.",
        "A record may not choose what is loaded; whoever runs it has to ask for the same value.",
        f"If you trust it, give it again: --env {name}={recorded}",
        variable=name,
        value=recorded,
    )
