"""Lay down the code that wires a component to its specification, and keep it up to date.

  twice scaffold swarm --plan
  twice scaffold swarm
  twice scaffold swarm --layer seeds
  twice scaffold swarm --replace
  twice scaffold swarm --eject tests/test_determinism_seeds.py

From the facts of determinism-and-replay alone: a module for each layer, tests, the script that records
the test vector, a workflow. A file that you changed is listed and left as it is. Lines that belong into a
file of yours are printed. A second run changes nothing.

Exit code 0 it is laid down (or, with --plan, could be), 1 something is left for you to settle, 2 the
specification does not say enough, or wrong use.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from twice.cli.options import AsJson, argument, build_command, option
from twice.cli.output import align, pick, tell
from twice.foundation.printable import pluralize
from twice.specification.location import FOLDER, find_workspace
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.plan import Plan, apply_plan, eject, make_plan
from twice.specification.scaffold.readiness import find_layer
from twice.specification.workspace import open_component

_LAYERS: Final = [each.value for each in Layer if each is not Layer.BASE]
Blockers = dict[Layer, list[dict[str, object]]]


@build_command
def command(
    component: Annotated[str, argument(metavar="COMPONENT")],
    layers: Annotated[tuple[str, ...], option(
        "--layer LAYER", f"lay down this layer alone: {', '.join(_LAYERS)}", _LAYERS)],
    replaces: Annotated[bool, option(
        "--replace", f"archive what is in the way in {FOLDER}/archive, and replace it")],
    plans: Annotated[bool, option("--plan", "say what would be done, do nothing")],
    reviews: Annotated[bool, option(
        "--review", "review the code first: critical findings stop it, high ones stop their layer")],
    package: Annotated[str, option("--package FOLDER", "folder of the wiring", default="")],
    ejected: Annotated[tuple[str, ...], option("--eject PATH", "make a file your own")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Plan, do it, and say what was done."""
    project = find_workspace(Path.cwd()) or Path.cwd()
    head = {"format": "twice.scaffold/2", "component": component}
    if ejected:
        for path in ejected:
            eject(project, component, path)
        lines = [f"{path} is yours: it is not looked at again" for path in ejected]
        return tell({**head, "ejected": [*ejected]}, lines, as_json=as_json)
    blockers = _review(project, component) if reviews else {}
    plan = make_plan(
        project, component, [*map(Layer, layers)],
        replaces=replaces, package=package, blocked=blockers,
    )  # fmt: skip
    applied = not (plans or Layer.BASE in blockers)
    changed = applied and apply_plan(plan)
    files = [pick(each, "path", "layer", "action", "why", "paste") for each in plan.changes]
    document = {"applied": applied, "changed": changed, "files": files}
    document |= {"left_out": plan.left_out, "review": blockers}
    given = [("--layer", each) for each in layers]
    given.append(("--package", package))
    again = ["twice", "scaffold", component]
    again += [word for flag, value in given if value for word in (flag, value)]
    said = _to_lines(plan, blockers, again, replaces=replaces, every=plans, changed=changed)
    code = 1 if blockers or any(each.is_left for each in plan.changes) else 0
    return tell({**head, **document}, said, as_json=as_json, code=code)


def _review(project: Path, component: str) -> Blockers:
    """Review the sources; what is high or critical, by the layer that it blocks."""
    from twice.cli.checked_project import RuleOptions, SourceOptions, open_sources
    from twice.foundation.channels import Channel
    from twice.foundation.severity import Severity

    scope, here = (
        open_component(project, component).require("00", "it says where the code is"),
        Path.cwd(),
    )
    paths = [project / each for each in scope.strings("sources")]
    paths = [each.relative_to(here) if each.is_relative_to(here) else each for each in paths]
    options, rules = SourceOptions(tuple(paths)), RuleOptions(cache=False)
    found = open_sources(options, rules, command="twice review").review()
    blockers: Blockers = {}
    for each in (one.finding for one in found.findings if one.finding.severity >= Severity.HIGH):
        critical, channel = each.severity is Severity.CRITICAL, Channel(each.channel)
        layer = Layer.BASE if critical else find_layer(channel.artifact)
        place, says = f"{each.path}:{each.found.place.line}", each.found.message
        row = {"channel": channel, "critical": critical, "place": place, "says": says}
        blockers.setdefault(layer, []).append(row)
    return blockers


def _to_lines(
    plan: Plan,
    blockers: Blockers,
    again: list[str],
    *,
    replaces: bool,
    every: bool,
    changed: bool,
) -> Iterator[str]:
    rows = [
        (each.action.value, each.layer.value, each.path, each.why)
        for each in plan.changes
        if every or each.is_written or each.is_left
    ]
    yield from align(rows, indent="")
    yield from (f"left out: {layer}: {why}" for layer, why in plan.left_out.items())
    for layer, found in blockers.items():
        whole = "everything" if layer is Layer.BASE else layer.value
        yield f"review: nothing of {whole} is laid down:"
        yield from (f"  {each['place']}: {each['channel']}: {each['says']}" for each in found)
    for each in plan.changes:
        if each.paste:
            yield f"paste into {each.path}:"
            yield from (f"  {line}".rstrip() for line in each.paste.splitlines())
    left = sum(each.is_left for each in plan.changes)
    replacing = shlex.join([*again, "--replace"])
    if left:
        yield "edited and conflict: these files are left as they are"
        yield f"keep a file as yours: {shlex.join(again[:3])} --eject PATH"
        yield f"take the new one, the old one archived: {replacing}"
    counts = Counter(each.action.value for each in plan.changes if each.is_written)
    if Layer.BASE in blockers:
        yield "nothing was laid down"
    elif changed:
        said = ", ".join(f"{number} {action}" for action, number in sorted(counts.items()))
        yield f"laid down: {said or 'the lock'}; next: python -m pytest"
    elif counts:
        yield f"lay it down: {replacing if replaces else shlex.join(again)}"
    elif left:
        yield f"nothing was written: {pluralize(left, 'file differs', 'files differ')} from the sheets"
    else:
        yield "nothing to do: everything is laid down as the sheets say"
