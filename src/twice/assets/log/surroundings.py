"""Where an asset was rendered, and how to render it again.

Invariant: a recipe is an argument list and files by digest; nothing here is run by reading it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twice.assets.log.declaring import Known, Need, declare, many, table
from twice.assets.log.kinds import SHA256, Number, Text, Verbatim

INSIDE = Text(
    "a relative path that stays inside its folder",
    "^(?!/)(?![\\s\\S]*(?:^|/)[.][.](?:/|$))[^\\u0000-\\u001f\\\\]+(?![\\s\\S])",
    4096,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """The processor: architecture, and the instruction sets that kernels may choose by."""

    arch: str | None = declare(Text("an architecture such as x86_64"), Need.ALWAYS, "its kind")
    model: str | None = declare(Text(), Need.OPTIONAL, "its name")
    features: tuple[str, ...] | None = declare(
        many(Text("a feature such as avx2")), Need.OPTIONAL, "its instruction sets"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """The accelerator and its driver."""

    name: str | None = declare(Text("an accelerator's name"), Need.ALWAYS, "its name")
    driver: Known[str] = declare(Text("a version that is pinned"), Need.PROMISED, "its driver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Font:
    """A font that was drawn with."""

    name: str | None = declare(Text("a font's name"), Need.ALWAYS, "its name")
    sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of its file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The machine and the software that rendered."""

    os: Known[str] = declare(Text("a system with its version"), Need.PROMISED, "the system")
    cpu: Known[Cpu] = declare(Cpu, Need.PROMISED, "the processor")
    gpu: Known[Gpu] = declare(Gpu, Need.PROMISED, "the accelerator")
    threads: Known[int] = declare(
        Number("a number of threads of at least 1", 1, 10**6, whole=True), Need.PROMISED,
        "how many threads rendered",
    )  # fmt: skip
    packages: Known[Mapping[str, str]] = declare(
        table(Text("a version that is pinned")), Need.PROMISED, "versions by package or program"
    )
    fonts: Known[tuple[Font, ...]] = declare(
        many(Font), Need.PROMISED, "fonts that were drawn with"
    )
    locale: Known[str] = declare(Text("a locale such as C.UTF-8"), Need.PROMISED, "the locale")
    timezone: Known[str] = declare(
        Text("a time zone such as UTC"), Need.OPTIONAL, "the time zone", excusable=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file that a recipe reads, relative to the folder that it runs in.

    What lies outside of the store, such as a library of instruments, says where; its digest decides.
    """

    path: str | None = declare(INSIDE, Need.ALWAYS, "its path")
    sha256: str | None = declare(SHA256, Need.ALWAYS, "its sha256")
    found_at: str | None = declare(Text(longest=4096), Need.OPTIONAL, "where it lay outside")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A command that renders the asset again."""

    argv: tuple[str, ...] | None = declare(
        many(Verbatim("an argument"), 1), Need.ALWAYS, "the program and its arguments"
    )
    inputs: Known[tuple[Input, ...]] = declare(
        many(Input), Need.PROMISED, "the files that it reads"
    )
    env: Mapping[str, str] | None = declare(
        table(Verbatim("a variable's value")), Need.OPTIONAL, "environment variables, and no others"
    )
    output: str | None = declare(INSIDE, Need.ALWAYS, "the file that it writes")
    timeout_s: float | None = declare(
        Number("a time limit above 0 seconds", 0.001, 10**7), Need.OPTIONAL, "the time limit"
    )
