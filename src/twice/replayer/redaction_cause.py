"""The effect of redaction on a result: the redacted places, and when they can be the cause.

A replay gives the program a placeholder for each secret that the record does not contain. A program that passes the
value on does the same with a placeholder. A program that computes with it may not, and twice cannot know what the
real value would do. Such a difference does not count as a failure of the program.

Invariant: every sentence names rules and places, never a value.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from twice.errors import RedactionNeeded
from twice.foundation.printable import pluralize
from twice.recorder.record_form import ERRORS, OUTPUT, Redacted
from twice.recorder.redaction.redaction import ASKED, SENT
from twice.recorder.runrecord import RunRecord
from twice.replayer.replay_job import stand_ins_of

_NOT_GIVEN = frozenset({ASKED, SENT, OUTPUT, ERRORS, "ending", "surroundings"})
"""Places whose redacted values a replay does not pass to the program."""


def find_redaction_cause(record: RunRecord, until: int, absent: Collection[str]) -> str:
    """Return why a difference may come from redaction alone, in sentences; empty when it cannot.

    Args:
        record: the replayed record.
        until: index of the compare-point that differs; later ones do not count.
        absent: variables whose values are placeholders in the replay.
    """
    # Secrets that this account still has are given to the replay as they were; only the others can matter.
    missing = {*absent, *(name for name in stand_ins_of(record) if name not in os.environ)}
    found = [one for one in record.redactions() if one.point <= until]
    given = _count_by_rule([one for one in found if one.where not in _NOT_GIVEN])
    named = {one.rule for one in found}
    gone = sorted(name for name in missing if name in absent or f"variable {name}" in named)
    gone_rules = {f"variable {name}" for name in gone}
    parts = [f"{rule} ({what})" for rule, what in given.items() if rule not in gone_rules]
    parts += [f"variable {name} (not there with the recorded value)" for name in gone]
    if not parts:
        return ""
    rules = sorted({rule.partition(" ")[0] for rule in given} - {"variable", "pattern"})
    remedies = [f"set {name} as it was" for name in gone]
    remedies += [f"record again with --no-redact {rule}" for rule in rules]
    remedies = remedies or ["record again without that pattern or name"]
    needed = RedactionNeeded(
        f"The run differs after the program was given stars in place of secrets: {', '.join(parts)}.",
        "Expected a program that passes such values on and does not compute with them. It is unknown"
        " whether it would replay with the values.",
        f"{remedies[0][0].upper()}{', or '.join(remedies)[1:]}, if the record may be as private as"
        " the secret.",
    )
    return f"{needed.id} {needed.happened} {needed.expected} {needed.remedy}"


def list_redaction_notes(record: RunRecord, absent: Collection[str] = ()) -> list[str]:
    """Return notes about blanked values for a reader of a result."""
    notes = []
    if blanked := _count_by_rule(record.redactions()):
        counted = ", ".join(f"{rule} ({what})" for rule, what in blanked.items())
        notes.append(f"blanked by redaction, and not compared: {counted}")
    if absent:
        notes.append(
            f"given as stars, because the recorded value is not there: {', '.join(sorted(absent))}"
        )
    return notes


def _count_by_rule(found: list[Redacted]) -> dict[str, str]:
    """Return how often and where something was blanked, by rule, in words."""
    counts: dict[str, dict[str, int]] = {}
    for one in found:
        places = counts.setdefault(one.rule, {})
        places[one.where] = places.get(one.where, 0) + one.count
    return {
        rule: ", ".join(
            f"{where} {pluralize(count, 'time')}" for where, count in sorted(places.items())
        )
        for rule, places in sorted(counts.items())
    }
