"""The draft of a log out of a command, its output and what people declare, with evidence for each.

What people declare stands once for all in ``render.toml``, and on the command line; nothing in the file is executed.
For programs without a generative model, fields that only such a model has are excused, each with the reason. Whether
there is a model, a person says or the list of known renderers.

Invariant: what people declare stands over what a run says, and is named as declared. What is measured from the file
is never put down as what a session had.
"""

from __future__ import annotations

import math
import platform
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from twice.assets.log.block import EXCUSE
from twice.assets.log.io import Problem, escape, examine, to_document
from twice.assets.log.kinds import Fault
from twice.assets.log.models import FORMAT, Asset, DeterminismLog
from twice.assets.media.measure import digest_file
from twice.assets.render.command import (
    OUTSIDE,
    RENDERERS,
    RenderJob,
    count_threads,
    find_renderer,
    is_recordable,
)
from twice.assets.render.provenance import ask_version, describe_environment, list_packages
from twice.assets.store.seal import merge_documents
from twice.assets.store.store import Store
from twice.errors import UsageError
from twice.foundation.digests import Algorithm, digest_bytes

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "art": (".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".tif", ".tiff", ".bmp", ".svg"),
    "audio": (
        ".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".aif", ".aiff", ".mid",
    ),
}  # fmt: skip
_FONTS: Final = (".ttf", ".otf", ".ttc", ".woff", ".woff2")
_LIBRARIES: Final = (".sf2", ".sf3", ".sfz", ".dls")
_SEALED: Final = ("/log_id", "/created", "/nonce", "/revision", "/asset", "/format", "/evidence")
_OF_MODELS: Final = (
    "prompt", "negative_prompt", "steps", "guidance", "sampler", "scheduler", "denoise", "dtype",
    "attention", "rng_device",
)  # fmt: skip
_OF_COMMANDS: Final = ("tempo_bpm", "key", "time_signature", "chain", "presets", "dither")
_NO_MODEL: Final = {EXCUSE: "a program rendered it, no generative model"}
_INSIDE: Final = {EXCUSE: "the command decides it, and its inputs are logged by digest"}
_NO_SESSION: Final = {EXCUSE: "no session: the command writes the delivered file"}
_NO_WORKSTATION: Final = {EXCUSE: "no workstation: a command rendered it"}
_NO_LOUDNESS: Final = {EXCUSE: "no loudness was asked for"}
_EXCUSES: Final = (_NO_MODEL, _INSIDE, _NO_SESSION, _NO_WORKSTATION, _NO_LOUDNESS)
_DECLARABLE: Final = DeterminismLog.model_fields.keys() - {
    "format", "asset", "evidence", "recipe", "verdicts", "revision", "supersedes", "nonce",
}  # fmt: skip
"""What a person says, and neither a run nor a seal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What people say of a render: who, and when; parts of every log, and of single ones by the asset's name.

    In ``render.toml`` these are ``who``, ``when``, ``[all]`` and ``[assets."NAME"]``. ``declared`` is a further part, over
    both. ``seedless`` says why there is no seed, ``program`` that no generative model is at work, ``kind`` whether it is
    art or audio where the output's name does not tell.
    """

    who: str = ""
    when: str = ""
    all: Mapping[str, Any] = field(default_factory=dict)
    assets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    seedless: str = ""
    program: bool = False
    kind: str | None = None

    def about(self, name: str) -> dict[str, Any]:
        """Return what is declared of the asset of a name: its own over that of all, options over both."""
        of_file = merge_documents(self.all, self.assets.get(name, {}))
        return merge_documents(of_file, self.declared)


def read_declarations(path: Path) -> Declarations:
    """Read ``render.toml``.

    Raises:
        UsageError: E-USE-001, it is no such file, or says what a person cannot say.
    """
    said, why = {}, ""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = str(error)
    unknown = set(said) - {"who", "when", "all", "assets"}
    assets = said.get("assets", {})
    parts = [said.get("all", {}), *(assets.values() if isinstance(assets, dict) else [None])]
    if unknown:
        why = f"it has {min(unknown)!r}, which means nothing here"
    elif not all(isinstance(each, dict) for each in parts):
        why = "[all] or [assets] is no table"
    elif odd := {name for each in parts for name in each} - _DECLARABLE:
        why = f"it declares {min(odd)!r}, which nobody declares"
    elif not all(isinstance(said.get(name, ""), str) for name in ("who", "when")):
        why = "who or when is no text"
    if why:
        raise UsageError(
            f"{path} cannot be used: {why}.",
            'Expected TOML with who, when, [all] and [assets."NAME"], each a part of a log.',
            "See docs/guides/rerendering.md.",
        )
    return Declarations(**said)


@dataclass(frozen=True)
class RenderDraft:
    """What drafts of one command share: what people say, where its program is installed, its inputs' sha256 by path."""

    job: RenderJob
    said: Declarations
    program: Path
    digests: Mapping[str, str]

    @cached_property
    def version(self) -> str:
        """The program's version; "" where it does not say."""
        is_python = is_recordable(self.job.argv)
        return platform.python_version() if is_python else ask_version(self.program)

    def draft_log(
        self, output: str, measured: Asset | None = None, record: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Draft one output's log.

        Args:
            output: its path from the root of the store.
            measured: the asset as it was rendered; None before that, for what is missing.
            record: what evidence names the run by; None before it.
        """
        declared = self.said.about(Path(output).name)
        suffix = Path(output).suffix.lower()
        guessed = next((kind for kind, suffixes in _KINDS.items() if suffix in suffixes), "")
        kind = self.said.kind or declared.get("kind") or guessed
        inputs = []
        for name, path in sorted(self.job.inputs.items()):
            found_at = {"found_at": str(path)} if name.startswith(f"{OUTSIDE}/") else {}
            inputs.append({"path": name, "sha256": self.digests[name], **found_at})
        recipe = {
            "argv": list(self.job.argv),
            "inputs": inputs,
            "env": dict(self.job.env),
            "output": output,
            "timeout_s": self.job.timeout_s,
        }
        draft = {"format": FORMAT, **self._describe_program(), "recipe": recipe}
        claims: set[str] = set()
        if kind:
            draft["kind"] = kind
        if self.job.seed is not None:
            draft["seed"] = dict.fromkeys(("requested", "effective"), str(self.job.seed))
        elif why := self.said.seedless or find_renderer(self.job.argv).seedless:
            draft["seed"] = {EXCUSE: why}
            claims |= {"/seed"} if self.said.seedless else set()
        is_known = Path(self.job.argv[0]).name in RENDERERS
        if kind and (self.said.program or is_known):
            draft[kind] = (
                self._describe_picture(measured) if kind == "art" else self._describe_sound(draft)
            )
            if not is_known:
                block = draft[kind].items()
                claims |= {f"/{kind}/{name}" for name, each in block if each in _EXCUSES}
        draft = merge_documents(draft, declared)
        if measured is not None:
            about = to_document(measured)
            draft["asset"] = {key: about[key] for key in ("file_sha256", "payload")}
        for name, value in declared.items():
            # The fields of a block: as fine as evidence has to be.
            inner = value if isinstance(value, Mapping) and EXCUSE not in value else {}
            claims |= {f"/{name}/{escape(each)}" for each in inner} or {f"/{name}"}
        by = {"level": "declared", "who": self.said.who, "when": self.said.when}
        pointers = sorted(claims) if self.said.who else ()
        run = {"level": "recorded", "record": "the run", **(record or {})}
        return draft | {"evidence": {"": run, **dict.fromkeys(pointers, by)}}

    def list_missing(self, store: Store, output: str) -> list[Problem]:
        """List what the promise needs and nobody says, or says wrongly, but for what a seal fills in.

        Before anything is promised, what the fuller promise needs is listed.
        """
        document = merge_documents(store.defaults, self.draft_log(output))
        problems = {each.pointer: each for each in examine(document).problems}
        if "promise" not in document:
            fuller = examine({**document, "promise": {"mode": "deterministic"}}).problems
            for each in fuller:
                if not each.pointer.startswith("/promise/"):
                    problems.setdefault(each.pointer, each)
        found = [each for at, each in problems.items() if not at.startswith(_SEALED)]
        if not self.said.who:
            words = "who declares what no run can know"
            found.append(Problem("/evidence//who", Fault.MISSING, "", "a name", words))
        return found

    def _describe_program(self) -> dict[str, Any]:
        """Say what rendered, and where: provider, model and environment."""
        argv, env, digests = self.job.argv, self.job.env, self.digests
        if is_recordable(argv):
            name = argv[2 if argv[1] == "-m" else 1]
            packages = list_packages(p for p in self.job.inputs.values() if p.suffix == ".py")
            code = "".join(digests[each] for each in sorted(digests) if each.endswith(".py"))
            sha256 = digests.get(name) or _digest_text(code)
            version = f"sha256-{sha256[:12]}"
        else:
            name, sha256 = Path(argv[0]).name, digest_file(self.program)
            version = self.version or f"sha256-{sha256[:12]}"
            packages = {name: version}
        fonts = [
            {"name": Path(path).name, "sha256": digest}
            for path, digest in digests.items()
            if path.lower().endswith(_FONTS)
        ]
        return {
            "provider": {"name": Path(name).name, "endpoint": "local"},
            "model": {"name": name, "version": version, "sha256": sha256, "adapters": []},
            "environment": describe_environment(packages, env, count_threads(argv, env))
            | {"fonts": fonts or {EXCUSE: "no font is among its inputs"}},
        }

    def _describe_picture(self, measured: Asset | None) -> dict[str, Any]:
        """Describe a picture that a program drew; its size is 1 by 1 before it is rendered, or has none."""
        about = {} if measured is None else to_document(measured.measured) or {}
        sizes = [about.get(name) for name in ("width_px", "height_px")]
        width, height = (each if isinstance(each, int) else 1 for each in sizes)
        common = math.gcd(width, height)
        name, sha256 = Path(self.job.argv[0]).name, _digest_text("\0".join(self.job.argv))
        return {
            **dict.fromkeys(_OF_MODELS, _NO_MODEL),
            "width_px": width,
            "height_px": height,
            "aspect_ratio": f"{width // common}:{height // common}",
            "workflow": {"name": name, "sha256": sha256},
            "batch_index": 0,
            "batch_size": 1,
            "post": [],
        }

    def _describe_sound(self, draft: Mapping[str, Any]) -> dict[str, Any]:
        """Describe a sound that a program made: the library among its inputs sounds, or the program itself."""
        name, packages = Path(self.job.argv[0]).name, draft["environment"]["packages"]
        source = {"kind": find_renderer(self.job.argv).source, **draft["model"]}
        del source["adapters"]
        for path, digest in self.digests.items():
            if path.lower().endswith(_LIBRARIES):
                bank = {"name": Path(path).name, "version": f"sha256-{digest[:12]}"}
                source = {"kind": "instrument", **bank, "sha256": digest}
                break
        return {
            "source": source,
            "production": "synthetic",
            "daw": _NO_WORKSTATION,
            **dict.fromkeys(_OF_COMMANDS, _INSIDE),
            "session_sample_rate_hz": _NO_SESSION,
            "session_bit_depth": _NO_SESSION,
            "loudness": _NO_LOUDNESS,
            "export": {"encoder": name, "version": packages.get(name, packages.get("python"))},
        }


def _digest_text(text: str) -> str:
    return digest_bytes(text.encode(), Algorithm.SHA256).hex
