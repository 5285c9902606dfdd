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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from twice.assets.leaks.texts import Window
from twice.assets.leaks.words import Words
from twice.foundation.severity import Severity

SCRUB: Final = "Publish a copy without it: twice asset scrub FILE -o COPY"
_EDIT: Final = "Take it out of the text, then build again."
_REACH: Final = (48, 160)  # bytes that a match may begin before one of its words, and end behind
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
        reach: bytes that a match may begin before one of these words, and end behind its beginning.
        pattern: what matches.
        metadata_only: whether it counts in metadata alone.
        secret: whether the excerpt is starred.
        remedy: what to do.
        apart: where two different words must stand, how far the second may be from the first; else 0.
    """

    id: str
    title: str
    severity: Severity
    near: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    reach: tuple[int, int] = _REACH
    metadata_only: bool = False
    secret: bool = False
    remedy: str = _EDIT
    apart: int = 0

    def matches(
        self, window: Window, places: Mapping[bytes, list[int]]
    ) -> Iterator[re.Match[bytes]]:
        """Where the form stands in a window of text.

        The pattern is tried around its words only: on text without them it costs next to nothing.

        Args:
            window: the text.
            places: where words stand in it, those of this rule at least.
        """
        at = 0
        here = {each: places[each] for each in self.near if each in places}
        if self.apart:
            stretches = _together(here, self.apart)
        else:
            stretches = _around(here.values(), self.reach)
        for start, end in stretches:
            for found in self.pattern.finditer(window.data, max(start, at), end):
                at = found.end()
                yield found


def _together(places: Mapping[bytes, list[int]], apart: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches from a word to the next, if that is another word and near."""
    every = sorted((place, word) for word, each in places.items() for place in each)
    for (start, first), (end, second) in pairwise(every):
        if first != second and end - start <= apart:
            yield start, end + len(second)


def _around(places: Iterable[list[int]], reach: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the stretches around words, joined if they meet."""
    start = end = -1
    for place in sorted(chain.from_iterable(places)):
        if place - reach[0] > end:
            if end >= 0:
                yield start, end
            start = max(place - reach[0], 0)
        end = place + reach[1]
    if end >= 0:
        yield start, end


def _rule(
    number: int, title: str, severity: Severity, near: str, pattern: bytes, *,
          reach: tuple[int, int] = _REACH, metadata_only: bool = False,
    secret: bool = False, exact: bool = False, apart: int = 0,
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
        reach,
        metadata_only,
        secret,
        remedy,
        apart,
    )


_TOOLS: Final = (
    rb"(?:stable[ -]?diffusion|sdxl|midjourney|dall-?e|comfyui|automatic1111|invoke-?ai|novelai"
    rb"|swarmui|fooocus|"
    rb"elevenlabs|musicgen|audiocraft|stability\.ai|adobe firefly|leonardo\.ai"
    rb"|runway ?ml|"
    rb"ableton(?: live)?|pro tools|logic pro|cubase|nuendo|fl studio|bitwig(?: studio)?"
    rb"|ardour|"
    rb"garageband|adobe audition|pov-ray|photoshop|krita|fluidsynth"
    rb"|espeak(?:-ng)?|flux\.1|pixart"
)
# What follows a number that somebody in a story says: the end of a sentence, or of what is said.
_SPOKEN: Final = rb"\d|[.!?]\s|[.,!?](?:[\"']|&|\xe2\x80[\x99\x9d]|\xc2\xbb)"
_PLUGINS: Final = (
    rb"|reaeq|reacomp|realimit|reaverb(?:ate)?|fabfilter|omnisphere|"
    rb"valhalla ?(?:room|vintage|delay|super|shimmer|plate)\w*|izotope|soundtoys|vst3?i?|audio unit"
)
# Names that are words as well: they count with a version, or as all that a field says.
_WORDS: Final = (
    rb"|reaper|blender|audacity|imagen|ideogram|kandinsky|studio one|suno|udio|kontakt|serum"
    rb"|massive x|valhalla\w*|ozone|waves [A-Z]\w+"
)
_VERSION: Final = rb"[ /-]{0,2}(?:v(?:ersion)?[ .]?)?\d+(?:\.\d+)+\w{0,8}"
_MADE: Final = (
    rb"(?:rendered|generated|made|created|produced|mixed|mastered|bounced|exported|"
    rb"synthesi[sz]ed|painted)"
)
_MODELS: Final = (
    rb"\b(?:stable-audio(?:-open)?-\d|sd_?xl_(?:base|refiner|turbo|lightning)"
    rb"|musicgen-(?:small|medium|large|melody|stereo)|flux\.?1-(?:dev|schnell|pro)\b"
    rb"|sd3(?:\.5)?[_-](?:medium|large)|v1-5-pruned|gpt-image-\d|xtts[_-]v\d"
    rb"|juggernaut_?xl|dreamshaper[_-]?\w|realvisxl|pony_?diffusion|tts-1-hd\b)"
)
_FIELDS: Final = (
    "negative_prompt|positive_prompt|cfg_scale|guidance_scale|num_inference_steps|sampler_name"
    "|denoising_strength|clip_skip|ckpt_name|style_preset|similarity_boost"
    "|use_speaker_boost|voice_settings|max_new_tokens|presence_penalty|frequency_penalty"
)
_WORKING: Final = (
    "psd|psb|blend|kra|xcf|clip|aep|prproj|afphoto|spp|sbs|hip|c4d|rpp|als|flp|logicx|ptx|cpr"
    "|aup3|nki|safetensors|ckpt"
)
_SAMPLERS: Final = (
    rb"(?:dpm\+\+[\w +]{0,20}|euler(?:[ _]a(?:ncestral)?)?|ddim|ddpm|uni_?pc|lms|heun|plms|"
    rb"k_\w{3,20}|lcm)\b"
)
_TOOL_WORDS: Final = (
    "diffusion|sdxl|midjourney|dall|comfyui|tic1111|invokeai|invoke-ai|novelai|swarmui|fooocus|eleven|suno|udio|"
    "musicgen|audiocraft|stability|firefly|leonardo|runway|ideogram|reaper|ableton|pro tools|"
    "logic pro|cubase|nuendo|fl studio|bitwig|studio one|ardour|garageband|audacity|audition|"
    "blender|pov-ray|photoshop|krita|fluidsynth|espeak|imagen|flux|kandinsky|pixart"
)

RULES: Final = (
    _rule(101, "generator parameters", Severity.CRITICAL, "steps: |steps:|sampler|cfg scale|cfg_scale|cfgscale"
          "|guidance_scale|num_inference_steps",
          rb"\bsteps: ?\d{1,4}, ?\w[\w ]{2,24}:|\bsampler: ?" + _SAMPLERS + rb"|\bcfg scale: ?\d"
          rb"|\bsampler(?:_name|_index)?" + _IS + rb"(?:" + _SAMPLERS + rb")"
          rb"|\bcfg_?scale" + _IS + rb"\d"
          rb"|\bguidance_scale" + _IS + rb"\d|\bnum_inference_steps" + _IS + rb"\d", reach=(24, 96)),
    _rule(102, "a prompt", Severity.CRITICAL, "prompt|--ar |--stylize|--niji|--v |sui_image_params",
          rb"\bnegative[ _]?prompts?" + _IS + rb"\S|[\"'](?:positive|style)_?prompt" + _IS + rb"\S"
          rb"|\bsui_image_params\b|\bAIPrompt(?:Information|WriterName)\b"
          rb"|--(?:ar \d+:\d+|v \d|niji|stylize \d+|chaos \d+|seed \d+) [^\n]{0,80}?"
          rb"--(?:ar|v|niji|stylize|chaos|seed|q)\b"
          rb"|[\"']prompt[\"']" + _IS + rb"[^\"\n]{2,4000}+\",\s{0,9}[\"'](?:seed"
          rb"|steps|sampler\w*|model\w*|cfg\w*|width)[\"']", reach=(112, 4608)),
    _rule(103, "a generator's workflow", Severity.CRITICAL, "class_type|ksampler|checkpointloader"
          "|widgets_values|ckpt_name|randomnoise",
          rb"class_type" + _Q + rb"\s{0,4}[:=]\s{0,4}(?:\\{0,3}[\"']|&quot;|&#34;|&#x22;)\w"
          rb"|\bKSampler(?:Advanced|Select)?\b"
          rb"|\bCheckpointLoader\w*|[\"']widgets_values\\{0,3}[\"']"
          rb"|\bckpt_name\b|\bRandomNoise\\{0,3}[\"']"),
    _rule(104, "a seed", Severity.HIGH, "seed",
          rb"(?<![a-z])(?!(?<=, )seed=\d{4,20}\))"
          rb"(?:(?:noise|random|master|rng)_?|variation |detlog )?seed(?:s|_num|_value|_used)?" + _Q
          + rb"\s{0,4}(?::\s{0,4}" + _Q + rb"-?(?:\d{4,20}|\d{2,3}(?!" + _SPOKEN + rb"))|=\s{0,4}" + _Q + rb"-?\d{4,20})\b"
          rb"|(?<![a-z])seed[ #\t]{1,2}\d{4,20}\b|(?<![a-z])seed" + _IS + rb"0x[0-9a-f]{4,16}\b|\bseeded (?:with|by) \d{3,20}\b"
          rb"|--seed[ =]\d{4,20}\b|\bseeds" + _Q + rb"\s{0,4}:\s{0,4}\[\s{0,40}" + _Q + rb"\d{4,20}\b"
          rb"|<(?:\w{1,20}:)?seed>\s{0,40}\d{2,20}\s{0,40}</"
          rb"|\bseed</\w{1,20}>\s{0,40}<\w{1,20}>\s{0,40}\d{4,20}</"
          rb"|\bseed[\"']?\s{1,4}(?:\w{1,12}=[\"'][\w.]{0,24}[\"']\s{1,4}){0,3}value=[\"']-?\d{4,20}\b"
          rb"|\bseed\"?[,;\t]\"?(?:steps|sampler\w*|cfg\w*|model\w*|prompt)\b"
          rb"|\b(?:steps|sampler\w*|cfg\w*|prompt)\"?[,;\t]\"?seed\b"),
    _rule(105, "a model", Severity.HIGH, ".safetensors|.ckpt|.gguf|model hash|aisystem|lora|model_|checkpoint_"
          "|vae_|voice_|voiceid|speaker_|stable-audio|sd_xl|sdxl_|musicgen-|flux|sd3|v1-5-pruned"
          "|gpt-image|xtts|juggernaut|dreamshaper|realvisxl|pony|tts-1-hd",
          rb"[\w.+-]{2,80}\.(?:safetensors|ckpt|gguf)\b|\bmodel hash" + _IS + rb"[0-9a-f]{6,64}\b"
          rb"|\bAISystem(?:Used|VersionUsed)\b|<lora:[^>\n]{2,80}>"
          rb"|[\"'](?:model|checkpoint|vae|lora|voice)_(?:name|id|hash|version|sha256)"
          rb"\\{0,3}" + _IS + rb"[\w./-]{3}"
          rb"|\b(?:voice|speaker)_?id" + _IS + rb"(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{16,64}\b|"
          + _MODELS, reach=(96, 160)),
    _rule(106, "a tool with its version", Severity.HIGH,
          _TOOL_WORDS + "|reaeq|reacomp|fabfilter|omnisphere|valhalla|izotope|soundtoys"
          "|vst:|vst |vst-|vst/|vst3|vsti|\"daw|'daw",
          rb"\b(?:" + _TOOLS + _PLUGINS + _WORDS + rb")" + _VERSION
          + rb"|" + _MADE + rb" (?:in|with|by|using|on|via) "
          rb"(?:sdxl|stable diffusion|midjourney|dall-?e|comfyui|novelai|elevenlabs|suno"
          rb"|REAPER|ableton|pro tools|fl studio|cubase|bitwig|logic pro|krita|photoshop|garageband|ardour)\b"
          rb"|(?:midjourney|dall-?e|sdxl|suno) v?\d\b|eleven_(?:multilingual|monolingual"
          rb"|turbo|flash)_v\d|stable[ -]diffusion (?:xl|v?\d)|vst3?i?: ?\w)"
          rb"|[\"']daw\\{0,3}[\"']" + _IS + rb"\w", reach=(48, 96)),
    _rule(107, "a tool's name", Severity.HIGH,
          _TOOL_WORDS + "|rea|fabfilter|kontakt|serum|omnisphere|massive|valhalla|izotope"
          "|ozone|waves|soundtoys|vst|audio unit",
          rb"\b" + _TOOLS + _PLUGINS + rb")\b"
          rb"|\A\W{0,8}(?:" + _WORDS[1:] + rb")\b[^\n]{0,24}\Z", reach=(48, 160),
          metadata_only=True),
    _rule(108, "a session file", Severity.HIGH, ".rpp|.als|.flp|.logicx|.ptx|.cpr|.dawproject"
          "|.aup3|.detlog|.bwproject",
          rb"[\w)-]\.(?:rpp(?:-bak)?|als|flp|logicx|ptx|cpr|dawproject|aup3|bwproject)(?![\w(=.])", reach=(8, 24)),
    _rule(109, "a path on the maker's machine", Severity.HIGH, "/home/|/users/|\\users|:/users"
          "|/var/folders|/private/var",
          rb"(?<![\w.:/])(?:file://)?/(?:home|Users)/(?!(?:user|username|you|me|name|runner"
          rb"|your\w*|example)/)[\w.-]{1,40}/[\w.@+ -]{1,80}(?:/[\w.@+ -]{1,80}){0,12}"
          rb"|\b[A-Z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)(?!(?:user|username|you|me|name|your\w*"
          rb"|example)[\\/])[\w.@+ -]{1,60}(?:\\{1,4}|/)[\w.@+ -]{1,80}"
          rb"|/(?:private/)?var/folders/\w\w/\w{8,}", reach=(16, 1200)),
    _rule(110, "a path", Severity.HIGH, "/|\\",
          rb"(?:(?<![\w.:/<])/(?:home|Users|mnt|srv|media|Volumes|opt|tmp|var|data)/"
          rb"[\w.-]{1,60}/[\w./ -]{1,120}"
          rb"|\b[A-Z]:\\{1,4}[\w. -]{1,60}\\{1,4}[\w.\\ -]{1,120})",
          metadata_only=True, reach=(128, 512)),
    _rule(111, "a determinism log", Severity.CRITICAL, "determinism|detlog|log_id|_sha256"
          "|audio_render|art_render|" + "|".join(f"tu-{digit}" for digit in range(10)),
          rb"\bdeterminism[_-]logs?\b|\bdetlog\b|\.detlog\.json|" + _Q + rb"\b"
          rb"(?:log_id|log_sha256|payload_sha256|(?:audio|art)_render)\\{0,3}[\"']?" + _IS + rb"\w"
          rb"|log_sha256|\bTU-\d{4}-\d\d-\d\d-[A-Z][A-Za-z]{1,3}\d\d\b"),
    _rule(112, "the hash of a recipe", Severity.HIGH, "hash|sha256|sha-256",
          rb"\b(?:model|lora|checkpoint|vae|recipe|payload|prompt|workflow|plugin|preset)"
          rb"[ _-]?(?:sha-?256|hash(?:es)?)" + _IS + rb"(?:sha256:)?[0-9a-f]{8,64}\b"),
    _rule(113, "a target of loudness", Severity.HIGH, "lufs",
          rb"(?:target|normali[sz]\w*|at|to|stinger|master\w*)"
          rb"[^\n.]{0,24}?-?\d{1,2}(?:\.\d)? ?lufs\b"
          rb"|\blufs\\{0,3}[\"']?" + _IS + rb"-?\d|-\d{1,2}(?:\.\d)? LUFS\b", reach=(80, 48)),
    _rule(114, "a secret", Severity.CRITICAL, "sk-|xi-api|akia|ghp_|gho_|ghu_|ghs_|ghr_|github_pat|hf_|api_key"
          "|api-key|apikey|api_token|api-token|apitoken|private key|aiza|xoxa|xoxb|xoxp",
          rb"\bsk-(?!ssh-|ecdsa-)(?:proj-|ant-)?[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b"
          rb"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{30,}"
          rb"|\bgithub_pat_\w{40,}|\bAIza[\w-]{35}\b|\bxox[abp]-[\w-]{20,}"
          rb"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"
          rb"|\b(?:xi-api-key|api[_-]?key|api[_-]?token)" + _IS + rb"[A-Za-z0-9_-]{16,}",
          secret=True, reach=(48, 256)),
    _rule(115, "a mark that a model made it", Severity.LOW, "trainedalgorithmicmedia",
          rb"(?:trained|composite\w{0,12})?(?:Algorithmic)Media"),
    _rule(116, "a chain of effects", Severity.HIGH, "t=|coding|chain",
          rb"\bA=\w{2,8},F=\d{4,6},[^\n]{0,40}T=[^\n]{2,}|"
          rb"\b(?:fx|effect)[ _]?chain" + _IS + rb"\S", metadata_only=True),
    _rule(118, "steps and guidance", Severity.HIGH, "steps|denois",
          rb"\b\d{1,3} steps\b[^\n]{0,60}\b(?:sampler|cfg|guidance|seed|euler|dpm)"
          rb"|\b(?:sampler|cfg|guidance|euler|dpm\+\+)\b[^\n]{0,40}\b\d{1,3} steps\b"
          rb"|\bdenois(?:e|ing)[ _]?strength" + _IS + rb"\d", reach=(64, 96)),
    _rule(124, "a generator's settings side by side", Severity.HIGH, _FIELDS,
          rb"(?:" + _FIELDS.encode() + rb").*(?:" + _FIELDS.encode() + rb")", apart=600),
    _rule(125, "a plugin's file", Severity.HIGH, ".vst3|.fxp|.fxb|.aupreset|.nki|.nksf|.vstpreset",
          rb"[\w)-]\.(?:vst3|fxp|fxb|aupreset|nki|nksf|vstpreset)(?![\w(=.])", reach=(8, 24)),
    _rule(126, "the path of a working file", Severity.HIGH,
          "|".join(f".{each}" for each in _WORKING.split("|")),
          rb"(?<![\w.:/\\])(?:/(?:mnt|srv|data|media|volumes)|[A-Z]:(?![\\/]{1,4}users)|\\\\{1,3}\w{1,30})"
          rb"(?:[\\/]{1,4}[\w.@+() -]{1,60}){1,12}\.(?:" + _WORKING.encode() + rb")(?![\w(=])",
          reach=(400, 24)),
    _rule(127, "the address of a generator's file", Severity.HIGH,
          "midjourney.com/|suno.ai/|suno.com/|leonardo.ai/|replicate.delivery/|oaidalleapi"
          "|civitai.com/|api.elevenlabs.io|api.openai.com/|api.stability.ai|/resolve/",
          rb"\b(?:cdn\d?\.(?:midjourney\.com|suno\.(?:ai|com)|leonardo\.ai)/\w"
          rb"|replicate\.delivery/\w|oaidalleapi\w+\.|image\.civitai\.com/\w"
          rb"|api\.(?:elevenlabs\.io|openai\.com|stability\.ai)/v\d"
          rb"|huggingface\.co/[\w.-]{1,60}/[\w.-]{1,80}/resolve/)", reach=(180, 40)),
)  # fmt: skip
TEXT_WORDS: Final = Words(word for rule in RULES if not rule.metadata_only for word in rule.near)
METADATA_WORDS: Final = Words(word for rule in RULES if rule.metadata_only for word in rule.near)

KEY = Rule(
    "L117",
    "a field of a generator or a session",
    Severity.CRITICAL,
    (),
    re.compile(rb"(?!)"),
    metadata_only=True,
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
    metadata_only=True,
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
