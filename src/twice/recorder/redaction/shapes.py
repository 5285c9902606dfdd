"""Secrets known by their shape: tokens of services, private keys, and what text and protocols give away.

A token says by its first letters whose it is (``ghp_``, ``AKIA``, ``eyJ``); a password stands behind a word
(``password=``, ``Bearer``, ``AUTH`` of Redis and SMTP). Each kind names the letters that begin it, its
*stems*: two searches find every stem, and a pattern is tried, and compiled, only where one stands.

The table is ours because it blanks: a shape may not touch source code and prose.

Not covered: secrets without a shape (a plain word, hexadecimal digits that nothing names), and, where data
come in pieces, a secret whose telling part stands more than 128 bytes before.

Sources: the services' documentation of their tokens; RFC 7519 (JWT), RFC 7468 (PEM), RFC 4954 (SMTP),
RFC 1939 (POP3), RFC 9051 (IMAP), the protocols of Redis and PostgreSQL.

Cost: linear in the length of the text, for hostile text too. Every expression is tried at each of its stems, so a
try that fails must not read the same bytes as the next one. A run without an upper limit is therefore possessive, and
one of these holds: nothing after the run can fail; or the run stops at a byte that every later try must pass before
its own run; or no stem can begin inside of the run. Any other run has an upper limit.

A value without a fixed length has no upper limit: a token that is longer than any known one is blanked as a whole. To
blank only its first bytes would leave most of a secret in the text.

Invariant: stars match no shape, so text that was blanked stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from itertools import groupby
from typing import Final

from twice.foundation.dataclass import dataclass

VERSION: Final = 2
"""Rises with every change of the table: a replay looks for what its recording looked for."""

BYTES_MIN: Final = 12
"""Fewest bytes that hold a shape."""

WINDOW: Final = 128
"""How far back of a cut a shape may begin and still be found."""

_WORD: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


@dataclass(frozen=True)
class Shape:
    """One kind of secret.

    Attributes:
        kind: what the guide and reports call it.
        stems: letters of which one stands in it; small letters where the pattern ignores case.
        expression: a regular expression over bytes; of one with groups, the groups are the secret.
        lead: a regular expression for the bytes before the stem, if the expression begins before its stem.
        back: longest lead, in bytes.
        starts_word: whether the stem counts only at the start of a word.
        ignores_case: whether capital and small letters are the same.
    """

    kind: str
    stems: tuple[bytes, ...]
    expression: bytes
    lead: bytes = b""
    back: int = 0
    starts_word: bool = False
    ignores_case: bool = False

    @cached_property
    def match(self) -> Callable[[bytes, int], re.Match[bytes] | None]:
        """Return the function that matches around a stem; it is compiled when it is first needed."""
        match_here = re.compile(self.expression, re.IGNORECASE if self.ignores_case else 0).match
        if not self.lead:
            return match_here
        find_lead = re.compile(self.lead + rb"\Z").search

        def match_from_lead(data: bytes, at: int) -> re.Match[bytes] | None:
            lead = find_lead(data, max(0, at - self.back), at)
            return None if lead is None else match_here(data, lead.start())

        return match_from_lead

    def spans(self, match: re.Match[bytes]) -> Iterator[tuple[int, int, str]]:
        """Return the secrets in a match of this shape."""
        for group in range(1, match.re.groups + 1) or (0,):
            if match.start(group) >= 0:
                yield *match.span(group), self.kind


_ALONE: Final = rb"(?<![A-Za-z0-9_])"
_END: Final = rb"(?:(?<=-)|(?![A-Za-z0-9_-]))"
"""A word may begin after a hyphen, so nothing is asked of what follows a token that ends with one. Otherwise, in a
row of such tokens, each would be found only after the next one was blanked: one look through the text for each."""
_SENT: Final = rb"((?=[^\s\d]*+\d)[^\s*]{4,}+(?=\r?\n)|[^\s*]{4,}+(?=\r\n))"
"""What a line of a protocol ends with; where a newline alone ends it, with a digit in it."""


def _token(kind: str, tail: bytes, *stems: bytes) -> Shape:
    """Build the shape of a token that begins with one of the stems."""
    heads = b"|".join(map(re.escape, stems))
    return Shape(kind, stems, rb"(?:" + heads + rb")" + tail, starts_word=True)


def _phrase(kind: str, stems: tuple[bytes, ...], expression: bytes) -> Shape:
    """Build the shape of a secret behind words, in capital or small letters."""
    return Shape(kind, stems, expression, ignores_case=True)


_HEADER_OF_JWT: Final = rb"(?=[A-Za-z0-9_-]{6})[A-Za-z0-9_]*+(?:-(?!eyJ)[A-Za-z0-9_]*+){0,1024}"
"""The rest of a header, up to its dot. It ends where another header begins, which is tried at its own stem."""
_NAMES: Final = (
    rb"(?:pass(?:word|wd|phrase)|pwd|secret(?:_?(?:key|token))?|(?:api|access|private|account|shared|signing|encryption)[_-]?"
    rb"(?:access[_-]?)?key|(?:auth|access|refresh|session|bearer|security|bot|id)[_-]?token|client[_-]?secret"
    rb"|credentials?|key[_-]data)"
)
_VALUE: Final = (
    rb"(?:[^\x00-\x20\x7f-\xff\"'`,;&<>(){}\[\]|*]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
    rb"|(?<=[A-Za-z0-9])[\xc0-\xff])"
)
"""A character of a secret that text gives away: ASCII, UTF-8, or a single letter of Latin-1 behind one of ASCII. Any bytes
would do no good: three letters and an equals sign stand in noise by chance, and a large file would be held for a secret."""
_NO_SECRET: Final = (
    rb"(?!(?:none|expected|null|true|false|required|optional|missing|invalid|default|string|undefined|unknown|redacted"
    rb"|changeme|bytes|type|value|without|whether|with|self)\b|[A-Za-z_]++[.(]|--)"
)

SHAPES: Final = (
    # Platforms and clouds.
    _token("AWS access key id", rb"[A-Z0-9]{16}" + _END, b"AKIA", b"ASIA", b"ABIA", b"ACCA"),
    _token("Alibaba access key id", rb"[A-Za-z0-9]{16,24}" + _END, b"LTAI"),
    _token("Tencent secret id", rb"[A-Za-z0-9]{32}" + _END, b"AKID"),
    _token("Google API key", rb"[A-Za-z0-9_-]{35}" + _END, b"AIza"),
    _token("Google OAuth token", rb"[A-Za-z0-9_.-]{20,}+", b"ya29."),
    _token("Google OAuth client secret", rb"[A-Za-z0-9_-]{24,}+", b"GOCSPX-"),
    _token("Google refresh token", rb"[A-Za-z0-9_-]{30,}+", b"1//0"),
    Shape("Azure storage or bus key", (b"AccountKey=", b"SharedAccessKey="), rb"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,}+={0,2}+)"),
    _token("DigitalOcean token", rb"[a-f0-9]{40,}+", b"dop_v1_", b"doo_v1_", b"dor_v1_"),
    _token("Databricks token", rb"[a-f0-9]{32}(?:-\d)?" + _END, b"dapi"),
    _token("Vault token", rb"[A-Za-z0-9_-]{20,}+", b"hvs.", b"hvb.", b"hvr."),
    Shape("Terraform token", (b".atlasv1.",), rb"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}+", lead=rb"[A-Za-z0-9]{14}", back=14),
    _token("Pulumi token", rb"[a-f0-9]{40}" + _END, b"pul-"),
    _token("Heroku key", rb"[A-Za-z0-9_-]{30,}+", b"HRKU-"),
    _token("Fly token", rb"[A-Za-z0-9+/=_,-]{30,}+", b"fm1_", b"fm2_", b"fo1_"),
    _token("Doppler token", rb"[A-Za-z0-9]{30,}+", b"dp.pt.", b"dp.st.", b"dp.ct."),
    _token("Supabase key", rb"[A-Za-z0-9_-]{20,}+", b"sbp_", b"sb_secret_"),
    _token("PlanetScale token", rb"[A-Za-z0-9_=.-]{30,}+", b"pscale_tkn_", b"pscale_pw_", b"pscale_oauth_"),
    _token("Netlify token", rb"[A-Za-z0-9]{30,}+", b"nfp_"),
    _token("Cloudflare origin key", rb"[a-f0-9]{24}-[a-f0-9]{100,}+", b"v1.0-"),
    # Code, packages, containers.
    _token("GitHub token", rb"[A-Za-z0-9]{20,}+", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
    _token("GitHub fine-grained token", rb"[A-Za-z0-9_]{20,}+", b"github_pat_"),
    _token("GitLab token", rb"[A-Za-z0-9_.-]{16,}+", b"glpat-", b"gldt-", b"glrt-", b"glptt-", b"glcbt-", b"glft-", b"glsoat-", b"glagent-"),
    _token("npm token", rb"[A-Za-z0-9]{30,}+", b"npm_"),
    _token("PyPI token", rb"[A-Za-z0-9_-]{30,}+", b"pypi-AgE"),
    _token("RubyGems key", rb"[a-f0-9]{40,}+", b"rubygems_"),
    _token("crates.io token", rb"[A-Za-z0-9]{32,}+", b"cio"),
    _token("Docker token", rb"[A-Za-z0-9_-]{20,}+", b"dckr_pat_", b"dckr_oat_"),
    _token("Buildkite token", rb"[a-f0-9]{40,}+", b"bkua_"),
    _token("SonarQube token", rb"[a-f0-9]{40,}+", b"sqp_", b"squ_", b"sqa_"),
    _token("Sentry token", rb"[A-Za-z0-9_=+/]{30,}+", b"sntrys_", b"sntryu_"),
    _token("Atlassian token", rb"[A-Za-z0-9_=-]{30,}+", b"ATATT3"),
    _token("Postman key", rb"[a-f0-9]{24}-[a-f0-9]{34}", b"PMAK-"),
    _token("Figma token", rb"[A-Za-z0-9_-]{30,}+", b"figd_"),
    _token("Linear key", rb"[A-Za-z0-9]{30,}+", b"lin_api_"),
    _token("Notion token", rb"[A-Za-z0-9]{40,}+", b"ntn_", b"secret_"),
    _token("Airtable token", rb"[A-Za-z0-9]{14}\.[a-f0-9]{40,}+", b"pat"),
    # Models.
    _token("OpenAI, Anthropic or similar key", rb"(?=[A-Za-z_-]{0,128}+[0-9])(?=[a-z0-9_-]{0,128}+[A-Z]|[a-z-]{0,32}[a-f0-9]{20})[A-Za-z0-9_-]{16,}+", b"sk-", b"rk-", b"pk-"),
    _token("Hugging Face token", rb"[A-Za-z0-9]{20,}+", b"hf_", b"api_org_"),
    _token("Replicate token", rb"[A-Za-z0-9]{30,}+", b"r8_"),
    _token("Groq key", rb"[A-Za-z0-9]{30,}+", b"gsk_"),
    _token("xAI key", rb"[A-Za-z0-9]{30,}+", b"xai-"),
    _token("Perplexity key", rb"[A-Za-z0-9]{30,}+", b"pplx-"),
    # Messages and money.
    _token("Slack token", rb"[A-Za-z0-9-]{10,}+", b"xoxb-", b"xoxp-", b"xoxa-", b"xoxr-", b"xoxs-", b"xoxe-", b"xoxe.", b"xapp-"),
    Shape("Slack webhook", (b"hooks.slack.com/",), rb"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,}+)"),
    _token("Discord token", rb"[A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}" + _END, b"MT", b"Mj", b"Mz", b"ND", b"NT", b"Nj", b"Nz", b"OD", b"OT"),
    Shape("Discord webhook", (b"/api/webhooks/",), rb"/api/webhooks/\d++/([A-Za-z0-9_-]{30,}+)"),
    Shape("Telegram bot token", (b":AA",), rb"\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?:(?<!\d)(?=\d{8,10}:AA)|" + _END + rb")", lead=rb"(?<!\d)\d{8,10}", back=10),
    _token("Stripe key", rb"[A-Za-z0-9]{16,}+", b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_"),
    _token("Stripe webhook secret", rb"[A-Za-z0-9+/=]{24,}+", b"whsec_"),
    _token("Square token", rb"[A-Za-z0-9_-]{22,}+", b"sq0atp-", b"sq0csp-"),
    _token("Shopify token", rb"[a-fA-F0-9]{32}" + _END, b"shpat_", b"shpca_", b"shppa_", b"shpss_"),
    _token("SendGrid key", rb"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+", b"SG."),
    _token("Mailgun key", rb"[0-9a-f]{32}" + _END, b"key-"),
    Shape("Mailchimp key", (b"-us",), rb"[0-9a-f]{32}-us\d{1,2}" + _END, lead=_ALONE + rb"[0-9a-f]{32}", back=32),
    _token("Twilio key", rb"[0-9a-f]{32}" + _END, b"SK"),
    _token("New Relic key", rb"[A-Z0-9]{20,}+", b"NRAK-"),
    _token("Grafana token", rb"[A-Za-z0-9_+/=]{20,}+", b"glsa_", b"glc_"),
    _token("Dynatrace token", rb"[A-Z0-9]{24}\.[A-Z0-9]{64}", b"dt0c01."),
    _token("Facebook token", rb"[A-Za-z0-9]{80,}+", b"EAA"),
    # Keys and signed tokens.
    _token("JSON Web Token", _HEADER_OF_JWT + rb"\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+", b"eyJ"),
    Shape("private key", (b"-----BEGIN ",), rb"-----BEGIN (?:[A-Z0-9]++ ){0,3}PRIVATE KEY(?: BLOCK)?-----([^-]{16,}+)(?:-----|\Z)"),
    _token("age secret key", rb"[0-9A-Z]{40,}+", b"AGE-SECRET-KEY-1"),
    Shape("PuTTY private key", (b"Private-Lines:",), rb"Private-Lines: \d++\r?\n((?:[A-Za-z0-9+/=]{16,}+\r?+\n?+)++)"),
    Shape("WireGuard key", (b"PrivateKey", b"PresharedKey"), rb"(?:Private|Preshared)Key\s*+=\s*+([A-Za-z0-9+/]{43}=)"),
    Shape("one-time password seed", (b"otpauth://",), rb"otpauth://[^\s\"']{0,200}[?&]secret=([A-Z2-7a-z]{10,}+)"),
    Shape("password hash", (b"$2", b"$5$", b"$6$", b"$y$", b"$argon2", b"$apr1", b"$1$"), rb"\$(?:2[aby]|5|6|y|argon2(?:id|i|d)|apr1|1)\$([A-Za-z0-9./$=,+-]{20,}+)"),
    # What text gives away.
    _phrase(
        "value behind a secret's name",
        (
            b"pass", b"pwd", b"secret", b"api", b"access", b"private", b"account", b"shared", b"signing",
            b"encryption", b"auth", b"refresh", b"session", b"bearer", b"security", b"bot", b"id_token",
            b"id-token", b"client", b"credential", b"key_data", b"key-data",
        ),
        _NAMES + rb"[\"'\\]{0,2}[ \t]{0,8}+(?:=>|=|:)[ \t]{0,8}+[\"'\\]{0,2}" + _NO_SECRET + rb"(" + _VALUE + rb"{6,}+)",
    ),
    _phrase("value behind an option", (b"--pass", b"--token", b"--secret", b"--api-key"), rb"--(?:password|passphrase|pass|token|secret|api-key)(?: ++={0,2}|={1,2}) *+(" + _VALUE + rb"{6,}+)"),
    _phrase("Authorization in text", (b"bearer ", b"basic ", b"authorization"), rb"(?:\bbearer[ \t]++|authorization[\"']{0,2}\s*+[:=]\s*+[\"']?(?:[a-z]{1,32}+[ \t]++)?|\bbasic[ \t]++(?=[A-Za-z0-9+/]{8,}+={1,2}))(?=[^\s\d]{0,255}+\d)([A-Za-z0-9._~+/=-]{12,}+)"),
    _phrase("password in a URL", (b"://",), rb"://[^/\s:@\"'<>*]{0,64}+:([^/\s@\"'<>*]{3,}+)@"),
    _phrase("password of curl", (b" -u ", b" --user "), rb" (?:-u|--user) [\"']?[^\s:\"']{1,64}+:([^\s\"'*]{4,}+)"),
    _phrase("password of netrc", (b"login",), rb"\blogin\s++\S++\s++password\s++([^\s*]{4,}+)"),
    Shape("password of pgpass", (b":5432:", b":5433:", b":6432:", b":*:"), rb"(?<=[A-Za-z0-9.*-]):(?:\d{4,5}|\*):[^\s:]++:[^\s:]++:([^\s:*]{4,}+)(?=[\r\n]|\Z)"),
    Shape("password of pgpass", (b":*:",), rb"[A-Za-z0-9.*-]:\d{4,5}:[^\s:]++:[^\s:]++:([^\s:*]{4,}+)(?=[\r\n]|\Z)", lead=rb"[A-Za-z0-9.*-]:\d{4,5}(?::[^\s:]{1,63}+)?", back=64),
    _phrase("password of SQL", (b"identified by", b"password '"), rb"(?:identified\s++by|password)\s++'([^'*]{4,}+)'"),
    _phrase("signature of a URL", (b"?sig=", b"&sig=", b"-signature="), rb"(?:[?&]sig|-signature)=([a-z0-9%+/_=-]{16,}+)"),
    Shape("Docker login", (b'"auth"',), rb'"auth"\s*+:\s*+"([A-Za-z0-9+/]{8,}+={0,2}+)"'),
    # What protocols give away.
    _phrase("password of Redis", (b"auth\r\n$", b"auth\n$", b"auth ", b"requirepass"), rb"(?:AUTH\r?\n(?:\$\d++\r?\n[^\r\n]*+\r?\n(?=\$))?\$\d++\r?\n([^\r\n*]++)|(?<![A-Za-z])AUTH (?!PLAIN|LOGIN|XOAUTH2)(?:[^\s=]++ )?" + _SENT + rb"|requirepass[ \t\r\n\"']++(?:\$\d++\r\n)?([^\s\"'*]{4,}+))"),
    _phrase("password of SMTP or IMAP", (b"auth plain", b"auth login", b"auth xoauth2", b"authenticate plain"), rb"AUTH(?:ENTICATE)? (?:PLAIN|LOGIN|XOAUTH2)\s++([A-Za-z0-9+/]{8,}+={0,2}+)(?:\r?\n([A-Za-z0-9+/]{8,}+={0,2}+)\r?\n)?"),
    _phrase("password of FTP, POP or IRC", (b"pass ",), rb"(?<![A-Za-z])PASS :?" + _SENT),
    Shape("password of an IMAP login", (b" LOGIN ",), rb"[A-Za-z0-9.]{1,12}+ LOGIN \"?[^\s\"]++\"? \"?([^\s\"*]{4,}+)\"?\r?\n", lead=_ALONE + rb"[A-Za-z0-9.]{1,12}+", back=12),
    Shape("password of LDAP", (b"\x02\x01\x03\x04",), rb"\x02\x01\x03\x04[\0-\x7f][\x20-\x7e]*+\x80[\x01-\x7f]([\x20-\x29\x2b-\x7e]{4,}+)"),
    Shape("password of MQTT", (b"\0\4MQTT",), rb"\x00\x04MQTT[\x03-\x05][\xc0-\xff][\s\S]{2}[^\x00]*+(?:\x00[^\x00]*+){0,32}?\x00[\x04-\x7f]([\x21-\x29\x2b-\x7e]{4,}+)\Z"),
    Shape("password of PostgreSQL", (b"p\0\0",), rb"p\0\0[\0-\x03][\x05-\xff]([\x21-\x29\x2b-\x7e]{4,}+)\0"),
)  # fmt: skip


def find_shapes(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield secrets known by their shape: first byte, byte after the last, kind; they may overlap."""
    if len(data) < BYTES_MIN:
        return
    exact, folded = compile_stems()
    for (stems, shapes), where in ((exact, data), (folded, data.lower())):
        covered = 0
        for stem in stems.finditer(where):
            at = stem.start()
            if at < covered:
                continue  # inside of what was found: a long value that holds many stems stays cheap
            # A found value becomes stars, so a word begins after it.
            in_word = covered < at and data[at - 1] in _WORD
            for shape in shapes[stem[0]][in_word]:
                match = shape.match(data, at)
                if match is not None:
                    for span in shape.spans(match):
                        covered = max(covered, span[1])
                        yield span


_Stems = tuple[re.Pattern[bytes], dict[bytes, tuple[tuple[Shape, ...], tuple[Shape, ...]]]]
"""A pattern that finds every stem; for each stem the shapes to try at the start of a word, and inside of one."""


def _stems(shapes: Iterable[Shape]) -> _Stems:
    """Build one pattern that finds every stem, and list the shapes that each of them may begin."""
    among = tuple(shapes)
    every = sorted({stem for shape in among for stem in shape.stems}, reverse=True)
    parts = [  # by the first letter: faster
        re.escape(first) + b"(?:" + b"|".join(re.escape(one[1:]) for one in group) + b")"
        for first, group in groupby(every, key=lambda stem: stem[:1])
    ]
    table = {}
    for stem in every:
        outside = tuple(one for one in among if stem.startswith(one.stems))
        table[stem] = outside, tuple(one for one in outside if not one.starts_word)
    return re.compile(b"|".join(parts)), table


@cache
def compile_stems() -> tuple[_Stems, _Stems]:
    """Compile the stems as they are, and in small letters those of shapes that ignore case."""
    exact = _stems(shape for shape in SHAPES if not shape.ignores_case)
    return exact, _stems(shape for shape in SHAPES if shape.ignores_case)
