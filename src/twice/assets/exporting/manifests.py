"""QuestFoundry's lists: the hot art manifest, the cold art and file manifests, the build lock.

What its schemas forget is asked here: that a cold manifest names the book and the art manifest, that hashes
are those of files that are there, that nothing player-safe holds technique. It has no cold list for sound.

Source: pvliesdonk/questfoundry-spec, 02-dictionary and 03-schemas at e87b09b, in own words.

Invariant: a list that is written is one that its reader takes; what cannot be is refused by field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from twice.assets.errors import ExportRefused
from twice.assets.gate.facts import Facts, value_of
from twice.assets.log.log import AssetKind
from twice.assets.media.measure import digest_file
from twice.foundation.printable import pluralize

_FORMATS: Final = {
    "image/png": "PNG", "image/svg+xml": "SVG", "image/jpeg": "JPEG", "image/webp": "WEBP",
}  # fmt: skip
_TYPES: Final = ("plate", "cover", "icon", "logo", "ornament", "diagram")
_APPROVERS: Final = (
    "SR", "GK", "PW", "SS", "ST", "LW", "CC", "AD", "IL", "AuD", "AuP", "TR", "BB", "PN", "RS",
)  # fmt: skip
_ANCHOR: Final = re.compile(r"(?:anchor[0-9]{3,}|cover|icon|logo)\Z")
_SNAPSHOT: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,62}[a-z0-9]\Z")
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)\Z")
_TECHNIQUE: Final = re.compile(
    r"(?i)\b(?:seed|sampler|cfg|steps|lora|sdxl|stable diffusion|checkpoint|midjourney|dall-?e|comfyui|lufs"
    r"|dbtp|vst3?|daw|reaper|ableton)\b|[0-9a-f]{16,}|[A-Za-z]:\\|(?:^|\s)/\w+/"
)
_BOOK: Final = ("book.json", "art_manifest.json")


def art_manifest(every: Sequence[Facts], project: str, now: str) -> dict[str, Any]:
    """Make the hot art manifest. It holds prompts: it never belongs into a cold snapshot.

    Args:
        every: facts of the assets.
        project: its name, 1 to 200 characters.
        now: the instant, in UTC with Z.

    Raises:
        ExportRefused: E-ASSET-EXPORT-001: there is no image, or one cannot be listed.
    """
    images = [each for each in every if each.log.kind is AssetKind.ART]
    if not images:
        raise _refused("there is no image", "at least one image with a log")
    if not 1 <= len(project) <= 200:
        raise _refused(f"the project's name has {pluralize(len(project), 'character')}", "1 to 200")
    created = min(each.log.created or now for each in images)
    return {
        "manifest_version": "1.0",
        "project": project,
        "created": created,
        "last_updated": now,
        "assets": [_listed(each) for each in images],
    }


def _listed(facts: Facts) -> dict[str, Any]:
    log, asset = facts.log, facts.log.asset
    prompt = value_of(log.art.prompt) if log.art is not None else None
    if asset is None or asset.measured is None or asset.file is None:
        raise _refused(f"{facts.name} does not say what it is about", "a log with its asset block")
    if not isinstance(prompt, str) or not 10 <= len(prompt) <= 2000:
        has = (
            f"a prompt of {pluralize(len(prompt), 'character')}"
            if isinstance(prompt, str)
            else "no prompt"
        )
        raise _refused(
            f"{facts.name} has {has}, and the format asks each image for one",
            "10 to 2000 characters in art.prompt; of a program's picture, what it shows",
        )
    wide, high = value_of(asset.measured.width_px), value_of(asset.measured.height_px)
    return {
        "id": log.log_id,
        "role": "other",
        "filename": asset.file,
        "format": _FORMATS.get(asset.media_type or "", "other"),
        "dimensions": f"{wide}x{high}" if wide and high else "vector",
        "title_bearing": False,
        "prompt": prompt,
        "section_anchor": None,
        "sha256": asset.file_sha256,
        "status": "rendered",
        "rendered_date": log.created,
    }


def cold_art_manifest(folder: Path, approvals: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Make the cold art manifest from files that are there and what their approval says.

    Args:
        folder: where the cold files lie.
        approvals: by file name: anchor, type, approved_at, approved_by, role, prompt_snippet,
            version, and optionally policy_notes and source.
        version: of the manifest, such as 1.0.0.

    Raises:
        ExportRefused: E-ASSET-EXPORT-001: a field is missing or wrong, a file is not there, or a text
            holds technique.
    """
    if not approvals:
        raise _refused("nothing is approved", "at least one file")
    return {
        "$schema": "https://questfoundry.liesdonk.nl/schemas/cold_art_manifest.schema.json",
        "version": version,
        "assets": [
            _cold(folder, name, said if isinstance(said, Mapping) else {})
            for name, said in sorted(approvals.items())
        ],
    }


def _cold(folder: Path, name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    for wrong in _wrong(name, said):
        raise _refused(f"{name}: {wrong[0]}", wrong[1])
    from twice.assets.media.measure import measure_file

    asset = measure_file(folder / name)
    figures, form = asset.measured, _FORMATS.get(asset.media_type or "", "")
    if not form or figures is None or figures.width_px is None:
        raise _refused(
            f"{name} is {asset.media_type}", "a PNG, JPEG, SVG or WebP image with a size"
        )
    provenance = {
        key: said[key] for key in ("role", "prompt_snippet", "version", "policy_notes", "source")
        if key in said
    }  # fmt: skip
    return {
        "anchor": said["anchor"],
        "type": said["type"],
        "filename": name,
        "sha256": asset.file_sha256,
        "size_bytes": asset.size_bytes,
        "width_px": figures.width_px,
        "height_px": figures.height_px,
        "format": form,
        "approved_at": said["approved_at"],
        "approved_by": said["approved_by"],
        "provenance": {"policy_notes": "", **provenance},
    }


def _wrong(name: str, said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what an approval lacks: what is wrong, and what was expected."""
    texts = {key: str(said.get(key, "")) for key in ("anchor", "type", "role", "prompt_snippet")}
    if not _ANCHOR.match(texts["anchor"]):
        yield f"its anchor is {texts['anchor']!r}", "anchorNNN, cover, icon or logo"
    if texts["type"] not in _TYPES:
        yield f"its type is {texts['type']!r}", ", ".join(_TYPES)
    pattern = rf"{re.escape(texts['anchor'])}__{re.escape(texts['type'])}__v[1-9][0-9]*\.[a-z]+\Z"
    if not re.match(pattern, name):
        yield "its name is another", f"{texts['anchor']}__{texts['type']}__v1.ext"
    if said.get("approved_by") not in _APPROVERS:
        yield f"approved_by is {said.get('approved_by')!r}", f"one of {', '.join(_APPROVERS)}"
    if not _INSTANT.match(str(said.get("approved_at", ""))):
        yield "approved_at is no instant", "an instant such as 2026-01-31T09:30:00Z"
    if not texts["role"]:
        yield "its role is missing", "the role that made it"
    if not 10 <= len(texts["prompt_snippet"]) <= 500:
        yield "prompt_snippet has another length", "10 to 500 player-safe characters"
    number = said.get("version")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        yield f"its version is {number!r}", "a whole number of at least 1"
    for key in ("prompt_snippet", "policy_notes", "source"):
        found = _TECHNIQUE.search(str(said.get(key, "")))
        if found is not None:
            yield f"{key} holds technique: {found[0].strip()!r}", "words that players may read"


def cold_manifest(folder: Path, snapshot: str, version: str, now: str) -> dict[str, Any]:
    """Make the manifest of a cold snapshot's files, hashed as they are.

    Raises:
        ExportRefused: E-ASSET-EXPORT-001: the id cannot be, book or art manifest is missing, or a log
            or an index of logs lies among the files.
    """
    if not _SNAPSHOT.match(snapshot):
        raise _refused(f"the snapshot id is {snapshot!r}", "3 to 64 of a-z, 0-9 and - inside")
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    named = {each.relative_to(folder).as_posix(): each for each in files}
    named.pop("manifest.json", None)
    lacking = [each for each in _BOOK if each not in named]
    if lacking:
        raise _refused(f"{folder} has no {lacking[0]}", f"{' and '.join(_BOOK)} in the snapshot")
    hot = [each for each in named if "detlog" in PurePosixPath(each).name]
    if hot:
        raise _refused(f"{hot[0]} lies in the cold snapshot", "logs in the hot store alone")
    long = [each for each in named if len(each) > 512]
    if long:
        raise _refused(
            f"the path {long[0][:60]}… has {pluralize(len(long[0]), 'character')}", "at most 512"
        )
    return {
        "$schema": "https://questfoundry.liesdonk.nl/schemas/cold_manifest.schema.json",
        "version": version,
        "created_at": now,
        "snapshot_id": snapshot,
        "files": [
            {"path": name, "sha256": digest_file(path), "size_bytes": path.stat().st_size}
            for name, path in sorted(named.items())
        ],
    }


def build_lock(every: Sequence[Facts], version: str) -> dict[str, Any]:
    """Make the build lock: the one version of every tool that rendered.

    Raises:
        ExportRefused: E-ASSET-EXPORT-001: one tool has two versions, or no log names one.
    """
    tools: dict[str, str] = {}
    for facts in every:
        surroundings = value_of(facts.log.environment)
        packages = value_of(surroundings.packages) if surroundings is not None else None
        for name, said in (packages or {}).items():
            if tools.setdefault(name, said) != said:
                raise _refused(f"{name} is {tools[name]} and {said}", "one version of each tool")
    if not tools:
        raise _refused("no log names a tool", "environment/packages in at least one log")
    return {"version": version, "tools": dict(sorted(tools.items()))}


def _refused(happened: str, expected: str) -> ExportRefused:
    return ExportRefused(
        f"It cannot be exported: {happened}.",
        f"Expected {expected}.",
        "Mend that, then export again; nothing was written.",
    )
