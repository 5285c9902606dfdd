"""What follows from a report, as a value that scripts and agents read: an act, and the command for it."""

from __future__ import annotations

from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass


@dataclass(frozen=True)
class NextStep:
    """A step that a report proposes.

    Attributes:
        action: what to do, in the imperative.
        command: of ``twice``, to type; text output prints it alone.
        channel: of the difference that the step is about, or None.
        is_optional: whether a short text may leave it out.
    """

    action: str
    command: str
    channel: Channel | None = None
    is_optional: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the step with the sheet that answers for it and the gate's checks that judge it."""
        facts = None if self.channel is None else self.channel.facts
        return {
            "action": self.action,
            "sheet": "" if facts is None else facts.artifact,
            "command": self.command,
            "checks": [] if facts is None else [facts.check],
        }
