"""What policies of numbers do to the variables of a process before it begins.

Not here: which values a policy sets (``knobs.toml``, ``gpu_knobs.toml``).

Invariant: a variable that ``--env`` gave is never changed; one that contradicts a policy is refused.
"""

from __future__ import annotations

from twice.errors import NumericPolicyRefused
from twice.recorder.environment.knobs import Axis, explain_value, list_wanted
from twice.recorder.environment.surroundings import Surroundings, Variable

NOUNS: dict[Axis, str] = {"float": "profile", "gpu": "policy"}
OPTIONS: dict[Axis, str] = {"float": "--float-profile", "gpu": "--gpu-policy"}


def decide_variables(surroundings: Surroundings, policy: str, axis: Axis) -> dict[str, Variable]:
    """Return the variables of surroundings with those of a policy.

    A value of the caller's environment that keeps the policy is left; another one gives way.

    Raises:
        NumericPolicyRefused: E-POLICY-001, where ``--env`` contradicts the policy.
    """
    decided = dict(surroundings.variables)
    for knob, value in list_wanted(policy, axis, variable=True):
        variable = decided.get(knob.name)
        text = "" if variable is None else variable.value or ""
        said = knob.part_of(text)
        if variable is not None and variable.source == "explicit":
            if knob.threads or knob.permits(said, value):
                continue
            if said or not knob.within:
                wrong = explain_value(knob, said) if said else ""
                raise contradict(knob.name, text, policy, value, axis, wrong)
        elif knob.allows and knob.permits(said, value):
            continue
        changed = knob.put_into(text, value)
        if changed:
            decided[knob.name] = Variable(changed, "pinned")
        else:
            decided.pop(knob.name, None)
    return decided


def contradict(
    name: str, value: str, policy: str, wanted: str, axis: Axis, wrong: str = ""
) -> NumericPolicyRefused:
    """Build the error of a variable that ``--env`` gave against a policy."""
    because = f" ({wrong})" if wrong else ""
    return NumericPolicyRefused(
        f"--env gives {name}={value}{because}, and the {NOUNS[axis]} {policy} wants {wanted or 'none'}.",
        f"Expected one of them: a {NOUNS[axis]} is a promise about this variable.",
        f"Leave out --env {name}, or {OPTIONS[axis]}.",
        variable=name,
        profile=policy,
    )


def list_overruled(given: Surroundings, decided: Surroundings) -> list[str]:
    """Return sentences on variables of the caller's environment that a policy gave another value."""
    return [
        f"note: {name}={variable.value} of the environment gives way to "
        f"{now.value if (now := decided.variables.get(name)) else 'none'}"
        for name, variable in given.variables.items()
        if variable.source == "set" and decided.variables.get(name) != variable
    ]
