"""How an image or a sound was rendered: everything that decides what it is like, beside model and seed.

Invariant: sizes, rates and loudness here are what was asked for; what the file has is measured, in the asset's block.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Strict

from twice.assets.log.block import Known, LogBlock, always, optional, promised
from twice.assets.log.kinds import (
    END,
    Bits,
    Count,
    NumberKind,
    Position,
    Scalar,
    Sha256,
    Strength,
    Text,
    TextKind,
    Version,
)


class Workflow(LogBlock):
    """The generation pipeline: by name, by digest, or as the exact text that was embedded.

    The text is kept as text: a graph holds whole numbers that canonical JSON cannot write.
    """

    name: Text | None = always("the workflow's name")
    sha256: Known[Sha256] = promised("the sha256 of its text or file")
    text: Text | None = optional("its exact text")


class PostProcess(LogBlock):
    """One tool of the chain that an image goes through after generation."""

    tool: Text | None = always("the tool's name")
    version: Known[Version] = promised("its version")
    args: dict[str, Scalar] | None = optional("its arguments")


class ArtRender(LogBlock):
    """Everything that decides what an image looks like, beside model and seed."""

    prompt: Known[Text] = promised("the prompt")
    prompt_version: Text | None = optional("the prompt's version")
    negative_prompt: Known[Text] = promised("the negative prompt")
    width_px: Known[Count] = promised("the width asked for")
    height_px: Known[Count] = promised("the height asked for")
    aspect_ratio: Known[Annotated[str, TextKind(
        "two whole numbers such as 16:9", f"^[1-9][0-9]{{0,8}}:[1-9][0-9]{{0,8}}{END}"
    )]] = promised("the aspect ratio")  # fmt: skip
    workflow: Known[Workflow] = promised("the generation pipeline")
    steps: Known[Count] = promised("the steps")
    guidance: Known[Strength] = promised("the guidance scale")
    style_strength: Known[Strength] = optional("the style strength")
    sampler: Known[Text] = promised("the sampler's name")
    scheduler: Known[Text] = promised("the scheduler's name")
    denoise: Known[Annotated[float, NumberKind(0, 1)]] = promised("the denoising strength")
    dtype: Known[Text] = promised("the number type, such as float16")
    attention: Known[Text] = promised("the attention backend")
    rng_device: Known[Text] = promised("where random numbers were drawn, such as cpu")
    batch_index: Known[Position] = promised("the position in the batch")
    batch_size: Known[Count] = promised("the batch size")
    post: Known[tuple[PostProcess, ...]] = promised("the post-process chain, in order")
    settings: dict[str, Scalar] | None = optional("further settings by name")


class SoundSource(LogBlock):
    """The voice or the instrument library: its id or name, and its file's digest."""

    kind: Literal["voice", "instrument", "synthesis", "recording"] | None = always("what sounds")
    name: Text | None = always("a voice id or a library's name")
    version: Known[Version] = promised("its version")
    sha256: Known[Sha256] = promised("the sha256 of its file")


class Daw(LogBlock):
    """The workstation and its project file."""

    name: Text | None = always("the workstation's name")
    version: Known[Version] = promised("its version")
    project_sha256: Known[Sha256] = promised("the sha256 of the project file")


class Plugin(LogBlock):
    """One plugin of the effect chain. A bypassed one changes nothing and needs no version."""

    name: Text | None = always("the plugin's name")
    format: Text | None = optional("its format, such as VST3")
    version: Known[Version] = optional("its version")
    preset: Known[Text] = optional("its preset's name")
    state_sha256: Known[Sha256] = optional("the sha256 of its state")
    settings: dict[str, Scalar] | None = optional("its settings by name")
    bypass: Annotated[bool, Strict()] | None = optional("whether it was bypassed")
    track: Text | None = optional("the track that it sits on")


class Loudness(LogBlock):
    """What normalisation aims at. No sound is as loud as -5 LUFS on average, so -1 is no target."""

    target_lufs: Known[Annotated[float, NumberKind(-70, -5)]] = promised("the target in LUFS")
    true_peak_max_dbtp: Known[Annotated[float, NumberKind(-60, 6)]] = optional(
        "the ceiling in dBTP"
    )


class Stem(LogBlock):
    """A part that was mixed in."""

    file: Text | None = always("its file's name")
    sha256: Known[Sha256] = promised("the sha256 of its file")


class Export(LogBlock):
    """How the delivered file was encoded; rate and depth where they are not the session's."""

    encoder: Text | None = always("the encoder's name")
    version: Known[Version] = promised("its version")
    args: dict[str, Scalar] | None = optional("its arguments")
    sample_rate_hz: Known[Count] = optional("the delivered sample rate")
    bit_depth: Known[Bits] = optional("the delivered bit depth")


class AudioRender(LogBlock):
    """Everything that decides what a sound is like, beside model and seed."""

    source: Known[SoundSource] = promised("the voice or instrument library")
    text: Text | None = optional("what a voice says, or the prompt")
    production: Known[Literal["real", "synthetic", "hybrid"]] = promised(
        "real, synthetic or hybrid"
    )
    daw: Known[Daw] = promised("the workstation")
    tempo_bpm: Known[Annotated[float, NumberKind(0.001, 10**6)]] = promised(
        "the tempo in beats per minute"
    )
    key: Known[Text] = promised("the key, such as D minor")
    time_signature: Known[Annotated[str, TextKind(
        "a time signature such as 6/8", f"^[1-9][0-9]{{0,3}}/[1-9][0-9]{{0,3}}{END}"
    )]] = promised("the time signature")  # fmt: skip
    chain: Known[tuple[Plugin, ...]] = promised("the effect chain, in order")
    automation: Known[Text] = optional("automation, levels and routing")
    session_sample_rate_hz: Known[Count] = promised("the session's sample rate")
    session_bit_depth: Known[Bits] = promised("the session's bit depth")
    dither: Known[Text] = promised("the kind of dither")
    loudness: Known[Loudness] = promised("the normalisation")
    presets: Known[dict[str, Scalar]] = promised("presets and key settings by name")
    stems: Known[tuple[Stem, ...]] = optional("the parts that were mixed in")
    export: Known[Export] = promised("how the file was encoded")
