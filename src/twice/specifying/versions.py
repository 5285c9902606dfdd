"""Versions of sheets: major.minor.patch, and which step a change needs.

Invariant: a change that breaks the class is a major step; a change of 01 always is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self


class Step(IntEnum):
    """How far a version moves; ordered."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def word(self) -> str:
        """As the command line says it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """major.minor.patch."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a version that a sheet was read with, so that it is known to be one."""
        major, minor, patch = map(int, text.split("."))
        return cls(major, minor, patch)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def after(self, step: Step) -> Version:
        """Give the version that a step leads to."""
        match step:
            case Step.MAJOR:
                return Version(self.major + 1, 0, 0)
            case Step.MINOR:
                return Version(self.major, self.minor + 1, 0)
            case Step.PATCH:
                return Version(self.major, self.minor, self.patch + 1)
            case _:
                return self

    def step_from(self, before: Version) -> Step:
        """Say which step leads here from an earlier version; NONE from the same or a later one."""
        if self <= before:
            return Step.NONE
        if self.major != before.major:
            return Step.MAJOR
        return Step.MINOR if self.minor != before.minor else Step.PATCH
