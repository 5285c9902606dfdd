"""The forms that technique takes in text, as data: what to look for, how grave it is, what to do.

Two kinds of text are told apart. What is shown or run (prose, markup, scripts,
    unknown bytes) must show technique in a
form that stories do not have: a seed with its number as a setting, a tool with its version,
    a key of a known file
format. Metadata are short fields that nobody reads as prose: there a tool's name alone is a trace.

Rules match bytes of UTF-8. ``near`` are words in lower case,
    one of which must be there before the pattern is tried:
that is what makes the scan quick.

Invariant: a rule's id is never reused; its pattern has no nested repetition without possessive
quantifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.assets.leaks.texts import Window
from twice.foundation.severity import Severity

SCRUB: Final = "Publish a copy without it: twice asset scrub FILE -o COPY"
_EDIT: Final = "Take it out of the text, then build again."
_BEFORE: Final = 128  # bytes that a match may begin before one of its words
_BEHIND: Final = 4608  # and how far it may reach behind it
_Q: Final = rb"(?:\\{0,3}[\"']|&quot;|&#34;|&#x22;)?"
_IS: Final = _Q + rb"\s{0,4}[:=]\s{0,4}" + _Q


@dataclass(frozen=True, slots=True)
class Rule:
    """A form that a trace takes.

    Args:
        id: ``L`` and a number.
        title: what it is a trace of.
        severity: how grave it is.
        near: lower-case words, one of which stands wherever the pattern matches.
        pattern: what matches.
        metadata_only: whether it counts in metadata alone.
        secret: whether the excerpt is starred.
        remedy: what to do.
    """

    id: str
    title: str
    severity: Severity
    near: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    metadata_only: bool = False
    secret: bool = False
    remedy: str = _EDIT

    def matches(self, window: Window) -> Iterator[re.Match[bytes]]:
        """Where the form stands in a window of text.

        The pattern is tried around its words only: on text without them it costs next to nothing.
        """
        at = 0
        words = [each for each in self.near if each.rpartition(b" ")[2] in window.words]
        for start, end in _around(window.lowered, words):
            for found in self.pattern.finditer(window.data, max(start, at), end):
                at = found.end()
                yield found


def _around(lowered: bytes, words: list[bytes]) -> list[tuple[int, int]]:
    """The stretches around words, joined where they meet."""
    places: list[int] = []
    for word in words:
        at = lowered.find(word)
        while at >= 0:
            places.append(at)
            at = lowered.find(word, at + len(word))
    stretches: list[tuple[int, int]] = []
    for place in sorted(places):
        start, end = max(place - _BEFORE, 0), place + _BEHIND
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
    return stretches


def _rule(
    number: int, title: str, severity: Severity, near: str, pattern: bytes, *,
          metadata_only: bool = False,
    secret: bool = False, exact: bool = False,
) -> Rule:  # fmt: skip
    flags = re.DOTALL if exact else re.DOTALL | re.IGNORECASE
    words = tuple(each.encode() for each in near.split("|"))
    remedy = SCRUB if metadata_only else _EDIT
    return Rule(
        f"L{number}",
        title,
        severity,
        words,
        re.compile(pattern, flags),
        metadata_only,
        secret,
        remedy,
    )


_TOOLS: Final = (
    rb"(?:stable[ -]?diffusion|sdxl|midjourney|dall-?e|comfyui|automatic1111|invoke-?ai|novelai"
    rb"|swarmui|fooocus|"
    rb"elevenlabs|suno|udio|musicgen|audiocraft|stability\.ai|adobe firefly|leonardo\.ai"
    rb"|runway ?ml|ideogram|"
    rb"reaper|ableton(?: live)?|pro tools|logic pro|cubase|nuendo|fl studio|bitwig(?: studio)?"
    rb"|studio one|ardour|"
    rb"garageband|audacity|adobe audition|blender|pov-ray|photoshop|krita|fluidsynth"
    rb"|espeak(?:-ng)?|"
    rb"imagen|flux\.1|kandinsky|pixart)"
)
_PLUGINS: Final = (
    rb"(?:reaeq|reacomp|realimit|reaverb(?:ate)?|fabfilter|kontakt|serum|omnisphere|massive x|"
    rb"valhalla\w*|izotope|ozone|waves [A-Z]\w+|soundtoys|vst3?i?|audio unit)"
)
_VERSION: Final = rb"[ /-]{0,2}(?:v(?:ersion)?[ .]?)?\d+(?:\.\d+)+\w{0,8}"
_MADE: Final = (
    rb"\b(?:rendered|generated|made|created|produced|mixed|mastered|bounced|exported|"
    rb"synthesi[sz]ed|painted)"
)
_SAMPLERS: Final = (
    rb"(?:dpm\+\+[\w +]{0,20}|euler(?:[ _]a(?:ncestral)?)?|ddim|ddpm|uni_?pc|lms|heun|plms|"
    rb"k_\w{3,20}|lcm)\b"
)
_TOOL_WORDS: Final = (
    "diffusion|sdxl|midjourney|dall|comfyui|1111|invoke|novelai|swarmui|fooocus|eleven|suno|udio|"
    "musicgen|audiocraft|stability|firefly|leonardo|runway|ideogram|reaper|ableton|pro tools|"
    "logic pro|cubase|nuendo|fl studio|bitwig|studio one|ardour|garageband|audacity|audition|"
    "blender|pov-ray|photoshop|krita|fluidsynth|espeak|imagen|flux|kandinsky|pixart"
)

RULES: Final = (
    _rule(101, "generator parameters", Severity.CRITICAL, "steps|sampler|cfg",
          rb"\bsteps: ?\d{1,4}, ?\w[\w ]{2,24}:|\bsampler: ?" + _SAMPLERS + rb"|\bcfg scale: ?\d"
          rb"|\bsampler(?:_name|_index)?" + _IS + rb"(?:" + _SAMPLERS + rb")"
          rb"|\bcfg_?scale" + _IS + rb"\d"
          rb"|\bguidance_scale" + _IS + rb"\d|\bnum_inference_steps" + _IS + rb"\d"),
    _rule(102, "a prompt", Severity.CRITICAL, "prompt|--ar|--stylize|--niji|sui_image_params",
          rb"\bnegative[ _]?prompts?" + _IS + rb"\S|[\"'](?:positive|style)_?prompt" + _IS + rb"\S"
          rb"|\bsui_image_params\b|\bAIPrompt(?:Information|WriterName)\b"
          rb"|--(?:ar \d+:\d+|v \d|niji|stylize \d+|chaos \d+|seed \d+) [^\n]{0,80}?"
          rb"--(?:ar|v|niji|stylize|chaos|seed|q)\b"
          rb"|[\"']prompt[\"']" + _IS + rb"[^\"\n]{2,4000}+\",\s{0,9}[\"'](?:seed"
          rb"|steps|sampler\w*|model\w*|cfg\w*|width)[\"']"),
    _rule(103, "a generator's workflow", Severity.CRITICAL, "class_type|ksampler|checkpointloader"
          "|widgets_values|ckpt_name|randomnoise",
          _Q + rb"class_type" + _IS + rb"\w|\bKSampler(?:Advanced|Select)?\b"
          rb"|\bCheckpointLoader\w*|[\"']widgets_values\\{0,3}[\"']"
          rb"|\bckpt_name\b|\bRandomNoise\\{0,3}[\"']"),
    _rule(104, "a seed", Severity.HIGH, "seed",
          rb"(?<![a-z])(?!(?<=, )seed=\d{4,20}\))"
          rb"(?:(?:noise|random|master|rng)_?|variation |detlog )?seed(?:s|_num|_value|_used)?" + _Q
          + rb"\s{0,4}(?::\s{0,4}" + _Q + rb"-?\d{2,20}|=\s{0,4}" + _Q + rb"-?\d{4,20})\b"
          rb"|(?<![a-z])seed[ #]{1,2}\d{4,20}\b|\bseeded (?:with|by) \d{3,20}\b"
          rb"|--seed[ =]\d{4,20}\b|\bseeds" + _Q + rb"\s{0,4}:\s{0,4}\[\s{0,40}" + _Q + rb"\d{4,20}\b"
          rb"|<(?:\w{1,20}:)?seed>\s{0,40}\d{2,20}\s{0,40}</"
          rb"|\bseed\"?[,;\t]\"?(?:steps|sampler\w*|cfg\w*|model\w*|prompt)\b"
          rb"|\b(?:steps|sampler\w*|cfg\w*|prompt)\"?[,;\t]\"?seed\b"),
    _rule(105, "a model", Severity.HIGH, ".safetensors|.ckpt|.gguf|model|aisystem|lora",
          rb"[\w.+-]{2,80}\.(?:safetensors|ckpt|gguf)\b|\bmodel hash" + _IS + rb"[0-9a-f]{6,64}\b"
          rb"|\bAISystem(?:Used|VersionUsed)\b|<lora:[^>\n]{2,80}>"
          rb"|[\"'](?:model|checkpoint|vae|lora|voice)_(?:name|id|hash|version|sha256)"
          rb"\\{0,3}" + _IS + rb"[\w./-]{3}"),
    _rule(106, "a tool with its version", Severity.HIGH,
          _TOOL_WORDS + "|reaeq|reacomp|vst",
          rb"\b(?:" + _TOOLS + rb"|" + _PLUGINS + rb")" + _VERSION
          + rb"|" + _MADE + rb" (?:in|with|by|using|on|via) "
          rb"(?:sdxl|stable diffusion|midjourney|dall-?e|comfyui|novelai|elevenlabs|suno"
          rb"|REAPER|ableton|pro tools|fl studio|cubase|bitwig|logic pro)\b"
          rb"|\b(?:midjourney|dall-?e|sdxl|suno) v?\d\b|\beleven_(?:multilingual|monolingual"
          rb"|turbo|flash)_v\d"
          rb"|\bstable[ -]diffusion (?:xl|v?\d)|[\"']daw\\{0,3}[\"']" + _IS + rb"\w"
          rb"|\bvst3?i?: ?\w"),
    _rule(107, "a tool's name", Severity.HIGH,
          _TOOL_WORDS + "|rea|fabfilter|kontakt|serum|omnisphere|massive|valhalla|izotope"
          "|ozone|waves|soundtoys|vst|audio unit",
          rb"\b(?:" + _TOOLS + rb"|" + _PLUGINS + rb")\b", metadata_only=True),
    _rule(108, "a session file", Severity.HIGH, ".rpp|.als|.flp|.logicx|.ptx|.cpr|.dawproject"
          "|.aup3|.detlog|.bwproject",
          rb"[\w)-]\.(?:rpp(?:-bak)?|als|flp|logicx|ptx|cpr|dawproject|aup3|bwproject)(?![\w(=.])"),
    _rule(109, "a path on the maker's machine", Severity.HIGH, "/home/|/users/|:\\|:/users|/mnt/"
          "|/var/folders|/private/var|\\\\?\\",
          rb"(?<![\w.:/])(?:file://)?/(?:home|Users)/(?!(?:user|username|you|me|name|runner"
          rb"|your\w*|example)/)[\w.-]{1,40}/[\w.@+ -]{1,80}(?:/[\w.@+ -]{1,80}){0,12}"
          rb"|\b[A-Z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)(?!(?:user|username|you|me|name|your\w*"
          rb"|example)[\\/])[\w.@+ -]{1,60}(?:\\{1,4}|/)[\w.@+ -]{1,80}"
          rb"|/(?:private/)?var/folders/\w\w/\w{8,}"),
    _rule(110, "a path", Severity.HIGH, "/|\\",
          rb"(?:(?<![\w.:/<])/(?:home|Users|mnt|srv|media|Volumes|opt|tmp|var|data)/"
          rb"[\w.-]{1,60}/[\w./ -]{1,120}"
          rb"|\b[A-Z]:\\{1,4}[\w. -]{1,60}\\{1,4}[\w.\\ -]{1,120})",
          metadata_only=True),
    _rule(111, "a determinism log", Severity.CRITICAL, "determinism|detlog|log_id|_sha256"
          "|audio_render|art_render|tu-",
          rb"\bdeterminism[_-]logs?\b|\bdetlog\b|\.detlog\.json|" + _Q + rb"\b"
          rb"(?:log_id|log_sha256|payload_sha256|(?:audio|art)_render)\\{0,3}[\"']?" + _IS + rb"\w"
          rb"|log_sha256|\bTU-\d{4}-\d\d-\d\d-[A-Z][A-Za-z]{1,3}\d\d\b"),
    _rule(112, "the hash of a recipe", Severity.HIGH, "hash|sha256|sha-256",
          rb"\b(?:model|lora|checkpoint|vae|recipe|payload|prompt|workflow|plugin|preset)"
          rb"[ _-]?(?:sha-?256|hash(?:es)?)" + _IS + rb"(?:sha256:)?[0-9a-f]{8,64}\b"),
    _rule(113, "a target of loudness", Severity.HIGH, "lufs",
          rb"(?:target|normali[sz]\w*|at|to|stinger|master\w*)"
          rb"[^\n.]{0,24}?-?\d{1,2}(?:\.\d)? ?lufs\b"
          rb"|\blufs\\{0,3}[\"']?" + _IS + rb"-?\d|-\d{1,2}(?:\.\d)? LUFS\b"),
    _rule(114, "a secret", Severity.CRITICAL, "sk-|xi-api|akia|ghp_|ghp|github|hf_|hf|api_key|api"
          "|bearer|private key|aiza|xox",
          rb"\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b"
          rb"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{30,}"
          rb"|\bgithub_pat_\w{40,}|\bAIza[\w-]{35}\b|\bxox[abp]-[\w-]{20,}"
          rb"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"
          rb"|\b(?:xi-api-key|api[_-]?key|api[_-]?token)" + _IS + rb"[A-Za-z0-9_-]{16,}",
          secret=True),
    _rule(115, "a mark that a model made it", Severity.LOW, "trainedalgorithmicmedia",
          rb"(?:trained|composite\w{0,12})?(?:Algorithmic)Media"),
    _rule(116, "a chain of effects", Severity.HIGH, "t=|coding|chain",
          rb"\bA=\w{2,8},F=\d{4,6},[^\n]{0,40}T=[^\n]{2,}|"
          rb"\b(?:fx|effect)[ _]?chain" + _IS + rb"\S", metadata_only=True),
    _rule(118, "steps and guidance", Severity.HIGH, "steps|denois",
          rb"\b\d{1,3} steps\b[^\n]{0,60}\b(?:sampler|cfg|guidance|seed|euler|dpm)"
          rb"|\b(?:sampler|cfg|guidance|euler|dpm\+\+)\b[^\n]{0,40}\b\d{1,3} steps\b"
          rb"|\bdenois(?:e|ing)[ _]?strength" + _IS + rb"\d"),
)  # fmt: skip

KEY = Rule(
    "L117",
    "a field of a generator or a session",
    Severity.CRITICAL,
    (),
    re.compile(rb"(?!)"),
    True,
    remedy=SCRUB,
)
STEALTH = Rule(
    "L119",
    "text hidden in pixels",
    Severity.CRITICAL,
    (),
    re.compile(rb"(?!)"),
    remedy="Render the picture again with that switched off; scrub does not change pixels.",
)
TRAILING = Rule(
    "L120", "bytes after the end", Severity.MEDIUM, (), re.compile(rb"(?!)"), remedy=SCRUB
)
SIGNED = Rule(
    "L121",
    "a signed manifest (C2PA), which is public by design",
    Severity.LOW,
    (),
    re.compile(rb"(?!)"),
    remedy="Look at what it says; sign after scrubbing, with thumbnails off.",
)
OWN = Rule("L122", "a value of this project's logs", Severity.CRITICAL, (), re.compile(rb"(?!)"))
FIELD = Rule(
    "L123",
    "a metadata field",
    Severity.INFORMATIONAL,
    (),
    re.compile(rb"(?!)"),
    True,
    remedy=SCRUB,
)
EVERY: Final = (*RULES, KEY, STEALTH, TRAILING, SIGNED, OWN, FIELD)

_KEYS: Final = re.compile(
    r"^(?:TXXX:|----:|comment |WXXX:|PRIV:)?(?:parameters|prompt|workflow|negative_?prompt"
    r"|invokeai\w*|sd-metadata|"
    r"sui_image_params|dream|generation_?data|fooocus\w*|extra_?metadata|postprocessing|extras"
    r"|seed|steps|sampler|"
    r"cfg_?scale|model_?(?:name|hash|version)?|checkpoint|lora\w*|daw|plugins?|preset|fx_?chain"
    r"|voice_?id|"
    r"[\w.-]*det(?:erminism)?[_ -]?log[\w.-]*|log_?id|recipe|encoder_settings|.*\bseed)$",
    re.IGNORECASE,
)


def is_telling_key(key: str) -> bool:
    """Whether the name of a metadata field alone says that it holds technique."""
    return bool(_KEYS.match(key.strip()))
