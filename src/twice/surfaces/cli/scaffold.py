"""Lay down the code that wires a component to its specification, and keep it up to date.

  twice scaffold swarm --plan
  twice scaffold swarm
  twice scaffold swarm --layer seeds
  twice scaffold swarm --replace
  twice scaffold swarm --agent-commands
  twice scaffold swarm --eject tests/test_determinism_seeds.py

From the facts of determinism-and-replay alone: a module for each layer, tests, the script that records
the test vector, a workflow. What you change is kept or merged; what cannot be merged is listed, and then
nothing is laid down. All of it is written or nothing. A second run changes nothing.

Exit code 0 it is laid down (or, with --plan, could be), 1 something has to be settled first, 2 the
specification does not say enough, or wrong use.
"""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twice.errors import WorkspaceRefused
from twice.specifying.scaffolding.readiness import ASKED_FOR
from twice.specifying.scaffolding.regions import Layer
from twice.specifying.scaffolding.scaffold import (
    Objection,
    Order,
    Prepared,
    carry_out,
    eject,
    prepared,
)
from twice.specifying.workspace import FOLDER, find_workspace
from twice.surfaces.cli.showing import add_json, aligned, print_json

if TYPE_CHECKING:
    from twice.checking.reviewing.review import Review

FORMAT = "twice.scaffold/1"
_COMMANDS = "commands"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("component", metavar="COMPONENT", help="as the specification names it")
    parser.add_argument(
        "--layer", action="append", default=[], metavar="LAYER", dest="layers",
        choices=[each.value for each in ASKED_FOR if each is not Layer.COMMANDS],
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
    how.add_argument(
        "--conflicts", action="store_true", help="write conflicts into the files, between markers"
    )
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
    """Plan, say it, and do it."""
    project = find_workspace(Path.cwd())
    if project is None:
        raise WorkspaceRefused(
            f"There is no folder {FOLDER} here or above.",
            "Expected the specification that code is laid down from.",
            "Begin one: twice spec init",
        )
    if options.eject:
        return _eject(project, options)
    order = Order(
        options.component,
        tuple(Layer(each) for each in options.layers),
        replaces=options.replace,
        marks=options.conflicts,
        package=options.package,
        commands=options.agent_commands,
    )
    what = prepared(project, order, _objections if options.review else None)
    may_be = what.may_be_applied
    changed = may_be and not options.plan and carry_out(project, what)
    if options.json:
        print_json(_document(what, order, applied=may_be and not options.plan, changed=changed))
    else:
        print("\n".join(_lines(what, order, planned=options.plan, changed=changed)))
    return 0 if may_be and not what.objections else 1


def _eject(project: Path, options: argparse.Namespace) -> int:
    """Give regions away."""
    names = {path: list(eject(project, path)) for path in options.eject}
    if options.json:
        print_json({"format": FORMAT, "component": options.component, "ejected": names})
    else:
        print("\n".join(f"{path} is yours: it is not looked at again" for path in names))
    return 0


def _objections(project: Path, sources: Sequence[str]) -> Iterator[Objection]:
    """Review the sources, and give what is high or critical."""
    from twice.foundation.channels import Channel
    from twice.foundation.severity import Severity

    for each in _reviewed(project, sources).findings:
        if each.finding.severity >= Severity.HIGH:
            yield Objection(
                Channel(each.finding.channel),
                each.finding.severity is Severity.CRITICAL,
                f"{each.finding.path}:{each.finding.found.place.line}",
                each.finding.found.message,
            )


def _reviewed(project: Path, sources: Sequence[str]) -> Review:
    from twice.checking.reviewing.review import review
    from twice.surfaces.cli.auditing import gathered

    paths = [_from_here(project / each) for each in sources]
    options = argparse.Namespace(
        paths=paths, kind=None, scope=None, tier=None, exclude=[], config=None
    )
    read = gathered(options, findings=True)
    assert read.report is not None, "asked for"
    return review(read.report, read.project, read.catalogue, read.workspace, declared=read.declared)


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _lines(what: Prepared, order: Order, *, planned: bool, changed: bool) -> Iterator[str]:
    changes, name = what.plan.changes, shlex.quote(order.component)
    rows = [
        (each.action.value, each.layer.value, each.path, each.why)
        for each in changes
        if planned or each.writes or each.stops
    ]
    yield from aligned(rows, indent="")
    for layer, why in what.left_out.items():
        yield f"left out: {layer}: {why}"
    for layer, objections in what.objections.items():
        whole = "everything" if layer is Layer.BASE else layer.value
        yield f"review: nothing of {whole} is laid down:"
        yield from (f"  {each.place}: {each.channel}: {each.says}" for each in objections)
    if what.plan.in_the_way:
        yield "nothing was laid down: settle what is listed as edited or conflict"
        yield f"keep a file as yours: twice scaffold {name} --eject PATH"
        yield f"take the new one, the old one archived: twice scaffold {name} --replace"
        yield f"see both sides in the file: twice scaffold {name} --conflicts"
    elif not what.may_be_applied:
        yield "nothing was laid down"
    elif planned and any(each.writes for each in what.plan.changes):
        yield f"lay it down: twice scaffold {name}"
    else:
        yield _done(what, changed=changed)


def _done(what: Prepared, *, changed: bool) -> str:
    counts = Counter(each.action.value for each in what.plan.changes if each.writes)
    said = ", ".join(f"{number} {action}" for action, number in sorted(counts.items()))
    if not changed:
        return "nothing to do: everything is laid down as the sheets say"
    return f"laid down: {said or 'the lock'}; next: python -m pytest"


def _document(what: Prepared, order: Order, *, applied: bool, changed: bool) -> Mapping[str, Any]:
    return {
        "format": FORMAT,
        "component": order.component,
        "applied": applied,
        "changed": changed,
        "regions": [
            {
                "path": each.path,
                "region": each.name,
                "layer": each.layer.value,
                "mode": each.mode.value,
                "action": each.action.value,
                "why": each.why,
            }
            for each in what.plan.changes
        ],
        "left_out": {layer.value: why for layer, why in what.left_out.items()},
        "review": {
            layer.value: [
                {
                    "channel": each.channel.value,
                    "critical": each.critical,
                    "place": each.place,
                    "says": each.says,
                }
                for each in objections
            ]
            for layer, objections in what.objections.items()
        },
    }
