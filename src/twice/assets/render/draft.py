"""The draft of a log out of a command, its output and what people declare, with evidence for each.

For programs without a generative model, fields that only such a model has are excused, each with the reason. Whether
there is a model, a person says or the list of known renderers.

Invariant: what people declare stands over what a run says, and is named as declared. What is measured from the file
is never put down as what a session had.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import Problem, examine, to_document
from twice.assets.log.kinds import Fault
from twice.assets.log.models import FORMAT, Asset
from twice.assets.media.measure import digest_file
from twice.assets.render.command import OUTSIDE, RenderCommand, is_recordable
from twice.assets.render.declarations import Declarations, list_pointers
from twice.assets.render.provenance import (
    RENDERERS,
    InstalledProgram,
    count_threads,
    describe_environment,
    list_packages,
)
from twice.assets.store.seal import merge_documents
from twice.assets.store.store import Store
from twice.foundation.digests import Algorithm, digest_bytes

PINS: Final = {
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
"""What every rendering gets, beside what is given with --env."""

_PICTURES: Final = frozenset(
    {".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".tif", ".tiff", ".bmp", ".svg"}
)
_SOUNDS: Final = frozenset(
    {".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".aif", ".aiff", ".mid"}
)
_FONTS: Final = (".ttf", ".otf", ".ttc", ".woff", ".woff2")
_LIBRARIES: Final = (".sf2", ".sf3", ".sfz", ".dls")
_SEALED: Final = ("/log_id", "/created", "/nonce", "/revision", "/asset", "/format", "/evidence")
_OF_MODELS: Final = (
    "prompt", "negative_prompt", "steps", "guidance", "sampler", "scheduler", "denoise", "dtype",
    "attention", "rng_device",
)  # fmt: skip
_NO_MODEL: Final = {"not_applicable": "a program rendered it, no generative model"}
_INSIDE: Final = {"not_applicable": "the command decides it, and its inputs are logged by digest"}
_NO_SESSION: Final = {"not_applicable": "no session: the command writes the delivered file"}


@dataclass(frozen=True, slots=True)
class RenderDraft:
    """What drafts of one command share.

    Args:
        command: rewritten.
        program: as it is installed.
        digests: sha256 of each input by its path inside.
        said: what people say.
    """

    command: RenderCommand
    program: InstalledProgram
    digests: Mapping[str, str]
    said: Declarations

    @property
    def name(self) -> str:
        """The program's, without its folder."""
        return Path(self.command.argv[0]).name

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
        kind = self.said.kind or declared.get("kind") or guess_kind(output)
        draft: dict[str, Any] = {
            "format": FORMAT,
            **({"kind": kind} if kind else {}),
            **self._describe_program(),
            "recipe": self._describe_recipe(output),
        }
        claims: set[str] = set()
        renderer = RENDERERS.get(self.name)
        if self.said.seed:
            draft["seed"] = {"requested": self.said.seed, "effective": self.said.seed}
        elif why := self.said.seedless or (renderer.seedless if renderer is not None else ""):
            draft["seed"] = {"not_applicable": why}
            claims |= {"/seed"} if self.said.seedless else set()
        if kind and (self.said.program or renderer is not None):
            block = (
                self._describe_picture(measured) if kind == "art" else self._describe_sound(draft)
            )
            draft[kind] = block
            if renderer is None:
                claims |= {f"/{kind}/{key}" for key, each in block.items() if _is_excuse(each)}
        draft = merge_documents(draft, declared)
        if measured is not None:
            about = to_document(measured)
            draft["asset"] = {key: about[key] for key in ("file_sha256", "payload")}
        when = self.said.project.when or self.said.when
        by = {"level": "declared", "who": self.said.author, "when": when}
        pointers = sorted({*claims, *list_pointers(declared)}) if self.said.author else ()
        run = {"level": "recorded", "record": "the run", **(record or {})}
        return draft | {"evidence": {"": run, **dict.fromkeys(pointers, by)}}

    def list_missing(self, store: Store, output: str) -> list[Problem]:
        """List what the promise needs and nobody says, or says wrongly, but for what a seal fills in.

        Before anything is promised, what the fuller promise needs is listed.
        """
        document = merge_documents(store.defaults, self.draft_log(output))
        problems = list(examine(document).problems)
        if "promise" not in document:
            fuller = examine({**document, "promise": {"mode": "deterministic"}}).problems
            known = {each.pointer for each in problems}
            problems += [
                each
                for each in fuller
                if each.pointer not in known and not each.pointer.startswith("/promise/")
            ]
        found = [each for each in problems if not each.pointer.startswith(_SEALED)]
        if not self.said.author:
            words = "who declares what no run can know"
            found.append(Problem("/evidence//who", Fault.MISSING, "", "a name", words))
        return found

    def _describe_program(self) -> dict[str, Any]:
        """Say what rendered, and where: provider, model and environment."""
        argv, env, name = self.command.argv, self.said.env, self.name
        if is_recordable(argv):
            scripts = [path for path in self.command.inputs.values() if path.suffix == ".py"]
            packages, name = list_packages(scripts), argv[2 if argv[1] == "-m" else 1]
            code = "".join(
                self.digests[each] for each in sorted(self.digests) if each.endswith(".py")
            )
            sha256 = self.digests.get(name) or _digest_text(code)
            version = f"sha256-{sha256[:12]}"
        else:
            sha256 = digest_file(self.program.path)
            version = self.program.version or f"sha256-{sha256[:12]}"
            packages = {name: version}
        fonts = [
            {"name": Path(path).name, "sha256": digest}
            for path, digest in self.digests.items()
            if path.lower().endswith(_FONTS)
        ]
        return {
            "provider": {"name": Path(name).name, "endpoint": "local"},
            "model": {"name": name, "version": version, "sha256": sha256, "adapters": []},
            "environment": describe_environment(packages, env, count_threads(argv, env))
            | {"fonts": fonts or {"not_applicable": "no font is among its inputs"}},
        }

    def _describe_recipe(self, output: str) -> dict[str, Any]:
        """Say what to execute again."""
        inputs = []
        for name, path in sorted(self.command.inputs.items()):
            found_at = {"found_at": str(path)} if name.startswith(f"{OUTSIDE}/") else {}
            inputs.append({"path": name, "sha256": self.digests[name], **found_at})
        return {
            "argv": list(self.command.argv),
            "inputs": inputs,
            "env": dict(self.said.env),
            "output": output,
            "timeout_s": self.said.timeout_s,
        }

    def _describe_picture(self, measured: Asset | None) -> dict[str, Any]:
        """Describe a picture that a program drew."""
        size = measured.measured if measured is not None else None
        width = size.width_px if size is not None and isinstance(size.width_px, int) else 1
        height = size.height_px if size is not None and isinstance(size.height_px, int) else 1
        common = math.gcd(width, height)
        return {
            **dict.fromkeys(_OF_MODELS, _NO_MODEL),
            "width_px": width,
            "height_px": height,
            "aspect_ratio": f"{width // common}:{height // common}",
            "workflow": {"name": self.name, "sha256": _digest_text("\0".join(self.command.argv))},
            "batch_index": 0,
            "batch_size": 1,
            "post": [],
        }

    def _describe_sound(self, draft: Mapping[str, Any]) -> dict[str, Any]:
        """Describe a sound that a program made: the library among its inputs sounds, or the program itself."""
        packages, model = draft["environment"]["packages"], draft["model"]
        source = {
            "kind": self.program.renderer.source or "synthesis",
            **{name: model[name] for name in ("name", "version", "sha256")},
        }
        for path, digest in self.digests.items():
            if path.lower().endswith(_LIBRARIES):
                source = {
                    "kind": "instrument",
                    "name": Path(path).name,
                    "version": f"sha256-{digest[:12]}",
                    "sha256": digest,
                }
                break
        encoder = packages["python" if is_recordable(self.command.argv) else self.name]
        inside = ("tempo_bpm", "key", "time_signature", "chain", "presets", "dither")
        return {
            "source": source,
            "production": "synthetic",
            "daw": {"not_applicable": "no workstation: a command rendered it"},
            **dict.fromkeys(inside, _INSIDE),
            "session_sample_rate_hz": _NO_SESSION,
            "session_bit_depth": _NO_SESSION,
            "loudness": {"not_applicable": "no loudness was asked for"},
            "export": {"encoder": self.name, "version": str(encoder)},
        }


def guess_kind(name: str) -> str:
    """Tell art from audio by a file's name; "" where that does not say."""
    suffix = Path(name).suffix.lower()
    return "art" if suffix in _PICTURES else "audio" if suffix in _SOUNDS else ""


def _digest_text(text: str) -> str:
    return digest_bytes(text.encode(), Algorithm.SHA256).hex


def _is_excuse(value: object) -> bool:
    return isinstance(value, Mapping) and "not_applicable" in value
