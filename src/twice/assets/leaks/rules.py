"""The forms that technique takes in text, as data: what to look for, how grave it is, what to do.

Two kinds of text are told apart. What is shown or run (prose, markup, scripts, unknown bytes) must show technique in a
form that stories and programs do not have: a seed with its number as a setting, a tool with its version, a key of a
known file format. Metadata are short fields that nobody reads as prose: there a tool's name alone is a trace.

Some forms are ordinary by themselves: ``"seed": 41``, ``"model_id": "tree_03"``. They are ``weak``: they count beside
another trace of technique. A seed among the words of games and random generators is theirs.

Rules match bytes of UTF-8. ``near`` are words in lower case, one of which must be there before a pattern is tried:
that is what makes the scan quick.

Invariant: a rule's id is never reused; its patterns have no nested repetition without possessive quantifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from twice.assets.leaks.keywords import Keywords, merge_spans
from twice.foundation.severity import Severity

SCRUB: Final = "Publish a copy without it: twice asset scrub FILE -o COPY"
_EDIT: Final = "Take it out of the text, then build again."
_AROUND: Final = 400  # bytes on each side of a match in which other words count
_Q: Final = rb"(?:\\{0,3}[\"']|&quot;|&#34;|&#x22;)?"
_IS: Final = _Q + rb"\s{0,4}(?:[:=]|&#(?:58|x3a);|&colon;)\s{0,4}" + _Q
_UNIT: Final = rb"(?! ?(?:fl|oz|g|kg|mg|ml|mm|cm|m|per)\b)"
"""Numbers of gardens, kitchens and shops are followed by one."""


@dataclass(frozen=True, slots=True)
class LeakRule:
    """A form that a trace takes.

    Args:
        id: ``L`` and a number.
        title: what it is a trace of.
        severity: how grave it is.
        near: lower-case words, one of which stands wherever a pattern matches.
        pattern: what matches by itself.
        weak: what matches beside other technique.
        reach: bytes that a match may begin before one of the words, and end behind its beginning.
        metadata_only: whether it counts in metadata alone.
        is_secret: whether the excerpt is starred.
        yields_to_games: whether it does not count among the words of games, unless beside other technique.
        remedy: what to do.
    """

    id: str
    title: str
    severity: Severity
    near: tuple[bytes, ...] = ()
    pattern: re.Pattern[bytes] | None = None
    weak: re.Pattern[bytes] | None = None
    reach: tuple[int, int] = (48, 160)
    metadata_only: bool = False
    is_secret: bool = False
    yields_to_games: bool = False
    remedy: str = _EDIT

    def find(
        self, data: bytes, lowered: bytes, places: Mapping[bytes, list[int]]
    ) -> Iterator[tuple[int, int]]:
        """Yield where the form begins and ends in a text.

        Args:
            data: the text.
            lowered: the same in lower case.
            places: where words stand in it, those of this rule at least.
        """
        before, behind = self.reach
        at = (place for word in self.near for place in places.get(word, ()))
        for start, end in merge_spans((place - before, place + behind) for place in at):
            for pattern in filter(None, (self.pattern, self.weak)):
                for found in pattern.finditer(data, start, end):
                    if self._counts(lowered, found, is_weak=pattern is self.weak):
                        yield found.span()

    def _counts(self, lowered: bytes, found: re.Match[bytes], *, is_weak: bool) -> bool:
        if not (is_weak or self.yields_to_games):
            return True
        start, end = found.span()
        around = lowered[max(start - _AROUND, 0) : start] + b"\n" + lowered[end : end + _AROUND]
        if _TECHNIQUE.search(around):
            return True
        if self.yields_to_games and _GAMES.search(around):
            return False
        return not is_weak or (self.yields_to_games and _SETTINGS.search(around) is not None)


_TECHNIQUE: Final = re.compile(
    rb"sampler|\bcfg|guidance_|guidance[ :=]{1,3}\d|negative.prompt|diffusion|sdxl|\blora[:_]|safetensors|\.ckpt|ckpt_name"
    rb"|midjourney|dall-?e\b|comfyui|eleven(?:labs|_)|musicgen|\bsuno\b|stable-audio|\breaper \d|ableton|\blufs\b"
    rb"|detlog|determinism|denois|\bdaw\b|\bvst|txt2img|img2img"
)
_SETTINGS: Final = re.compile(
    rb"size: \d{2,4}x\d|\bsteps[\"']?\s?[:=]|\bprompt\b"
)  # of a seed that is no game's
_GAMES: Final = re.compile(
    rb"\b(?:worlds?|levels?|maps?|terrain|biomes?|spawn|dungeons?|tile(?:s|map|set)?|players?|game\w*|difficulty|perlin"
    rb"|simplex|fastnoise\w*|octaves|lacunarity|\w?rng|random\w*|mulberry32|xorshift\w*|shuffle\w*|deck|dice|torrents?"
    rb"|particlesystem|autorandomseed|monobehaviour|gd_\w+|peers|leechers|unittest|pytest|fixtures?|faker|assert\w*|epochs?"
    rb"|garden\w*|sow\w*|harvest\w*|soil|crops?|wheat|barley|pots?|packets?|hectares?|acres?|kg)\b|rand\("
    rb"|(?:world|level|map|terrain|dungeon|game|daily|loot|spawn|chunk|room|tile)[_-]\n"
)  # the line end is where the match stood


def _rule(
    number: int, title: str, severity: Severity, near: str, pattern: bytes, *, weak: bytes = b"",
    reach: tuple[int, int] = (48, 160), metadata_only: bool = False, is_secret: bool = False,
    yields_to_games: bool = False,
) -> LeakRule:  # fmt: skip
    flags = re.DOTALL | re.IGNORECASE
    return LeakRule(
        f"L{number}", title, severity, tuple(each.encode() for each in near.split("|")),
        re.compile(pattern, flags), re.compile(weak, flags) if weak else None, reach, metadata_only, is_secret,
        yields_to_games, SCRUB if metadata_only else _EDIT,
    )  # fmt: skip


_TOOLS: Final = (
    rb"(?:stable[ -]?diffusion|sdxl|midjourney|dall-?e|comfyui|automatic1111|invoke-?ai|novelai|swarmui|fooocus|"
    rb"elevenlabs|musicgen|audiocraft|stability\.ai|adobe firefly|leonardo\.ai|runway ?ml|"
    rb"ableton(?: live)?|pro tools|logic pro|cubase|nuendo|fl studio|bitwig(?: studio)?|ardour|"
    rb"garageband|adobe audition|pov-ray|photoshop(?! 3\.0\b)|krita|fluidsynth|espeak(?:-ng)?|flux\.1|pixart"
)
_PLUGINS: Final = (
    rb"|reaeq|reacomp|realimit|reaverb(?:ate)?|fabfilter|omnisphere|"
    rb"valhalla ?(?:room|vintage|delay|super|shimmer|plate)\w*|izotope|soundtoys|vst3?i?|audio unit"
)
_SPELLED: Final = (  # names that are words as well: as a tool spells itself, with a version that a tool has
    rb"(?-i:Reaper|REAPER|Blender|Audacity|Studio One|Suno|Udio|Kontakt|Serum|Massive X|Valhalla\w*|Ozone|Kandinsky"
    rb"|Ideogram|imagen-)"
)
_WORDS: Final = (
    rb"reaper|blender|audacity|imagen|ideogram|kandinsky|studio one|suno|udio|kontakt|serum"
    rb"|massive x|valhalla\w*|ozone|waves [A-Z]\w+"
)
_VERSION: Final = rb"[ /-]{0,2}(?:v(?:ersion)?[ .]?)?\d+(?:\.\d+)+\w{0,8}"
_MADE: Final = rb"(?:rendered|generated|made|created|produced|mixed|mastered|bounced|exported|synthesi[sz]ed|painted)"
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
_SAMPLERS: Final = rb"(?:dpm\+\+[\w +]{0,20}|euler(?:[ _]a(?:ncestral)?)?|ddim|ddpm|uni_?pc|lms|heun|plms|k_\w{3,20}|lcm)\b"
_BESIDE_STEPS: Final = (
    rb"(?:\bcfg\b|seed[ :=#]{1,3}\d|guidance[ :=]{1,3}\d|euler[ _]a\b|dpm\+\+|sampler[ :=]{1,3}"
    + _SAMPLERS
    + rb")"
)
_TOOL_WORDS: Final = (
    "stable audio|diffusion|sdxl|midjourney|dall|comfyui|tic1111|invokeai|invoke-ai|novelai|swarmui|fooocus|eleven|suno|udio|"
    "musicgen|audiocraft|stability|firefly|leonardo|runway|ideogram|reaper|ableton|pro tools|"
    "logic pro|cubase|nuendo|fl studio|bitwig|studio one|ardour|garageband|audacity|audition|"
    "blender|pov-ray|photoshop|krita|fluidsynth|espeak|imagen-|flux|kandinsky|pixart"
)
_OTHERS: Final = (  # accounts of guides and of machines that build
    rb"(?!(?:user\w{0,8}|you|me|myself|name|runner|your\w*|example|pi|ubuntu|vagrant|conda|circleci|builder|node|app|public|shared|default)[\\/])"
)

RULES: Final = (
    _rule(101, "generator parameters", Severity.CRITICAL,
          "steps: |steps:|sampler|cfg scale|cfg_scale|cfgscale|guidance_scale|num_inference_steps",
          rb"\bsteps: ?\d{1,4}, ?(?:sampler|schedule|cfg|seed|size|model|denois|guidance|clip|distilled|vae|lora|rng)"
          rb"|\bsampler: ?" + _SAMPLERS + rb"|\bcfg scale: ?\d"
          rb"|\bsampler(?:_name|_index)?" + _IS + rb"(?:" + _SAMPLERS + rb")"
          rb"|\bcfg_?scale" + _IS + rb"\d"
          rb"|\bguidance_scale" + _IS + rb"\d|\bnum_inference_steps" + _IS + rb"\d", reach=(24, 96)),
    _rule(102, "a prompt", Severity.CRITICAL, "prompt|--ar |--stylize|--niji|--v |sui_image_params",
          rb"\bnegative[ _]?prompts?" + _IS + rb"\S|[\"'](?:positive|style)_?prompt" + _IS + rb"\S"
          rb"|\bsui_image_params\b|\bAIPrompt(?:Information|WriterName)\b"
          rb"|--(?:ar \d+:\d+|v \d|niji|stylize \d+|chaos \d+|seed \d+) [^\n]{0,80}?"
          rb"--(?:ar|v|niji|stylize|chaos|seed|q)\b", reach=(112, 160)),
    _rule(102, "a prompt", Severity.CRITICAL, "\"prompt|'prompt",
          rb"[\"']prompt[\"']" + _IS + rb"[^\"\n]{2,4000}+\",\s{0,9}[\"'](?:seed|sampler\w*|model\w*|cfg\w*)[\"']",
          reach=(0, 4608)),
    _rule(102, "a prompt", Severity.CRITICAL, "prompt", rb"\A\W{0,4}(?:negative )?prompt: ?[^\n]{8}", metadata_only=True),
    _rule(103, "a generator's workflow", Severity.CRITICAL,
          "class_type|ksampler|checkpointloader|widgets_values|ckpt_name|randomnoise",
          rb"\bKSampler(?:Advanced|Select)?\b|\bCheckpointLoader\w*|[\"']widgets_values\\{0,3}[\"']|\bckpt_name\b"
          rb"|\bRandomNoise\\{0,3}[\"']|class_type" + _IS + rb"\w+" + _Q + rb",\s{0,40}" + _Q + rb"inputs\b"
          rb"|\binputs" + _Q + rb"\s{0,4}:\s{0,4}\{[^{}]{0,400}\},\s{0,40}" + _Q + rb"class_type\b",
          reach=(480, 160)),
    _rule(104, "a seed", Severity.HIGH, "seed",
          rb"(?<![a-z])(?!(?<=, )seed=\d{4,20}\))"
          rb"(?:(?:noise|random|master|rng)_?|variation |detlog )?seed(?:s|_num|_value|_used)?" + _IS + rb"-?\d{4,20}\b"
          rb"|(?<![a-z])seed[ #\t]{1,2}\d{4,20}\b|(?<![a-z])seed" + _Q + rb"\s{0,4}:\s{0,4}" + _Q + rb"0x[0-9a-f]{4,16}\b"
          rb"|\bseeded (?:with|by) \d{4,20}\b|--seed[ =]\d{4,20}\b"
          rb"|\bseeds" + _Q + rb"\s{0,4}:\s{0,4}\[\s{0,40}" + _Q + rb"\d{4,20}\b"
          rb"|<(?:\w{1,20}:)?seed>\s{0,40}\d{4,20}\s{0,40}</"
          rb"|\bseed</\w{1,20}>\s{0,40}<\w{1,20}>\s{0,40}\d{4,20}</"
          rb"|\bseed[\"']?\s{1,4}(?:\w{1,12}=[\"'][\w.]{0,24}[\"']\s{1,4}){0,3}value=[\"']-?\d{4,20}\b"
          rb"|\bseed\"?[,;\t]\"?(?:steps|sampler\w*|cfg\w*|model\w*|prompt)\b"
          rb"|\b(?:steps|sampler\w*|cfg\w*|prompt)\"?[,;\t]\"?seed\b",
          weak=rb"(?<![a-z])seed" + _IS + rb"-?\d{1,3}(?![\d.]|[!?]| \w|\)\s{0,2}[{=])"
          rb"|(?<![a-z])seed[ #]\d{2,3}(?!\d|[.!?]\s)" + _UNIT +
          rb"|<seed>\s{0,40}\d{1,3}\s{0,40}</",
          yields_to_games=True),
    _rule(105, "a model", Severity.HIGH,
          ".safetensors|.ckpt|.gguf|model hash|aisystem|lora|model_|checkpoint_|vae_|voice_|voiceid|speaker_"
          "|stable-audio|sd_xl|sdxl_|musicgen-|flux.1|flux1|sd3_|sd3-|sd3.|v1-5-pruned|gpt-image|xtts|juggernaut"
          "|dreamshaper|realvisxl|pony|tts-1-hd",
          rb"[\w.+-]{2,80}\.(?:safetensors|ckpt|gguf)\b|\bmodel hash" + _IS + rb"[0-9a-f]{6,64}\b"
          rb"|\bAISystem(?:Used|VersionUsed)\b|<lora:[^>\n]{2,80}>"
          rb"|[\"'](?:model|checkpoint|vae|lora)_(?:hash|sha256)\\{0,3}" + _IS + rb"[0-9a-f]{8}"
          rb"|\b(?:voice|speaker)_?id" + _IS + rb"(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{16,64}\b|" + _MODELS,
          weak=rb"[\"'](?:model|checkpoint|vae|lora|voice)_(?:name|id|hash|version|sha256)\\{0,3}" + _IS
          + rb"[\w./-]{3}", reach=(96, 160)),
    _rule(106, "a tool with its version", Severity.HIGH,
          _TOOL_WORDS + "|reaeq|reacomp|fabfilter|omnisphere|massive x|kontakt|serum|ozone|valhalla|izotope|soundtoys"
          "|vst:|vst |vst-|vst/|vst3|vsti|\"daw|'daw",
          rb"\b(?:(?:" + _TOOLS + _PLUGINS + rb"))" + _VERSION
          + rb"|" + _SPELLED + rb"[ /-]{0,2}(?:v(?:ersion)?[ .]?)?[1-9]\d{0,3}(?:\.\d+)+\w{0,8}" + _UNIT
          + rb"|" + _MADE + rb" (?:in|with|by|using|on|via) "
          rb"(?:sdxl|stable diffusion|midjourney|dall-?e|comfyui|novelai|elevenlabs|suno"
          rb"|(?-i:REAPER|Reaper)|ableton|pro tools|fl studio|cubase|bitwig|logic pro|krita|photoshop|garageband"
          rb"|ardour)\b"
          rb"|stable audio(?: open)? \d\.\d|(?:fabfilter|izotope|soundtoys|valhalla)\b[\w .-]{1,30} v\d{1,3}\.\d"
          rb"|[\"']name[\"']: ?[\"'](?:midjourney|stable diffusion|dall-?e|comfyui|suno|udio)[\"'],\s{0,40}[\"']softwareversion[\"']"
          rb"|(?:midjourney|dall-?e|sdxl|suno) v?\d\b|eleven_(?:multilingual|monolingual|turbo|flash)_v\d"
          rb"|stable[ -]diffusion (?:xl|v?\d)|vst3?i?: ?\w)|[\"']daw\\{0,3}[\"']" + _IS + rb"\w", reach=(48, 96)),
    _rule(107, "a tool's name", Severity.HIGH,
          _TOOL_WORDS + "|imagen|rea|fabfilter|kontakt|serum|omnisphere|massive|valhalla|izotope|ozone|waves|soundtoys"
          "|vst|audio unit",
          rb"\b" + _TOOLS + _PLUGINS + rb")\b|\A\W{0,8}(?:" + _WORDS + rb")\b[^\n]{0,24}\Z", metadata_only=True),
    _rule(108, "a session file", Severity.HIGH,
          ".rpp|.als|.flp|.logicx|.ptx|.cpr|.dawproject|.aup3|.bwproject",
          rb"[\w)-]{3}\.(?:rpp(?:-bak)?|als|flp|logicx|ptx|cpr|dawproject|aup3|bwproject)(?![\w(=.])", reach=(8, 24)),
    _rule(109, "a path on the maker's machine", Severity.HIGH, "/home/|/users/|\\users|:/users|/var/folders",
          rb"(?<![\w.:/])(?:file://)?/(?:home|Users)/" + _OTHERS
          + rb"[\w.-]{1,40}/[\w.@+ -]{1,80}(?:/[\w.@+ -]{1,80}){0,12}"
          rb"|\b[A-Z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)" + _OTHERS + rb"[\w.@+ -]{1,60}(?:\\{1,4}|/)[\w.@+ -]{1,80}"
          rb"|/(?:private/)?var/folders/\w\w/\w{8,}", reach=(16, 1200)),
    _rule(110, "a path", Severity.HIGH, "/|\\",
          rb"(?:(?<![\w.:/<])/(?:home|Users|mnt|srv|media|Volumes|opt|tmp|var|data)/[\w.-]{1,60}/[\w./ -]{1,120}"
          rb"|\b[A-Z]:\\{1,4}[\w. -]{1,60}\\{1,4}[\w.\\ -]{1,120})", metadata_only=True, reach=(128, 512)),
    _rule(111, "a determinism log", Severity.CRITICAL,
          "determinism|detlog|log_id|_sha256|audio_render|art_render|"
          + "|".join(f"tu-{digit}" for digit in range(10)),
          rb"\bdeterminism[_-]logs?\b|\bdetlog\b|\.detlog\.json|log_sha256"
          rb"|\bpayload_sha256" + _IS + rb"\w|\bTU-\d{4}-\d\d-\d\d-[A-Z][A-Za-z]{1,3}\d\d\b",
          weak=_Q + rb"\b(?:log_id|(?:audio|art)_render)" + _IS + rb"[\w{]"),
    _rule(112, "the hash of a recipe", Severity.HIGH, "hash|sha256|sha-256",
          rb"\b(?:model|lora|checkpoint|vae|recipe|payload|prompt|workflow|plugin|preset)"
          rb"[ _-]?(?:sha-?256|hash(?:es)?)" + _IS + rb"(?:sha256:)?[0-9a-f]{8,64}\b"),
    _rule(113, "a target of loudness", Severity.HIGH, "lufs",
          rb"(?:target|normali[sz]\w*|at|to|stinger|master\w*)[^\n.]{0,24}?-?\d{1,2}(?:\.\d)? ?lufs\b"
          rb"|\blufs\\{0,3}[\"']?" + _IS + rb"-?\d|-\d{1,2}(?:\.\d)? LUFS\b", reach=(80, 48)),
    _rule(114, "a secret", Severity.CRITICAL,
          " sk-|\"sk-|'sk-|=sk-|:sk-|xi-api|akia|ghp_|gho_|ghu_|ghs_|ghr_|github_pat| hf_|\"hf_|'hf_|=hf_|:hf_|api_key|api-key|apikey|api_token|api-token|apitoken"
          "|private key|aiza|xoxa|xoxb|xoxp",
          rb"\bsk-(?!ssh-|ecdsa-)(?:proj-|ant-)?[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b"
          rb"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{30,}"
          rb"|\bgithub_pat_\w{40,}|\bAIza[\w-]{35}\b|\bxox[abp]-[\w-]{20,}"
          rb"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"
          rb"|\b(?:xi-api-key|api[_-]?key|api[_-]?token)" + _IS + rb"(?!your|my[_-]|xxx)(?=[A-Za-z_-]{0,60}\d)"
          rb"[A-Za-z0-9_-]{16,}",
          is_secret=True, reach=(48, 256)),
    _rule(115, "a mark that a model made it", Severity.LOW, "trainedalgorithmicmedia",
          rb"(?:trained|composite\w{0,12})?(?:Algorithmic)Media"),
    _rule(116, "a chain of effects", Severity.HIGH, "t=|coding|chain",
          rb"\bA=\w{2,8},F=\d{4,6},[^\n]{0,40}T=[^\n]{2,}|\b(?:fx|effect)[ _]?chain" + _IS + rb"\S",
          metadata_only=True),
    _rule(118, "steps and guidance", Severity.HIGH, "steps|denois",
          rb"\b\d{1,3} steps\b[^\n]{0,60}" + _BESIDE_STEPS + rb"|" + _BESIDE_STEPS + rb"[^\n]{0,40}\b\d{1,3} steps\b"
          rb"|\bdenois(?:e|ing)[ _]?strength" + _IS + rb"\d", reach=(64, 96)),
    _rule(124, "a generator's settings side by side", Severity.HIGH, _FIELDS,
          rb"(" + _FIELDS.encode() + rb")(?=.{1,600}?(?!\1)(?:" + _FIELDS.encode() + rb"))", reach=(0, 700)),
    _rule(125, "a plugin's file", Severity.HIGH, ".vst3|.fxp|.fxb|.aupreset|.nki|.nksf|.vstpreset",
          rb"[\w)-]\.(?:vst3|fxp|fxb|aupreset|nki|nksf|vstpreset)(?![\w(=.])", reach=(8, 24)),
    _rule(126, "the path of a working file", Severity.HIGH, "|".join(f".{each}" for each in _WORKING.split("|")),
          rb"(?<![\w.:/\\])(?:/(?:mnt|srv|data|media|volumes)|[A-Z]:(?![\\/]{1,4}users)|\\\\{1,3}\w{1,30})"
          rb"(?:[\\/]{1,4}[\w.@+() -]{1,60}){1,12}\.(?:" + _WORKING.encode() + rb")(?![\w(=])", reach=(400, 24)),
    _rule(127, "the address of a generator's file", Severity.HIGH,
          "midjourney.com/|suno.ai/|suno.com/|leonardo.ai/|replicate.delivery/|oaidalleapi"
          "|civitai.com/|api.elevenlabs.io|api.openai.com/|api.stability.ai|/resolve/",
          rb"\b(?:cdn\d?\.(?:midjourney\.com|suno\.(?:ai|com)|leonardo\.ai)/\w"
          rb"|replicate\.delivery/\w|oaidalleapi\w+\.|image\.civitai\.com/\w"
          rb"|api\.(?:elevenlabs\.io|openai\.com|stability\.ai)/v\d"
          rb"|huggingface\.co/[\w.-]{1,60}/[\w.-]{1,80}/resolve/)", reach=(180, 40)),
)  # fmt: skip
PDF_WORDS: Final = (b" 0 obj", b") tj", b"] tj", b"> tj", b")tj\n", b"]tj\n")
"""What a PDF has, or the instructions of one of its pages, in lower case."""
TEXT_WORDS: Final = Keywords(
    [*PDF_WORDS, *(word for rule in RULES if not rule.metadata_only for word in rule.near)]
)
METADATA_WORDS: Final = Keywords(word for rule in RULES if rule.metadata_only for word in rule.near)

KEY: Final = LeakRule(
    "L117", "a field of a generator or a session", Severity.CRITICAL, metadata_only=True, remedy=SCRUB
)  # fmt: skip
HIDDEN: Final = LeakRule(
    "L119", "text hidden in pixels", Severity.CRITICAL,
    remedy="Render the picture again with that switched off; scrub does not change pixels.",
)  # fmt: skip
TRAILING: Final = LeakRule("L120", "bytes after the end", Severity.MEDIUM, remedy=SCRUB)
SIGNED: Final = LeakRule(
    "L121", "a signed manifest (C2PA), which is public by design", Severity.LOW,
    remedy="Look at what it says; sign after scrubbing, with thumbnails off.",
)  # fmt: skip
OWN: Final = LeakRule("L122", "a value of this project's logs", Severity.CRITICAL)
FIELD: Final = LeakRule(
    "L123", "a metadata field", Severity.INFORMATIONAL, metadata_only=True, remedy=SCRUB
)
EVERY: Final = tuple(
    {each.id: each for each in (*RULES, KEY, HIDDEN, TRAILING, SIGNED, OWN, FIELD)}.values()
)
"""A rule for each id."""

_KEYS: Final = re.compile(
    r"(?:TXXX:|----:|comment |WXXX:|PRIV:|id3v2_priv\.)?(?:parameters|prompt|workflow|negative_?prompt|invokeai\w*"
    r"|sd-metadata|sui_image_params|dream|generation_?data|fooocus\w*|extra_?metadata|postprocessing|extras"
    r"|seed|steps|sampler|cfg_?scale|model_?(?:name|hash|version)?|checkpoint|lora\w*|daw|plugins?|preset|fx_?chain"
    r"|voice_?id|[\w.-]*det(?:erminism)?[_ -]?log[\w.-]*|log_?id|recipe|encoder_settings|.*\bseed)",
    re.IGNORECASE,
)


def is_telling_key(key: str) -> bool:
    """Return whether the name of a metadata field alone says that it holds technique."""
    return _KEYS.fullmatch(key.strip()) is not None
