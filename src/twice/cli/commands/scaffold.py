"""Lay down the code that wires a component to its specification, and keep it up to date.

  twice scaffold swarm --plan
  twice scaffold swarm
  twice scaffold swarm --layer seeds
  twice scaffold swarm --replace
  twice scaffold swarm --agent-commands
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
from typing import Final

import click

from twice.cli.group import make_command
from twice.cli.options import json_option, several
from twice.cli.output import align, tell
from twice.errors import UsageError
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.plan import Plan, apply_plan, eject, make_plan
from twice.specification.scaffold.readiness import find_layer
from twice.specification.workspace import FOLDER, find_workspace, open_workspace

FORMAT = "twice.scaffold/2"
_COMMANDS = "commands"
_LAYERS: Final = [each for each in Layer if each not in {Layer.BASE, Layer.COMMANDS}]
Blockers = dict[Layer, list[dict[str, object]]]


@make_command(
    click.argument("component", metavar="COMPONENT"),
    several(
        "--layer", "layers", metavar="LAYER",
        type=click.Choice([each.value for each in _LAYERS]),
        help=f"lay down this layer alone: {', '.join(each.value for each in _LAYERS)}",
    ),
    click.option(
        "--augment", is_flag=True, help="add to what is there; so it is without --replace"
    ),
    click.option(
        "--replace", "replaces", is_flag=True,
        help=f"archive what is in the way in {FOLDER}/archive, and replace it",
    ),
    click.option("--plan", "plans", is_flag=True, help="say what would be done, do nothing"),
    click.option(
        "--review", "reviews", is_flag=True,
        help="review the code first: critical findings stop it, high ones stop their layer",
    ),
    click.option(
        "--agent-commands", "commands", is_flag=False, flag_value=_COMMANDS, default="",
        metavar="[FOLDER]",
        help=f"lay down command files for coding agents too, in {_COMMANDS} by default",
    ),
    click.option("--package", default="", metavar="FOLDER", help="folder of the wiring"),
    several("--eject", "ejected", metavar="PATH", help="make a file your own"),
    json_option,
)  # fmt: skip
def command(
    component: str,
    layers: tuple[str, ...],
    augment: bool,
    replaces: bool,
    plans: bool,
    reviews: bool,
    commands: str,
    package: str,
    ejected: tuple[str, ...],
    as_json: bool,
) -> int:
    """Plan, do it, and say what was done."""
    if augment and replaces:
        raise UsageError(
            "--augment and --replace were both given.",
            "Expected one: what is in the way is left, or archived.",
            "Leave one of them out.",
        )
    project = find_workspace(Path.cwd()) or Path.cwd()
    head = {"format": FORMAT, "component": component}
    if ejected:
        for path in ejected:
            eject(project, component, path)
        lines = [f"{path} is yours: it is not looked at again" for path in ejected]
        return tell({**head, "ejected": [*ejected]}, lines, as_json=as_json)
    blockers = _review(project) if reviews else {}
    plan = make_plan(
        project,
        component,
        [Layer(each) for each in layers],
        replaces=replaces,
        package=package,
        commands=commands,
        blocked=blockers,
    )
    applied = not (plans or Layer.BASE in blockers)
    changed = applied and apply_plan(plan)
    keys = ("path", "layer", "action", "why", "paste")
    files = [{key: getattr(each, key) for key in keys} for each in plan.changes]
    document = {"applied": applied, "changed": changed, "files": files}
    document |= {"left_out": plan.left_out, "review": blockers}
    return tell(
        {**head, **document},
        _to_lines(plan, blockers, shlex.quote(component), every=plans, changed=changed),
        as_json=as_json,
        code=1 if blockers or any(each.is_left for each in plan.changes) else 0,
    )


def _review(project: Path) -> Blockers:
    """Review the sources; what is high or critical, by the layer that it blocks."""
    from twice.cli.checked_project import CheckOptions, open_sources
    from twice.foundation.channels import Channel
    from twice.foundation.severity import Severity

    scope, here = open_workspace(project).require("00", "it says where the code is"), Path.cwd()
    paths = [project / each for each in scope.strings("sources")]
    paths = [each.relative_to(here) if each.is_relative_to(here) else each for each in paths]
    found = open_sources(CheckOptions(tuple(paths))).review()
    blockers: Blockers = {}
    for each in (one.finding for one in found.findings if one.finding.severity >= Severity.HIGH):
        critical, channel = each.severity is Severity.CRITICAL, Channel(each.channel)
        layer = Layer.BASE if critical else find_layer(channel.artifact)
        place, says = f"{each.path}:{each.found.place.line}", each.found.message
        row = {"channel": channel, "critical": critical, "place": place, "says": says}
        blockers.setdefault(layer, []).append(row)
    return blockers


def _to_lines(
    plan: Plan, blockers: Blockers, name: str, *, every: bool, changed: bool
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
    if any(each.is_left for each in plan.changes):
        yield "edited and conflict: these files are left as they are"
        yield f"keep a file as yours: twice scaffold {name} --eject PATH"
        yield f"take the new one, the old one archived: twice scaffold {name} --replace"
    counts = Counter(each.action.value for each in plan.changes if each.is_written)
    if Layer.BASE in blockers:
        yield "nothing was laid down"
    elif changed:
        said = ", ".join(f"{number} {action}" for action, number in sorted(counts.items()))
        yield f"laid down: {said or 'the lock'}; next: python -m pytest"
    elif counts:
        yield f"lay it down: twice scaffold {name}"
    else:
        yield "nothing to do: everything is laid down as the sheets say"
