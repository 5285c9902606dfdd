"""What was found inside of a step: a value for the verdict.

Invariant: ``outcome`` is ``operation`` exactly if an operation is blamed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from twice.diagnosis.text_layout import cut, describe_field, fold, name_place
from twice.foundation.comparison import FieldDifference
from twice.foundation.dataclass import dataclass

InsideOutcome = Literal["operation", "outside", "unwritten", "other-operations", "agree", "unknown"]
_VALUES_MAX = 2


@dataclass(frozen=True)
class OperationInside:
    """The operation of a library that first gave other results for equal inputs, or why none is blamed.

    Attributes:
        outcome: ``operation``; ``outside``: data that differs came from outside of the library; ``unwritten``: memory
            was read that nothing had written; ``other-operations``: the sides make other operations; ``agree``: all
            operations agree; ``unknown``: the bytes of the inputs could not be read.
        name: the operation, or the one at which the outcome showed: ``aten.linalg_qr.default``.
        number: of it among the traced operations of side a, from 0.
        module: path of the module that ran it: ``Policy.net.0``; empty outside of modules.
        file: of the user's line; empty where it is not known. In a backward pass, of the forward operation's line.
        line: of it, from 1.
        caller: ``file:line`` of the innermost code outside of the library.
        backward: the pass that it is part of, as ``AddmmBackward0``; empty in a forward pass.
        values: how its results differ.
        factor: the difference of the surroundings that makes it, by experiment; empty where none was found.
        sentence: what was seen.
        notes: what was not traced, and what else differs.
        is_from_before: whether what differs may come from before the interval that was traced.
    """

    outcome: InsideOutcome
    name: str = ""
    number: int = 0
    module: str = ""
    file: str = ""
    line: int = 0
    caller: str = ""
    backward: str = ""
    values: Sequence[FieldDifference] = ()
    factor: str = ""
    sentence: str = ""
    notes: Sequence[str] = ()
    is_from_before: bool = False

    @classmethod
    def from_captured(
        cls, outcome: InsideOutcome, captured: Mapping[str, str], **found: object
    ) -> OperationInside:
        """Build it from what a trace captured of one operation."""
        file, _, line = captured.get("line", "").rpartition(":")
        place = {"file": file, "line": int(line or 0), "caller": captured.get("caller", "")}
        module, node = captured.get("module", ""), captured.get("node", "")
        return cls(outcome, captured["name"], module=module, backward=node, **place, **found)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, object]:
        """As ``operation_inside``."""
        return {
            "outcome": self.outcome,
            "name": self.name,
            "number": self.number,
            "module": self.module,
            "file": self.file,
            "line": self.line,
            "caller": self.caller,
            "backward": self.backward,
            "values": [value.to_json() for value in self.values],
            "factor": self.factor,
            "sentence": self.sentence,
            "notes": list(self.notes),
        }

    def to_lines(self) -> list[str]:
        """For people."""
        if self.outcome != "operation":
            return fold(f"  inside: {self.sentence}")
        lines = fold(f"  inside: {self.name}{self.describe_place()}")
        for value in self.values[:_VALUES_MAX]:
            lines += [f"    {line}" for line in describe_field(value)]
        if self.factor:
            lines += fold(f"      made by: {self.factor}")
        return [cut(line) for line in lines]

    def describe_place(self) -> str:
        """Return module, pass and line as the end of a sentence."""
        parts = [f" in {self.module}"] if self.module else []
        parts += [f", backward ({self.backward})"] if self.backward else []
        parts += [f", at {name_place(self.file, self.line)}"] if self.line else []
        own = f"{self.file}:{self.line}"
        parts += [f", through {self.caller}"] if self.caller not in {"", own} else []
        return "".join(parts)
