"""How a sound was rendered.

Invariant: rates, depths and loudness here are the session's and the target's; what the file has is
measured, in the asset's block, and the gate compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twice.assets.log.declaring import Known, Need, declare, many, table
from twice.assets.log.kinds import SHA256, Choice, Flag, Number, Setting, Text

RATE = Number("a sample rate in Hz of at least 1", 1, 10**9, whole=True)
DEPTH = Number("a bit depth from 1 to 64", 1, 64, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The voice or the instrument library: its id or name, and its file's digest."""

    kind: str | None = declare(
        Choice(("voice", "instrument", "synthesis", "recording")), Need.ALWAYS, "what sounds"
    )
    name: str | None = declare(Text("a voice id or a library's name"), Need.ALWAYS, "its name")
    version: Known[str] = declare(Text("a version that is pinned"), Need.PROMISED, "its version")
    sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of its file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Daw:
    """The workstation and its project file."""

    name: str | None = declare(Text("a workstation's name"), Need.ALWAYS, "its name")
    version: Known[str] = declare(Text("a version that is pinned"), Need.PROMISED, "its version")
    project_sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of the project file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One plugin of the effect chain. A bypassed one changes nothing and needs no version."""

    name: str | None = declare(Text("a plugin's name"), Need.ALWAYS, "the plugin")
    format: str | None = declare(Text(), Need.OPTIONAL, "its format, such as VST3")
    version: Known[str] = declare(
        Text("a version that is pinned"), Need.OPTIONAL, "its version", excusable=True
    )
    preset: Known[str] = declare(
        Text("a preset's name"), Need.OPTIONAL, "its preset", excusable=True
    )
    state_sha256: Known[str] = declare(
        SHA256, Need.OPTIONAL, "the sha256 of its state", excusable=True
    )
    settings: Mapping[str, str | float | bool] | None = declare(
        table(Setting()), Need.OPTIONAL, "its settings by name"
    )
    bypass: bool | None = declare(Flag(), Need.OPTIONAL, "whether it was bypassed")
    track: str | None = declare(Text(), Need.OPTIONAL, "the track that it sits on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loudness:
    """What normalisation aims at. No sound is as loud as -5 LUFS on average, so -1 is no target."""

    target_lufs: Known[float] = declare(
        Number("a loudness from -70 to -5 LUFS", -70, -5), Need.PROMISED, "the target"
    )
    true_peak_max_dbtp: Known[float] = declare(
        Number("a true peak from -60 to 6 dBTP", -60, 6), Need.OPTIONAL, "the ceiling",
        excusable=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Stem:
    """A part that was mixed in."""

    file: str | None = declare(Text("a file name"), Need.ALWAYS, "its file")
    sha256: Known[str] = declare(SHA256, Need.PROMISED, "the sha256 of its file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """How the delivered file was encoded."""

    encoder: str | None = declare(Text("an encoder's name"), Need.ALWAYS, "the encoder")
    version: Known[str] = declare(Text("a version that is pinned"), Need.PROMISED, "its version")
    args: Mapping[str, str | float | bool] | None = declare(
        table(Setting()), Need.OPTIONAL, "its arguments"
    )
    sample_rate_hz: Known[int] = declare(
        RATE, Need.OPTIONAL, "the delivered sample rate, where it is not the session's",
        excusable=True,
    )  # fmt: skip
    bit_depth: Known[int] = declare(
        DEPTH, Need.OPTIONAL, "the delivered bit depth, where it is not the session's",
        excusable=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioRender:
    """Everything that decides what a sound is like, beside model and seed."""

    source: Known[Source] = declare(Source, Need.PROMISED, "the voice or instrument library")
    text: str | None = declare(Text(), Need.OPTIONAL, "what a voice says, or the prompt")
    production: Known[str] = declare(
        Choice(("real", "synthetic", "hybrid")), Need.PROMISED, "real, synthetic or hybrid"
    )
    daw: Known[Daw] = declare(Daw, Need.PROMISED, "the workstation")
    tempo_bpm: Known[float] = declare(
        Number("a tempo in beats per minute above 0", 0.001, 10**6), Need.PROMISED, "the tempo"
    )
    key: Known[str] = declare(Text("a key such as D minor"), Need.PROMISED, "the key")
    time_signature: Known[str] = declare(
        Text("a time signature such as 6/8", "^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}(?![\\s\\S])"),
        Need.PROMISED, "the time signature",
    )  # fmt: skip
    chain: Known[tuple[Effect, ...]] = declare(
        many(Effect), Need.PROMISED, "the effect chain, in order"
    )
    automation: Known[str] = declare(
        Text(), Need.OPTIONAL, "automation, levels and routing", excusable=True
    )
    session_sample_rate_hz: Known[int] = declare(RATE, Need.PROMISED, "the session's sample rate")
    session_bit_depth: Known[int] = declare(DEPTH, Need.PROMISED, "the session's bit depth")
    dither: Known[str] = declare(Text("a kind of dither"), Need.PROMISED, "the dither")
    loudness: Known[Loudness] = declare(Loudness, Need.PROMISED, "the normalisation")
    presets: Known[Mapping[str, str | float | bool]] = declare(
        table(Setting()), Need.PROMISED, "presets and key settings by name"
    )
    stems: Known[tuple[Stem, ...]] = declare(
        many(Stem), Need.OPTIONAL, "the parts that were mixed in", excusable=True
    )
    export: Known[Export] = declare(Export, Need.PROMISED, "how the file was encoded")
