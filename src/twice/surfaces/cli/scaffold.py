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

import argparse
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.plan import Plan, apply_plan, eject, make_plan
from twice.specification.scaffold.readiness import find_layer
from twice.specification.workspace import FOLDER, find_workspace, open_workspace
from twice.surfaces.cli.showing import add_json, aligned, print_json

FORMAT = "twice.scaffold/2"
_COMMANDS = "commands"
Blockers = dict[Layer, list[dict[str, object]]]


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("component", metavar="COMPONENT", help="as the specification names it")
    parser.add_argument(
        "--layer", action="append", default=[], metavar="LAYER", dest="layers",
        choices=[each.value for each in Layer if each not in {Layer.BASE, Layer.COMMANDS}],
        help="lay down this layer alone: %(choices)s; repeatable",
    )  # fmt: skip
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--augment", action="store_true", help="add to what is there; so it is without --replace"
    )
    how.add_argument(
        "--replace", action="store_true",
        help=f"archive what is in the way in {FOLDER}/archive, and replace it",
    )  # fmt: skip
    parser.add_argument("--plan", action="store_true", help="say what would be done, do nothing")
    parser.add_argument(
        "--review", action="store_true",
        help="review the code first: critical findings stop it, high ones stop their layer",
    )  # fmt: skip
    parser.add_argument(
        "--agent-commands", nargs="?", const=_COMMANDS, default="", metavar="FOLDER",
        help=f"lay down command files for coding agents too, in {_COMMANDS} by default",
    )  # fmt: skip
    parser.add_argument("--package", default="", metavar="FOLDER", help="folder of the wiring")
    parser.add_argument(
        "--eject", action="append", default=[], metavar="PATH", help="make a file your own"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Plan, do it, and say what was done."""
    name, project = options.component, find_workspace(Path.cwd()) or Path.cwd()
    if options.eject:
        for path in options.eject:
            eject(project, name, path)
        if options.json:
            print_json({"format": FORMAT, "component": name, "ejected": options.eject})
        else:
            print(
                *(f"{path} is yours: it is not looked at again" for path in options.eject), sep="\n"
            )
        return 0
    blockers = _review(project) if options.review else {}
    plan = make_plan(
        project,
        name,
        [Layer(each) for each in options.layers],
        replaces=options.replace,
        package=options.package,
        commands=options.agent_commands,
        blocked=blockers,
    )
    applied = not (options.plan or Layer.BASE in blockers)
    changed = applied and apply_plan(plan)
    if options.json:
        keys = ("path", "layer", "action", "why", "paste")
        files = [{key: getattr(each, key) for key in keys} for each in plan.changes]
        document = {"applied": applied, "changed": changed, "files": files}
        document |= {"left_out": plan.left_out, "review": blockers}
        print_json({"format": FORMAT, "component": name, **document})
    else:
        every, quoted = options.plan, shlex.quote(name)
        print("\n".join(_to_lines(plan, blockers, quoted, every=every, changed=changed)))
    return 1 if blockers or any(each.is_left for each in plan.changes) else 0


def _review(project: Path) -> Blockers:
    """Review the sources; what is high or critical, by the layer that it blocks."""
    from twice.checking.reviewing.review import review
    from twice.foundation.channels import Channel
    from twice.foundation.severity import Severity
    from twice.surfaces.cli.auditing import gathered

    scope, here = open_workspace(project).require("00", "it says where the code is"), Path.cwd()
    paths = [project / each for each in scope.strings("sources")]
    paths = [each.relative_to(here) if each.is_relative_to(here) else each for each in paths]
    options = argparse.Namespace(
        paths=paths, kind=None, scope=None, tier=None, exclude=[], config=None
    )
    read = gathered(options, findings=True)
    assert read.report is not None, "asked for"
    found = review(
        read.report, read.project, read.catalogue, read.workspace, declared=read.declared
    )
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
    yield from aligned(rows, indent="")
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
