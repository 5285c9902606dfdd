"""The determinism log: one document for one asset, as pydantic models.

A field is None where nobody said anything yet. A seed is text, so that no reader of JSON rounds one of 64 bits. A recipe
is an argument list and files by digest; reading it runs nothing. Whether a log is good enough is for the gate.

Invariant: a log is about one payload, and has one render block, of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from annotated_types import MinLen

from twice.assets.log.block import (
    Known,
    LogBlock,
    Mode,
    always,
    marked,
    optional,
    promised,
    value_of,
)
from twice.assets.log.kinds import (
    END,
    Bits,
    Count,
    Digest,
    Fault,
    Figure,
    InsidePath,
    Instant,
    NumberKind,
    Position,
    SeedText,
    Sha256,
    Text,
    TextKind,
    Verbatim,
    Version,
)
from twice.assets.log.renders import ArtRender, AudioRender

FORMAT: Final = "twice.determinism-log/1"
SUFFIX: Final = ".detlog.json"
"""What the file name of a sidecar ends with, after the log's id."""
WhyCode: TypeAlias = Literal[
    "hosted-provider", "no-seed", "model-retired", "made-by-hand", "thread-order", "outside-input",
    "other",
]  # fmt: skip
WHY_CODES: Final[tuple[str, ...]] = get_args(WhyCode)


class AssetKind(StrEnum):
    """What sort of asset a log is about; each has its render block of the same name."""

    ART = "art"
    AUDIO = "audio"


class Grade(StrEnum):
    """How alike a second rendering has to be, strictest first."""

    BYTES = "bytes"
    PAYLOAD = "payload"
    TOLERANCE = "tolerance"


class Endpoint(StrEnum):
    """Where a provider runs."""

    LOCAL = "local"
    HOSTED = "hosted"


class EvidenceLevel(StrEnum):
    """How a value came to be known, strongest first."""

    RECORDED = "recorded"
    IMPORTED = "imported"
    DECLARED = "declared"


class RerenderOutcome(StrEnum):
    """What a re-rendering came to."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    CANNOT_JUDGE = "cannot-judge"


class Producer(LogBlock):
    """Who made it: the role in the production, and a name or tool where that is wanted."""

    role: Text | None = always("the producer's role, such as illustrator")
    name: Text | None = optional("the producer's name")
    tool: Text | None = optional("the program that wrote the log")


class Payload(LogBlock):
    """What stays when a file is renamed or tagged anew: pixels, samples or packets."""

    method: Annotated[str, TextKind(
        "a payload method such as pixels-rgba8/1", f"^[a-z0-9][a-z0-9-]*/[1-9][0-9]*{END}"
    )] | None = always("how the payload is taken out")  # fmt: skip
    digest: Digest | None = always("the digest of the payload")


class Measured(LogBlock):
    """What was measured from the delivered file itself, whatever the session says."""

    width_px: Known[Count] = optional("the width of the image")
    height_px: Known[Count] = optional("the height of the image")
    mode: Known[Text] = optional("the pixel mode, such as RGB")
    duration_s: Known[Annotated[float, NumberKind(0, 10**9)]] = optional("the duration")
    sample_rate_hz: Known[Count] = optional("the sample rate")
    bit_depth: Known[Bits] = optional("the bit depth")
    channels: Known[Annotated[int, NumberKind(1, 65535, whole=True)]] = optional(
        "the number of channels"
    )
    loudness_lufs: Known[Annotated[float, NumberKind(-200, 50)]] = optional(
        "the integrated loudness in LUFS"
    )
    true_peak_dbtp: Known[Annotated[float, NumberKind(-1000, 100)]] = optional(
        "the true peak in dBTP"
    )
    decoder: Text | None = optional("the libraries that read the file, with their versions")


class Asset(LogBlock):
    """The file in the hot store. It is known by its payload; its name and the bytes of its file may change."""

    file: Annotated[str, TextKind(
        "a file name without folders",
        f"^(?![.]{{1,2}}{END})[^/\\\\\\u0000-\\u001f]{{1,255}}{END}", 255,
    )] | None = always("the name of the file")  # fmt: skip
    media_type: Annotated[str, TextKind(
        "a media type such as image/png", f"^[a-z]+/[A-Za-z0-9.+-]+{END}"
    )] | None = always("the media type")  # fmt: skip
    size_bytes: Annotated[int, NumberKind(1, whole=True)] | None = always("the size of the file")
    file_sha256: Sha256 | None = always("the sha256 of the file")
    payload: Payload | None = always("the payload")
    measured: Measured | None = always("what was measured from the file")


class Profile(LogBlock):
    """A tolerance: its name, and the limit of each metric that it judges by."""

    name: Text | None = always("its name, such as image-stochastic")
    limits: dict[str, Figure] | None = optional("the limit of each metric")


class Promise(LogBlock):
    """What is promised: that the asset can be made again, to which grade; or why not. Each has its own obligations."""

    mode: Mode | None = always("deterministic or non-deterministic")
    grade: Grade | None = promised("how alike a second rendering has to be")
    profile: Profile | None = optional("the tolerance that grade tolerance means")
    why: Text | None = marked("why it is not deterministic, as a sentence")
    why_code: WhyCode | None = marked("the same as a code")
    constraints: Annotated[tuple[Text, ...], MinLen(1)] | None = marked(
        "what keeps it consistent without a promise"
    )
    decided_by: Text | None = optional("who decided")
    basis: Text | None = optional("the plan that asks for it")

    @classmethod
    def find_faults(cls, said: Mapping[str, Any], mode: str) -> dict[str, Fault]:
        """Ask for the profile that a tolerance means, besides."""
        is_tolerant = said.get("grade") == Grade.TOLERANCE and "profile" not in said
        return super().find_faults(said, mode) | ({"profile": Fault.MISSING} if is_tolerant else {})


class Provider(LogBlock):
    """Who rendered: a service, a program or a workstation."""

    name: Text | None = always("the provider's name")
    endpoint: Endpoint | None = always("whether it runs here or is a service")
    request_id: Text | None = optional("the service's name of the request")


class Adapter(LogBlock):
    """What changes a model: LoRA, VAE, ControlNet, upscaler, embedding."""

    kind: Literal["lora", "vae", "controlnet", "upscaler", "embedding", "other"] | None = always(
        "its kind"
    )
    name: Text | None = always("the adapter's name")
    version: Text | None = optional("its version")
    sha256: Known[Sha256] = promised("the sha256 of its file")
    weight: Annotated[float, NumberKind(-1000, 1000)] | None = optional("its weight")


class Model(LogBlock):
    """The model, program or engine that made the asset."""

    name: Known[Text] = promised("the model's name")
    version: Known[Version] = promised("its version")
    sha256: Known[Sha256] = promised("the sha256 of its file")
    adapters: Known[tuple[Adapter, ...]] = promised("what changes it, in order")


class SeedAt(LogBlock):
    """The seed of one step of a pipeline or one image of a batch."""

    step: Text | None = optional("the step")
    batch_index: Position | None = optional("the position in the batch")
    requested: Known[SeedText] = optional("the seed asked for")
    effective: SeedText | None = always("the seed that was used")


class Seeds(LogBlock):
    """Seeds: asked for, and used."""

    requested: Known[SeedText] = promised("the seed asked for")
    effective: Known[SeedText] = promised("the seed that was used")
    each: tuple[SeedAt, ...] | None = optional("the seeds of steps or of a batch")


class Cpu(LogBlock):
    """The processor: architecture, and the instruction sets that kernels may choose by."""

    arch: Text | None = always("its architecture, such as x86_64")
    model: Text | None = optional("its name")
    features: tuple[Text, ...] | None = optional("its instruction sets, such as avx2")


class Gpu(LogBlock):
    """The accelerator and its driver."""

    name: Text | None = always("the accelerator's name")
    driver: Known[Version] = promised("its driver")


class Font(LogBlock):
    """A font that was drawn with."""

    name: Text | None = always("the font's name")
    sha256: Known[Sha256] = promised("the sha256 of its file")


class Environment(LogBlock):
    """The machine and the software that rendered."""

    os: Known[Text] = promised("the system with its version")
    cpu: Known[Cpu] = promised("the processor")
    gpu: Known[Gpu] = promised("the accelerator")
    threads: Known[Annotated[int, NumberKind(1, 10**6, whole=True)]] = promised(
        "how many threads rendered"
    )
    packages: Known[dict[str, Version]] = promised("versions by package or program")
    fonts: Known[tuple[Font, ...]] = promised("fonts that were drawn with")
    locale: Known[Text] = promised("the locale, such as C.UTF-8")
    timezone: Known[Text] = optional("the time zone, such as UTC")


class Input(LogBlock):
    """A file that a recipe reads, relative to the folder that it runs in.

    What lies outside of the store, such as a library of instruments, says where; its digest decides.
    """

    path: InsidePath | None = always("its path")
    sha256: Sha256 | None = always("its sha256")
    found_at: Text | None = optional("where it lay outside")


class Recipe(LogBlock):
    """A command that renders the asset again: an argument list and files by digest. Reading it runs nothing."""

    argv: Annotated[tuple[Verbatim, ...], MinLen(1)] | None = always(
        "the program and its arguments"
    )
    inputs: Known[tuple[Input, ...]] = promised("the files that it reads")
    env: dict[str, Verbatim] | None = optional("environment variables, and no others")
    output: InsidePath | None = always("the file that it writes")
    timeout_s: Annotated[float, NumberKind(0.001, 10**7)] | None = optional(
        "the time limit in seconds"
    )


class LogEvidence(LogBlock):
    """Where one value, or everything below one JSON pointer, comes from.

    Recorded names the run record; imported names file, its digest and the chunk; declared names who said it and when.
    The gate asks for what belongs to the level.
    """

    level: EvidenceLevel | None = always("how it is known")
    record: Text | None = optional("the run record, for recorded")
    file: Text | None = optional("the file, for imported")
    sha256: Sha256 | None = optional("the digest of that file or record")
    chunk: Text | None = optional("the place in that file")
    who: Text | None = optional("the person, for declared")
    when: Instant | None = optional("the time")


class RerenderVerdict(LogBlock):
    """What one re-rendering came to."""

    when: Instant | None = always("when it was rendered again")
    machine: Text | None = always("where")
    outcome: RerenderOutcome | None = always("what it came to")
    grade: Literal["bytes", "payload", "tolerance", "different"] | None = optional(
        "the strictest grade that every run reached"
    )
    runs: Annotated[int, NumberKind(1, 10**6, whole=True)] | None = optional("how often")
    metrics: dict[str, Figure] | None = optional("the worst figures")
    artefacts: tuple[Digest, ...] | None = optional("digests of what was rendered")
    reason: Text | None = optional("why, in words")


class DeterminismLog(LogBlock):
    """One log. A field is None where nobody said anything yet; ``to_document`` leaves it out."""

    format: Literal["twice.determinism-log/1"] | None = always("the version of the format")
    log_id: Annotated[str, TextKind(
        "a name of letters, digits, - and _", f"^[A-Za-z0-9][A-Za-z0-9_-]{{2,99}}{END}", 100
    )] | None = always("the log's name")  # fmt: skip
    work_unit: Annotated[str, TextKind(
        "a work unit's name", f"^[A-Za-z0-9][A-Za-z0-9._-]{{0,99}}{END}", 100
    )] | None = always("the work unit that the asset was made in")  # fmt: skip
    kind: AssetKind | None = always("art or audio")
    created: Instant | None = always("when the log was written")
    producer: Producer | None = always("who made the asset")
    nonce: Annotated[str, TextKind(
        "32 lower-case hex digits, drawn by chance", f"^[0-9a-f]{{32}}{END}", 32
    )] | None = always("what keeps a public commitment from being guessed")  # fmt: skip
    revision: Annotated[int, NumberKind(1, whole=True)] | None = always("the revision")
    supersedes: Digest | None = optional(
        "the digest of the revision before; needed from revision 2 on"
    )
    asset: Asset | None = always("the file that it is about")
    promise: Promise | None = always("what is promised")
    provider: Provider | None = always("who rendered")
    model: Known[Model] = promised("the model or engine")
    seed: Known[Seeds] = promised("the seeds")
    art: ArtRender | None = promised("the image")
    audio: AudioRender | None = promised("the sound")
    environment: Known[Environment] = promised("the surroundings")
    recipe: Known[Recipe] = promised("the command that renders it again")
    evidence: dict[str, LogEvidence] | None = always("where values come from, by JSON pointer")
    verdicts: tuple[RerenderVerdict, ...] | None = optional("what re-rendering came to")

    @property
    def deterministic(self) -> bool:
        """Whether the asset is promised to be deterministic."""
        return self.promise is not None and self.promise.mode is Mode.DETERMINISTIC

    @classmethod
    def find_faults(cls, said: Mapping[str, Any], mode: str) -> dict[str, Fault]:
        """Ask for the render block of the asset's kind alone, and for the revision before a later one."""
        faults, kind, revision = (
            super().find_faults(said, mode),
            said.get("kind"),
            said.get("revision"),
        )
        for other in (each for each in AssetKind if each != kind):
            if other not in said:
                faults.pop(other, None)
            elif kind in list(AssetKind):
                faults[other] = Fault.UNEXPECTED
        if isinstance(revision, int | float) and revision > 1 and "supersedes" not in said:
            faults["supersedes"] = Fault.MISSING
        return faults

    @property
    def last_verdict(self) -> RerenderVerdict | None:
        """The last re-rendering that could be judged."""
        undecided = {None, RerenderOutcome.CANNOT_JUDGE}
        judged = [each for each in self.verdicts or () if each.outcome not in undecided]
        return max(judged, key=lambda each: each.when or "", default=None)

    def get(self, pointer: str) -> Any:
        """Give the value of a field of blocks; None for a reason, or where nobody said anything."""
        found: Any = self
        for name in pointer.split("/")[1:]:
            found = value_of(getattr(found, name, None))
        return found


def find_evidence(log: DeterminismLog, pointer: str) -> tuple[str, LogEvidence] | None:
    """Find the entry that speaks of a value, with its own pointer: the value's own, or the nearest above it."""
    evidence = log.evidence or {}
    while pointer not in evidence:
        if not pointer:
            return None
        pointer = pointer.rpartition("/")[0]
    return pointer, evidence[pointer]
