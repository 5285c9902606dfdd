"""What a record says at its end: everything that is only known when the run is over.

Invariant: the closed-world manifest counts every read that went through the effects layer.
"""

from __future__ import annotations

import os
from contextlib import suppress

from twice.errors import ProgramNotFound
from twice.recorder.audit.inventory import whole_inventory
from twice.recorder.effects.actors import outside
from twice.recorder.environment.fingerprint import numerics_at_end, settings_at_end
from twice.recorder.environment.versions import list_imported_libraries
from twice.recorder.program import (
    is_user_file,
    linked_modules,
    source_digests,
    sourceless_modules,
    user_modules,
)
from twice.recorder.session import Session


def describe_ending(session: Session) -> dict[str, object]:
    """Describe a run that is over: manifest, streams, source files and configuration keys."""
    streams = session.wiring.streams
    manifest = session.wiring.layer.manifest()
    folder = session.setup.program.folder()
    root = folder.resolve()
    files = [path for path in user_modules() if is_user_file(str(path))]
    files += [*linked_modules(folder), *sourceless_modules()]
    if session.setup.program.kind in {"function", "script"}:
        with suppress(ProgramNotFound):  # It may be gone by now; the identity has its digest.
            files.append(session.setup.program.path())
    return {
        "ticks": session.tick + 1,
        "points": session.point_count,
        "effects": manifest,
        "inventory": whole_inventory(session.wiring.inventory, manifest, session.setup, os.environ),
        "streams": streams.ledger(),
        "globals_used": streams.globals_used(),
        "components": {
            name: component.form for name, component in session.points.components.items()
        },
        **_tracked_twice(session),
        **_tolerances(session),
        "files": source_digests(dict.fromkeys(files), root),
        "imported": list_imported_libraries(),
        "config_unread": session.config.keys_unread,
        "printed": session.wiring.output.summary(),
        "settings": settings_at_end(),
        "lineages": dict(sorted(session.wiring.layer.main.started.items())),
        "numerics": outside(numerics_at_end),  # what is looked up here is no read of the run
    }


def _tolerances(session: Session) -> dict[str, object]:
    """Return the tolerances in force, by name; nothing if bytes decide everything."""
    within = {**session.tolerances, **session.compared_within}
    told = {name: own.to_json() for name, own in sorted(within.items())}
    return {"tolerances": told} if told else {}


def _tracked_twice(session: Session) -> dict[str, object]:
    """Return the names under which one object was tracked more than once; nothing if there is none."""
    names: dict[int, list[str]] = {}
    for name, component in session.points.components.items():
        names.setdefault(id(component.target), []).append(name)
    several = [each for each in names.values() if len(each) > 1]
    return {"tracked_twice": several} if several else {}
